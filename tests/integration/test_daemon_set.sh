#!/usr/bin/env bash
# Which nodes would run a DaemonSet: its pods tolerate what the controller lets them tolerate, pods of the same
# DaemonSet in the state do not count, and spread constraints choose no node.
. "$(dirname "$0")/lib.sh"

node() { # name taints
    jq -nc --arg name "$1" --argjson taints "${2:-[]}" '{apiVersion: "v1", kind: "Node",
        metadata: {name: $name, labels: {"kubernetes.io/hostname": $name}}, spec: {taints: $taints},
        status: {allocatable: {cpu: "1", memory: "1Gi", pods: "10"}}}'
}
pod() { # name node owner
    jq -nc --arg name "$1" --arg node "$2" --arg owner "$3" '{apiVersion: "v1", kind: "Pod",
        metadata: {name: $name, namespace: "logs", uid: $name, ownerReferences: [{apiVersion: "apps/v1",
            kind: "DaemonSet", name: $owner, uid: $owner, controller: true}]},
        spec: {nodeName: $node, containers: [{name: "c", ports: [{containerPort: 1, hostPort: 9100}],
            resources: {requests: {cpu: "800m"}}}]}}'
}
daemon_set() { # jq-edit
    jq -nc '{apiVersion: "apps/v1", kind: "DaemonSet", metadata: {name: "agent", namespace: "logs"},
        spec: {selector: {matchLabels: {app: "agent"}}, template: {metadata: {labels: {app: "agent"}},
            spec: {containers: [{name: "c", ports: [{containerPort: 1, hostPort: 9100}],
                resources: {requests: {cpu: "800m"}}}]}}}} | '"${1:-.}" >"$work/ds.json"
}
{
    node free
    node runs
    node other
    node cordoned '[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]'
    node sick '[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]'
    node offline '[{"key":"node.kubernetes.io/network-unavailable","effect":"NoSchedule"}]'
    node own '[{"key":"team","value":"a","effect":"NoSchedule"}]'
    pod agent-1 runs agent
    pod rest-1 other rest
} | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/state.json"
ask() { "$evenkeel" simulate --state "$work/state.json" --pod "$work/ds.json" "$@" 2>&1; }
passed() { ask -o json | jq -r '[.filter | to_entries[] | select(.value.verdict == "Pass").key] | join(" ")'; }

daemon_set
is "the nodes that would run it" "$(passed)" "cordoned free runs sick"
is "a node with pods of another DaemonSet" "$(ask -o json | jq -r .filter.other.filter)" NodePorts
like "a table" "$(ask)" '4 of 7 nodes would run a pod of the DaemonSet'

daemon_set '.spec.template.spec.hostNetwork = true'
is "pods in the host's network tolerate a node without one" "$(passed)" "cordoned free offline runs sick"
daemon_set '.metadata.name = "agent2"'
is "another DaemonSet does not have these pods" "$(passed)" "cordoned free sick"
daemon_set '.spec.template.spec.tolerations = [{operator: "Exists"}]'
is "its own tolerations count" "$(passed)" "cordoned free offline own runs sick"
daemon_set '.spec.template.spec.nodeSelector = {"kubernetes.io/hostname": "free"}'
is "a selector" "$(passed)" "free"

daemon_set '.spec.template.spec.topologySpreadConstraints = [{maxSkew: 1, topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels: {app: "agent"}}}]'
is "spread constraints choose no node" "$(passed)" "cordoned free runs sick"
is "... which is a finding" "$(ask -o json | jq -r '.findings[] | "\(.code) \(.path)"')" \
    "PassedOver spec.template.spec.topologySpreadConstraints"

is "... and one without a state" "$("$evenkeel" check workload -o json "$work/ds.json" | jq -r '.findings[].code')" PassedOver

like "--replicas" "$(ask --replicas 3; echo "exit $?")" 'leave *out --replicas and --without.*exit 1'
like "explain's what-if says where to ask" "$("$evenkeel" explain --server http://127.0.0.1:1 what-if "$work/ds.json" 2>&1)" \
    "evenkeel simulate --pod"
finish_tests
