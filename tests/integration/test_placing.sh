#!/usr/bin/env bash
# `evenkeel simulate --replicas` and `--without`: each pod counts for the next, and the pods of nodes
# that go are placed again or are Pending.
. "$(dirname "$0")/lib.sh"

state=$work/state.json
pod=$work/pod.json

# Two nodes of two cpus, in two zones, and what runs on the first.
running() { # NAME OWNER-KIND
    jq -n --arg name "$1" --arg kind "$2" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, namespace: "shop",
        uid: $name, labels: {app: "db"}, ownerReferences: [{apiVersion: "apps/v1", kind: $kind, name: "o", uid: "o",
        controller: true}]}, spec: {nodeName: "node-a", containers: [{name: "c", resources: {requests: {cpu: "1"}}}]}}'
}
node() { # LETTER
    jq -n --arg x "$1" '{apiVersion: "v1", kind: "Node", metadata: {name: "node-\($x)", labels: {
        "topology.kubernetes.io/zone": "zone-\($x)", "kubernetes.io/hostname": "node-\($x)"}},
        status: {allocatable: {cpu: "2", memory: "8Gi", pods: "9"}}}'
}
del_allocatable() { jq 'del(.status.allocatable)'; }
{ node a; node b; } | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$state"
jq -n '{apiVersion: "v1", kind: "Pod", metadata: {name: "web", namespace: "shop", labels: {app: "web"}}, spec: {
    containers: [{name: "c", resources: {requests: {cpu: "1"}}}], topologySpreadConstraints: [{maxSkew: 1,
    topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels:
    {app: "web"}}}]}}' >"$pod"
asked() { # OPTION...
    "$evenkeel" simulate --state "$state" -o json "$@"
}

asked --pod "$pod" --replicas 5 >"$work/answer"
is "replicas take turns between the zones, as maxSkew 1 wants" \
    "$(jq -c '[.pods[:4] | [.[0:2], .[2:4]][] | [.[].node] | sort]' "$work/answer")" '[["node-a","node-b"],["node-a","node-b"]]'
is "... until both nodes are full" "$(jq -c '[.pending, .pods[4].node, .pods[4].reason]' "$work/answer")" \
    '[1,"","2 nodes: NodeResourcesFit: Insufficient cpu"]'
is "... for which no constraint is to blame" "$(jq -c .cause "$work/answer")" '""'
is "domains are counted" "$(jq -c '[.domains[] | [.topologyKey, .domain, .before, .added]]' "$work/answer")" \
    '[["topology.kubernetes.io/zone","zone-a",0,2],["topology.kubernetes.io/zone","zone-b",0,2]]'
jq '.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution = [{topologyKey:
    "kubernetes.io/hostname", labelSelector: {matchLabels: {app: "web"}}}]' "$pod" >"$work/apart.json"
is "each replica is one that the next wants to be apart from" \
    "$(asked --pod "$work/apart.json" --replicas 3 | jq -c '[.pods[].node == ""]')" '[false,false,true]'
like "the table draws the domains" "$("$evenkeel" simulate --state "$state" --pod "$pod" --replicas 3)" \
    'zone-[ab] +0 +2 +\+\+'


# ---- why replicas are Pending ----

# A third zone, whose only node is tainted: for kube-scheduler it is a domain without pods.
tainted=$work/tainted.json
jq --argjson c "$(node c)" '.items += [$c | .spec.taints = [{key: "dedicated", value: "db", effect: "NoSchedule"}]]' \
    "$state" >"$tainted"
placed() { "$evenkeel" simulate --state "$tainted" "$@"; }
status_of() { placed "$@" >/dev/null 2>&1 && echo 0 || echo $?; }
jq '.spec.topologySpreadConstraints[0].nodeTaintsPolicy = "Honor"' "$pod" >"$work/honor.json"
is "an empty domain whose nodes are tainted holds up all others" \
    "$(placed --pod "$pod" --replicas 4 -o json | jq -c '[.pending, .cause]')" \
    '[2,"the constraint on topology.kubernetes.io/zone, maxSkew 1: allowed: zone-c; their 1 nodes are not offered by kube-scheduler: 1 with a taint that the pod does not tolerate; all nodes of '"'zone-c'"' have taints that the pod does not tolerate, but the domain counts all the same, with 0 pods; nodeTaintsPolicy: Honor in the constraint leaves the domain out"]'
is "... not with the policy that is named" \
    "$(placed --pod "$work/honor.json" --replicas 4 -o json | jq -c '[.pending, .cause]')" '[0,""]'
like "the table says it, too" "$(placed --pod "$pod" --replicas 4)" 'Pending because of the constraint on .*nodeTaintsPolicy: Honor'
unlike "... of none that is Pending nothing" "$(placed --pod "$pod" --replicas 2)" 'Pending because'
jq '.spec.nodeSelector = {"kubernetes.io/hostname": "node-x"}' "$work/honor.json" >"$work/nowhere.json"
like "... of one that no node's labels fit, these labels" "$(placed --pod "$work/nowhere.json" --replicas 1)" \
    "Pending because of spec.nodeSelector: no node has the label 'kubernetes.io/hostname: node-x'"
is "replicas of which the same becomes are one line" "$(placed --pod "$pod" --replicas 9 | grep -c '^shop/')" 3
like "... with their numbers" "$(placed --pod "$pod" --replicas 9)" 'shop/web-replica-3 to 9 +- +Pending'
jq '.metadata.name = "web"' "$pod" >"$work/single.json"
{ jq '.items[]' "$tainted"; for x in a b; do
    jq --arg x "$x" '.metadata.name = "old-\($x)" | .metadata.uid = .metadata.name | .spec.nodeName = "node-\($x)"' "$pod"
done; } | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/both.json"
single_of() { "$evenkeel" simulate --state "$work/both.json" --pod "$work/single.json" "$@"; }
like "of a single pod it is said, too" "$(single_of)" 'Pending because of the constraint on .*nodeTaintsPolicy: Honor'
is "... also to programs" "$(single_of -o json | jq -r .cause | grep -c 'nodeTaintsPolicy: Honor')" 1
jq '.spec.topologySpreadConstraints += [{maxSkew: 9, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable:
    "DoNotSchedule", labelSelector: {matchLabels: {app: "web"}}}]' "$work/single.json" >"$work/both-keys.json"
unlike "... of the constraint that is in the way alone" \
    "$("$evenkeel" simulate --state "$work/both.json" --pod "$work/both-keys.json" -o json | jq -r .cause)" 'hostname'
jq -n '{apiVersion: "evenkeel.io/v1alpha1", kind: "TopologyPolicy", metadata: {name: "p"}, spec: {match: {}, pods: {spread: [
    {topologyKey: "kubernetes.io/hostname", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway"}]}}}' >"$work/policy.json"
like "--strict keeps the advice about policies" \
    "$(single_of --strict --policy "$work/policy.json" 2>&1 >/dev/null)" '--admit shows how'
single_status=0; single_of --strict >/dev/null || single_status=$?
is "--strict: exit codes of what is Pending, and of what is placed" \
    "$single_status $(status_of --pod "$pod" --replicas 4 --strict) $(status_of --pod "$pod" --replicas 4) $(status_of --pod "$pod" --replicas 2 --strict) $(status_of --pod "$pod" --strict)" \
    '3 3 0 0 0'
jq '.spec.topologySpreadConstraints[0].labelSelector.matchLabels.app = "db"' "$pod" >"$work/other.json"
pods_of() { # LABEL: of the example's pods, how many each zone but eu-west-a has
    jq -c --arg app "$1" '(INDEX(.items[] | select(.kind == "Node"); .metadata.name) | map_values(.metadata.labels["topology.kubernetes.io/zone"])) as $zone |
        [.items[] | select(.kind == "Pod" and .spec.nodeName != null and .status.phase != "Succeeded" and .status.phase != "Failed" and ($app == "" or .metadata.labels.app == $app))
            | $zone[.spec.nodeName]] | group_by(.) | map({key: .[0], value: length}) | from_entries | del(.["eu-west-a"])' "$example/state.json"
}
before() { # OPTION...
    "$evenkeel" simulate --state "$example/state.json" -o json "$@" |
        jq -c '[.domains[] | select(.topologyKey | endswith("zone")) | select(.before != 0) | {key: .domain, value: .before}] | from_entries | del(.["eu-west-a"])'
}
is "of pods without constraints the domains have all pods" "$(before --without topology.kubernetes.io/zone=eu-west-a)" "$(pods_of '')"
is "of a constraint that counts others, those" "$(before --pod "$work/other.json" --replicas 2)" "$(pods_of db)"

# ---- nodes that go ----

{ node a; node b; running db-1 StatefulSet; running logs DaemonSet; running db-2 StatefulSet; running db-3 StatefulSet; } |
    jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$state"
asked --without topology.kubernetes.io/zone=zone-a >"$work/answer"
is "pods of the zone move, but for those of a DaemonSet" "$(jq -c '[.pods[] | [.name, .from, .node]]' "$work/answer")" \
    '[["db-1","node-a","node-b"],["db-2","node-a","node-b"],["db-3","node-a",""]]'
is "... and who finds no room is Pending, with the reason" "$(jq -c '[.pending, .lostNodes, .pods[2].reason]' "$work/answer")" \
    '[1,1,"1 node: NodeResourcesFit: Insufficient cpu"]'
is "replicas come after them" \
    "$(asked --pod "$pod" --replicas 1 --without kubernetes.io/hostname=node-a | jq -c '[.pods[].name]')" \
    '["db-1","db-2","db-3","web-replica-1"]'
is "without any node" "$(asked --without kubernetes.io/hostname=node-a --without kubernetes.io/hostname=node-b |
    jq -c '[.lostNodes, .pods[0].reason]')" '[2,"there are no nodes"]'

# The pod that has to move finds no cpu; the replica behind it is held up by an empty domain.
{ jq '.items[]' "$tainted"; node d | jq '.metadata.labels["topology.kubernetes.io/zone"] = "zone-a"'
    jq '.metadata |= (.name = "old", .uid = "old") | .spec.nodeName = "node-a"' "$pod"
    running big Deployment | jq '.spec.nodeName = "node-d" | .spec.containers[0].resources.requests.cpu = "9"'
    jq '.metadata.name = "old-b" | .metadata.uid = "old-b" | .spec.nodeName = "node-b"' "$pod"
} | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/moved.json"
moved() { "$evenkeel" simulate --state "$work/moved.json" --without kubernetes.io/hostname=node-d "$@"; }
is "nothing is in the way of what finds no cpu" "$(moved -o json | jq -c '[.pending, .pods[0].reason, .cause]')" \
    '[1,"1 node: TaintToleration: node(s) had untolerated taint(s); 2 nodes: NodeResourcesFit: Insufficient cpu",""]'
like "... and of the replica behind it it is said" "$(moved --pod "$pod" --replicas 1 -o json | jq -r .cause)" \
    'the constraint on .*nodeTaintsPolicy: Honor'
# A node that does not say what it has, has nothing, also when the one that says it is gone.
{ node a; node b | del_allocatable; } | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/silent.json"
is "a silent node is not believed because the other is gone" \
    "$("$evenkeel" simulate --state "$work/silent.json" --pod "$pod" --replicas 1 -o json \
        --without kubernetes.io/hostname=node-a | jq -c '[.pending, .notJudged]')" '[1,"limits and capacity of volumes, devices"]'

# ---- wrong usage ----

refused() { # STATUS WORDS OPTION...
    local code=0 out
    out=$("$evenkeel" simulate --state "$state" "${@:3}" 2>&1) || code=$?
    [ "$code" = "$1" ] && [[ $out == *"$2"* ]]
}
check "a label that no node has" refused 1 "no node has the label 'zone=x'" --without zone=x
check "a label without a value" refused 1 'wants KEY=VALUE' --without zone
check "no replicas" refused 2 'is not a number from 1' --pod "$pod" --replicas 0
check "replicas of no pod" refused 2 'give --pod' --replicas 2
check "--admit looks at no node" refused 2 'leave out --replicas' --pod "$pod" --admit --replicas 2

# ---- what a constraint counts ----

in_zones() { # NODE:ZONE...: a cluster, with a pod app=web of another revision on each node
    for at in "$@"; do
        jq -n --arg n "${at%:*}" --arg z "${at#*:}" '{apiVersion: "v1", kind: "Node", metadata: {name: $n, labels: {"topology.kubernetes.io/zone": $z}},
            status: {allocatable: {cpu: "4", pods: "9"}}}, {apiVersion: "v1", kind: "Pod", metadata: {name: "old-\($n)",
            namespace: "shop", labels: {app: "web", "pod-template-hash": "1"}}, spec: {nodeName: $n, containers: [{name: "c"}]}}'
    done
}
in_zones n1:a n2:b n3:c | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/zones.json"
counted() { # jq to change the constraint, jq for the pod's spec
    jq -n '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "web", namespace: "shop"}, spec: {replicas: 2,
        template: {metadata: {labels: {app: "web"}}, spec: ({containers: [{name: "c"}], topologySpreadConstraints: [{maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels:
        {app: "web"}}} | '"$1"']} | '"$2"')}}}' >"$work/counted.json"
    "$evenkeel" simulate --state "$work/zones.json" --pod "$work/counted.json" "${@:3}"
}
rows() { jq -c '[.domains[] | [.domain, .counted, .before, .added]]'; }
is "pods of its selector" "$(counted . . -o json | jq -c '[.domains[].before]')" '[1,1,1]'
is "... and of this revision, with matchLabelKeys" "$(counted '.matchLabelKeys = ["pod-template-hash"]' . -o json | jq -c '[.domains[].before]')" '[0,0,0]'
is "... none without a selector, whatever is placed" "$(counted 'del(.labelSelector)' . -o json | jq -c '[.domains[] | .before + .added]')" '[0,0,0]'
only_ab='.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms = [{matchExpressions: [{key: "topology.kubernetes.io/zone", operator: "In", values: ["a", "b"]}]}]'
is "domains that node affinity leaves out are not counted" "$(counted . "$only_ab" -o json | rows)" '[["a",true,1,1],["b",true,1,1],["c",false,0,0]]'
like "... and the table says so" "$(counted . "$only_ab")" 'zone  c  *-  *-  not counted'
is "... unless the constraint ignores it" "$(counted '.nodeAffinityPolicy = "Ignore"' "$only_ab" -o json | jq -c '[.domains[].counted]')" '[true,true,true]'
is "soft ones likewise" "$(counted '.whenUnsatisfiable = "ScheduleAnyway"' "$only_ab" -o json | jq -c '[.domains[].counted]')" '[true,true,false]'
is "two constraints on a key are told apart" \
    "$(counted . '.topologySpreadConstraints += [.topologySpreadConstraints[0] | .whenUnsatisfiable = "ScheduleAnyway"]' | grep -c 'zone (constraint [01], \(DoNotSchedule\|ScheduleAnyway\)) ')" 6

# ---- workloads ----

workload() { # KIND [JQ]: its template is the pod
    jq --arg kind "$1" '{apiVersion: "apps/v1", kind: $kind, metadata: {name: "web", namespace: "shop"}, spec: {
        replicas: 3, selector: {matchLabels: .metadata.labels}, template: {metadata: {labels: .metadata.labels}, spec}}}
        | '"${2:-.}" "$pod" >"$work/workload.json"
}
workload Deployment 'del(.spec.template.spec.containers[0].resources)'
is "a Deployment is placed as often as it wants" "$(asked --pod "$work/workload.json" | jq -c '[(.pods | length), .pending, ([.domains[].added] | sort)]')" \
    '[3,0,[1,2]]'
is "... or as --replicas says" "$(asked --pod "$work/workload.json" --replicas 2 | jq -c '[.domains[].added]')" '[1,1]'
workload StatefulSet '.spec.replicas = 1 | .spec.template.spec.topologySpreadConstraints = []'
# kube-scheduler's default constraints take the selectors of ReplicaSets and StatefulSets, not of Jobs.
single() { "$evenkeel" simulate --state "$state" --pod "$work/workload.json" "$@"; }
unlike "a StatefulSet has default constraints" "$(single)" 'no spread constraint applies'
workload Deployment '.spec.replicas = 1 | .spec.template.spec.topologySpreadConstraints = []'
unlike "... a Deployment" "$(single)" 'no spread constraint applies'
workload Job '.apiVersion = "batch/v1" | .spec.parallelism = 1 | del(.spec.replicas) | .spec.template.spec.topologySpreadConstraints = []'
like "... a Job none, and that is said" "$(single)" 'no spread constraint applies: the pod has none, and none comes by default'
workload Job '.apiVersion = "batch/v1" | .spec.replicas = 2 | .spec.template.spec.topologySpreadConstraints = []'
like "... of several pods, too" "$(single)" '2 placed, 0 Pending.*no spread constraint applies'
workload Deployment '.spec.replicas = 0'
like "one that wants no pods is tried with one, which is said" "$(single 2>&1)" 'wants 0 replicas.*Pass'
unlike "... unless --replicas says how many" "$(single 2>&1 --replicas 1)" 'wants 0 replicas'
workload Deployment '.spec.replicas = 20000'
like "too many" "$(asked --pod "$work/workload.json" 2>&1)" 'more than 10000 replicas; give --replicas N'
finish_tests
