#!/usr/bin/env bash
# How Karmada would schedule a binding: `evenkeel simulate --binding`.
. "$(dirname "$0")/lib.sh"

fleet=docs/examples/fleet
now=2026-01-02T03:04:05Z
ask() { "$evenkeel" simulate --state $fleet/karmada.yaml --now $now "$@"; }
refused() { # STATUS WORDS OPTION...
    local code=0 out
    out=$("$evenkeel" simulate "${@:3}" 2>&1) || code=$?
    echo "$code: $out"
    [ "$code" = "$1" ] && [[ $out == *"$2"* ]]
}

# ---- the example ----

ask --binding $fleet/binding.yaml -o json >"$work/answer"
# By hand: m3 has the workload and scores 100, so P1's best region is R2; P2 has one cluster that passes. 6 replicas are new, and
# divided by what is free, 6 and 7: m3 gets 3 more, m4 3.
is "two providers, two regions, by score" "$(jq -c '[.selected, .proven, .clusters]' "$work/answer")" \
    '[["m3","m4"],true,[{"name":"m3","replicas":7},{"name":"m4","replicas":3}]]'
is "... why the others are not" "$(jq -c '[.filter.m1.verdict, .filter.m5, .filter.m6.verdict]' "$work/answer")" \
    '["Pass",{"verdict":"TaintToleration","reason":"cluster(s) had untolerated taint {cluster.karmada.io/not-ready:NoSchedule}"},"ClusterAffinity"]'
is "... scores of those that pass" "$(jq -c '[(.scores | keys), .scores.m3]' "$work/answer")" \
    '[["m1","m2","m3","m4"],{"ClusterLocality":100,"total":100}]'
is "... room, with what runs there" "$(jq -c .available.m3 "$work/answer")" \
    '{"summary":6,"models":null,"accurate":null,"allocatable":6,"available":10}'
is "... groups, best first" "$(jq -c '[.groups.region[] | [.name, .path, .score, .available, .clusters]]' "$work/answer")" \
    '[["P1/R2",["P1","R2"],100,10,["m3"]],["P1/R1",["P1","R1"],0,18,["m1","m2"]],["P2/R3",["P2","R3"],0,7,["m4"]]]'
is "... why it would be scheduled, and by which term" "$(jq -c '[.binding, .trigger, .affinity, .errorKind, .error, .warnings]' "$work/answer")" \
    '["shop/web-deployment","PlacementChanged","","","",[]]'
is "... what would be written" "$(jq -c '[.patch.spec, (.patch.metadata.annotations | keys), .status.status.lastScheduledTime,
    .status.status.schedulerObservedGeneration, .status.status.conditions[0].reason]' "$work/answer")" \
    '[{"clusters":[{"name":"m3","replicas":7},{"name":"m4","replicas":3}]},["policy.karmada.io/applied-placement"],"2026-01-02T03:04:05Z",3,"Success"]'
is "the annotation is the placement" \
    "$(jq -c '.patch.metadata.annotations["policy.karmada.io/applied-placement"] | fromjson | [.spreadConstraints[0], .replicaScheduling.replicaDivisionPreference]' "$work/answer")" \
    '[{"spreadByField":"provider","maxGroups":2,"minGroups":2},"Weighted"]'
table=$(ask --binding $fleet/binding.yaml)
like "the table has replicas, room, reasons and groups" "$table" 'm3 +7 +6 +100 +selected.*TaintToleration: cluster.*region +P1/R2'

# ---- other bindings ----

example_json='{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"b","namespace":"n"},"spec":{"resource":{
    "apiVersion":"apps/v1","kind":"Deployment","name":"w","uid":"u"},"replicas":4,"replicaRequirements":{"resourceRequest":{"cpu":"1"}},
    "placement":{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"}}}}'
change() { jq "$1" <<<"$example_json" >"$work/binding.json"; } # JQ
answer() { ask --binding "$work/binding.json" -o json "$@"; }

change .
is "no constraint: aggregated in the largest" "$(answer | jq -c .clusters)" '[{"name":"m6","replicas":4}]'
change '.spec.replicas = 100'
is "more than fits" "$(answer | jq -c '[.errorKind, .error, .patch, .status.status.conditions[0].reason, (.selected | length)]')" \
    '["UnschedulableError","failed to assign replicas: failed to scale up: Clusters available replicas 47 are not enough to schedule.",{},"Unschedulable",5]'
change '.spec.resource.kind = "Job" | .spec.clusters = [{"name": "gone", "replicas": 1}]'
is "nobody serves the API" "$(answer | jq -c '[.errorKind, .error, .patch.spec, .status.status.conditions[0].reason]')" \
    '["FitError","0/6 clusters are available: 6 cluster(s) did not have the API resource.",{"clusters":null},"NoClusterFit"]'
change '.spec.placement.clusterAffinities = [{affinityName: "g1", clusterNames: ["m9"]}, {affinityName: "g2", clusterNames: ["m4"]}]'
is "terms in order" "$(answer | jq -c '[.affinity, .clusters, .status.status.schedulerObservingAffinityName]')" \
    '["g2",[{"name":"m4","replicas":4}],"g2"]'
change '.kind = "ClusterResourceBinding" | .spec.suspension = {scheduling: true}'
is "a cluster-wide one, suspended" "$(answer | jq -c '[.binding, (.warnings | length)]')" '["b",1]'
change '.spec.placement = {spreadConstraints: [{spreadByField: "region", minGroups: 5, maxGroups: 5}]}'
is "too few regions" "$(answer | jq -c '[.errorKind, .error, (.groups.region | length)]')" \
    '["error","failed to select clusters: no region combination satisfies the spread constraints",4]'
is "... as Karmada says it" "$(answer --karmada-compat v1.18.1 | jq -r .error)" \
    'failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups'
change '.spec.placement.replicaScheduling = {replicaSchedulingType: "Duplicated"} | .spec.replicas = 9'
is "settings count: a plugin of ours" "$(answer --karmada-plugin '*' --karmada-plugin Capacity | jq -c '[.clusters[].name]')" '["m1","m6"]'

# ---- what is refused ----

change '.spec.replicas = -1'
check "a negative number, by path" refused 1 "binding file '$work/binding.json': ResourceBinding.spec.replicas: -1" \
    --state $fleet/karmada.yaml --binding "$work/binding.json"
change '.spec.replicaRequirements.resourceRequest.cpu = "1x"'
check "a quantity that cannot be read" refused 1 "ResourceBinding.spec.replicaRequirements.resourceRequest.cpu" \
    --state $fleet/karmada.yaml --binding "$work/binding.json"
change '.kind = "Placement"'
check "another kind" refused 1 "kind is 'Placement'; expected ResourceBinding or ClusterResourceBinding" \
    --state $fleet/karmada.yaml --binding "$work/binding.json"
change 'del(.metadata.name)'
check "a policy, with the way on" refused 1 "Give it with --propagation-policy, and the workload with --workload" \
    --state $fleet/karmada.yaml --binding $fleet/propagation-policy.yaml
printf 'kind: ConfigMap\n---\nkind: Secret\n' >"$work/none.yaml"
check "several objects, and no binding" refused 1 "2 documents, and none of them is a binding" \
    --state $fleet/karmada.yaml --binding "$work/none.yaml"
check "no name" refused 1 "metadata.name is required" --state $fleet/karmada.yaml --binding "$work/binding.json"
sed 's/replicas: 10/replicas: [/' $fleet/binding.yaml >"$work/broken.yaml"
check "a file that is no YAML" refused 1 "binding file '$work/broken.yaml': line" --state $fleet/karmada.yaml --binding "$work/broken.yaml"
sed 's/cpu: "16"/cpu: 16x/' $fleet/karmada.yaml >"$work/state.yaml"
check "a cluster that cannot be read" refused 1 "status.resourceSummary.allocatable.cpu" \
    --state "$work/state.yaml" --binding $fleet/binding.yaml
check "no state" refused 2 'no state; give --state' --binding $fleet/binding.yaml
check "an API server" refused 2 'give --state' --kubeconfig "$work/none" --binding $fleet/binding.yaml
check "beside a pod" refused 2 'leave out --pod' --state $fleet/karmada.yaml --binding $fleet/binding.yaml --pod x
check "beside a Placement" refused 2 'leave out --binding, --propagation-policy and --workload' --state $fleet/karmada.yaml --binding $fleet/binding.yaml --placement x
check "with rounds" refused 2 'leave out --previous and --rounds' --state $fleet/karmada.yaml --binding $fleet/binding.yaml --rounds

is "a plugin that has nothing to go by says so" \
    "$(ask --binding $fleet/binding.yaml -o json --karmada-plugin "*" --karmada-plugin DataLocality | jq -c '[.warnings[] | contains("DataLocality: nothing is known")]')" '[true]'

# ---- a member's own nodes ----

# Two nodes of 4 cores, with a pod of 3 on the first, one that waits and one that has ended: 1 + 4 replicas of a core.
jq -n '{apiVersion: "v1", kind: "List", items: [
    (("n1", "n2") | {apiVersion: "v1", kind: "Node", metadata: {name: .}, status: {allocatable: {cpu: "4", memory: "64Gi", pods: "110"}}}),
    ({n1: "Running", "": "Pending", n2: "Succeeded"} | to_entries[] | {apiVersion: "v1", kind: "Pod", metadata: {name: "p\(.value)", namespace: "d"},
        spec: {nodeName: .key, containers: [{name: "c", resources: {requests: {cpu: "3"}}}]}, status: {phase: .value}})]}' >"$work/member.json"
with_member() { "$evenkeel" simulate --binding $fleet/binding.yaml --state $fleet/karmada.yaml --state "$work/member.json" -o json "$@"; }
is "the accurate estimate of one member" "$(with_member --member m3 | jq -c '[.available.m3, .available.m4 | [.accurate, .allocatable]]')" '[[5,5],[null,7]]'
is "... which is not asked without its name" "$(with_member | jq -c '.available.m3.accurate')" null
like "no such member" "$(with_member --member m33 2>&1)" "there is no cluster 'm33'"
jq '.items[0].status.allocatable.cpu = "4x"' "$work/member.json" >"$work/wrong.json"
like "a node that cannot be read" \
    "$("$evenkeel" simulate --binding $fleet/binding.yaml --state $fleet/karmada.yaml --state "$work/wrong.json" --member m3 2>&1)" 'allocatable.cpu'
jq 'del(.items[0].metadata.name)' "$work/member.json" >"$work/wrong.json"
like "... or has no name, with its file" \
    "$("$evenkeel" simulate --binding $fleet/binding.yaml --state $fleet/karmada.yaml --state "$work/wrong.json" --member m3 2>&1)" "wrong.json.*metadata.name is required"
check "a member beside a Placement" refused 2 'leave out --member' --state $fleet/hub.yaml --placement $fleet/web.yaml --member m3

# ---- several bindings ----

# 10 cores each: by the summary, by models of two nodes of 5 cores, and by the nodes of m3.
small='{apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: {name: "m1"}, spec: {syncMode: "Push"}, status: {
    apiEnablements: [{groupVersion: "apps/v1", resources: [{kind: "Deployment"}]}],
    resourceSummary: {allocatable: {cpu: "10", memory: "64Gi", pods: "110"}}}}'
jq -n "{apiVersion: \"v1\", kind: \"List\", items: [$small,
    ($small | .metadata.name = \"m2\" | .spec.resourceModels = [{grade: 0, ranges: [{name: \"cpu\", min: \"5\", max: \"6\"}]}]
        | .status.resourceSummary.allocatableModelings = [{grade: 0, count: 2}]),
    ($small | .metadata.name = \"m3\")]}" >"$work/small.json"
jq -n '{apiVersion: "v1", kind: "List", items: [("n1", "n2") | {apiVersion: "v1", kind: "Node", metadata: {name: .},
    status: {allocatable: {cpu: "5", memory: "64Gi", pods: "110"}}}]}' >"$work/m3.json"
# Two replicas of 2 cores for each cluster, of which one is there already in m1.
one_of() { # NAME
    jq --arg n "$1" '.metadata.name = $n | .spec.replicas = 2 | .spec.replicaRequirements.resourceRequest.cpu = "2"
        | .spec.placement = {} | .spec.clusters = (if $n == "a" then [{name: "m1", replicas: 1}] else null end)' <<<"$example_json"
}
one_of a >"$work/a.json"
{ one_of b; one_of c; } | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/b.json"
several() { "$evenkeel" simulate --state "$work/small.json" --state "$work/m3.json" --member m3 --now $now "$@"; }
several --binding "$work/a.json" --binding "$work/b.json" -o json >"$work/answer"
is "several bindings, in their order" "$(jq -c '[keys, [.answers[] | .binding]]' "$work/answer")" '[["answers"],["n/a","n/b","n/c"]]'
is "... each as of itself" "$(jq -c '[.answers[] | [(.clusters | length), .findings]] | unique' "$work/answer")" '[[3,[]]]'
# m1 has 5, then one less by a, and two less by b; each node of m2 and m3 holds 2, so 4, 2 and none.
is "... beside those before" "$(jq -c '[.answers[].available | [.m1.summary, .m2.models, .m3.accurate]]' "$work/answer")" '[[5,4,4],[4,2,2],[2,0,0]]'
like "... for people" "$(several --binding "$work/a.json" --binding "$work/b.json")" 'n/a: 3 of 3.*m1 +2 +5.*n/b: 3 of 3.*m1 +2 +4.*n/c: 3 of 3.*m1 +2 +2 '
is "one has no list" "$(several --binding "$work/a.json" -o json | jq -r .binding)" n/a

# ---- a policy and a workload ----

policy=(--propagation-policy "$fleet/propagation-policy.yaml")
ask "${policy[@]}" --workload $fleet/deployment.yaml -o json >"$work/answer"
is "the binding that Karmada would make" "$(jq -c '.madeBinding | [.kind, .metadata.namespace, .metadata.name, .spec.replicas, .spec.replicaRequirements]' "$work/answer")" \
    '["ResourceBinding","shop","web-deployment",10,{"resourceRequest":{"cpu":"1","memory":"2Gi"}}]'
jq .madeBinding "$work/answer" >"$work/made.json"
is "... is answered as it would be" "$(jq -c 'del(.madeBinding)' "$work/answer")" "$(ask --binding "$work/made.json" -o json | jq -c .)"
sed 's/name: web$/name: api/' $fleet/deployment.yaml >"$work/api.yaml"
is "a policy that does not select" "$(ask "${policy[@]}" --workload "$work/api.yaml" -o json | jq -c '[.madeBinding, .findings[0].code, .findings[0].path]')" \
    '[null,"PassedOver","spec.resourceSelectors[0].name"]'
like "... for people" "$(ask "${policy[@]}" --workload "$work/api.yaml")" "Karmada makes no binding.*note: spec.resourceSelectors.*Write name: api"
code=0
ask "${policy[@]}" --workload "$work/api.yaml" --strict >/dev/null || code=$?
is "... with --strict" "$code" 3
cat "$work/api.yaml" <(echo ---) $fleet/propagation-policy.yaml <(echo ---) $fleet/deployment.yaml >"$work/all.yaml"
is "files with everything" "$(ask --propagation-policy "$work/all.yaml" --workload "$work/all.yaml" -o json | jq -c '[.answers[].madeBinding.metadata.name]')" \
    '[null,"web-deployment"]'
sed 's/spreadConstraints:/tolerance: 1\n    spreadConstraints:/' $fleet/propagation-policy.yaml >"$work/odd.yaml"
is "an unknown member of the policy" "$(ask --propagation-policy "$work/odd.yaml" --workload $fleet/deployment.yaml -o json | jq -c '[.findings[] | [.code, .path]]')" \
    '[["UnknownField","spec.placement.tolerance"]]'
sed 's/kind: Deployment/kind: DaemonSet/' $fleet/propagation-policy.yaml >"$work/p.yaml"
sed 's/kind: Deployment/kind: DaemonSet/' $fleet/deployment.yaml >"$work/d.yaml"
is "a kind whose replicas Karmada does not read" "$(ask --propagation-policy "$work/p.yaml" --workload "$work/d.yaml" -o json | jq -c '[.madeBinding.spec.replicas, (.findings[] | [.code, .path])]')" \
    '[null,["PassedOver","spec.placement.replicaScheduling"]]'
sed 's/replicas: 10/replicas: -1/' $fleet/deployment.yaml >"$work/d.yaml"
check "a workload that cannot be read" refused 1 "workload file '$work/d.yaml': workload.spec.replicas" --state $fleet/karmada.yaml "${policy[@]}" --workload "$work/d.yaml"
sed 's/minGroups: 2/minGroups: -2/' $fleet/propagation-policy.yaml >"$work/p.yaml"
check "a policy that cannot be read" refused 1 "policy file '$work/p.yaml': PropagationPolicy.spec.placement.spreadConstraints" \
    --state $fleet/karmada.yaml --propagation-policy "$work/p.yaml" --workload $fleet/deployment.yaml
class='{apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: {name: "g"}, spec: {}}'
jq -n "$class" >"$work/gateway.json"
jq -n "{apiVersion: \"policy.karmada.io/v1alpha1\", kind: \"ClusterPropagationPolicy\", metadata: {name: \"p\"},
    spec: {resourceSelectors: [$class | {apiVersion, kind}], placement: {}}}" >"$work/cluster-policy.json"
is "a kind of unknown scope, without a namespace" "$(ask --propagation-policy "$work/cluster-policy.json" --workload "$work/gateway.json" -o json |
    jq -c '[.madeBinding.kind, (.findings[] | [.code, .message])]')" \
    '["ClusterResourceBinding",["PassedOver","the workload is taken for cluster-scoped: it has no namespace, and only the API server knows the scope of gateway.networking.k8s.io/v1 Gateway"]]'
jq '.metadata.namespace = "d"' "$work/gateway.json" >"$work/d.json"
is "... with a namespace" "$(ask --propagation-policy "$work/cluster-policy.json" --workload "$work/d.json" -o json | jq -c '[.madeBinding.kind, .findings]')" \
    '["ResourceBinding",[]]'
jq '.kind = "PropagationPolicy"' "$work/cluster-policy.json" >"$work/p.json"
like "... and a policy of a namespace" "$(ask --propagation-policy "$work/p.json" --workload "$work/gateway.json")" \
    'does not select cluster-scoped objects.*or write metadata.namespace'
check "a policy without a workload" refused 2 'give --workload' --state $fleet/karmada.yaml "${policy[@]}"
check "a workload beside a binding" refused 2 'leave out --workload' --state $fleet/karmada.yaml --binding $fleet/binding.yaml --workload $fleet/deployment.yaml
check "a policy beside a binding" refused 2 'leave out --binding' --state $fleet/karmada.yaml --binding $fleet/binding.yaml "${policy[@]}" --workload x

# ---- over HTTP ----

start_server --state docs/examples/fleet/karmada.yaml --fleet-clusters --shutdown-delay 0s
post() { # VERB: the body from standard input
    curl --silent --cacert "$certs/ca.crt" --write-out '\n%{http_code}\n' \
        --header 'Content-Type: application/json' --data-binary @- "https://$extender/clusters/v1/$1"
}
"$evenkeel" simulate --binding docs/examples/fleet/binding.yaml --state docs/examples/fleet/karmada.yaml -o json >"$work/whole"
asked=$(jq -n '{apiVersion: "work.karmada.io/v1alpha2", kind: "ResourceBinding", metadata: {name: "web-deployment", namespace: "shop", generation: 3},
    spec: {resource: {apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web", uid: "5f0f1b3a-8f4e-4b64-9e0a-1d7f3c2b9a10"},
        replicas: 10, replicaRequirements: {resourceRequest: {cpu: "1", memory: "2Gi"}}, clusters: [{name: "m3", replicas: 4}],
        placement: {clusterAffinity: {labelSelector: {matchLabels: {stage: "prod"}}},
            spreadConstraints: [{spreadByField: "provider", minGroups: 2, maxGroups: 2}, {spreadByField: "region", minGroups: 2, maxGroups: 2},
                {spreadByField: "cluster", minGroups: 2, maxGroups: 3}],
            replicaScheduling: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted", weightPreference: {dynamicWeight: "AvailableReplicas"}}}}}')
body() { jq -nc --argjson binding "$asked" "{binding: \$binding} $1"; }
is "select is what is simulated, without a plan" "$(body '' | post select | head -n 1 | jq -cS .)" \
    "$(jq -cS 'del(.clusters, .patch, .status, .findings)' "$work/whole")"
is "assign is its plan" "$(body '' | post assign | paste -s -d ' ')" "$(jq -c '{clusters, errorKind, error}' "$work/whole") 200"
is "filter: each is in one of both" "$(body '' | post filter | head -n 1 | jq -c '[.clusterNames, (.failedClusters | keys), .error]')" \
    '[["m1","m2","m3","m4"],["m5","m6"],""]'
is "prioritize: best first" "$(body '' | post prioritize | head -n 1 | jq -c '[.scores[0, 1] | [.cluster, .score, .by.ClusterLocality]]')" \
    '[["m3",100,100],["m1",0,0]]'
is "estimate: what is free" "$(body '' | post estimate | head -n 1 | jq -c '[.replicas, (.by | keys), .error]')" \
    "$(jq -c '[(.available | map_values(.allocatable)), ["accurate","models","summary"], ""]' "$work/whole")"
is "only these clusters, each once" "$(body '+ {clusterNames: ["m3", "m4", "m4", "nobody"]}' | post select | head -n 1 | jq -c '[.selected, (.filter | keys)]')" \
    '[["m3","m4"],["m3","m4"]]'
lone=$(jq -n '{apiVersion: "v1", kind: "List", items: [{apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: {name: "lone"}}]}')
is "a state in the place of what is known, where nothing fits" "$(body "+ {state: $lone}" | post assign | paste -s -d ' ')" \
    '{"clusters":[],"errorKind":"FitError","error":"0/1 clusters are available: 1 cluster(s) did not have the API resource."} 200'
like "... told by filter, too" "$(body "+ {state: $lone}" | post filter | head -n 1)" '"failedClusters":\{"lone":".*"\}'
like "something else" "$(body '| .binding.kind = "Pod"' | post select | paste -s -d ' ')" 'question.binding.*ResourceBinding.* 400$'
like "a negative number, by path" "$(body '| .binding.spec.replicas = -1' | post assign | paste -s -d ' ')" 'question.binding.spec.replicas.* 400$'
like "both" "$(body '+ {placement: {apiVersion: "cluster.open-cluster-management.io/v1beta1", kind: "Placement", metadata: {name: "p"}}}' | post select | paste -s -d ' ')" \
    'leave out one.* 400$'
stop_server INT
start_server --state docs/examples/fleet/karmada.yaml --fleet-clusters --karmada-plugin '*' --karmada-plugin -TaintToleration --shutdown-delay 0s
is "settings count" "$(body '' | post filter | head -n 1 | jq -c .clusterNames)" '["m1","m2","m3","m4","m5"]'
stop_server INT
start_server --state $example/state.json --shutdown-delay 0s
like "nothing is known of Karmada" "$(body '' | post select | paste -s -d ' ')" 'no cluster of Karmada is known here.* 200$'
finish_tests
