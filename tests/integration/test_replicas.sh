#!/usr/bin/env bash
# Two replicas on one machine: each has decisions that the other does not know. `evenkeel explain` asks
# both, finds every decision, and names the one that is silent.
. "$(dirname "$0")/lib.sh"

state=$example/state.json
pods=20

explain() { # ARGUMENT...
    "$evenkeel" explain --no-api-server "$@"
}
filter_of() { # NAME: a filter call about a pod of this name
    jq -c --arg name "$1" '.metadata.name = $name | .metadata.uid = $name' "$example/pod.json" >"$work/pod.json"
    filter_request "$work/pod.json" "$state"
}

start_server --state "$state"
first=http://$ops first_pid=$server first_extender=$extender
children+=("$server")
start_server --state "$state"
second=http://$ops second_pid=$server second_extender=$extender
both=(--server "$first" --server "$second")

# kube-scheduler asks now this one and now that, about the same pod too.
for i in $(seq "$pods"); do
    extender=$first_extender
    [ $((i % 2)) = 0 ] || extender=$second_extender
    filter_of "web-$i" | call filter >/dev/null
done
for extender in "$second_extender" "$first_extender" "$second_extender"; do
    filter_of both | call filter >/dev/null
done

found=0
for i in $(seq "$pods"); do
    [ "$(explain "shop/web-$i" "${both[@]}" -o json | jq '.decisions | length')" = 1 ] && found=$((found + 1))
done
is "every decision is found, whoever made it" "$found" "$pods"
explain shop/both "${both[@]}" -o json >"$work/both.json"
is "decisions are merged by time" "$(jq -c '[.decisions[].replica]' "$work/both.json")" "[\"$second\",\"$first\",\"$second\"]"
is "... which is their order" "$(jq -c '[.decisions[].time] | . == sort' "$work/both.json")" true
is "both answered" "$(jq -c '[.replicas[] | [.server, .answered]]' "$work/both.json")" "[[\"$first\",true],[\"$second\",true]]"
is "... and how many each has made" "$(jq -c '[.replicas[].made] | add' "$work/both.json")" $((pods + 3))
unlike "nothing is said of silent ones" "$(explain shop/both "${both[@]}")" 'replicas answered|no answer'
is "recent ones, too, the newest first" \
    "$(explain recent "${both[@]}" -o json | jq -c '[.decisions[].time] | length, . == (sort | reverse)' | paste -s -d ' ')" "$((pods + 3)) true"
is "a table has as many" "$(explain recent "${both[@]}" | sed 1d | wc -l)" $((pods + 3))

# ---- one is down ----

kill -KILL "$second_pid"
wait "$second_pid" 2>/dev/null || true
server=$first_pid
found=0
for i in $(seq 2 2 "$pods"); do
    [ "$(explain "shop/web-$i" "${both[@]}" -o json | jq '.decisions | length')" = 1 ] && found=$((found + 1))
done
is "one down: every decision of the other is found" "$found" $((pods / 2))
explain shop/web-2 "${both[@]}" >"$work/table"
explain recent "${both[@]}" >"$work/recent"
like "... a list of recent ones names the silent one" "$(tail -n 2 "$work/recent")" "no answer from $second: "
like "... the first line names the silent one" "$(sed -n 1,2p "$work/table")" "1 of 2 replicas answered.*no answer from $second: "
is "... so does JSON" "$(explain shop/web-2 "${both[@]}" -o json | jq -c '[.replicas[] | select(.answered | not) | [.server, (.error | length > 0)]]')" \
    "[[\"$second\",true]]"
status=0
told=$(explain shop/web-1 "${both[@]}" 2>&1) || status=$?
is "what only the silent one knew is not known" "$status" 1
like "... and the silent one is named" "$told" "$second"
kill -KILL "$first_pid"
wait "$first_pid" 2>/dev/null || true
server=
status=0
told=$(explain shop/web-2 "${both[@]}" 2>&1) || status=$?
is "nobody answers" "$status" 1
like "... says so" "$told" '127\.0\.0\.1'
finish_tests
