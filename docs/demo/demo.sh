#!/usr/bin/env bash
# The main job, shown: start Evenkeel on an example cluster of three regions, ask it over verified TLS what API servers
# and kube-scheduler would ask, print its answers as tables, ask it why and how even everything is, then where the clusters of a fleet's Placement should be, stop it. Needs build/evenkeel, curl and jq; uses free ports and a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

evenkeel=${EVENKEEL:-build/evenkeel}
example=docs/examples/three-regions
work=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
        kill -INT "$server"
        wait "$server" || true
    fi
    rm -rf "$work"
}
trap finish EXIT

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# Every command of Evenkeel and every call is shown as it is run. Only tables are made of the answers.
exec 4>&1
show() { printf '  $ %s\n' "$(printf '%q ' "$@" | sed 's/ $//')" >&4; }
run() {
    show "$@"
    "$@"
}

# Tab-separated lines as aligned columns.
table() {
    awk -F '\t' '
        { for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }
          fields[NR] = NF }
        END { for (r = 1; r <= NR; r++) { line = " "
                  for (i = 1; i <= fields[r]; i++) line = line sprintf(" %-" width[i] + 1 "s", cell[r, i])
                  sub(/ +$/, "", line); print line } }'
}

say "1. Certificates: a CA and a server certificate (evenkeel certs init)"
run "$evenkeel" certs init --dir "$work/certs" | sed 's/^/  /'

# The example's pods, as pods of a StatefulSet: their workload can be measured.
state=$work/state.json
jq '(.items[] | select(.kind == "Pod" and .metadata.labels.app == "web").metadata.ownerReferences) =
    [{apiVersion: "apps/v1", kind: "StatefulSet", name: "web", controller: true}]' "$example/state.json" >"$state"

say "2. Serve the example state (evenkeel serve --state $example/state.json --policy $example/policy.yaml)"
mkfifo "$work/log"
serve=("$evenkeel" serve --state "$state" --policy "$example/policy.yaml" --webhook-listen 127.0.0.1:0
    --webhook-cert-file "$work/certs/tls.crt" --webhook-key-file "$work/certs/tls.key" --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0
    --extender-cert-file "$work/certs/tls.crt" --extender-key-file "$work/certs/tls.key")
show "${serve[@]}"
"${serve[@]}" 2>"$work/log" &
server=$!
extender=
while IFS= read -r line; do
    printf '  %s\n' "$line"
    case $line in
    *msg=serving*)
        extender=$(sed -n 's/.* extender=\([^ ]*\).*/\1/p' <<<"$line")
        webhook=$(sed -n 's/.* webhook=\([^ ]*\).*/\1/p' <<<"$line")
        ops=$(sed -n 's/.* ops=\([^ ]*\).*/\1/p' <<<"$line")
        break
        ;;
    esac
done <"$work/log"
if [ -z "$extender" ]; then
    echo "the server did not start; see the lines above" >&2
    exit 1
fi
exec 3<"$work/log" # keep the log's reader open: the server goes on writing
cat <&3 >/dev/null &
drain=$!

post() { # FILE URL
    run curl --silent --show-error --fail --cacert "$work/certs/ca.crt" \
        --header 'Content-Type: application/json' --data-binary "@$1" "$2"
}
call() { post "$2" "https://$extender/extender/v1/$1"; } # VERB FILE

say "3. The cluster: regions, zones, nodes, and the live app=web pods on each"
jq -r '
  [.items[] | select(.kind == "Pod" and .metadata.labels.app == "web" and .status.phase == "Running"
                     and .metadata.deletionTimestamp == null) | .spec.nodeName] as $web
  | ["REGION","ZONE","NODE","WEB PODS"],
    (.items[] | select(.kind == "Node") | .metadata as $m
     | [$m.labels["topology.kubernetes.io/region"] // "-", $m.labels["topology.kubernetes.io/zone"] // "-", $m.name,
        ([$web[] | select(. == $m.name)] | length | if . == 0 then "." else "o" * . end)])
  | @tsv' "$example/state.json" | table

say "4. How even are they? (evenkeel topology)"
run "$evenkeel" topology --state "$state" | sed 's/^/  /'

say "5. POST /webhooks/v1/pods: a pod that asks for nothing gets what the policy says"
jq '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "demo", operation: "CREATE",
    kind: {group: "", version: "v1", kind: "Pod"}, resource: {group: "", version: "v1", resource: "pods"},
    namespace: .metadata.namespace, object: (del(.spec.topologySpreadConstraints) | .metadata.name = "api-1"
        | .metadata.labels = {app: "api", tier: "web"})}}' "$example/pod.json" >"$work/created.json"
post "$work/created.json" "https://$webhook/webhooks/v1/pods" >"$work/review.json"
jq -r '["TOPOLOGY KEY","MAX SKEW","WHEN UNSATISFIABLE"], (.response.patch | @base64d | fromjson[]
    | select(.path == "/spec/topologySpreadConstraints").value[] | [.topologyKey, .maxSkew, .whenUnsatisfiable]) | @tsv' \
    "$work/review.json" | table

say "6. A new web pod: at most 2 apart over zones (hard), even over regions and nodes (soft)"
jq -r '["TOPOLOGY KEY","MAX SKEW","WHEN UNSATISFIABLE"],
  (.spec.topologySpreadConstraints[] | [.topologyKey, .maxSkew, .whenUnsatisfiable]) | @tsv' "$example/pod.json" | table

say "7. POST /extender/v1/filter: which nodes may hold it, and why not the others"
jq --slurpfile pod "$example/pod.json" \
    '{Pod: $pod[0], Nodes: null, NodeNames: [.items[] | select(.kind == "Node") | .metadata.name]}' \
    "$example/state.json" >"$work/args.json"
call filter "$work/args.json" >"$work/filter.json"
jq -r '["NODE","VERDICT","REASON"],
  (.NodeNames[] | [., "Pass", ""]),
  (.FailedNodes | to_entries[] | [.key, "Unschedulable", .value]),
  (.FailedAndUnresolvableNodes | to_entries[] | [.key, "UnschedulableAndUnresolvable", .value]) | @tsv' \
    "$work/filter.json" | table

say "8. POST /extender/v1/prioritize: how good each of them is (0 to 10)"
jq --slurpfile filter "$work/filter.json" '.NodeNames = $filter[0].NodeNames' "$work/args.json" >"$work/passed.json"
call prioritize "$work/passed.json" | jq -r '["NODE","SCORE",""],
  (sort_by(-.Score)[] | [.Host, .Score, "#" * .Score]) | @tsv' | table

say "9. POST /extender/v1/preempt: would evicting these victims make room there?"
jq '{Pod, NodeNameToVictims: null, NodeNameToMetaVictims: {
  "eu-west-a-1": {Pods: [{UID: "00000000-0000-4000-8000-000000000001"}], NumPDBViolations: 0},
  "eu-west-a-2": {Pods: [], NumPDBViolations: 0}}}' "$work/args.json" >"$work/preempt.json"
call preempt "$work/preempt.json" >"$work/preempted.json"
jq -r --slurpfile asked "$work/preempt.json" '.NodeNameToMetaVictims as $kept
  | ["NODE","VICTIMS","ANSWER"],
    ($asked[0].NodeNameToMetaVictims | to_entries[] | .key as $node
     | [$node, (.value.Pods | length), (if $kept | has($node) then "fits without them" else "would still be uneven" end)])
  | @tsv' "$work/preempted.json" | table

say "10. Why? (evenkeel explain)"
name=$(jq -r '.metadata.namespace + "/" + .metadata.name' "$example/pod.json")
run "$evenkeel" explain "$name" --server "http://$ops" --no-api-server >"$work/explained"
sed '/^#3/,$d; s/^/  /' "$work/explained"

say "11. The same question without a server: evenkeel simulate"
run "$evenkeel" simulate --state "$state" --pod "$example/pod.json" --filters PodTopologySpread | sed 's/^/  /'

say "12. A fleet: where should a Placement's four clusters be? (evenkeel simulate --placement)"
fleet=docs/examples/fleet
run "$evenkeel" simulate --state $fleet/hub.yaml --placement $fleet/web.yaml --now 2026-01-02T03:04:05Z | sed 's/^/  /'

say "13. ... with a policy that wants two clouds, as JSON for programs"
run "$evenkeel" simulate --state $fleet/hub.yaml --policy $fleet/policy.yaml --placement $fleet/ranked.yaml \
    --now 2026-01-02T03:04:05Z -o json | jq -r '"  policy \(.policy): \(.current | join(", ")) -> \(.selected | join(", "))", "  \(.spreadSatisfied.reason): \(.spreadSatisfied.message)"'

say "14. Karmada: which clusters run a workload, and how many replicas each? (evenkeel simulate --binding)"
run "$evenkeel" simulate --state $fleet/karmada.yaml --binding $fleet/binding.yaml | sed 's/^/  /'

say "15. Stop"
run kill -INT "$server"
wait "$server"
server=
wait "$drain"
echo "  stopped; exit code 0"
