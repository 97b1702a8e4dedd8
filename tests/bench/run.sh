#!/bin/bash
# Measures the extender's and the webhook's answers over TLS beside an echo server's, and what the state
# costs.
#
#   tests/bench/run.sh        every size, under ten minutes; refreshes docs/performance.md
#   QUICK=1 tests/bench/run.sh    5,000 names of 5,000 nodes with 150,000 pods only
#
# EVENKEEL is the binary; the other programs are those of build/bench (`make bench` builds all).
# PEER (build/e2e/peer, which needs Go; left out if it is not there) answers the same questions with
# kube-scheduler's own plugin behind Go's net/http.
# Prints tables, and leaves the same figures in build/bench.json. How to read them:
# docs/performance.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

evenkeel=${EVENKEEL:-build/evenkeel}
peer=${PEER:-build/e2e/peer}
programs=build/bench
work=build/bench/work # removed at the end
results=$work/results.jsonl
reviews=$work/reviews.jsonl
facts=$work/facts.jsonl
document=docs/performance.md
nodes=5000

if [ -n "${QUICK:-}" ] && [ "$QUICK" != 0 ]; then
    quick=1 pod_counts=(150000) name_counts=(5000) rounds=3 calls=200
else
    quick='' pod_counts=(10000 50000 150000) name_counts=(100 500 1000 5000) rounds=7 calls=400
fi

# shellcheck source=servers.sh
. tests/bench/servers.sh

start_evenkeel() { # state [option...]
    local state=$1
    shift
    start_server evenkeel "$evenkeel" serve --state "$state" --extender-listen 127.0.0.1:0 \
        --extender-cert-file "$work/certs/tls.crt" --extender-key-file "$work/certs/tls.key" \
        --ops-listen 127.0.0.1:0 "$@"
}

# ---- measuring ----

fact() { # name value
    jq -nc --arg name "$1" --argjson value "$2" '{name: $name, value: $value}' >>"$facts"
}

make_state() { # nodes pods
    "$programs/make_state" "$1" "$2" >"$work/state.json"
}

measure_idle() {
    say 'idle, with one node'
    make_state 1 0
    start_evenkeel "$work/state.json"
    fact idle_rss_kib "$(kib evenkeel VmRSS)"
    stop_server evenkeel
}

# What reading the largest state took, from the log line that says so.
measure_reading() {
    local bytes ms
    bytes=$(stat -c %s "$work/state.json")
    ms=$(reading_ms evenkeel)
    fact state_bytes "$bytes"
    fact state_ms "${ms:-0}"
    fact state_rss_kib "$(kib evenkeel VmRSS)"
    fact state_peak_rss_kib "$(kib evenkeel VmHWM)"
}

# Where the handlers' time goes, without a connection.
measure_stages() {
    say "stages of $nodes names"
    "$programs/stages" "$work/state.json" "$nodes" "$nodes" >"$work/stages.jsonl"
}

race() { # pods names [--prefix of the cases] [option...]
    local pods=$1 names=$2 prefix=''
    shift 2
    if [ "${1:-}" = --prefix ]; then
        prefix=$2
        shift 2
    fi
    "$programs/load" --extender "${address[evenkeel]}" --echo "${address[echo]}" \
        --extender-pid "${pid[evenkeel]}" --echo-pid "${pid[echo]}" --ca "$work/certs/ca.crt" \
        --nodes "$nodes" --pods "$pods" --names "$names" --rounds "$rounds" --calls "$calls" \
        "$@" | jq -c --arg prefix "$prefix" \
        'select($prefix == "" or .case != "echo") | .case |= $prefix + .' >"$work/race.jsonl"
    cat "$work/race.jsonl" >>"$results"
    jq -r '"   \(.case) of \(.names): p50 \(.p50_us) us, p99 \(.p99_us) us, " +
        "\(.ratio_to_echo) x echo"' "$work/race.jsonl" >&2
}

# The same questions at the same sizes; how much slower it is goes by medians.
measure_peer() { # pods
    local pods=$1 names
    if [ ! -x "$peer" ]; then
        say 'no peer to measure beside: that needs Go'
        return
    fi
    say "kube-scheduler's own plugin behind net/http, $pods pods"
    start_server peer "$peer" --listen 127.0.0.1:0 --cert "$work/certs/tls.crt" \
        --key "$work/certs/tls.key" --state "$work/state.json"
    for names in "${name_counts[@]}"; do
        "$programs/load" --extender "${address[peer]}" --echo "${address[echo]}" \
            --extender-pid "${pid[peer]}" --echo-pid "${pid[echo]}" --ca "$work/certs/ca.crt" \
            --nodes "$nodes" --pods "$pods" --names "$names" --rounds "$rounds" --calls "$calls" |
            jq -c 'select(.case != "echo") | .case |= "peer-" + .' >"$work/race.jsonl"
        cat "$work/race.jsonl" >>"$results"
        jq -r '"   \(.case) of \(.names): p50 \(.p50_us) us, p99 \(.p99_us) us"' \
            "$work/race.jsonl" >&2
    done
    stop_server peer
}

measure_evenness() {
    say 'a report on how even the workloads are'
    fact evenness "$("$programs/evenness")"
}

measure_plan() {
    say 'the clusters of a Placement'
    fact plan "$("$programs/plan")"
}

measure_hub() {
    say 'the Placements of a live hub'
    fact hub "$("$programs/replan")"
    fact churn "$("$programs/churn" | jq -s .)"
}

measure_pods() { # pods
    local pods=$1 names
    say "$nodes nodes, $pods pods"
    make_state "$nodes" "$pods"
    if [ "$pods" -eq "${pod_counts[-1]}" ]; then
        measure_stages
    fi
    start_evenkeel "$work/state.json"
    if [ "$pods" -eq "${pod_counts[-1]}" ]; then
        measure_reading
    fi
    for names in "${name_counts[@]}"; do
        race "$pods" "$names"
    done
    if [ "$pods" -eq "${pod_counts[-1]}" ] && [ -z "$quick" ]; then
        race "$pods" "$nodes" --full
    fi
    stop_server evenkeel
    if [ "$pods" -eq "${pod_counts[-1]}" ]; then
        measure_ordered "$pods"
        measure_peer "$pods"
    fi
}

# Ordered spread over regions, the zones of a region and the hosts of a zone, for every pod.
rules='apiVersion: evenkeel.io/v1alpha1
kind: EvenkeelConfiguration
orderedSpread:
  rules:
  - name: all
    podSelector: {}
    matchLabelKeys: [app]
    terms:
    - {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
    - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}'

measure_ordered() { # pods
    local names
    say 'ordered spread'
    echo "$rules" >"$work/rules.yaml"
    start_evenkeel "$work/state.json" --config "$work/rules.yaml"
    for names in "${name_counts[@]}"; do
        race "$1" "$names" --prefix ordered-
    done
    stop_server evenkeel
}

# ---- the webhook ----

stress_kib=100

# Reviews of pods of four sizes: the smallest pod that an API server sends, a usual pod, the largest pod of
# well-known charts (see TestTemplates), and a pod six times as large. The peer decodes the reviews with
# Kubernetes' own types, and allows all of them.
measure_reviews() {
    local kib with_peer=()
    say 'the webhook'
    make_state 1 0
    echo "$policy" >"$work/policy.yaml"
    start_evenkeel "$work/state.json" --policy "$work/policy.yaml" --webhook-listen 127.0.0.1:0 \
        --webhook-cert-file "$work/certs/tls.crt" --webhook-key-file "$work/certs/tls.key"
    address[webhook]=$(other_address evenkeel webhook)
    if [ -x "$peer" ]; then
        start_server peer "$peer" --listen 127.0.0.1:0 --cert "$work/certs/tls.crt" \
            --key "$work/certs/tls.key" --state "$work/state.json"
        with_peer=(--peer "${address[peer]}")
    fi
    for kib in 3 6 17 "$stress_kib"; do
        "$programs/reviews" --webhook "${address[webhook]}" --echo "${address[echo]}" \
            ${with_peer[@]+"${with_peer[@]}"} --ca "$work/certs/ca.crt" --kib "$kib" --connections 8 \
            --rounds "$rounds" --calls "$((kib < stress_kib ? 4 * calls : calls))" >"$work/race.jsonl"
        cat "$work/race.jsonl" >>"$reviews"
        jq -r '"   \(.case), \(.review_kib) KiB: \(.requests_per_s) a second, p50 \(.p50_us) us, p99 \(.p99_us) us"' \
            "$work/race.jsonl" >&2
    done
    stop_server peer
    stop_server evenkeel
}

# ---- explanations ----

# As many filter calls as decisions are kept, each about a pod of its own; then each is asked about.
measure_explain() {
    local decisions=10000 ops
    say "explanations of $decisions decisions"
    make_state 3 0
    start_evenkeel "$work/state.json"
    ops=$(other_address evenkeel ops)
    awk -v n="$decisions" -v url="https://${address[evenkeel]}/extender/v1/filter" -v ca="$work/certs/ca.crt" 'BEGIN {
        for (i = 1; i <= n; i++) {
            if (i > 1) print "next"
            printf "url = \"%s\"\ncacert = \"%s\"\nsilent\nfail\noutput = /dev/null\n", url, ca
            print "header = \"Content-Type: application/json\""
            printf "data = \"{\\\"Pod\\\":{\\\"metadata\\\":{\\\"name\\\":\\\"p%d\\\",\\\"namespace\\\":\\\"load\\\"}},", i
            print "\\\"NodeNames\\\":[\\\"a\\\",\\\"b\\\",\\\"c\\\"]}\""
        }
    }' >"$work/calls"
    curl --fail-early --config "$work/calls"
    curl --silent --fail --fail-early --output /dev/null --write-out '%{time_total}\n' \
        "http://$ops/explain/pods/load/p[1-$decisions]" | sort -g >"$work/times"
    fact explained "$(wc -l <"$work/times")"
    fact explain_p50_ms "$(awk -v n="$decisions" 'NR == int(n / 2) { print $1 * 1000 }' "$work/times")"
    fact explain_max_ms "$(awk 'END { print $1 * 1000 }' "$work/times")"
    stop_server evenkeel
}

# ---- reporting ----

# Markdown tables out of the array of cases ($cases) and the facts ($facts).
# shellcheck disable=SC2016  # jq's $ variables, not the shell's
report='
def round(n): (. * pow(10; n) | round) / pow(10; n);
def mib: . / 1024 | round(1);
def ms: . / 1000 | round(3);
def cell: tostring;
def row: "| " + (map(cell) | join(" | ")) + " |";
def table(head): (head | row), (head | map("---") | row), (.[] | row);
def thousands: tostring | [while(length > 0; .[:-3])] | map(.[-3:]) | reverse | join(",");
def verdict(ok): if ok then "met" else "**not met**" end;
def find(c; names): [$cases[] | select(.case == c and .names == names and
    (.pods == ([$cases[].pods] | max)))] | first // empty;

def measured:
    [$cases[] | [
        .case + (if .full and .case == "echo" then " of full-nodes" else "" end),
        (.names | thousands), (.pods | thousands), (.p50_us | ms), (.p99_us | ms),
        (.max_us | ms), (.ratio_to_echo | round(2)),
        (.ratio_to_sized_echo // 1 | round(2)), (.rss_kib | mib)]];

def stages:
    [("decode", "engine", "encode", "record") as $name | [$name,
        (("filter", "prioritize") as $h | $stages[] | select(.stage == $name and .handler == $h) |
            (.warm_us, .cold_us | round))]];

def latency_goals:
    {"500": 1, "1000": 2, "5000": 4} | to_entries[] | . as $g | ("filter", "prioritize") as $c |
    find($c; $g.key | tonumber) |
    ["\($c) of \(.names | thousands) names, p99", "\($g.value) ms", "\(.p99_us | ms) ms",
        verdict(.p99_us <= $g.value * 1000)];
def ratio_goal(c; names; most):
    find(c; names) |
    ["\(c) of \(.names | thousands) names beside an echo as long as the answer", "\(most) x",
        "\(.ratio_to_sized_echo | round(2)) x", verdict(.ratio_to_sized_echo <= most)];
def ratio_goals:
    ratio_goal("filter"; 500; 1.3), ratio_goal("prioritize"; 500; 1.3),
    ratio_goal("filter"; 5000; 1.35), ratio_goal("prioritize"; 5000; 1.4),
    (("filter", "prioritize") as $h | [$stages[] | select(.handler == $h).warm_us] | add |
        ["\($h) of 5,000 names, CPU time of its own code", "110 us", "\(round(0)) us", verdict(. <= 110)]);
def peer_goals:
    (500, 1000, 5000) as $n | ("filter", "prioritize") as $c |
    find($c; $n) as $ours | find("peer-" + $c; $n) as $theirs |
    ["\($c) of \($n | thousands) names, the in-tree plugin behind net/http over ours, p50", "10 x",
        "\($theirs.p50_us / $ours.p50_us | round(1)) x",
        verdict($theirs.p50_us >= 10 * $ours.p50_us)];
def growth_goals:
    ("filter", "prioritize") as $c | [$cases[] | select(.case == $c and .names == 5000)] |
    select(length > 1) | sort_by(.pods) |
    ["\($c) of 5,000 names, \(last.pods | thousands) pods over \(first.pods | thousands)",
        "1 x", "\(last.ratio_to_echo / first.ratio_to_echo | round(2)) x",
        verdict(last.ratio_to_echo / first.ratio_to_echo < 1.15)];
def full_goals:
    find("full-nodes"; 5000) | . as $f |
    ["full-nodes of \(.names | thousands), time beside an echo as long", "100 ms",
        "\(.p50_us - .sized_echo_p50_us | ms) ms",
        verdict(.p50_us - .sized_echo_p50_us <= 100000)],
    ["full-nodes of \(.names | thousands), memory at its peak beside that after the reply",
        "2 x the body", "\((.peak_rss_kib - .rss_kib) * 1024 / .request_bytes | round(2)) x",
        verdict((.peak_rss_kib - .rss_kib) * 1024 <= 2 * .request_bytes)];
def memory_goals:
    ["RSS, idle", "15 MiB", "\($facts.idle_rss_kib | mib) MiB",
        verdict($facts.idle_rss_kib <= 15 * 1024)],
    (find("filter"; 5000) |
        ["RSS, \(.nodes | thousands) nodes and \(.pods | thousands) pods, after all questions",
            "64 MiB", "\(.rss_kib | mib) MiB", verdict(.rss_kib <= 64 * 1024)]),
    ($facts.state_bytes / 1000 / $facts.state_ms |
        ["reading \($facts.state_bytes / 1000000 | round(0)) MB of state", "300 MB/s",
            "\(round(0)) MB/s", verdict(. >= 300)]);

def review_goals:
    $reviews[] | select(.case == "webhook" and .review_kib < $stress_kib) |
    ["webhook, reviews of \(.review_kib) KiB on \(.connections) connections", "8,000 a second",
        "\(.requests_per_s | thousands)", verdict(.requests_per_s >= 8000)],
    ["webhook, reviews of \(.review_kib) KiB, p99", "5 ms", "\(.p99_us | ms) ms",
        verdict(.p99_us <= 5000)];
def explain_goals:
    ["explaining each of the last \($facts.explained | thousands) decisions, the slowest of them", "50 ms",
        "\($facts.explain_max_ms | round(2)) ms (p50 \($facts.explain_p50_ms | round(2)) ms)",
        verdict($facts.explain_max_ms <= 50)];
def evenness_goals:
    $facts.evenness |
    ["a report on how even \(.workloads | thousands) workloads of \(.pods | thousands) pods are, CPU time", "100 ms",
        "\(.first_ms | round(1)) ms, then \(.again_ms | round(1)) ms; \(.report_bytes / 1048576 | round(1)) MiB",
        verdict(.first_ms <= 100)];
def plan_goals:
    {"5000 30 50": 1, "5000 30 2500": 5, "5000 220 2500": 20, "50000 220 50": 20} as $most |
    $facts.plan[] | select(.weight == 0) | . as $p |
    $most["\(.clusters) \(.leaves) \(.number)"] | select(. != null) |
    ["\($p.number | thousands) of \($p.clusters | thousands) clusters, two terms, \($p.leaves) leaf domains, CPU time p50; the goal is for filters and prioritizers, too",
        "\(.) ms", "\($p.p50_us | ms) ms", verdict($p.p50_us <= . * 1000)];
def hub_goals:
    $facts.hub | "\(.placements | thousands) Placements of \(.number) of \(.clusters | thousands) clusters" as $which |
    ["\($which), planned anew after a change of a cluster, CPU time p50", "1,000 ms", "\(.all_ms.p50 | round(0)) ms",
        verdict(.all_ms.p50 <= 1000)],
    ["\($which), from a taint to the first write of a move, p90", "50 ms",
        "\(.forced_ms.p90 | round(1)) ms (p50 \(.forced_ms.p50 | round(1)) ms)", verdict(.forced_ms.p90 <= 50)],
    ["\($which), RSS of a process that knows them alone", "32 MiB", "\(.rss_kib | mib) MiB", verdict(.rss_kib <= 32 * 1024)];
def churned:
    [$facts.churn | group_by(.prioritizers)[] |
        [.[0].prioritizers] + (sort_by(.by) | map("\(.moves | thousands) (\(.spread | thousands))"))];
def reviewed:
    [$reviews[] | [.case, .review_kib, .connections, (.requests_per_s | thousands), (.p50_us | ms),
        (.p99_us | ms), (.max_us | ms), (.ratio_to_echo | round(2))]];

([latency_goals, ratio_goals, peer_goals, growth_goals, full_goals, memory_goals, review_goals, explain_goals, evenness_goals, plan_goals, hub_goals] |
    table(["what", "goal", "measured", ""])),
"",
(measured | table(["case", "names", "pods", "p50 ms", "p99 ms", "max ms", "x echo",
    "x echo as long", "RSS MiB"])),
"",
"The webhook:",
"",
(reviewed | table(["case", "KiB", "connections", "a second", "p50 ms", "p99 ms", "max ms", "x echo"])),
"",
"Clusters that a Placement of 50 leaves in 24 hours while scores move (those that began for spread):",
"",
(churned | table(["prioritizers"] + ([$facts.churn[].by] | unique))),
"",
"CPU time of the stages of one call with 5,000 names, in microseconds, caches warm and cold:",
"",
(stages | table(["stage", "filter, warm", "filter, cold", "prioritize, warm", "prioritize, cold"])),
"",
"Reading the state took \($facts.state_ms) ms; RSS was \($facts.state_rss_kib | mib) MiB after " +
    "it and \($facts.state_peak_rss_kib | mib) MiB at its peak.",
"",
"Machine: \($machine)."'

machine() {
    printf '%s x %s, libmicrohttpd %s, GnuTLS %s' "$(nproc)" \
        "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" \
        "$(pkg-config --modversion libmicrohttpd 2>/dev/null || echo '?')" \
        "$(pkg-config --modversion gnutls 2>/dev/null || echo '?')"
}

# Replaces what stands between the markers of the document.
refresh_document() { # text
    awk -v text="$1" '
        /<!-- bench:end -->/ {inside = 0}
        !inside {print}
        /<!-- bench:begin -->/ {inside = 1; while ((getline line < text) > 0) print line}
    ' $document >"$work/document"
    cp "$work/document" $document
}

mkdir -p "$work"
: >"$results"
: >"$reviews"
: >"$facts"
"$evenkeel" certs init --dir "$work/certs" >"$work/certs.log" 2>&1 || {
    cat "$work/certs.log" >&2
    exit 1
}
start_server echo "$programs/echo_server" "$work/certs/tls.crt" "$work/certs/tls.key"
measure_idle
for pods in "${pod_counts[@]}"; do
    measure_pods "$pods"
done
measure_reviews
measure_explain
measure_evenness
measure_plan
measure_hub
jq -s . "$results" "$reviews" >build/bench.json
jq -rn --slurpfile cases "$results" --slurpfile reviews "$reviews" --slurpfile list "$facts" \
    --slurpfile stages "$work/stages.jsonl" --arg machine "$(machine)" --argjson stress_kib "$stress_kib" \
    ' ($list | from_entries) as $facts | '"$report" >"$work/report.md"
cat "$work/report.md"
if [ -z "$quick" ] && [ -e $document ]; then
    refresh_document "$work/report.md"
    say "refreshed $document"
fi
