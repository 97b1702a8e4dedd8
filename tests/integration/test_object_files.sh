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
finish_tests
