#!/usr/bin/env bash
# `evenkeel check policy`: what policies would change in a cluster, whom they would harm, and the exit
# code for that. How many pods are Pending follows from the documented meaning of maxSkew and minDomains.
. "$(dirname "$0")/lib.sh"

state=$work/state.json

node() { # LETTER
    jq -n --arg x "$1" '{apiVersion: "v1", kind: "Node", metadata: {name: "node-\($x)", labels: {
        "topology.kubernetes.io/zone": "zone-\($x)", "kubernetes.io/hostname": "node-\($x)"}},
        status: {allocatable: {cpu: "8", memory: "8Gi", pods: "20"}}}'
}
pod() { # NAMESPACE REPLICASET HASH NAME NODE [SPEC]
    jq -n --arg space "$1" --arg set "$2-$3" --arg app "$2" --arg hash "$3" --arg name "$4" --arg node "$5" \
        --argjson spec "${6:-{\}}" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, namespace: $space,
        uid: $name, labels: {app: $app, "pod-template-hash": $hash}, ownerReferences: [{apiVersion: "apps/v1",
        kind: "ReplicaSet", name: $set, uid: $set, controller: true}]}, spec: ({nodeName: $node, containers:
        [{name: "c", image: "i", resources: {requests: {cpu: "100m"}}}]} + $spec), status: {phase: "Running"}}'
}
space() { jq -n --arg name "$1" '{apiVersion: "v1", kind: "Namespace", metadata: {name: $name, labels:
    {"kubernetes.io/metadata.name": $name}}}'; }
pinned='{"nodeSelector": {"topology.kubernetes.io/zone": "zone-a"}}'
{
    node a
    node b
    space shop
    space other
    pod shop web abc web-1 node-a
    pod shop web abc web-2 node-a
    pod shop web abc web-3 node-b
    pod shop web abc web-4 node-b
    pod shop db def db-1 node-a "$pinned"
    pod shop db def db-2 node-a "$pinned"
    pod other far ghi far-1 node-a
} | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$state"

policy() { # NAME SPREAD [MORE-OF-SPEC]
    printf 'apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: %s}\n' "$1"
    printf 'spec:\n  match: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}\n'
    printf '  pods: {replaceDefaults: true, spread: [%s]}\n%s\n' "$2" "${3:-}"
}
zone='topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule'

asked() { # OPTION...: $code, $answer
    code=0
    timeout "$PATIENCE" "$evenkeel" check policy "$@" --state "$state" -o json >"$work/answer" 2>"$work/err" || code=$?
}
answer() { jq -c "$1" "$work/answer"; }

# ---- a policy that is fine ----

policy even "{$zone}" >"$work/even.yaml"
asked "$work/even.yaml"
is "a policy that every workload can follow" "$code $(answer '[.sound, .harmed, .others]')" '0 [true,0,1]'
is "the workloads are those of its namespace" "$(answer '[.workloads[] | [.kind, .name, .pods, .policies.spread]]')" \
    '[["Deployment","db",2,"even"],["Deployment","web",4,"even"]]'
is "what it would add to a pod" "$(answer '.workloads[1].patch[0].value[0] | [.topologyKey, .whenUnsatisfiable,
    .labelSelector.matchLabels.app, .matchLabelKeys]')" \
    '["topology.kubernetes.io/zone","DoNotSchedule","web",["pod-template-hash"]]'
is "as many pods as there are were placed" "$(answer '.workloads[1] | [.placed, .pendingWithout, .pendingWith]')" '[4,0,0]'

is "what is not judged" "$(answer .notJudged)" '"limits and capacity of volumes, devices"'
jq '(.items[] | select(.kind == "Node")) |= del(.status)' "$state" >"$work/silent.json"
like "... where no node says what it has" "$("$evenkeel" check policy "$work/even.yaml" --state "$work/silent.json")" \
    'not judged: limits and capacity of volumes, devices, NodeResourcesFit .no node reports its allocatable resources.'

# ---- one that harms ----

# Two zones are less than minDomains: the fewest pods are taken for 0, so each zone takes maxSkew pods.
policy greedy "{$zone, minDomains: 3}" >"$work/greedy.yaml"
asked "$work/greedy.yaml"
is "too few domains leave pods pending" "$code $(answer '[.sound, .harmed]')" '3 [false,1]'
is "... of the workload that may use all zones" "$(answer '.workloads[] | select(.name == "web") |
    [.harmed, .placed, .pendingWithout, .pendingWith]')" '[true,4,0,2]'
is "... and not of one whose own terms leave it fewer: that is softened" "$(answer '.workloads[] |
    select(.name == "db") | [.harmed, .pendingWith, .constraints[0].result, .constraints[0].reason]')" \
    '[false,0,"softened","OwnTermsAllowFewerDomains"]'
is "... the policy is not effective" "$(answer '.policies[0] | [.effective.reason, .harmed, .softened, .workloads]')" \
    '["TooFewDomains",1,1,2]'
code=0
text=$("$evenkeel" check policy "$work/greedy.yaml" --state "$state") || code=$?
like "people read the same" "$code $text" \
    "^3 POLICY .*Deployment/web +4 +greedy +0 -> 2 of 4 .*of 4 pods 2 would be Pending instead of 0: .*PodTopologySpread"

policy typo '{topologyKey: topology.kubernetes.io/zones, whenUnsatisfiable: DoNotSchedule}' >"$work/typo.yaml"
asked "$work/typo.yaml"
is "a key that no node has" "$code $(answer '[.harmed, .policies[0].effective.reason, .policies[0].skipped,
    (.workloads[] | .constraints[0].reason)]')" '3 [0,"NoNodeHasKey",2,"NoNodeHasKey","NoNodeHasKey"]'

is "... is a finding, with the nearest one" "$(answer '[.findings[] | [.code, .path, .remedy]]')" \
    '[["KeyUnknown","spec.pods.spread[0].topologyKey","Write topology.kubernetes.io/zone"]]'
asked "$work/even.yaml"
is "... which a policy that is fine has not" "$(answer .findings)" '[]'
policy host '{topologyKey: region, whenUnsatisfiable: ScheduleAnyway}' >"$work/one.yaml"
asked "$work/typo.yaml" "$work/one.yaml"
like "... of several policies, with its name" "$(answer '[.findings[].message]')" "policy 'typo': no node has the label"
code=0
"$evenkeel" check policy "$work/even.yaml" --state "$state" --strict >"$work/table" || code=$?
is "--strict without findings" "$code" 0

# ---- a policy for nobody ----

nobody() { # MATCH: $code, and what the answer says of the policy
    policy nobody "{$zone}" | sed "s/match: {.*/match: {$1}/" >"$work/nobody.yaml"
    asked "$work/nobody.yaml"
    printf '%s %s' "$code" "$(answer '[.sound, .verdict, (.policies[0].effective | .status, .reason, .message)]')"
}
is "a selector that selects nothing" "$(nobody 'objectSelector: {matchLabels: {app: wbe}}')" \
    '3 [false,"Unknown","Unknown","NoPods","the policy is for no pod that runs"]'
is "an owner's kind with a small letter" "$(nobody 'ownerKinds: [{group: apps, kind: deployment}]')" \
    "3 [false,\"NotSound\",\"False\",\"NoSuchOwnerKind\",\"ownerKinds[0] matches no pod: there is no kind 'deployment' in the \
API group 'apps'; write kind: Deployment, group: apps\"]"
like "... without its group" "$(nobody 'ownerKinds: [{kind: StatefulSet}]')" \
    "NoSuchOwnerKind.*no kind 'StatefulSet' in the API group ''; write kind: StatefulSet, group: apps"
like "... of which policies have no pods" "$(nobody 'ownerKinds: [{group: apps, kind: DaemonSet}]')" \
    'NoSuchOwnerKind.*policies are not for pods of a DaemonSet'
like "... of which nothing is like it" "$(nobody 'ownerKinds: [{group: batch, kind: Foo}]')" \
    "NoSuchOwnerKind.*no kind 'Foo' in the API group 'batch'\""
like "... of a group of others, which may be there" "$(nobody 'ownerKinds: [{group: example.com, kind: foo}]')" '"NoPods"'
policy even "{$zone}" >"$work/even.yaml"
like "a good verdict says beside what" "$("$evenkeel" check policy "$work/even.yaml" --state "$state")" \
    'sound: 1 constraint beside 2 nodes of .*state.json can be met, and keep no pod from running$'

# ---- beside other policies ----

policy first "{$zone}" "  priority: 10" >"$work/first.yaml"
asked "$work/even.yaml" --policy "$work/first.yaml"
is "one that never has its turn" "$code $(answer '[.policies[0].shadowed.status, .workloads]')" '3 ["True",[]]'
policy even "{$zone, minDomains: 3}" >"$work/before.yaml"
asked "$work/even.yaml" --policy "$work/before.yaml"
is "one that is there already is replaced" "$code $(answer '[.policies[].name]')" '0 ["even"]'
jq --slurpfile p <(jq -n '{apiVersion: "evenkeel.io/v1alpha1", kind: "TopologyPolicy",
    metadata: {name: "there"}, spec: {priority: 5, pods: {spread: [{topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway"}]}}}') '.items += $p' "$state" >"$work/with.json"
is "those of the cluster have their turn" \
    "$("$evenkeel" check policy "$work/even.yaml" --state "$work/with.json" -o json | jq -c '[.policies[0].shadowed.status, .others]')" \
    '["True",3]'
policy trial "{$zone, minDomains: 3}" "  mode: Audit" >"$work/trial.yaml"
asked "$work/trial.yaml"
is "Audit is checked as if it were enforced" "$code $(answer '[.policies[0].mode, .harmed]')" '3 ["Audit",1]'

policy binding "{$zone, minDomains: 2}" "  mode: Require" >"$work/binding.yaml"
asked "$work/binding.yaml"
is "one that binds denies who names too few zones" "$code $(answer '[.workloads[] | [.name, .harmed, .denial != ""]]')" \
    '3 [["db",true,true],["web",false,false]]'
like "... with the reason" "$(answer '.workloads[0].denial')" 'names 1 domains .*TooFewDomainsNamed'

# ---- every command has the same answer to whose policy it is ----

# A pod of this owner, with more labels and members of its spec, runs on node-a. Which policy has it
# by `check policy`, which one would change one like it, and is it scored by the policy's order?
rooms() { # API KIND NAME LABELS SPEC
    jq -n --arg api "$1" --arg kind "$2" --arg name "$3" --argjson labels "$4" --argjson spec "$5" '{apiVersion: "v1",
        kind: "Pod", metadata: {name: "p", namespace: "shop", labels: ({app: "a"} + $labels), ownerReferences:
        [{apiVersion: $api, kind: $kind, name: $name, uid: "u", controller: true}]}, spec: $spec}' >"$work/one.json"
    { node a; node b; space shop; jq '.spec.nodeName = "node-a"' "$work/one.json"; } |
        jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/rooms.json"
    printf '%s ' "$("$evenkeel" check policy "$work/order.yaml" --state "$work/rooms.json" -o json |
        jq -r '.workloads[0] | if . == null then "none" else .kind + "/" + .name + "=" + .policies.spread end')"
    printf '%s ' "$("$evenkeel" simulate --admit --state "$work/rooms.json" --policy "$work/order.yaml" \
        --pod "$work/one.json" -o json 2>/dev/null | jq -r 'if (.policy // "") == "" then "none" else .policy end')"
    [ "$("$evenkeel" simulate --state "$work/rooms.json" --policy "$work/order.yaml" --pod "$work/one.json" -o json 2>/dev/null |
        jq '.score."node-b".raw')" = "$("$evenkeel" simulate --state "$work/rooms.json" --pod "$work/one.json" -o json |
        jq '.score."node-b".raw')" ] && echo plain || echo ordered
}
order() { # [MATCH]
    policy order "{$zone}, {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}" |
        sed "s/DoNotSchedule/ScheduleAnyway/; s/match: {/&${1:-}/" >"$work/order.yaml"
}
web() { rooms apps/v1 ReplicaSet web-abc '{"pod-template-hash": "abc"}' '{}'; }
report() { rooms batch/v1 Job "$1" '{}' '{}'; }

order
is "a StatefulSet's pod" "$(rooms apps/v1 StatefulSet db '{}' '{}')" 'StatefulSet/db=order order ordered'
is "a pod that opted out" "$(rooms apps/v1 StatefulSet db '{"evenkeel.io/inject": "disabled"}' '{}')" 'none none plain'
is "a DaemonSet's pod" "$(rooms apps/v1 DaemonSet agent '{}' '{}')" 'none none plain'
# Scores do not depend on the scheduler: the one that asks gets an answer.
is "a pod of another scheduler" "$(rooms apps/v1 StatefulSet db '{}' '{"schedulerName": "other"}')" 'none none ordered'
order 'ownerKinds: [{group: apps, kind: Deployment}], '
is "ownerKinds Deployment is for pods of its ReplicaSets" "$(web)" 'Deployment/web=order order ordered'
is "topology names the same workload" "$("$evenkeel" topology --state "$work/rooms.json" -o json |
    jq -c '[.workloads[] | [.kind, .name]]')" '[["Deployment","web"]]'
is "... and not of Jobs" "$(report report-29300000)" 'none none plain'
order 'ownerKinds: [{group: batch, kind: CronJob}], '
is "ownerKinds CronJob is for pods of its Jobs" "$(report report-29300000)" 'CronJob/report=order order ordered'
is "... which topology takes together" "$("$evenkeel" topology --state "$work/rooms.json" -o json |
    jq -c '[.workloads[] | [.kind, .name]]')" '[["CronJob","report"]]'
is "... and not of other Jobs" "$(report report)" 'none none plain'
is "... nor of ReplicaSets" "$(web)" 'none none plain'
jq -n '{apiVersion: "batch/v1", kind: "CronJob", metadata: {name: "report", namespace: "shop"}, spec: {jobTemplate: {spec:
    {template: {metadata: {labels: {app: "a"}}, spec: {containers: [{name: "c"}]}}}}}}' >"$work/cron.json"
is "a CronJob in a file is one, too" "$("$evenkeel" simulate --admit --state "$work/rooms.json" --policy "$work/order.yaml" \
    --pod "$work/cron.json" -o json | jq -r .policy)" order

# ---- what is for Placements ----

fleet() { # NAME ITEMS [MORE-OF-SPEC]
    printf 'apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: %s}\n' "$1"
    printf 'spec:\n  placements: {spread: [%s]}\n%s\n' "$2" "${3:-}"
}
fleet fleet '{topologyKey: region, whenUnsatisfiable: DoNotSchedule, minDomains: 9}, {topologyKey: zone, topologyKeyType: Claim}' \
    >"$work/fleet.yaml"
asked "$work/fleet.yaml"
is "nodes have none of its keys, and need not" "$code $(answer '[.sound, .others, .workloads,
    (.policies[0] | .ready.reason, .effective.status, .effective.reason, .placements, .workloads, .pods)]')" \
    '3 [false,3,[],"InForce","Unknown","ClustersNotKnown","region, zone",0,0]'
is "what is not judged then" "$(answer .notJudged)" '"limits and capacity of volumes, devices, clusters of a fleet"'
code=0
text=$("$evenkeel" check policy "$work/fleet.yaml" --state "$state") || code=$?
like "... and what people read of it" "$code $text" \
    "^3 .*policy 'fleet' is not known to be effective: it is for Placements, by region, zone, and the state has no ManagedCluster.*\
not known to be sound: a policy is for nothing here\$"
is "... and nothing of workloads that it is not for" "$(grep -c -e 'for no workload' -e 'not effective' <<<"$text")" 0
cluster() { # NAME REGION CLAIM-ZONE
    jq -n --arg name "$1" --arg region "$2" --arg zone "$3" '{apiVersion: "cluster.open-cluster-management.io/v1",
        kind: "ManagedCluster", metadata: {name: $name, labels: {region: $region, cloud: "x"}}, status: {clusterClaims:
        [{name: "zone", value: $zone}]}}'
}
{ cluster c1 east a; cluster c2 east b; cluster c3 west c; } | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/hub.json"
beside() { # STATE: $code, and the effect of the policy $work/fleet.yaml
    code=0
    "$evenkeel" check policy "$work/fleet.yaml" --state "$1" -o json >"$work/answer" || code=$?
    printf '%s %s' "$code" "$(answer '[.verdict, .clusters, (.policies[0].effective | .status, .reason, .message)]')"
}
is "a hub needs no nodes; too few regions" "$(beside "$work/hub.json")" \
    "3 [\"NotSound\",3,\"False\",\"TooFewDomains\",\"3 clusters have 2 domains of the label 'region', and minDomains is 9\"]"
fleet fleet '{topologyKey: region}, {topologyKey: zone, topologyKeyType: Claim}' >"$work/fleet.yaml"
is "clusters have the keys" "$(beside "$work/hub.json")" "0 [\"Sound\",3,\"True\",\"ClustersSuit\",\"3 clusters: 3 of them have \
2 domains of the label 'region', 3 of them have 3 domains of the claim 'zone'; 0 of 0 Placements\"]"
like "... which people read, with what was looked at" "$("$evenkeel" check policy "$work/fleet.yaml" --state "$work/hub.json")" \
    'sound: 2 constraints beside 3 clusters of .*hub.json can be met$'
fleet fleet '{topologyKey: regoin}' >"$work/fleet.yaml"
is "a key that none has" "$(beside "$work/hub.json")" \
    "3 [\"NotSound\",3,\"False\",\"NoClusterHasKey\",\"none of 3 clusters has the label 'regoin'\"]"
fleet fleet '{topologyKey: zone}' >"$work/fleet.yaml"
is "a claim that is asked for as a label" "$(beside "$work/hub.json")" "3 [\"NotSound\",3,\"False\",\"NoClusterHasKey\",\
\"none of 3 clusters has the label 'zone', but 3 have it as a claim: write topologyKeyType: Claim\"]"
is "... is a finding, too" "$(answer '[.findings[] | [.code, .path, .remedy]]')" \
    '[["OtherKeyType","spec.placements.spread[0].topologyKey","Write topologyKeyType: Claim"]]'
fleet fleet '{topologyKey: cloud}' >"$work/fleet.yaml"
is "a key with one value" "$(beside "$work/hub.json")" "3 [\"NotSound\",3,\"False\",\"SingleDomain\",\
\"3 of 3 clusters have the label 'cloud', all with the value 'x': it spreads nothing\"]"
placed() { # NAME SPEC
    jq -n --arg name "$1" --argjson spec "$2" '{apiVersion: "cluster.open-cluster-management.io/v1beta1", kind: "Placement",
        metadata: {name: $name, namespace: "apps", labels: {app: $name}}, spec: $spec}'
}
jq --slurpfile p <({ placed web '{}'; placed own '{"spreadPolicy": {"spreadConstraints": [{"topologyKey": "zone", "topologyKeyType": "Label"}]}}'; }) \
    '.items += $p' "$work/hub.json" >"$work/placed.json"
fleet fleet '{topologyKey: region}' >"$work/fleet.yaml"
is "a Placement has the policy, one with terms of its own has not" "$(beside "$work/placed.json") $(answer '.policies[0].matchedPlacements')" \
    "0 [\"Sound\",3,\"True\",\"ClustersSuit\",\"3 clusters: 3 of them have 2 domains of the label 'region'; 1 of 2 Placements\"] 1"
fleet fleet '{topologyKey: region}' '  match: {objectSelector: {matchLabels: {app: own}}}' >"$work/fleet.yaml"
like "no Placement has it" "$(beside "$work/placed.json")" '^3 \["Unknown",3,"Unknown","NoPlacements","the policy is for none of 2 Placements'
fleet fleet '{topologyKey: region, whenUnsatisfiable: DoNotSchedule, minDomains: 9}, {topologyKey: zone, topologyKeyType: Claim}' \
    >"$work/fleet.yaml"
fleet both '{topologyKey: region}' "  pods: {spread: [{$zone}]}" >"$work/both.yaml"
asked "$work/both.yaml"
is "with pods, too, it is for workloads as well" "$code $(answer '[.sound, .others, (.policies[0] |
    .effective.reason, .placements, .workloads)]')" '0 [true,0,"NodesSuit","region",3]'
code=0
text=$("$evenkeel" check policy "$work/both.yaml" --state "$work/hub.json" 2>&1) || code=$?
like "... and then nodes are needed" "$code $text" '^1 .*no nodes'
fleet odd '{topologyKey: a b}' >"$work/odd.yaml"
asked "$work/odd.yaml"
is "a key that no cluster has" "$code $(answer '.policies[0].ready | [.reason, .message]')" \
    '3 ["CannotWork","spec.placements.spread[0]: '"'a b'"' is not a label key, so no cluster has it"]'
fleet first '{topologyKey: region}' '  priority: 1' >"$work/first.yaml"
asked "$work/fleet.yaml" --policy "$work/first.yaml"
is "an earlier one may leave it nothing" "$code $(answer '.policies[0].shadowed | [.status, .message]')" \
    "3 [\"True\",\"policy 'first' has its placements\"]"
fleet order '{topologyKey: region}' >"$work/order.yaml"
is "no pod has a policy that is for Placements" "$(web)" 'none none plain'

# ---- mistakes ----

fleet twice '{topologyKey: region}, {topologyKey: region}' >"$work/twice.yaml"
asked "$work/twice.yaml"
like "one key twice, of Placements" "$code $(cat "$work/err")" \
    "^1 .*twice.yaml.*spec\.placements\.spread: items 0 and 1 have the same topologyKey 'region' of type Label"
fleet typo '{topologyKey: region, topologyKeyType: Lable}' >"$work/misspelt.yaml"
asked "$work/misspelt.yaml"
like "a word that is nearly one" "$code $(cat "$work/err")" "^1 .*topologyKeyType: 'Lable': did you mean 'Label'"

{ policy good "{$zone}"; echo ---; policy bad "{$zone, maxSkew: 0}"; } >"$work/bad.yaml"
asked "$work/bad.yaml"
like "the file, the document and the field" "$code $(cat "$work/err")" \
    "^1 .*policy file '.*bad.yaml', document 2: .*spec\.pods\.spread\[0\]\.maxSkew"
asked nothing.yaml
like "no such file" "$code $(cat "$work/err")" "^1 .*nothing.yaml"
echo '{"kind": "List", "apiVersion": "v1", "items": []}' >"$work/list.yaml"
asked "$work/list.yaml"
like "no policy at all is not sound" "$code $(cat "$work/err")" '^1 .*there is no TopologyPolicy in the files to check'
jq '.items |= map(select(.kind != "Node"))' "$state" >"$work/none.json"
code=0
text=$("$evenkeel" check policy "$work/even.yaml" --state "$work/none.json" 2>&1) || code=$?
like "a cluster without nodes tells nothing" "$code $text" '^1 .*no nodes'
code=0
text=$("$evenkeel" check policy "$work/even.yaml" 2>&1) || code=$?
like "no cluster" "$code $text" '^2 .*--state'
code=0
text=$("$evenkeel" check policy --state "$state" 2>&1) || code=$?
like "no policy" "$code $text" '^2 .*which FILE'

finish_tests
