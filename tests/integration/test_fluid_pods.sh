#!/usr/bin/env bash
# Pods as Fluid's own webhook mutated them (tests/conformance/data/fluid-pods.json; what a case is,
# tests/conformance/test_fluid_pods.c says), asked over the command line: simulate --admit --compat head.
#
# Compared by meaning, as there: what is null or empty is absent (the recorded pods went through Go's
# types, which add creationTimestamp: null, status: {} and resources: {}), the order of terms and of
# requirements does not count.
. "$(dirname "$0")/lib.sh"

cases=tests/conformance/data/fluid-pods.json

# What cannot be asked, and why.
left_out() { # NAME
    case $1 in
    "38 ns empty both") echo "a pod in a file is in namespace default when it does not say" ;;
    8[1-6]\ * | "serverless + required existing affinity; no affinity injected")
        echo "the FUSE client as a container is Fluid's own business" ;;
    esac
}

# Prints what came out of the case in $work/case.json: the answer, or the text of the error.
ask() {
    local calls profile n options=(--compat head)
    jq -c .pod "$work/case.json" >"$work/pod.json"
    jq -c '{apiVersion: "v1", kind: "List", items: .objects}' "$work/case.json" >"$work/state.json"
    profile=$(jq -r .profile "$work/case.json")
    if [[ $profile != \<* ]]; then
        printf '%s\n' "$profile" >"$work/profile.yaml"
        options+=(--fluid-profile "$work/profile.yaml")
    fi
    calls=$(jq '.extra_invocations + 1' "$work/case.json")
    for ((n = 0; n < calls; n++)); do
        if ! "$evenkeel" simulate --admit --state "$work/state.json" --pod "$work/pod.json" -o json \
            "${options[@]}" >"$work/answer.json" 2>"$work/error"; then
            jq -R . "$work/error"
            return
        fi
        [ "$calls" = 1 ] || jq -c .pod "$work/answer.json" >"$work/pod.json"
    done
    cat "$work/answer.json"
}

# shellcheck disable=SC2016  # a program of jq
same='
def strip:
  if type == "object" then
    with_entries(.value |= strip | select(.value | . == null or . == {} or . == [] | not))
  elif type == "array" then map(strip) else . end;
def by_meaning:
  strip |
  if .spec.affinity.nodeAffinity? then
    .spec.affinity.nodeAffinity |= (
      (.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms // empty) |=
        (map(if has("matchExpressions") then .matchExpressions |= sort else . end) | sort) |
      (.preferredDuringSchedulingIgnoredDuringExecution // empty) |=
        (map(if .preference.matchExpressions? then .preference.matchExpressions |= sort else . end) | sort))
  else . end;
. as $ours | [$case[0].observed[].out | . as $theirs |
  if ($theirs | type) == "string" or ($ours | type) == "string" then
    ($theirs | type) == ($ours | type)
  elif $ours.allowed and $theirs.allowed then
    $ours.code == 200 and $ours.warnings == [] and ($ours.pod | by_meaning) == ($theirs.pod | by_meaning)
  else
    $ours.allowed == $theirs.allowed and $ours.code == $theirs.code and $ours.message != "" and
      $ours.patch == []
  end] | any'

asked=0
jq -r '.[] | .name, tojson' "$cases" >"$work/cases"
while IFS= read -r name && IFS= read -r case; do
    reason=$(left_out "$name")
    if [ -n "$reason" ]; then
        echo "# left out: $name: $reason"
        continue
    fi
    asked=$((asked + 1))
    printf '%s\n' "$case" >"$work/case.json"
    ask >"$work/ours.json"
    if [ "$(jq --slurpfile case "$work/case.json" "$same" "$work/ours.json")" = true ]; then
        pass "$name"
    else
        fail "$name" "$(cat "$work/ours.json")" "wanted one of" "$(jq -c .observed "$work/case.json")"
    fi
done <"$work/cases"
is "cases that were asked" "$asked" 66

finish_tests
