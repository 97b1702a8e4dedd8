#!/usr/bin/env bash
# Recorded answers of Karmada's own code (tests/conformance/data/karmada, made with v1.18.1): `simulate --lines` is asked
# the same and answers the same, and so does POST /clusters/v1/VERB. How a case becomes a question, and what of an answer
# is compared, is in karmada_cases.jq.
. "$(dirname "$0")/lib.sh"

folder=tests/conformance/data/karmada
library=tests/integration

# FILE STEP, for each file of cases: a line of JSON is one, or of text.
files='
select_groups groups
select_best_clusters select
assign_replicas assign
assign_replicas_large assign
schedule_e2e schedule
general_estimator estimate
accurate_estimator estimate
quantity quantity
quantity_sub quantity
wire_golden wire'

# Numbers beyond 2^53 as texts: jq's are doubles.
quote_numbers() {
    sed -E 's/"(value|milli)": ?(-?[0-9]+)/"\1":"\2"/g'
}
compare() { # FILE: prints where answers differ, a difference a line
    local file=$1 path=$folder/$1.jsonl raw=
    [ -e "$path" ] || path=$folder/$file.txt raw=-R
    quote_numbers <"$path" | jq ${raw:+"$raw"} -L "$library" -c "include \"karmada_cases\"; ${file}_cases" >"$work/cases"
    jq -c .ask "$work/cases" | "$evenkeel" simulate --lines - 2>"$work/said" | quote_numbers >"$work/answers" || true
    jq -L "$library" -nc --slurpfile cases "$work/cases" --slurpfile answers "$work/answers" "include \"karmada_cases\";
        range(\$cases | length) as \$i | \$cases[\$i] as \$case | \$answers[\$i]
        | select((. == null) or ((. | ${file}_seen(\$case)) != \$case.want))
        | {asked: \$case.ask, wanted: \$case.want, got: .}" >"$work/differences" || echo "an answer is no JSON" >"$work/differences"
}

# The endpoint of a step.
declare -A verbs=([groups]=select [select]=select [assign]=assign [schedule]=assign [estimate]=estimate [quantity]=estimate [wire]=estimate)
# Asks what `compare` has asked over one connection, and prints the answers, a line each.
ask_over_http() { # STEP
    jq -r --arg url "https://$extender/clusters/v1/${verbs[$1]}" --arg ca "$certs/ca.crt" '
        "url = \"\($url)\"\ncacert = \"\($ca)\"\nsilent\nheader = \"Content-Type: application/json\"\nwrite-out = \"\\n\"\ndata-binary = \(.ask | tojson | tojson)\nnext"
        ' "$work/cases" | sed '$d' >"$work/curl"
    curl --config "$work/curl" | quote_numbers
}

start_server --state $example/state.json --shutdown-delay 0s
while read -r file step; do
    [ -n "$file" ] || continue
    compare "$file"
    check "$file: the same over HTTP" cmp "$work/answers" <(ask_over_http "$step")
    count=$(wc -l <"$work/cases") differ=$(wc -l <"$work/differences")
    name="$file: $count questions are answered as Karmada's code answers them"
    if [ "$differ" -eq 0 ] && [ "$count" -gt 0 ]; then
        pass "$name"
    else
        fail "$name" "$differ differ; the first of them, and the smallest:" \
            "$(head -n 1 "$work/differences")" \
            "$(awk 'NR == 1 || length($0) < length(least) { least = $0 } END { print least }' "$work/differences")" "$(cat "$work/said")"
    fi
done <<<"$files"
finish_tests
