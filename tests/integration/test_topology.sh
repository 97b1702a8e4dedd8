#!/usr/bin/env bash
# `evenkeel topology`: beside how even workloads are, what was looked at: nodes that are cordoned or tainted,
# pods that are Pending, pods on nodes that are gone, and how old the data is.
. "$(dirname "$0")/lib.sh"

zone=topology.kubernetes.io/zone
node() { # NAME ZONE [SPEC]
    printf -- '- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s}}, spec: {%s}}\n' "$1" "${2:+$zone: $2}" "${3:-}"
}
pod() { # NAME OWNER-KIND NODE
    printf -- '- {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: shop, uid: %s, ownerReferences: [{apiVersion: apps/v1,
   kind: %s, name: db, uid: s, controller: true}]}, spec: {nodeName: "%s", containers: [{name: c, image: i}]}, status: {phase: Running}}\n' \
        "$1" "$1" "$2" "$3"
}
{
    printf 'apiVersion: v1\nkind: List\nitems:\n'
    node a1 za
    node b1 zb 'unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]'
    node b2 zb 'taints: [{key: broken, effect: NoExecute}]'
    node b3 zb 'taints: [{key: full, effect: PreferNoSchedule}]'
    node n1 ''
    pod p1 StatefulSet a1
    pod p2 StatefulSet b3
    pod p3 StatefulSet gone
    pod p4 StatefulSet n1
    pod p5 StatefulSet ''
    pod p6 DaemonSet ''
    pod p7 Deployment '' | sed 's/name: db/name: stuck/'
} >"$work/state.yaml"
touch -d '3 days ago' "$work/state.yaml"

"$evenkeel" topology --state "$work/state.yaml" -o json >"$work/answer"
answer() { jq -c "$1" "$work/answer"; }
is "cordoned nodes, and tainted ones" "$(answer '[.domains[] | [.name, .nodes, .cordoned // 0, .tainted // 0, .pods]]')" \
    '[["za",1,0,0,1],["zb",3,1,1,1]]'
is "nodes without the key" "$(answer .withoutKey)" '{"nodes":1,"pods":1}'
is "pods without a node, and on no known node" "$(answer '[.pending, .onUnknownNodes]')" '[3,1]'
is "... of a workload" "$(answer '.workloads[] | select(.name == "db") | [.pods, .pending, .onUnknownNodes, .state]')" '[4,1,1,"even"]'
is "... of a workload that has no other: of no pod nothing is even" \
    "$(answer '.workloads[] | select(.name != "db") | [.name, .kind, .pods, .pending, .skew, .state]')" '["stuck","Deployment",0,1,null,"unknown"]'

text=$("$evenkeel" topology --state "$work/state.yaml")
like "people read it, and how old the file is" "$text" 'uneven, 1 unknown; 3 pods Pending; .*state.yaml is 3 days old'
like "... of domains" "$text" 'DOMAIN +NODES +CORDONED +TAINTED +PODS.*zb +3 +1 +1 +1'
like "... of nodes and pods in no domain" "$text" \
    "1 nodes have no $zone; pods there: 1.*1 pods are on nodes that are gone or not known, in no domain"
like "... of workloads" "$text" 'PODS +PENDING +LOST +SKEW .*db +StatefulSet +4 +1 +1 +0'
like "... of one workload" "$("$evenkeel" topology shop/db --state "$work/state.yaml")" \
    '^StatefulSet shop/db, 4 pods and 1 Pending, 1 on nodes that are gone or not known'

{
    printf 'apiVersion: v1\nkind: List\nitems:\n'
    node a1 za
    node b1 zb
    pod p1 StatefulSet a1
    pod p2 StatefulSet b1
} >"$work/well.yaml"
like "nothing of it where all is well" "$("$evenkeel" topology --state "$work/well.yaml")" \
    '1 even, 0 unavoidable, 0 uneven; [^;]*well.yaml is [0-9]+ seconds old.*DOMAIN +NODES +PODS.*KIND +PODS +SKEW'

# ---- a daemon answers the same ----

start_server --state "$work/state.yaml"
measured() { ops topology >"$work/report"; jq -e .domains "$work/report" >/dev/null 2>&1; }
await measured
is "over HTTP" "$(jq -c . "$work/report")" "$(answer .)"
is "... and from a daemon" "$("$evenkeel" topology --server "http://$ops" -o json | jq -c .)" "$(answer .)"

finish_tests
