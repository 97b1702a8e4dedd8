#!/usr/bin/env bash
# The first line about a Pending pod: the policy of the constraint in the way, the allowed domains and
# what helps, in at most 200 bytes. And the admission of a sibling is not shown as the pod's.
. "$(dirname "$0")/lib.sh"

# Zones a, b and c with two nodes each. c is cordoned; a and b have a pod of `web` each.
jq -n '{apiVersion: "v1", kind: "List", items: (
    [("a", "b", "c") as $z | (1, 2) as $n | {apiVersion: "v1", kind: "Node", metadata: {name: "\($z)\($n)",
        labels: {"topology.kubernetes.io/zone": "eu-\($z)", "kubernetes.io/hostname": "\($z)\($n)"}},
        spec: (if $z == "c" then {unschedulable: true} else {} end), status: {allocatable: {cpu: "4", memory: "8Gi", pods: "110"}}}]
    + [("a", "b") as $z | {apiVersion: "v1", kind: "Pod", metadata: {name: "web-\($z)", namespace: "shop", labels: {app: "web"}},
        spec: {nodeName: "\($z)1", containers: [{name: "c"}]}, status: {phase: "Running"}}]
    + [{apiVersion: "v1", kind: "Namespace", metadata: {name: "shop"}}])}' >"$work/state.json"
policy() { # NAME CONSTRAINT
    jq -n --arg name "$1" --argjson c "$2" '{apiVersion: "evenkeel.io/v1alpha1", kind: "TopologyPolicy",
        metadata: {name: $name}, spec: {pods: {spread: [$c]}}}' >"$work/policy.json"
}
pending() { # CONSTRAINT: a pod that kube-scheduler could not place, as the API server has it
    jq -n --argjson c "$1" '{apiVersion: "v1", kind: "Pod", metadata: {name: "web-6d4cf56db6-x2x7q", namespace: "shop", uid: "u",
        labels: {app: "web"}, creationTimestamp: "2026-01-01T00:00:00Z"},
        spec: {containers: [{name: "c"}], topologySpreadConstraints: [$c + {labelSelector: {matchLabels: {app: "web"}}}]},
        status: {phase: "Pending", conditions: [{type: "PodScheduled", status: "False", reason: "Unschedulable",
            message: "0/6 nodes are available: 2 node(s) were unschedulable, 4 node(s) didn'"'"'t match pod topology spread constraints."}]}}' \
        >"$work/pod.json"
}
first_line() {
    "$evenkeel" explain shop/web-6d4cf56db6-x2x7q --server "http://$ops" --pod "$work/pod.json" | head -n 1
}
zone='{"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Ignore"}'
five=$(jq -c '.minDomains = 5' <<<"$zone")
name='pod shop/web-6d4cf56db6-x2x7q: Pending'

policy zones "$zone"
start_server --state "$work/state.json" --policy "$work/policy.json" "${webhook_options[@]}"
pending "$zone"
line=$(first_line)
is "a zone that is cordoned" "$line" \
    "$name: policy zones (topology.kubernetes.io/zone, maxSkew 1) allows only eu-c; its 2 nodes: 2 cordoned. Uncordon nodes there, or set nodeTaintsPolicy: Honor"
at_most "... in one line of a terminal" ${#line} 200
stop_server INT

policy others "$(jq -c '.maxSkew = 2' <<<"$zone")"
start_server --state "$work/state.json" --policy "$work/policy.json" "${webhook_options[@]}"
like "a constraint that no policy gives is the pod's" "$(first_line)" \
    "^$name: the pod \\(topology.kubernetes.io/zone, maxSkew 1\\) allows only eu-c; "
stop_server INT

# Now c has a pod, too.
jq '.items += [.items[] | select(.metadata.name == "web-b") | .metadata.name = "web-c" | .spec.nodeName = "c1"]' \
    "$work/state.json" >"$work/full.json"
policy five-zones "$five"
start_server --state "$work/full.json" --policy "$work/policy.json" "${webhook_options[@]}"
pending "$five"
like "more domains than there are" "$(first_line)" \
    "^$name: policy five-zones \\(topology.kubernetes.io/zone, maxSkew 1\\) wants minDomains 5, and only 3 domains have nodes that count. Lower"
stop_server INT

start_server --state "$work/full.json"
like "without a webhook no policy is known" "$(first_line)" "^$name: the pod \\(topology.kubernetes.io/zone, maxSkew 1\\) wants minDomains 5"
stop_server INT

# ---- its own admission, not that of a sibling ----

policy zones "$zone"
start_server --state "$work/state.json" --policy "$work/policy.json" "${webhook_options[@]}"
pending "$zone"
jq -c '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "r", operation: "CREATE", namespace: "shop",
    resource: {group: "", version: "v1", resource: "pods"}, object: (. | del(.metadata.name, .metadata.uid, .status,
        .metadata.creationTimestamp, .spec.topologySpreadConstraints) | .metadata.generateName = "web-6d4cf56db6-")}}' \
    "$work/pod.json" >"$work/review.json"
review pods <"$work/review.json" >"$work/reviewed.json"
created() { # SECONDS-FROM-NOW CONSTRAINTS
    jq --argjson s "$1" --argjson c "$2" '.metadata.creationTimestamp = (now + $s | floor | todate) | .spec.topologySpreadConstraints = $c' \
        "$work/pod.json" >"$work/created.json"
    "$evenkeel" explain shop/web-6d4cf56db6-x2x7q --server "http://$ops" --pod "$work/created.json" -o json |
        jq -c '[([.decisions[] | select(.verb == "admit")] | length), (.noAdmission // "" | startswith("no admission of this pod is known: the webhook was not asked"))]'
}
own=$(jq -c '.response.patch | @base64d | fromjson | [.[] | select(.path == "/spec/topologySpreadConstraints").value] | add' "$work/reviewed.json")
is "an admission of the pod's time, with its patch, is its own" "$(created 0 "$own")" '[1,false]'
is "... but not without the constraint that it added" "$(created 0 '[]')" '[0,true]'
is "... nor if the pod was created five minutes later" "$(created 300 "$own")" '[0,true]'
like "... and the table says so" "$("$evenkeel" explain shop/web-6d4cf56db6-x2x7q --server "http://$ops" --pod "$work/created.json")" \
    'no admission of this pod is known: the webhook was not asked'
stop_server INT
finish_tests
