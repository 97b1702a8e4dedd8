#!/usr/bin/env bash
# Files of objects as people have them: merge keys and tags of YAML, as kubectl's reader takes them.
. "$(dirname "$0")/lib.sh"

cat >"$work/state.yaml" <<'END'
apiVersion: v1
kind: List
items:
- &node
  apiVersion: v1
  kind: Node
  metadata: &meta {name: n1, labels: {zone: a}}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}
- <<: *node
  metadata: {<<: *meta, name: n2}
END
cat >"$work/pod.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: web}
x-defaults: &small {resources: {requests: {cpu: 3}}}
spec:
  nodeSelector: !Labels {zone: !Value a}
  containers:
  - <<: [*small, {name: never, image: i}]
    name: web
END
ask() { "$evenkeel" simulate --state "$work/state.yaml" --pod "$work/pod.yaml" -o json "$@"; }
is "merge keys in a state and a pod; tags" "$(ask | jq -c '.filter | map_values(.verdict)')" '{"n1":"Pass","n2":"Pass"}'
is "... whose requests count" "$(ask --replicas 3 | jq .pending)" 1
sed 's/\*small, /*none, /' "$work/pod.yaml" >"$work/bad.yaml"
like "an alias of nothing" "$("$evenkeel" simulate --state "$work/state.yaml" --pod "$work/bad.yaml" 2>&1 || true)" \
    "line 8, column 10: no value has the anchor '&none'"
sed 's/<<: \[.*/<<: 7/' "$work/pod.yaml" >"$work/bad.yaml"
like "a number to merge" "$("$evenkeel" simulate --state "$work/state.yaml" --pod "$work/bad.yaml" 2>&1 || true)" \
    "line 8, column 9: a merge key '<<' needs a map, or a list of maps"

# ---- files that are something else ----

said() { # OPTION FILE-TEXT
    printf '%s\n' "$2" >"$work/other"
    "$evenkeel" simulate --state "$work/state.yaml" "$1" "$work/other" 2>&1 || true
}
like "a PlacementRule" "$(said --placement '{"apiVersion": "apps.open-cluster-management.io/v1", "kind": "PlacementRule"}')" \
    "kind is 'PlacementRule', which Placement has replaced: write a Placement"
like "no kind" "$(said --pod '{"a": 1}')" "it has no kind; expected one Pod, or a workload with spec.template$"
like "JSON with a comment" "$(said --pod '{"apiVersion": "v1", /* core */ "kind": "Pod"}')" \
    "it has no kind; .*; JSON has no comments: leave out '//' and '/\*'"
placement='{"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "Placement", "metadata": {"name": "p"}}'
is "an old Placement" "$(said --placement "$placement" >/dev/null; "$evenkeel" simulate --state "$work/state.yaml" \
    --placement "$work/other" -o json | jq -c '[.findings[] | [.code, .path, .remedy]]')" \
    '[["OldVersion","apiVersion","Write cluster.open-cluster-management.io/v1beta1"]]'

# ---- several objects in a file ----

deployment() { # NAME REPLICAS
    printf -- '---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: shop}\n' "$1"
    printf 'spec: {replicas: %s, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}}}\n' "$2"
}
{ printf 'kind: Service\n'; deployment web 2; deployment api 3; } >"$work/many.yaml"
many() { "$evenkeel" simulate --state "$work/state.yaml" --pod "$work/many.yaml" "$@"; }
is "each workload, as if it were alone" "$(many -o json | jq -c '.answers[] | [.subject, .pending]')" \
    '["shop/Deployment/web",0]
["shop/Deployment/api",1]'
like "... for people, with a heading each" "$(many)" '^shop/Deployment/web:.*2 placed, 0 Pending.*shop/Deployment/api:.*2 placed, 1 Pending'
for name in api shop/api deployment/api shop/Deployment/api; do
    is "... or $name" "$(many --name $name -o json | jq -c '[.subject, .pending]')" '[null,1]'
done
code=0
many --strict >/dev/null || code=$?
is "... with the worst exit code" "$code" 3
like "no such name" "$(many --name nobody 2>&1 || true)" "no Pod or workload is named 'nobody'; it has shop/Deployment/web and others"
is "... admitted" "$(many --admit -o json | jq -c '[.answers[] | [.subject, .allowed]]')" '[["shop/Deployment/web",true],["shop/Deployment/api",true]]'
sed 's/replicas: 3/replicas: -3/' "$work/many.yaml" >"$work/bad.yaml"
code=0
out=$("$evenkeel" simulate --state "$work/state.yaml" --pod "$work/bad.yaml" 2>&1) || code=$?
like "one that cannot be read, with its line" "$code $out" '^1 evenkeel simulate: pod file .*spec.replicas .*, at line 8$'
for ((i = 0; i < 257; i++)); do deployment "w$i" 1; done >"$work/most.yaml"
like "too many" "$("$evenkeel" simulate --state "$work/state.yaml" --pod "$work/most.yaml" 2>&1 || true)" '257 objects, and at most 256 are answered; pick some with --name'
like "a name without a file" "$("$evenkeel" simulate --state "$work/state.yaml" --without zone=a --name x 2>&1 || true)" 'give --pod FILE'

fleet=docs/examples/fleet
{ cat $fleet/web.yaml; echo ---; sed 's/name: web/name: api/' $fleet/web.yaml; } >"$work/placements.yaml"
placements() { "$evenkeel" simulate --placement "$work/placements.yaml" "$@"; }
alone=$("$evenkeel" simulate --state $fleet/hub.yaml --placement $fleet/web.yaml --now 2026-01-02T03:04:05Z -o json)
is "several Placements" "$(placements --state $fleet/hub.yaml --now 2026-01-02T03:04:05Z -o json | jq -c '.answers | [.[].placement], (.[0] | del(.subject))')" \
    "[\"shop/web\",\"shop/api\"]
$(jq -c . <<<"$alone")"
is "... or one" "$(placements --state $fleet/hub.yaml --name api -o json | jq -r .placement)" shop/api
is "... admitted" "$(placements --admit -o json | jq -c '[.answers[] | .allowed]')" '[true,true]'
like "... beside one that is stored" "$(placements --admit --previous $fleet/web.yaml 2>&1 || true)" 'pick it with --name'
binding=$fleet/binding.yaml
{ cat $binding; echo ---; sed 's/name: web-deployment/name: api-deployment/' $binding; } >"$work/bindings.yaml"
is "one of several bindings" "$("$evenkeel" simulate --state $fleet/karmada.yaml --binding "$work/bindings.yaml" --name resourcebinding/api-deployment -o json | jq -r .binding)" \
    shop/api-deployment
like "... or none" "$("$evenkeel" simulate --state $fleet/karmada.yaml --binding "$work/bindings.yaml" --name x 2>&1 || true)" "no binding is named 'x'"
is "one of several workloads of a policy" "$("$evenkeel" simulate --state $fleet/karmada.yaml --propagation-policy $fleet/propagation-policy.yaml \
    --workload <(cat $fleet/deployment.yaml <(echo ---) "$work/many.yaml") --name shop/deployment/web -o json | jq -c '.answers | length')" 2
finish_tests
