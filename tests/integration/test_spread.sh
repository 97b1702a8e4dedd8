#!/usr/bin/env bash
# `evenkeel simulate` on zones with 4, 2 and 1 pods, and a node of no zone: what kube-scheduler's
# PodTopologySpread answers, worked out by hand.
#
#   hard    a zone is left if its pods + 1 - the fewest of a zone <= maxSkew
#   soft    raw is round(pods x ln(zones + 2) + maxSkew - 1), normalized 100 x (max + min - raw) / max
#   A node without the key cannot become one: hard, it is refused for good; soft, it scores 0.
. "$(dirname "$0")/lib.sh"

node() { # NAME ZONE
    jq -n --arg name "$1" --arg zone "$2" '{apiVersion: "v1", kind: "Node", metadata: {name: $name, labels:
        ({"kubernetes.io/hostname": $name} + if $zone == "" then {} else {"topology.kubernetes.io/zone": $zone} end)},
        status: {allocatable: {cpu: "4", memory: "8Gi", pods: "50"}}}'
}
pod() { # NAME NODE
    jq -n --arg name "$1" --arg node "$2" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, namespace: "shop",
        uid: $name, labels: {app: "cart"}}, spec: {nodeName: $node, containers: [{name: "c", image: "i"}]},
        status: {phase: "Running"}}'
}
{
    node east-1 east
    node mid-1 mid
    node west-1 west
    node lost-1 ''
    for i in 1 2 3 4; do pod "east-$i" east-1; done
    for i in 1 2; do pod "mid-$i" mid-1; done
    pod west-1 west-1
} | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/state.json"

simulated() { # WHEN MAX-SKEW
    jq -n --arg when "$1" --argjson skew "$2" '{apiVersion: "v1", kind: "Pod", metadata: {name: "cart", namespace: "shop",
        labels: {app: "cart"}}, spec: {containers: [{name: "c", image: "i"}], topologySpreadConstraints: [{topologyKey:
        "topology.kubernetes.io/zone", maxSkew: $skew, whenUnsatisfiable: $when, labelSelector: {matchLabels: {app: "cart"}}}]}}' \
        >"$work/pod.json"
    "$evenkeel" simulate --state "$work/state.json" --pod "$work/pod.json" -o json
}
verdicts() { simulated DoNotSchedule "$1" | jq -c '[.filter["east-1", "mid-1", "west-1", "lost-1"].verdict]'; }
scores() { simulated ScheduleAnyway "$1" | jq -c '[.score["east-1", "mid-1", "west-1", "lost-1"] | [.raw, .normalized]]'; }
full='"Unschedulable"' lost='"UnschedulableAndUnresolvable"'

# ln 5 = 1.609: 4, 2 and 1 pods are 6.44, 3.22 and 1.61, and maxSkew - 1 is added.
is "soft, maxSkew 1" "$(scores 1)" '[[6,33],[3,83],[2,100],[0,0]]'
is "soft, maxSkew 3" "$(scores 3)" '[[8,50],[5,87],[4,100],[0,0]]'
is "hard, maxSkew 1: the emptiest zone" "$(verdicts 1)" "[$full,$full,\"Pass\",$lost]"
is "hard, maxSkew 2: a zone with 2 pods, too" "$(verdicts 2)" "[$full,\"Pass\",\"Pass\",$lost]"
is "hard, maxSkew 3: not yet one with 4" "$(verdicts 3)" "[$full,\"Pass\",\"Pass\",$lost]"
is "hard, maxSkew 4: every zone" "$(verdicts 4)" "[\"Pass\",\"Pass\",\"Pass\",$lost]"
finish_tests
