#!/bin/bash
# Races the daemon against that of another commit, both alive at the same time, turn by turn:
#
#   tests/bench/against.sh COMMIT         five to ten minutes
#   QUICK=1 tests/bench/against.sh COMMIT some two minutes
#
# EVENKEEL is this daemon; the other programs are those of build/bench (`make bench AGAINST=COMMIT` builds
# all). That daemon is built by the commit's own Makefile in build/against/SHA, where it stays for the next
# time; variables of make's command line and CFLAGS count there, too.
# Prints a table and leaves the same figures in build/against.json. No figure is an error: exits with 0
# when all was measured, and with 2 when there is no such commit, or its daemon cannot be built or
# refuses to serve. How to read the table: docs/performance.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

evenkeel=${EVENKEEL:-build/evenkeel}
programs=build/bench
work=build/bench/against # removed at the end
results=$work/results.jsonl
json=build/against.json
nodes=5000 pods=150000 datasets=500

# Starts are even in number, so that each daemon is the first as often as the second.
if [ -n "${QUICK:-}" ] && [ "$QUICK" != 0 ]; then
    starts=2 rounds=8 calls=50 full_calls=2
else
    starts=6 rounds=10 calls=100 full_calls=3
fi

# shellcheck source=servers.sh
. tests/bench/servers.sh

# ---- what is served and asked ----

# Reviews, one a line, of 50 pods of 6 KiB: $pod is a program of jq that completes each.
make_reviews() { # pod
    # shellcheck disable=SC2016  # jq's $ variables
    jq -nc --argjson datasets "$datasets" 'range(50) as $i | {
        kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: {
            uid: "705ab4f5-6393-11e8-b7cc-42010a8000\($i + 10)",
            kind: {group: "", version: "v1", kind: "Pod"},
            resource: {group: "", version: "v1", resource: "pods"},
            namespace: "shop", operation: "CREATE", userInfo: {username: "admin"},
            object: ({kind: "Pod", apiVersion: "v1",
                metadata: {generateName: "app-\($i)-7d4b9-", namespace: "shop", labels: {app: "app-\($i)"}},
                spec: {containers: [{name: "main", image: "example.com/app:1",
                    env: [range(80) | {name: "SETTING_\(.)", value: "value-of-setting-number-\(.)"}]}],
                    restartPolicy: "Always", schedulerName: "default-scheduler"}, status: {}} | '"$1"'),
            oldObject: null, dryRun: false}}'
}

# What-ifs, one a line, of 20 workloads' pods.
make_what_ifs() {
    jq -nc 'range(20) as $i | {apiVersion: "v1", kind: "Pod",
        metadata: {generateName: "app-\($i)-7d4b9-", namespace: "default", labels: {app: "app-\($i)"}},
        spec: {containers: [{name: "main", image: "example.com/app:1", resources: {requests: {cpu: "100m"}}}],
            topologySpreadConstraints: [("topology.kubernetes.io/zone", "kubernetes.io/hostname") | {maxSkew: 1,
                topologyKey: ., whenUnsatisfiable: "DoNotSchedule",
                labelSelector: {matchLabels: {app: "app-\($i)"}}}]}}'
}

# What Fluid knows: datasets, each in a cache on two of three nodes.
make_fluid_state() {
    # shellcheck disable=SC2016  # jq's $ variables
    jq -nc --argjson datasets "$datasets" '
        def zones: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions:
            [{key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-0", "zone-1"]}]}]}};
        {apiVersion: "v1", kind: "List", items: ([
            range(3) as $n | {apiVersion: "v1", kind: "Node", metadata: {name: "node-\($n)", labels: ({
                "kubernetes.io/hostname": "node-\($n)", "topology.kubernetes.io/zone": "zone-\($n)"} +
                ([range($datasets) | select(. % 3 != $n) | {("fluid.io/s-shop-data-\(.)"): "true"}] | add))}}
        ] + [{apiVersion: "v1", kind: "Namespace", metadata: {name: "shop"}}] + [
            range($datasets) | {name: "data-\(.)", namespace: "shop"} as $name |
            {apiVersion: "v1", kind: "PersistentVolumeClaim",
                metadata: ($name + {labels: {("fluid.io/s-shop-data-\(.)"): "true"}})},
            {apiVersion: "data.fluid.io/v1alpha1", kind: "Dataset", metadata: $name,
                status: {phase: "Bound", runtimes: [$name + {type: "alluxio"}]}},
            {apiVersion: "data.fluid.io/v1alpha1", kind: "AlluxioRuntime", metadata: $name,
                spec: {fuse: {nodeSelector: {disk: "ssd"}}}, status: {cacheAffinity: zones}}
        ])}'
}

# The same in the form that the kind had in older commits.
former_policy=$(sed '/^  pods:/d; /replaceDefaults/d; /^  match:/s/  match: {\(.*\)}/  \1/; s/^    /  /' <<<"$policy")

# Writes what that side reads.
write_policy() { # side
    local file=$work/policy.$1.yaml
    echo "$policy" >"$file"
    echo '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}' >"$work/one-pod.json"
    "${binary[$1]}" simulate --admit --state "$work/fluid.json" --pod "$work/one-pod.json" \
        --policy "$file" >"$work/policy.log" 2>&1 || echo "$former_policy" >"$file"
}

make_inputs() {
    "$evenkeel" certs init --dir "$work/certs" >"$work/certs.log" 2>&1 || {
        cat "$work/certs.log" >&2
        exit 1
    }
    "$programs/make_state" "$nodes" "$pods" >"$work/state.json"
    make_fluid_state >"$work/fluid.json"
    make_what_ifs >"$work/what-ifs.jsonl"
    write_policy this
    write_policy that
    make_reviews '.metadata.labels.tier = "web"' >"$work/plain.jsonl"
    # shellcheck disable=SC2016  # jq's $ variables
    make_reviews '.metadata.labels["fuse.serverful.fluid.io/inject"] = "true" |
        .spec.containers[0].volumeMounts = [{name: "data", mountPath: "/data"}] |
        .spec.volumes = [{name: "data", persistentVolumeClaim: {claimName: "data-\($i * 7 % $datasets)"}}]' \
        >"$work/datasets.jsonl"
}

# ---- measuring ----

# Starts both, `first` first. 1: this one does not serve, which ends all; 3: that one does not.
start_both() { # first second serve-option...
    local side sides=("$1" "$2")
    shift 2
    for side in "${sides[@]}"; do
        start_server "$side" "${binary[$side]}" serve --ops-listen 127.0.0.1:0 \
            --extender-listen 127.0.0.1:0 --extender-cert-file "$work/certs/tls.crt" \
            --extender-key-file "$work/certs/tls.key" "${@//@SIDE@/$side}" && continue
        [ "$side" = that ] || exit 1
        return 3
    done
}

stop_both() {
    stop_server this
    stop_server that
}

# One figure of each, as a round.
figure() { # what unit this that
    [ -n "$3" ] && [ -n "$4" ] || return 0
    jq -nc --arg what "$1" --arg unit "$2" --argjson this "$3" --argjson that "$4" \
        '{$what, $unit, this: {p50: $this}, that: {p50: $that}, ratio: ($this / ([$that, 1] | max))}' >>"$results"
}

# What that commit cannot do is left out from then on, and the report says why.
race() { # what rounds versus-option...
    race_at "${address[this]}" "${address[that]}" "$@" --ca "$work/certs/ca.crt"
}

race_at() { # this-address that-address what rounds versus-option...
    local code=0 addresses=(--this "$1" --that "$2")
    shift 2
    [ -z "${left_out[$1]:-}" ] || return 0
    "$programs/versus" "${addresses[@]}" --nodes "$nodes" --rounds "$2" "${@:3}" \
        >"$work/race.jsonl" 2>"$work/race.err" || code=$?
    cat "$work/race.err" >&2
    if [ "$code" = 3 ]; then
        left_out[$1]="commit $sha does not answer as expected: $(cut -c 1-300 "$work/race.err")"
        return 0
    fi
    [ "$code" = 0 ] || exit 1
    # Of reviews also how many there were in a second; the ratio says how many times as long this one takes.
    # shellcheck disable=SC2016  # jq's $ variables
    jq -c --arg what "$1" '{$what} + ., if $what | startswith("review") then {what: "\($what), a second", unit: "1/s",
        this: {p50: .this.calls_per_s}, that: {p50: .that.calls_per_s},
        ratio: (.that.calls_per_s / .this.calls_per_s)} else empty end' "$work/race.jsonl" >>"$results"
}

memory() { # when during-what
    figure "RSS after $1" KiB "$(kib this VmRSS)" "$(kib that VmRSS)"
    figure "peak RSS while $2" KiB "$(kib this VmHWM)" "$(kib that VmHWM)"
}

# Why that daemon did not start, in its own words.
refusal() {
    printf 'commit %s refuses to serve: %s' "$sha" "$(grep -m 1 '^evenkeel' "$work/that.log" || tail -n 1 "$work/that.log")"
}

# From now on the peak is the one since now.
reset_peaks() {
    local side
    for side in this that; do
        echo 5 2>/dev/null >"/proc/${pid[$side]}/clear_refs" || true
    done
}

measure_extender() { # first second
    start_both "$1" "$2" --state "$work/state.json" || die "$(refusal)"
    figure 'reading the state' ms "$(reading_ms this)" "$(reading_ms that)"
    memory 'reading the state' 'reading the state'
    reset_peaks
    race "filter of 5,000 names" "$rounds" --ask filter --calls "$calls"
    race "prioritize of 5,000 names" "$rounds" --ask prioritize --calls "$calls"
    race "filter of 5,000 whole Nodes" "$((rounds / 2))" --ask full-nodes --calls "$full_calls"
    race_at "$(other_address this ops)" "$(other_address that ops)" "what-if over 5,000 nodes" "$rounds" \
        --what-ifs "$work/what-ifs.jsonl" --calls "$calls"
    memory 'these questions' 'these were asked'
    stop_both
}

measure_webhook() { # first second
    local side whats=('review of a pod without a dataset' 'review of a pod with a dataset')
    if [ -n "${left_out[${whats[0]}]:-}" ] && [ -n "${left_out[${whats[1]}]:-}" ]; then
        return 0
    fi
    if start_both "$1" "$2" --state "$work/fluid.json" --policy "$work/policy.@SIDE@.yaml" \
        --webhook-listen 127.0.0.1:0 --webhook-cert-file "$work/certs/tls.crt" \
        --webhook-key-file "$work/certs/tls.key"; then
        for side in this that; do
            address[$side]=$(other_address "$side" webhook)
        done
        race "${whats[0]}" "$rounds" --ask "$work/plain.jsonl" --connections 8 --calls "$((2 * calls))"
        race "${whats[1]}" "$rounds" --ask "$work/datasets.jsonl" --connections 8 --calls "$((2 * calls))"
    else
        left_out[${whats[0]}]=$(refusal)
        left_out[${whats[1]}]=${left_out[${whats[0]}]}
    fi
    stop_both
}

# ---- reporting ----

# Every round of everything becomes medians; in the order in which things were measured first.
# shellcheck disable=SC2016  # jq's $ variables, not the shell's
sum_up='
def rank(p): sort | .[(length * p | ceil) - 1 | if . < 0 then 0 else . end];
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def round(n): (. * pow(10; n) | round) / pow(10; n);
def side: {p50: (map(.p50) | median | round(1))} +
    if .[0].p99 then {p99: (map(.p99) | median | round(1)), answer_bytes: (map(.answer_bytes) | median | round(0))}
    else {} end;
reduce $rounds[] as $r ([];
    if any(.[]; .[0].what == $r.what) then map(if .[0].what == $r.what then . + [$r] else . end)
    else . + [[$r]] end) |
{this: $this, that: $that, quick: $quick, machine: $machine, left_out: $left_out, measured: map({
    what: .[0].what, unit: .[0].unit, rounds: length, this: (map(.this) | side), that: (map(.that) | side),
    ratio: (map(.ratio) | median | round(3)),
    quartiles: (map(.ratio) | [rank(0.25), rank(0.75)] | map(round(3)))} |
    .verdict = if .ratio <= 1.03 then "" elif .unit == "KiB" then "larger" else "slower" end)}'

# shellcheck disable=SC2016
report='
def round(n): (. * pow(10; n) | round) / pow(10; n);
def row: "| " + (map(tostring) | join(" | ")) + " |";
def cell(unit): if . == null then "" elif unit == "us" then . / 1000 | round(3)
    elif unit == "KiB" then . / 1024 | round(1) else . end;
def unit: if .unit == "KiB" then "MiB" elif .unit == "1/s" then .unit else "ms" end;
"this: \(.this)", "that: \(.that)", "",
(["what", "unit", "this p50", "this p99", "that p50", "that p99", "this / that", "half of the rounds", ""] |
    row, (map("---") | row)),
(.measured[] | .unit as $u |
    [.what, unit, (.this.p50, .this.p99, .that.p50, .that.p99 | cell($u)), .ratio,
        "\(.quartiles[0]) to \(.quartiles[1])", (.verdict | if . == "" then . else "**\(.)**" end)] | row),
"", (.left_out | to_entries[] | "Left out: \(.key): \(.value)"),
"Machine: \(.machine)."'

machine() {
    printf '%s x %s, load %s' "$(nproc)" \
        "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" "$(cut -d ' ' -f 1 /proc/loadavg)"
}

sum_up_all() {
    local what
    for what in "${!left_out[@]}"; do
        jq -nc --arg key "$what" --arg value "${left_out[$what]}" '{$key, $value}'
    done | jq -s from_entries >"$work/left_out.json"
    jq -n --slurpfile rounds "$results" --slurpfile left_out_list "$work/left_out.json" \
        --arg this "$("$evenkeel" version -o json | jq -r .commit)" \
        --arg that "$(git log -1 --format='%h %s' --abbrev=12 "$sha")" \
        --arg machine "$(machine)" --argjson quick "$([ "$starts" = 2 ] && echo true || echo false)" \
        '$left_out_list[0] as $left_out | '"$sum_up" >"$work/against.json"
    mv "$work/against.json" "$json"
}

if [ $# != 1 ] || [ -z "$1" ]; then
    die 'usage: tests/bench/against.sh COMMIT'
fi
sha=$(git rev-parse --verify --quiet "$1^{commit}" 2>/dev/null) ||
    die "there is no commit '$1' here (a shallow clone has only the newest: git fetch --unshallow)"
build_that "$sha"

declare -A left_out=() binary=([this]=$evenkeel [that]=build/against/$sha/$target)
mkdir -p "$work"
: >"$results"
say 'making the cluster and the questions'
make_inputs
for ((start = 1; start <= starts; start++)); do
    say "start $start of $starts"
    if ((start % 2)); then order=(this that); else order=(that this); fi
    measure_extender "${order[@]}"
    measure_webhook "${order[@]}"
done
sum_up_all
jq -r "$report" "$json"
