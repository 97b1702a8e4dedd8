#!/bin/bash
# Asks this daemon and that of another commit random questions, and compares the answers byte by byte:
#
#   tests/bench/same.sh COMMIT [QUESTIONS [SEED]]
#
# QUESTIONS (100,000) are asked of the extender without reservations and with them, and both again under
# rules of ordered spread; a fifth as many reviews are sent to the webhook that changes pods, and as many
# to the one that denies some, under policies and beside Fluid's objects. EVENKEEL is this daemon;
# against.sh says where that one is built. Exits with 1 at a difference, and with 2 when there is nothing
# to compare with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

evenkeel=${EVENKEEL:-build/evenkeel}
programs=build/bench
work=build/same # removed at the end
nodes=300

# shellcheck source=servers.sh
. tests/bench/servers.sh

if [ $# -lt 1 ] || [ -z "$1" ]; then
    die 'usage: tests/bench/same.sh COMMIT [QUESTIONS [SEED]]'
fi
sha=$(git rev-parse --verify --quiet "$1^{commit}" 2>/dev/null) || die "there is no commit '$1' here"
build_that "$sha"
declare -A binary=([this]=$evenkeel [that]=build/against/$sha/$target)

# Nodes with labels that others lack, with taints, or with none; and a Service, for defaults.
odd='{kind: "List", apiVersion: "v1", items: ([range(6) | {kind: "Node", apiVersion: "v1",
    metadata: {name: "odd-\(.)", labels: (if . % 3 == 0 then {} else
        {"topology.kubernetes.io/zone": "", rack: "r\(. % 2)"} end)},
    spec: (if . % 2 == 0 then {taints: [{key: "gone", effect: "NoSchedule"}]} else {} end)}]
    + [range(3) | {kind: "Service", apiVersion: "v1", metadata: {name: "s", namespace: "team-\(.)"},
        spec: {selector: {app: "svc-00\(.)"}}}])}'

mkdir -p "$work"
"$evenkeel" certs init --dir "$work/certs" >"$work/certs.log" 2>&1
"$programs/make_state" "$nodes" 3000 >"$work/state.json"
jq -nc "$odd" >"$work/odd.json"
cat >"$work/rules.yaml" <<'YAML'
apiVersion: evenkeel.io/v1alpha1
kind: EvenkeelConfiguration
orderedSpread:
  rules:
  - name: hard
    namespaces: [team-0, team-1, team-2]
    podSelector: {}
    matchLabelKeys: [app]
    terms:
    - {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2}
  - name: soft
    podSelector: {}
    terms:
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, nodeTaintsPolicy: Honor}
    - {topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
YAML
echo '{apiVersion: evenkeel.io/v1alpha1, kind: EvenkeelConfiguration}' >"$work/plain.yaml"
while read -r mode configuration; do
    for side in this that; do
        # a place that is reserved must not be forgotten by one of them between two questions
        start_server "$side" "${binary[$side]}" serve --ops-listen 127.0.0.1:0 --state "$work/state.json" \
            --state "$work/odd.json" --config "$work/$configuration" --reservations "$mode" --reservations-ttl 1h \
            --extender-listen 127.0.0.1:0 --extender-cert-file "$work/certs/tls.crt" \
            --extender-key-file "$work/certs/tls.key"
    done
    "$programs/same" --this "${address[this]}" --that "${address[that]}" --ca "$work/certs/ca.crt" \
        --nodes "$((nodes + 3))" --questions "${2:-100000}" --seed "${3:-$RANDOM}"
    stop_server this
    stop_server that
done <<'MODES'
Off plain.yaml
SingleNode plain.yaml
Off rules.yaml
SingleNode rules.yaml
MODES

# Everything a policy can ask for, in namespaces of their own.
cat >"$work/policies.yaml" <<'YAML'
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: web}
spec:
  priority: 10
  mode: Require
  match: {objectSelector: {matchLabels: {tier: web}}}
  pods:
    replaceDefaults: true
    spread:
    - {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}
---
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: audited}
spec:
  priority: 5
  mode: Audit
  match: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team}}}
  pods:
    spread:
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
---
YAML
cat docs/examples/data-locality/policy.yaml >>"$work/policies.yaml"
for side in this that; do
    start_server "$side" "${binary[$side]}" serve --ops-listen 127.0.0.1:0 \
        --state docs/examples/data-locality/state.yaml --state "$work/odd.json" --policy "$work/policies.yaml" \
        --fluid-profile docs/examples/data-locality/profile.yaml \
        --webhook-listen 127.0.0.1:0 --webhook-cert-file "$work/certs/tls.crt" \
        --webhook-key-file "$work/certs/tls.key" --extender-listen 127.0.0.1:0 \
        --extender-cert-file "$work/certs/tls.crt" --extender-key-file "$work/certs/tls.key"
done
for path in /webhooks/v1/pods /webhooks/v1/pods/validate; do
    "$programs/same" --this "$(other_address this webhook)" --that "$(other_address that webhook)" \
        --ca "$work/certs/ca.crt" --reviews "$path" --questions "$((${2:-100000} / 5))" --seed "${3:-$RANDOM}"
done
