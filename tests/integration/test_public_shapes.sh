#!/usr/bin/env bash
# No false alarm: Placements and PropagationPolicies in the shapes that public collections have give no finding.
. "$(dirname "$0")/lib.sh"

# ---- Placements: public/placements.yaml, beside a fleet with the labels and claims that they name ----

cluster() { # name set labels platform region
    jq -nc --arg name "$1" --arg set "$2" --argjson labels "$3" --arg platform "$4" --arg region "$5" '{
        apiVersion: "cluster.open-cluster-management.io/v1", kind: "ManagedCluster",
        metadata: {name: $name, labels: ($labels + {"cluster.open-cluster-management.io/clusterset": $set})},
        spec: {hubAcceptsClient: true},
        status: {allocatable: {cpu: "16", memory: "64Gi"}, capacity: {cpu: "16", memory: "64Gi"}, clusterClaims: [
            {name: "platform.open-cluster-management.io", value: $platform},
            {name: "region.open-cluster-management.io", value: $region},
            {name: "kubeversion.open-cluster-management.io", value: "v1.33.1"}]}},
        {apiVersion: "cluster.open-cluster-management.io/v1alpha1", kind: "AddOnPlacementScore",
        metadata: {name: "usage", namespace: $name}, status: {scores: [{name: "cpuAvailable", value: 50}]}}'
}
{
    jq -nc '"prod", "lab" | {apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSet",
            metadata: {name: .}, spec: {clusterSelector: {selectorType: "ExclusiveClusterSetLabel"}}},
        {apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSetBinding",
            metadata: {name: ., namespace: "apps"}, spec: {clusterSet: .}}'
    cluster e1 prod '{"environment":"prod","vendor":"OpenShift","side":"east","delivery":"on",
        "feature.open-cluster-management.io/addon-tunnel":"available"}' AWS us-east-1
    cluster e2 prod '{"environment":"prod","vendor":"EKS","side":"east","canary":"yes"}' AWS us-east-1
    cluster w1 prod '{"environment":"prod","vendor":"OpenShift","side":"west"}' Azure eu-west-1
    cluster d1 lab '{"environment":"dev","vendor":"Other","team":"data"}' AWS eu-west-1
    cluster hub lab '{"environment":"dev","vendor":"OpenShift","local-cluster":"true"}' Azure us-east-1
} | jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/fleet.json"
placements() { # file
    "$evenkeel" simulate --state "$work/fleet.json" --placement "$1" -o json |
        jq -r '"\(.answers | length) answers", (.answers[] | .subject as $s | .findings[] | "\($s): \(.code) \(.path)")'
}
is "Placements" "$(placements tests/integration/public/placements.yaml)" '25 answers'
sed 's/claimSelector:/claimsSelector:/; s/operator: Exists}/operator: exists}/' tests/integration/public/placements.yaml >"$work/wrong.yaml"
is "... with planted mistakes in every fourth" "$(placements "$work/wrong.yaml" | sed -n 's/.*: //p' | sort | uniq -c | awk '{ print $2 }' |
    sort -u | paste -s -d ' ')" 'Invalid UnknownField'

# ---- PropagationPolicies: public/propagation_policies.yaml, each with a workload that it selects ----

workload() { # kind version name
    jq -nc --arg kind "$1" --arg version "$2" --arg name "$3" '{apiVersion: $version, $kind,
        metadata: {$name, namespace: "shop", labels: {app: $name}}, spec: {
            selector: {matchLabels: {app: $name}}, template: {metadata: {labels: {app: $name}},
                spec: {containers: [{name: "c", image: "registry.example.com/c:1"}]}}}} |
        if $kind == "Job" then del(.spec.selector) | .spec.parallelism = 2 |
            .spec.template.spec.restartPolicy = "Never" else .spec.replicas = 4 end' >"$work/$1.json"
}
workload Deployment apps/v1 web
workload StatefulSet apps/v1 store
workload Job batch/v1 report
policies() { # file
    local file kind
    rm -f "$work"/policy-*
    awk -v name="$work/policy-" 'BEGIN { n = 101 } /^---/ { n++; next } { print >(name n ".yaml") }' "$1"
    for file in "$work"/policy-*; do
        kind=$(sed -nE 's/.*kind: (Deployment|StatefulSet|Job).*/\1/p' "$file")
        "$evenkeel" simulate --state docs/examples/fleet/karmada.yaml --propagation-policy "$file" \
            --workload "$work/$kind.json" -o json |
            jq -r '"\(.madeBinding != null)", (.findings[] | "\(.code) \(.path)")'
    done | sort | uniq -c | sed 's/^ *//'
}
is "PropagationPolicies" "$(policies tests/integration/public/propagation_policies.yaml)" '25 true'
sed 's/clusterNames:/clusterName:/' tests/integration/public/propagation_policies.yaml >"$work/wrong.yaml"
like "... with a planted mistake" "$(policies "$work/wrong.yaml")" 'UnknownField spec\.placement\.'
finish_tests
