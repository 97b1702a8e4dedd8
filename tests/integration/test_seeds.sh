#!/usr/bin/env bash
# Every example of the documents that asked for Evenkeel (tests/conformance/data/seeds.jsonl), as a case: the
# commands' answers hold what is expected of them.
#
#   {"id", "seed": where it is from, "form", "pod" | "placement" | "question", "state", "policy", "now", "expect", "why"}
#
# `expect` is a part of the answer; in it {"$not": x}, {"$set": [..]} in any order, {"$has": [..]} each a part of some text, {"$text": regex}, {"$any": [..]}
# one of them.
. "$(dirname "$0")/lib.sh"

cases=tests/conformance/data/seeds.jsonl

# shellcheck disable=SC2016 # jq's names, not the shell's
fits='def fits($want): . as $got |
    if $want | type == "object" then
        if $want | has("$not") then fits($want["$not"]) | not
        elif $want | has("$set") then ($got | type) == "array" and ($got | sort) == ($want["$set"] | sort)
        elif $want | has("$has") then ($got | type) == "array" and all($want["$has"][]; . as $text | any($got[]; contains($text)))
        elif $want | has("$text") then ($got | type) == "string" and ($got | test($want["$text"]))
        elif $want | has("$any") then any($want["$any"][]; . as $one | $got | fits($one))
        else ($got | type) == "object" and
            all($want | to_entries[]; . as {key: $key, value: $value} | ($got | has($key)) and ($got[$key] | fits($value)))
        end
    elif $want | type == "array" then ($got | type) == "array" and ($got | length) == ($want | length) and
        all(range($want | length); . as $i | $got[$i] | fits($want[$i]))
    else $got == $want end;'
is "what is expected can fail" "$(jq -nc "$fits"'[
    ({a: 1, b: 2} | fits({a: 1})), ({a: 1} | fits({a: 2})), ({} | fits({a: null})), ([1, 2] | fits([1])), ([2, 1] | fits({"$set": [1, 2]})),
    ([1] | fits({"$set": [1, 2]})), (1 | fits({"$not": 2})), (1 | fits({"$not": 1})), ("ab" | fits({"$text": "^a"})), ("ba" | fits({"$text": "^a"})),
    (3 | fits({"$any": [1, 3]})), (2 | fits({"$any": [1, 3]})),
    (["xay"] | fits({"$has": ["a"]})), (["xay"] | fits({"$has": ["a", "b"]}))]')" \
    '[true,false,false,false,true,false,true,false,true,false,true,false,true,false]'

# One member of the case that is read, as a file; more arguments are jq's filter.
file_of() { # NAME FILTER: prints the path, nothing if there is no such member
    jq -e "$2" "$work/case" >"$work/$1.json" && echo "$work/$1.json"
}
ask() { # FORM
    local pod state placement policy admit
    state=$(file_of state '{apiVersion: "v1", kind: "List", items: (.state // empty)}') || state=
    case $1 in
    simulate | admit)
        admit=${1#simulate}
        pod=$(file_of pod .pod)
        "$evenkeel" simulate --state "$state" --pod "$pod" ${admit:+--admit} -o json
        ;;
    placement)
        placement=$(file_of placement .placement)
        policy=$(file_of policy '{apiVersion: "v1", kind: "List", items: (.policy // empty)}') || policy=
        "$evenkeel" simulate --state "$state" --placement "$placement" ${policy:+--policy "$policy"} \
            --now "$(jq -r .now "$work/case")" -o json
        ;;
    lines | estimate) jq -c .question "$work/case" | "$evenkeel" simulate --lines - ;;
    esac
}

while read -r line; do
    printf '%s' "$line" >"$work/case"
    read -r id form < <(jq -r '[.id, .form] | join(" ")' "$work/case")
    ask "$form" >"$work/answer" 2>"$work/said" || true
    if jq -e --slurpfile case "$work/case" "$fits"'fits($case[0].expect)' "$work/answer" >"$work/verdict" 2>&1; then
        pass "$id: $(jq -r .why "$work/case")"
    else
        fail "$id: $(jq -r .why "$work/case")" "wanted: $(jq -c .expect "$work/case")" "got:    $(cat "$work/answer" "$work/said")"
    fi
done <"$cases"
finish_tests
