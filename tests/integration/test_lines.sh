#!/usr/bin/env bash
# evenkeel simulate --lines: a question a line, an answer a line. What steps answer is tested in
# tests/unit/lines, and by test_seeds.sh.
. "$(dirname "$0")/lib.sh"

lines() { "$evenkeel" simulate --lines "$@"; }
status() { # COMMAND...: its exit code
    local code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
    echo "$code"
}

# ---- a file, and standard input ----

cat >"$work/good.jsonl" <<'LINES'
{"id":1,"step":"normalise","value":50.5,"min":1,"max":100}
{"id":"b","step":"plan","number":2,"terms":[{"topologyKey":"zone","topologyKeyType":"Label"}],"clusters":[{"name":"c1","labels":{"zone":"a"}},{"name":"c2","labels":{"zone":"a"}},{"name":"c3","labels":{"zone":"b"}}]}
{"id":{"c":[null]},"step":"range","values":[1,50,100]}
LINES
good='{"id":1,"value":0}
{"id":"b","selected":["c1","c3"],"kept":[],"unscheduled":0,"skew":[0]}
{"id":{"c":[null]},"low":1,"high":100}'
is "a file is answered line by line" "$(lines "$work/good.jsonl")" "$good"
is "so is standard input" "$(lines - <"$work/good.jsonl")" "$good"
is "... and the exit code is 0" "$(status lines "$work/good.jsonl")" 0
is "-o json changes nothing" "$(lines "$work/good.jsonl" -o json)" "$good"
is "nothing is answered with nothing" "$(lines - </dev/null; echo $?)" 0
is "a last line without a newline is one" "$(printf '{"step":"range","values":[]}' | lines -)" '{"id":null,"low":null,"high":null}'

# ---- bad lines ----

printf '%s\n' '{"id":1,"step":"range","values":[7]}' '{"id":2,' '' '{"id":3,"step":"lunch"}' '{"id":4,"step":"plan","number":-1}' \
    '{"id":5,"step":"range","values":[8]}' >"$work/bad.jsonl"
is "bad lines make the exit code 1" "$(status lines "$work/bad.jsonl")" 1
is "... in their places, with the id that can be read" "$(jq -c '[.id, .errorKind // .low]' "$work/out" | paste -sd' ')" \
    '[1,7] [null,"Input"] [null,"Input"] [3,"Input"] [4,"Input"] [5,8]'
is "... and nothing on standard error" "$(cat "$work/err")" ''

limit=$((64 << 20))
{
    echo '{"id":1,"step":"range","values":[7]}'
    printf '{"id":2,"step":"range","values":[9],"x":"' # 41 bytes, and 2 behind
    head -c $((limit - 43)) /dev/zero | tr '\0' x
    printf '"}\n'
    printf '{"id":3,"step":"range","values":[9],"x":"'
    head -c $((limit - 42)) /dev/zero | tr '\0' x
    printf '"}\n'
    head -c $((3 * limit)) /dev/zero | tr '\0' x
    printf '\n{"id":4,"step":"range","values":[8]}\n'
} >"$work/long.jsonl"
is "a line that is too long is a bad line" "$(status lines "$work/long.jsonl")" 1
is "... of more than 64 MiB, and the others are answered" "$(jq -c '[.id, .error // .low]' "$work/out" | paste -sd' ')" \
    '[1,7] [2,9] [null,"a line of more than 64 MiB"] [null,"a line of more than 64 MiB"] [4,8]'
rm "$work/long.jsonl"

# ---- an option beside options ----

estimate='{"id":1,"step":"estimate","namespace":"shop","nodes":[{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"10","pods":"110"}}}],
    "quotas":[{"metadata":{"name":"q","namespace":"shop"},"spec":{"hard":{"requests.cpu":"2"}},"status":{"hard":{"requests.cpu":"2"},
    "used":{"requests.cpu":"2"}}}],"requirements":{"namespace":"shop","resourceRequest":{"cpu":"1"}}}'
asked() { jq -c "$1" <<<"$estimate" | lines - | jq -c '[.replicas, .warnings]'; }
is "a quota counts by an option" "$(asked '.options.resourceQuota = true')" '[0,null]'
is "... which has no effect outside options, and a warning" "$(asked '.resourceQuota = true')" \
    '[10,["question.resourceQuota has no effect: it is an option, so write it into question.options"]]'
is "... one for each" "$(asked '.resourceQuota = true | .plugins = [] | .options = {}' | jq '.[1] | length')" 2
is "a member that is no option is skipped" "$(asked '.quota = true')" '[10,null]'
is "... and in steps without options" "$(lines - <<<'{"step":"range","values":[1],"models":3}')" '{"id":null,"low":1,"high":1}'

# ---- an answer before the next question ----

coproc partner { lines -; }
children+=("$partner_PID")
out=${partner[1]}
heard=
for id in 1 2 3; do
    printf '{"id":%d,"step":"range","values":[%d]}\n' "$id" "$id" >&"$out"
    read -r -t "$PATIENCE" line <&"${partner[0]}" || line=silence
    heard+="$line "
done
exec {out}>&-
is "each line is answered before the next is asked" "$heard" '{"id":1,"low":1,"high":1} {"id":2,"low":2,"high":2} {"id":3,"low":3,"high":3} '

# ---- usage ----

is "a file that is not there" "$(status lines "$work/nothing")" 1
like "... is named" "$(cat "$work/err")" "cannot open '.*/nothing': No such file"
is "a folder" "$(status lines "$work")" 1
is "no file" "$(status lines)" 2
for more in "--pod $work/good.jsonl" --admit "--state $example/state.json" "--kubeconfig x" "--policy x" "--config x" "--replicas 2" \
    "--without a=b" "--filters NodeName" "--candidates a" "--strict" "-o table" "--in-cluster" "--log-level debug" extra; do
    read -ra words <<<"$more"
    is "not beside $more" "$(status lines "$work/good.jsonl" "${words[@]}") $(cat "$work/out")" '2 '
done
is "... whichever comes first" "$(status "$evenkeel" simulate --admit --lines "$work/good.jsonl")" 2
like "... and a sentence says so" "$(cat "$work/err")" 'leave out --admit'
like "help lists the steps" "$("$evenkeel" simulate --help)" 'plan +clusters\[\], .*normalise +value, min, max'
finish_tests
