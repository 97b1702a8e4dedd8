#!/usr/bin/env bash
# Every folder ENDPOINT/CASE here: the recorded request is sent to a server on the recorded state, and
# the answer must be the recorded one, byte for byte.
#
#   about          what the case shows and why the answer is right
#   request.json   the body of the POST; without one it is a GET of the ops listener
#   expected.json  the answer's body: nothing is added, not even a last newline (.txt: plain text)
#   status         the answer's status, if it is not 200
#   state.json     the state, if it is not the shared one beside this script
#   config.yaml    the server's configuration, if it needs one
#   args           options of the server, if it needs some
#   patch.json     reviews of the webhook: what the patch of expected.json says, to be read by people
#
# The webhook works by the policies of policies.yaml beside this script.
#
#   tests/golden/test_endpoints.sh [ENDPOINT/CASE...]
. "$(dirname "$0")/../integration/lib.sh"
golden=tests/golden

# What the binary says of itself is not for recording.
read -r version commit < <("$evenkeel" version -o json | jq -r '"\(.version) \(.commit)"')

expected_body() { # FILE
    sed -e "s/@version@/$version/" -e "s/@commit@/$commit/" "$1"
}

# The one server serves all cases that follow each other with the same state and options.
running=none
serve_case() { # FOLDER
    local state=$golden/state.json options=()
    if [ -e "$1/state.json" ]; then state=$1/state.json; fi
    if [ -e "$1/config.yaml" ]; then options+=(--config "$1/config.yaml"); fi
    if [ -e "$1/args" ]; then read -ra more <"$1/args" && options+=("${more[@]}"); fi
    if [ "$running" = "$state ${options[*]}" ]; then return; fi
    if [ -n "$server" ]; then stop_server INT; fi
    start_server --state "$state" "${webhook_options[@]}" --policy "$golden/policies.yaml" "${options[@]}"
    running="$state ${options[*]}"
}

ask() { # FOLDER: the answer goes to $work/body and $work/headers
    local endpoint
    endpoint=$(basename "$(dirname "$1")")
    if [ "$endpoint" = pods ]; then
        review pods --dump-header "$work/headers" --output "$work/body" <"$1/request.json"
    elif [ -e "$1/request.json" ]; then
        call "$endpoint" --dump-header "$work/headers" --output "$work/body" <"$1/request.json"
    else
        ops "$endpoint" --dump-header "$work/headers" --output "$work/body"
    fi
}

same_body() { # EXPECTED
    cmp "$1" "$work/body" && return
    echo "wanted: $(cat "$1")"
    echo "got:    $(cat "$work/body")"
    return 1
}

same_patch() { # EXPECTED: as jq prints it
    local got
    got=$(jq '.response.patch // "W10=" | @base64d | fromjson' "$work/body")
    diff <(jq . "$1") - <<<"$got"
}

# kube-scheduler reuses the connection only after an exact Content-Length, and takes only 200 for
# success.
right_headers() { # STATUS TYPE
    local headers status=0
    headers=$(tr -d '\r' <"$work/headers")
    for wanted in "^HTTP/1.1 $1 " "^Content-Length: $(wc -c <"$work/body")$" "^Content-Type: $2$"; do
        grep -qiE "$wanted" <<<"$headers" || { echo "no $wanted"; status=1; }
    done
    ! grep -iE '^(Transfer-Encoding|Connection|Content-Encoding):' <<<"$headers" || status=1
    [ $status -eq 0 ] || echo "$headers"
    return $status
}

run_case() { # FOLDER
    local name=${1#"$golden/"} status=200 wanted type
    wanted=$(compgen -G "$1/expected.*")
    type='application/json'
    if [ "${wanted##*.}" = txt ]; then type='text/plain; charset=utf-8'; fi
    if [ -e "$1/status" ]; then status=$(<"$1/status"); fi
    serve_case "$1"
    expected_body "$wanted" >"$work/expected"
    if ask "$1"; then
        check "$name: the body" same_body "$work/expected"
        check "$name: status and headers" right_headers "$status" "$type"
        if [ -e "$1/patch.json" ]; then check "$name: the patch" same_patch "$1/patch.json"; fi
    else
        fail "$name: no answer" "$(<"$log")"
    fi
}

cases=("${@/#/$golden/}")
if [ $# -eq 0 ]; then mapfile -t cases < <(dirname "$golden"/*/*/about); fi
# Those that need a server of their own come last, so that the others share one.
own=()
for folder in "${cases[@]}"; do
    if compgen -G "$folder/state.json" >/dev/null || compgen -G "$folder/config.yaml" >/dev/null ||
        compgen -G "$folder/args" >/dev/null; then
        own+=("$folder")
    else
        run_case "$folder"
    fi
done
for folder in ${own[@]+"${own[@]}"}; do
    run_case "$folder"
done
check "no crash" no_crash
finish_tests
