#!/usr/bin/env bash
# The calls that kube-scheduler makes, and others that are right, over verified TLS: connections,
# large requests, and that the daemon and `evenkeel simulate` say the same.
. "$(dirname "$0")/lib.sh"

state=$example/state.json
pod=$example/pod.json
filter_request "$pod" "$state" >"$work/request.json"
start_server --state "$state"
url=https://$extender/extender/v1

# ---- TLS and HTTP ----

"$evenkeel" certs init --dir "$work/other" >/dev/null
wanted=$(call filter <"$work/request.json")
like "filter answers over verified TLS" "$wanted" '^\{"Nodes":null,"NodeNames":\["eu-west-b-1",.*"Error":""\}$'
is "a client that does not trust our CA does not connect" \
    "$(curl --silent --cacert "$work/other/ca.crt" "https://$extender/" --write-out '%{exitcode}' || true)" 60
is "HTTP/1.1 with a client that offers HTTP/2" \
    "$(status_of filter --http2 --write-out '%{http_code} %{http_version}' <"$work/request.json")" '200 1.1'
is "one connection for three calls" \
    "$(call '{filter,prioritize,filter}' --output /dev/null --write-out '%{num_connects}%{http_code} ' \
        <"$work/request.json")" '1200 0200 0200 '

# Answers to what is wrong keep the connection, too: kube-scheduler's next call needs it.
reuse() { # CURL OPTION...
    fetch --output /dev/null --write-out '%{num_connects}%{http_code} ' "$@"
}
is "one connection for calls that are refused" \
    "$(call '{filter,prioritize,nothing}' --output /dev/null \
        --write-out '%{num_connects}%{http_code} ' <<<'{}')" '1200 0400 0404 '
is "... for their type" "$(reuse --data x "$url/{filter,preempt}")" '1415 0415 '
is "... for their method" "$(reuse "$url/{filter,preempt}")" '1405 0405 '

same_answer() { # CURL OPTION...
    [ "$(call filter "$@" <"$work/request.json")" = "$wanted" ]
}
check "a chunked body" same_answer --header 'Transfer-Encoding: chunked'
check "a body announced with Expect: 100-continue" same_answer --header 'Expect: 100-continue'
check "a charset in the content type" same_answer --header 'Content-Type: application/json; charset=utf-8'
check "a client that takes gzip gets plain JSON" same_answer --header 'Accept-Encoding: gzip'
check "a query behind the path" test "$(call 'filter?timeout=1s' <"$work/request.json")" = "$wanted"
is "the server by its host name" \
    "$(fetch --resolve "localhost:${extender##*:}:127.0.0.1" --header 'Content-Type: application/json' \
        --data-binary @"$work/request.json" "https://localhost:${extender##*:}/extender/v1/filter")" "$wanted"

request_bytes() { # CONNECTION
    printf 'POST /extender/v1/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    printf 'Content-Length: %d\r\nConnection: %s\r\n\r\n' "$(wc -c <"$work/request.json")" "$1"
    cat "$work/request.json"
}
{ request_bytes keep-alive; request_bytes close; } | raw >"$work/pipelined" || true
is "two requests in one write get two answers" "$(grep -o 'HTTP/1.1 200 ' "$work/pipelined" | wc -l)" 2

mkdir "$work/parallel"
call 'filter?n=[1-200]' --parallel --parallel-max 16 --no-progress-meter --output "$work/parallel/#1" <"$work/request.json"
is "200 calls over 16 connections get the same answer" \
    "$(cat "$work/parallel"/* | md5sum)" "$(for _ in {1..200}; do printf %s "$wanted"; done | md5sum)"

# ---- the ops listener ----

is "HEAD is answered where GET is" "$(ops livez --head --output /dev/null --write-out '%{http_code}')" 200
like "metrics name themselves" "$(ops metrics --output /dev/null --write-out '%{content_type}')" \
    '^text/plain; version=0.0.4'
filters='evenkeel_http_requests_total{listener="extender",verb="filter",code="200"}'
before=$(metric "$filters")
call filter <"$work/request.json" >/dev/null
is "metrics count each call" "$(metric "$filters")" $((before + 1))
is "metrics count the cluster" "$(metric evenkeel_cache_nodes) $(metric evenkeel_cache_pods)" '13 10'

# A line is a comment, or a series and its value; each name has its help and its type in front.
is "metrics are what Prometheus reads" \
    "$(ops metrics | awk '
        /^# HELP / { help[$3] = 1; next }
        /^# TYPE / { type[$3] = 1; next }
        !/^[a-z_]+([{][a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*[}])? -?[0-9.e+-]+$/ { print "odd line: " $0 }
        { name = $1; sub(/[{].*/, "", name)
          if (!type[name]) sub(/_(bucket|sum|count)$/, "", name)
          if (!help[name] || !type[name]) print "no help or type: " $0; n++ }
        END { if (n < 30) print "only " n " series" }')" ''

# ---- the daemon and the command say the same ----

# {"node": "verdict: reason"} of a filter answer, and of a simulation.
http_verdicts='(.NodeNames | map({(.): "Pass: "}) | add // {})
    + (.FailedNodes | map_values("Unschedulable: " + .))
    + (.FailedAndUnresolvableNodes | map_values("UnschedulableAndUnresolvable: " + .))'
simulated_verdicts='.filter | map_values(.verdict + ": " + .reason)'
# When no algorithm has anything to say, a simulation has no priorities, and an answer zeros.
# shellcheck disable=SC2016  # jq's $
simulated_scores='if any(.score[]; has("priority")) then .score | map_values(.priority) else $asked | map_values(0) end'

agree() { # POD STATE [CANDIDATES]: filter and prioritize over HTTP, and evenkeel simulate of the same filter
    local candidates=() said asked
    if [ $# -gt 2 ]; then candidates=(--candidates "$3"); fi
    "$evenkeel" simulate --state "$2" --pod "$1" -o json --filters PodTopologySpread "${candidates[@]}" >"$work/simulated"
    filter_request "$1" "$2" >"$work/args"
    if [ $# -gt 2 ]; then
        jq -c --arg names "$3" '.NodeNames = ($names | split(","))' "$work/args" >"$work/args2"
        mv "$work/args2" "$work/args"
    fi
    call filter <"$work/args" >"$work/filtered"
    said=$(jq -S "$simulated_verdicts" "$work/simulated")
    [ "$said" = "$(jq -S "$http_verdicts" "$work/filtered")" ] || return 1
    # kube-scheduler scores the survivors; candidates that are named are scored all.
    if [ $# -eq 2 ]; then
        jq -c --slurpfile f "$work/filtered" '.NodeNames = $f[0].NodeNames' "$work/args" >"$work/args2"
        mv "$work/args2" "$work/args"
    fi
    asked=$(call prioritize <"$work/args" | jq -S 'map({(.Host): .Score}) | add // {}')
    said=$(jq -S --argjson asked "$asked" "$simulated_scores" "$work/simulated")
    [ "$said" = "$asked" ]
}
check "simulate says what the daemon says: the example" agree "$pod" "$state"
check "simulate says what the daemon says: named candidates" \
    agree "$pod" "$state" eu-west-b-1,edge-1,us-east-a-2
jq '.spec.topologySpreadConstraints[].whenUnsatisfiable = "DoNotSchedule"' "$pod" >"$work/hard.json"
check "simulate says what the daemon says: all hard" agree "$work/hard.json" "$state"
jq '.spec.topologySpreadConstraints[].whenUnsatisfiable = "ScheduleAnyway"' "$pod" >"$work/soft.json"
check "simulate says what the daemon says: all soft" agree "$work/soft.json" "$state"
# No constraint of its own, and no service: nothing to score, and priorities are 0.
jq 'del(.spec.topologySpreadConstraints)' "$pod" >"$work/free.json"
"$evenkeel" simulate --state "$state" --pod "$work/free.json" --filters PodTopologySpread -o json >"$work/simulated"
is "simulate without constraints: all pass, nothing is scored" \
    "$(jq -c '[([.filter[].verdict] | unique), [.score[] | .raw, .priority | values]]' "$work/simulated")" '[["Pass"],[]]'

table=$("$evenkeel" simulate --state "$state" --pod "$pod")
is "the table has a line per node, headings, and what is not judged" "$(wc -l <<<"$table")" 15
like "the table's headings" "$(head -n 1 <<<"$table")" '^NODE +VERDICT +PRIORITY +NORMALIZED +RAW +TOTAL +REASON$'
like "the table's first line is the best node" "$(sed -n 2p <<<"$table")" '^ap-south-a-1 +Pass +10 +100 +[0-9]+'
like "the table's last lines cannot be helped" "$(tail -n 3 <<<"$table" | head -n 1)" \
    '^edge-1 +UnschedulableAndUnresolvable +- +- +- +- +no label topology.kubernetes.io/zone'
is "the table says what is not judged" "$(tail -n 1 <<<"$table")" \
    'not judged: limits and capacity of volumes, devices, NodeResourcesFit (no node reports its allocatable resources)'
is "the table has only the candidates that were named" \
    "$("$evenkeel" simulate --state "$state" --pod "$pod" --candidates edge-1,eu-west-b-1 |
        sed '1d; $d' | cut -d ' ' -f 1 | paste -s -d ' ')" 'eu-west-b-1 edge-1'
stop_server INT

# ---- kube-scheduler's own filters ----

simulated() { # POD [OPTION...]: [verdict, filter, reason] of the cordoned node and of another
    "$evenkeel" simulate --state "$state" --pod "$1" -o json "${@:2}" >"$work/simulated" &&
        jq -c '.filter | [."us-east-b-2", ."ap-south-a-1"] | map([.verdict, .filter, .reason])' "$work/simulated"
}
cordoned='["UnschedulableAndUnresolvable","NodeUnschedulable","node(s) were unschedulable"]'
is "a cordoned node does not pass" "$(simulated "$pod")" "[$cordoned,[\"Pass\",\"\",\"\"]]"
is "... and is not scored" "$(jq '.score | has("us-east-b-2")' "$work/simulated")" false
is "... unless only other filters are asked for" "$(simulated "$pod" --filters 'PodTopologySpread, NodeName' |
    jq -c '.[0]')" '["Pass","",""]'
is "what is not judged is said" "$(jq -r .notJudged "$work/simulated")" \
    'NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeBinding, VolumeZone, InterPodAffinity, limits and capacity of volumes, devices'
jq '.spec.volumes = [{name: "v", ephemeral: {volumeClaimTemplate: {spec: {}}}}]' "$pod" >"$work/ephemeral.json"
simulated "$work/ephemeral.json" >"$work/answer"
like "... and claims of ephemeral volumes" "$(jq -r .notJudged "$work/simulated")" "^the pod's claims \(those that are made for it\), limits"
jq '{apiVersion: "apps/v1", kind: "StatefulSet", metadata: {name: "s", namespace: "default"},
    spec: {template: {metadata, spec}, volumeClaimTemplates: [{metadata: {name: "v"}, spec: {}}]}}' "$pod" >"$work/stateful.json"
simulated "$work/stateful.json" >"$work/answer"
like "... and those of volumeClaimTemplates" "$(jq -r .notJudged "$work/simulated")" "^the pod's claims \(those that are made for it\), limits"
jq '.spec.volumeClaimTemplates = []' "$work/stateful.json" >"$work/stateless.json"
simulated "$work/stateless.json" >"$work/answer"
like "... if there are some" "$(jq -r .notJudged "$work/simulated")" '^limits and capacity'
jq '.spec.nodeSelector = {"topology.kubernetes.io/region": "nowhere"}' "$pod" >"$work/selector.json"
is "a nodeSelector that no node has" "$(simulated "$work/selector.json" | jq -c '.[1]')" \
    '["UnschedulableAndUnresolvable","NodeAffinity","node(s) didn'"'"'t match Pod'"'"'s node affinity/selector"]'
is "... lets no node pass" "$(jq '[.filter[] | select(.verdict == "Pass")] | length' "$work/simulated")" 0
jq '.items |= map(if .kind == "Node" then .status.allocatable = {cpu: "2", pods: "10"} else . end)' "$state" >"$work/sized.json"
jq '.spec.containers[0].resources = {requests: {cpu: "3"}}' "$pod" >"$work/greedy.json"
state=$work/sized.json
is "a pod larger than a node" "$(simulated "$work/greedy.json" | jq -c '.[1]')" \
    '["UnschedulableAndUnresolvable","NodeResourcesFit","Insufficient cpu"]'
is "... and all that is not judged" "$(jq -r .notJudged "$work/simulated")" 'limits and capacity of volumes, devices'
# Of one node it is not said what it has: kube-scheduler takes that for nothing.
jq '.items |= map(if .kind == "Node" and .metadata.name == "ap-south-a-1" then del(.status) else . end)' "$work/sized.json" >"$work/silent.json"
state=$work/silent.json
is "a node that does not say what it has" "$(simulated "$pod" | jq -c '.[1]')" \
    '["Unschedulable","NodeResourcesFit","Too many pods"]'
is "... nor has anything for one that asks" "$(simulated "$work/greedy.json" | jq -c '.[1]')" \
    '["UnschedulableAndUnresolvable","NodeResourcesFit","Too many pods, Insufficient cpu"]'
state=$example/state.json
is "no node says what it has: resources are not judged" "$(simulated "$work/greedy.json" | jq -c '.[1]')" '["Pass","",""]'
like "... which is said" "$(jq -r .notJudged "$work/simulated")" 'NodeResourcesFit .no node reports its allocatable resources.'
like "... of replicas too" "$("$evenkeel" simulate --state "$state" --pod "$pod" --replicas 2 -o json | jq -r .notJudged)" \
    'NodeResourcesFit .no node reports'
profile() { # NAME AFFINITY: a profile of kube-scheduler
    jq -n --arg name "$1" --argjson affinity "$2" '{schedulerName: $name, pluginConfig: [
        {name: "NodeAffinity", args: {apiVersion: "kubescheduler.config.k8s.io/v1", kind: "NodeAffinityArgs",
            addedAffinity: $affinity}}]}'
}
of_asia='{"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "topology.kubernetes.io/region", "operator": "In", "values": ["ap-south"]}]}]}}'
{ profile default-scheduler "$of_asia"; profile other '{}'; } | jq -s '{apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration", profiles: .}' >"$work/scheduler.json"
asked=(--kube-scheduler-config "$work/scheduler.json")
is "addedAffinity of the default profile" \
    "$("$evenkeel" simulate --state "$state" --pod "$pod" -o json --candidates us-east-a-1,ap-south-a-1 "${asked[@]}" |
        jq -c '.filter | map([.filter, .reason])')" \
    '[["NodeAffinity","node(s) didn'"'"'t match scheduler-enforced node affinity"],["",""]]'
prefers_asia='{"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "preference": {"matchExpressions": [
    {"key": "topology.kubernetes.io/region", "operator": "In", "values": ["ap-south"]}]}}]}'
profile default-scheduler "$prefers_asia" | jq -s '{apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration", profiles: .}' >"$work/prefers.json"
is "... what it prefers is scored" \
    "$("$evenkeel" simulate --state "$state" --pod "$pod" -o json --candidates us-east-a-1,ap-south-a-1 \
        --kube-scheduler-config "$work/prefers.json" | jq -c '.score | map_values(.inTree.NodeAffinity)')" \
    '{"us-east-a-1":0,"ap-south-a-1":100}'
jq '.spec.schedulerName = "other"' "$pod" >"$work/other.json"
is "... not of another's" "$(simulated "$work/other.json" "${asked[@]}" | jq -c '.[1]')" '["Pass","",""]'
jq '.spec.schedulerName = "third"' "$pod" >"$work/other.json"
code=0
out=$("$evenkeel" simulate --state "$state" --pod "$work/other.json" "${asked[@]}" 2>&1) || code=$?
is "a pod of no profile" "$code" 1
like "... in a sentence" "$out" "no profile 'third'"
code=0
out=$("$evenkeel" simulate --state "$state" --pod "$pod" 2>&1 --kube-scheduler-config "$pod") || code=$?
is "a file that is no configuration of kube-scheduler" "$code" 1
like "... in a sentence" "$out" "expected 'KubeSchedulerConfiguration', found 'Pod'"
code=0
out=$("$evenkeel" simulate --state "$state" --pod "$pod" --filters PodTopologySpread,NodeVolumeLimits 2>&1) || code=$?
is "a filter that there is not is wrong usage" "$code" 2
like "... in a sentence" "$out" "unknown filter 'NodeVolumeLimits'; there are NodeUnschedulable, NodeName, "

# ---- other ways to be started ----

start_bare_server --state "$state" --insecure-extender --ops-listen 0
is "plain HTTP, for trying things out" \
    "$(curl --silent --header 'Content-Type: application/json' --data-binary @"$work/request.json" \
        "http://$extender/extender/v1/filter")" "$wanted"
is "ops can be off" "$ops" off
stop_server INT

# A filter that leaves one node is a decision: the pod counts there before the cluster says so. Zones
# a, b, c hold 3, 1, 1 pods; with the first one reserved, c holds 2, which is too many for the next.
start_server --state tests/golden/state.json --reservations SingleNode --reservations-ttl 3s --state-poll-interval 50ms
passing() { # POD NODE...
    jq -c --arg pod "$1" '.Pod.metadata.name = $pod | .Pod.metadata.uid = $pod | .NodeNames = $ARGS.positional' \
        tests/golden/filter/names-mode/request.json --args "${@:2}" | call filter | jq -r '.NodeNames | join(" ")'
}
is "reservations: a pod for which only c1 is left" "$(passing first a1 c1)" c1
is "... counts there for the next" "$(passing second c1 b1 b2)" 'b1 b2'
is "... but not for itself, when it is asked about again" "$(passing first a1 c1)" c1
is "... and is seen in the metrics" "$(metric evenkeel_cache_reservations)" 1
forgotten() { [ "$(metric evenkeel_cache_reservations)" = 0 ]; }
check "a reservation nobody confirms ends" await forgotten
is "... and c1 is free again" "$(passing second c1 b1 b2)" 'c1 b1 b2'
stop_server INT

# ---- large requests ----

# 5,000 nodes in three zones with every 2nd, 3rd and 5th of them in use, all by pods of one group.
awk 'BEGIN {
    print "{\"kind\": \"List\", \"items\": ["
    for (i = 1; i <= 5000; i++) {
        zone = substr("abc", i % 3 + 1, 1)
        printf "{\"kind\": \"Node\", \"metadata\": {\"name\": \"node-%05d\", \"labels\": " \
               "{\"topology.kubernetes.io/zone\": \"%s\"}}},\n", i, zone
        if (zone == "a" && i % 2 == 0 || zone == "b" && i % 3 == 1 || zone == "c" && i % 5 == 0)
            printf "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"web-%d\", \"namespace\": \"shop\", " \
                   "\"uid\": \"web-%d\", \"labels\": {\"app\": \"web\"}}, " \
                   "\"spec\": {\"nodeName\": \"node-%05d\"}},\n", i, i, i
    }
    print "{\"kind\": \"Namespace\", \"metadata\": {\"name\": \"shop\"}}]}"
}' >"$work/large.json"
start_server --state "$work/large.json"
filter_request "$pod" "$work/large.json" >"$work/request.json"
jq -c '.Pod.spec.topologySpreadConstraints |= .[:1]' "$work/request.json" >"$work/large-request.json"
call filter <"$work/large-request.json" >"$work/answer.json"
is "5,000 names: each of them is in the answer once" \
    "$(jq '.NodeNames + (.FailedNodes | keys) + (.FailedAndUnresolvableNodes | keys) | unique | length' \
        "$work/answer.json")" 5000
# Zone c, where i % 3 is 2, holds the fewest pods: one in five of its nodes has one.
is "5,000 names: the emptiest zone passes, in the request's order" \
    "$(jq -r '.NodeNames[]' "$work/answer.json" | md5sum)" \
    "$(seq -f 'node-%05g' 2 3 5000 | md5sum)"

# The same in full Nodes mode, 1 kB a node. The answer must hold the survivors' own bytes.
padding=$(printf 'x%.0s' {1..900})
# shellcheck disable=SC2016  # awk's $
nodes_awk='{ printf "%s{\"metadata\":{\"name\":\"%s\",\"annotations\":{\"x\":\"%s \\u003c%d\"}},\"spec\":{},\"status\":{}}",
    (NR > 1 ? "," : ""), $1, padding, NR }'
seq -f 'node-%05g' 5000 | awk -v padding="$padding" "$nodes_awk" >"$work/all-nodes"
{
    printf '{"Pod":%s,"NodeNames":null,"Nodes":{"metadata":{},"items":[' "$(jq -c .Pod "$work/large-request.json")"
    cat "$work/all-nodes"
    printf ']}}'
} >"$work/full.json"
call filter <"$work/full.json" >"$work/full-answer.json"
{
    printf '{"Nodes":{"metadata":{},"items":['
    # One object a line; every third from the second on is of zone c.
    sed 's/,{"metadata"/\n{"metadata"/g' "$work/all-nodes" | sed -n '2~3p' | paste -s -d , | tr -d '\n'
    printf ']},"NodeNames":null,"FailedNodes":%s,"FailedAndUnresolvableNodes":{},"Error":""}' \
        "$(jq -c .FailedNodes "$work/answer.json")"
} >"$work/full-wanted.json"
check "5 MB of nodes: the survivors come back byte for byte" cmp "$work/full-wanted.json" "$work/full-answer.json"
is "5 MB of nodes: prioritize scores each" \
    "$(jq -c '.Pod.spec.topologySpreadConstraints[0].whenUnsatisfiable = "ScheduleAnyway"' "$work/full.json" |
        call prioritize | jq length)" 5000
is "... or none, when nothing is asked for" "$(call prioritize <"$work/full.json")" '[]'
is "5 MB of nodes, chunked: the same answer" \
    "$(call filter --header 'Transfer-Encoding: chunked' <"$work/full.json" | md5sum)" \
    "$(md5sum <"$work/full-answer.json")"
check "no crash" no_crash
stop_server INT
is "it ended well" "$exit_code" 0
finish_tests
