#!/usr/bin/env bash
# The main job, shown: start Evenkeel on an example cluster of three regions, ask it over verified TLS what kube-scheduler
# would ask, print its answers as tables, stop it. Needs build/evenkeel, curl and jq; uses free ports and a temporary folder.
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
"$evenkeel" certs init --dir "$work/certs" | sed 's/^/  /'

say "2. Serve the example state (evenkeel serve --state $example/state.json)"
mkfifo "$work/log"
"$evenkeel" serve --state "$example/state.json" --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 \
    --extender-cert-file "$work/certs/tls.crt" --extender-key-file "$work/certs/tls.key" 2>"$work/log" &
server=$!
extender=
while IFS= read -r line; do
    printf '  %s\n' "$line"
    case $line in
    *msg=serving*)
        extender=$(sed -n 's/.* extender=\([^ ]*\).*/\1/p' <<<"$line")
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

call() { # VERB, request on standard input
    curl --silent --show-error --fail --cacert "$work/certs/ca.crt" \
        --header 'Content-Type: application/json' --data-binary @- "https://$extender/extender/v1/$1"
}

say "3. The cluster: regions, zones, nodes, and the live app=web pods on each"
jq -r '
  [.items[] | select(.kind == "Pod" and .metadata.labels.app == "web" and .status.phase == "Running"
                     and .metadata.deletionTimestamp == null) | .spec.nodeName] as $web
  | ["REGION","ZONE","NODE","WEB PODS"],
    (.items[] | select(.kind == "Node") | .metadata as $m
     | [$m.labels["topology.kubernetes.io/region"] // "-", $m.labels["topology.kubernetes.io/zone"] // "-", $m.name,
        ([$web[] | select(. == $m.name)] | length | if . == 0 then "." else "o" * . end)])
  | @tsv' "$example/state.json" | table

say "4. A new web pod: at most 2 apart over zones (hard), even over regions and nodes (soft)"
jq -r '["TOPOLOGY KEY","MAX SKEW","WHEN UNSATISFIABLE"],
  (.spec.topologySpreadConstraints[] | [.topologyKey, .maxSkew, .whenUnsatisfiable]) | @tsv' "$example/pod.json" | table

say "5. POST /extender/v1/filter: which nodes may hold it, and why not the others"
jq --slurpfile pod "$example/pod.json" \
    '{Pod: $pod[0], Nodes: null, NodeNames: [.items[] | select(.kind == "Node") | .metadata.name]}' \
    "$example/state.json" >"$work/args.json"
call filter <"$work/args.json" >"$work/filter.json"
jq -r '["NODE","VERDICT","REASON"],
  (.NodeNames[] | [., "Pass", ""]),
  (.FailedNodes | to_entries[] | [.key, "Unschedulable", .value]),
  (.FailedAndUnresolvableNodes | to_entries[] | [.key, "UnschedulableAndUnresolvable", .value]) | @tsv' \
    "$work/filter.json" | table

say "6. POST /extender/v1/prioritize: how good each of them is (0 to 10)"
jq --slurpfile filter "$work/filter.json" '.NodeNames = $filter[0].NodeNames' "$work/args.json" |
    call prioritize | jq -r '["NODE","SCORE",""],
  (sort_by(-.Score)[] | [.Host, .Score, "#" * .Score]) | @tsv' | table

say "7. POST /extender/v1/preempt: would evicting these victims make room there?"
jq '{Pod, NodeNameToVictims: null, NodeNameToMetaVictims: {
  "eu-west-a-1": {Pods: [{UID: "00000000-0000-4000-8000-000000000001"}], NumPDBViolations: 0},
  "eu-west-a-2": {Pods: [], NumPDBViolations: 0}}}' "$work/args.json" >"$work/preempt.json"
call preempt <"$work/preempt.json" >"$work/preempted.json"
jq -r --slurpfile asked "$work/preempt.json" '.NodeNameToMetaVictims as $kept
  | ["NODE","VICTIMS","ANSWER"],
    ($asked[0].NodeNameToMetaVictims | to_entries[] | .key as $node
     | [$node, (.value.Pods | length), (if $kept | has($node) then "fits without them" else "would still be uneven" end)])
  | @tsv' "$work/preempted.json" | table

say "8. The same question without a server: evenkeel simulate"
"$evenkeel" simulate --state "$example/state.json" --pod "$example/pod.json" --filters PodTopologySpread | sed 's/^/  /'

say "9. Stop"
kill -INT "$server"
wait "$server"
server=
wait "$drain"
echo "  stopped; exit code 0"
