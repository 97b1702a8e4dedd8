# shellcheck shell=bash
# What the golden and the integration tests share. Sourced, not run:
#
#   . "$(dirname "$0")/lib.sh"
#   start_server --state docs/examples/three-regions/state.json
#   is "livez answers" "$(ops livez)" ok
#   finish_tests
#
# One server runs at a time, $server; it listens on $extender, on $ops and, with "${webhook_options[@]}",
# on $webhook, with certificates of $certs (made by `evenkeel certs init`), and logs to $log. Everything
# temporary is in $work. The folder is removed and the server is stopped when the test ends. No function
# sleeps for a fixed time: each waits for a condition, at most PATIENCE seconds.
#
# EVENKEEL names the binary. The tests run at the top of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export LC_ALL=C no_proxy='*' NO_PROXY='*' # whatever the machine is set to

evenkeel=${EVENKEEL:-build/evenkeel}
# shellcheck disable=SC2034  # for the tests
example=docs/examples/three-regions
PATIENCE=${PATIENCE:-20}

work=$(mktemp -d)
certs=$work/certs
log=
server=
extender="" webhook="" ops=""
children=() # of the test itself, besides the server

clean_up() {
    local pid
    for pid in ${children[@]+"${children[@]}"} $server; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT

if [ ! -x "$evenkeel" ]; then
    echo "Bail out! no binary at $evenkeel; run make, or set EVENKEEL"
    exit 1
fi

# ---- TAP ----

tests=0 failures=0

pass() { # NAME
    tests=$((tests + 1))
    printf 'ok %d - %s\n' "$tests" "$1"
}

fail() { # NAME [WHY...]
    tests=$((tests + 1)) failures=$((failures + 1))
    printf 'not ok %d - %s\n' "$tests" "$1"
    shift
    printf '%.2000s\n' "$@" | sed 's/^/#   /'
}

skip() { # NAME WHY
    tests=$((tests + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tests" "$1" "$2"
}

is() { # NAME GOT WANTED: equal texts
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "got:    $2" "wanted: $3"
    fi
}

like() { # NAME GOT PATTERN: an extended regular expression, found anywhere
    if [[ $2 =~ $3 ]]; then
        pass "$1"
    else
        fail "$1" "got:     $2" "no match for: $3"
    fi
}

unlike() { # NAME GOT PATTERN
    if [[ $2 =~ $3 ]]; then
        fail "$1" "got: $2" "which matches: $3"
    else
        pass "$1"
    fi
}

check() { # NAME COMMAND...: it succeeds
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        pass "$name"
    else
        fail "$name" "failed: $*" "$output"
    fi
}

at_most() { # NAME GOT LIMIT: whole numbers
    if [ "$2" -le "$3" ]; then
        pass "$1"
    else
        fail "$1" "got $2, which is more than $3"
    fi
}

finish_tests() {
    printf '1..%d\n' "$tests"
    [ "$failures" -eq 0 ]
}

# ---- waiting ----

now_ms() { echo $((${EPOCHREALTIME//[!0-9]/} / 1000)); }

# Repeats a command until it succeeds. Each attempt should wait for something itself or ask the
# server; this only bounds how long it goes on.
await() { # COMMAND...
    local until_ms=$(($(now_ms) + PATIENCE * 1000))
    until "$@"; do
        [ "$(now_ms)" -lt "$until_ms" ] || return 1
    done
}

# Waits until the log has a line that matches, from line FROM on.
wait_log() { # PATTERN [FROM]
    grep -q -m 1 -E -- "$1" \
        < <(timeout "$PATIENCE" tail -n +"${2:-1}" -s 0.1 -f --pid "$server" "$log" 2>/dev/null)
}

# The number of the log's next line: what comes after now.
log_end() { echo $(($(wc -l <"$log") + 1)); }

wait_exit() { # PID: waits until the process has ended, whoever its parent is
    timeout "$PATIENCE" tail -s 0.02 -f --pid "$1" /dev/null
}

# ---- the server ----

"$evenkeel" certs init --dir "$certs" >/dev/null

log_number=0

# Returns when it serves, or fails when it does not.
start_server() { # OPTION... of `evenkeel serve`
    start_bare_server --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key" "$@"
}

start_bare_server() { # OPTION...: without certificates
    log_number=$((log_number + 1))
    log=$work/server-$log_number.log
    : >"$log"
    "$evenkeel" serve --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 "$@" 2>"$log" &
    server=$!
    if ! wait_log 'msg(=|":")serving'; then
        echo "# the server did not start: evenkeel serve $*"
        sed 's/^/#   /' "$log"
        return 1
    fi
    extender=$(sed -nE 's/.*msg(=|":")serving.*extender(=|":")([^ "]*).*/\3/p' "$log")
    webhook=$(sed -nE 's/.*msg(=|":")serving.*webhook(=|":")([^ "]*).*/\3/p' "$log")
    ops=$(sed -nE 's/.*msg(=|":")serving.*ops(=|":")([^ "]*).*/\3/p' "$log")
}

# Sends a signal (INT: no delay) and waits for the end. Its exit code is in $exit_code.
stop_server() { # [SIGNAL]
    kill -"${1:-INT}" "$server"
    reap_server
}

# shellcheck disable=SC2034  # exit_code is for the tests
reap_server() {
    exit_code=0
    wait_exit "$server" || { echo "# the server did not end"; kill -KILL "$server"; }
    wait "$server" || exit_code=$?
    server=
}

# The log has no line of a crash, a sanitizer or a failed assertion.
no_crash() {
    ! grep -E 'Sanitizer|runtime error|Assertion|assertion|msg="a handler failed' "$log"
}

# ---- calls ----

# curl, verifying the server, showing the client certificate. Further options may override.
fetch() { # CURL OPTION...
    curl --silent --show-error --max-time "$PATIENCE" --cacert "$certs/ca.crt" \
        --cert "$certs/client.crt" --key "$certs/client.key" "$@"
}

# A call of the extender, its body on standard input; prints the answer's body.
call() { # VERB [CURL OPTION...]
    fetch --header 'Content-Type: application/json' --data-binary @- "${@:2}" \
        "https://$extender/extender/v1/$1"
}

# The same, prints only the status: "200".
status_of() { # VERB [CURL OPTION...]
    call "$1" --output /dev/null --write-out '%{http_code}' "${@:2}"
}

# Options that make the server listen on $webhook.
# shellcheck disable=SC2034  # for the tests
webhook_options=(--webhook-listen 127.0.0.1:0 --webhook-cert-file "$certs/tls.crt"
    --webhook-key-file "$certs/tls.key")

# A review of this kind of object, its body on standard input; prints the answer's body.
review() { # pods [CURL OPTION...]
    fetch --header 'Content-Type: application/json' --data-binary @- "${@:2}" \
        "https://$webhook/webhooks/v1/$1"
}

ops() { # PATH [CURL OPTION...]
    curl --silent --show-error --max-time "$PATIENCE" "${@:2}" "http://$ops/$1"
}

# The value of one series, labels and all; 0 when it is not there.
metric() { # SERIES
    ops metrics | awk -v series="$1" '$1 == series { value = $2 } END { printf "%.0f\n", value }'
}

# Bytes on standard input go to the extender over TLS, as they are; prints what it answers, until it
# closes the connection.
raw() {
    timeout "$PATIENCE" openssl s_client -connect "$extender" -quiet -CAfile "$certs/ca.crt" \
        -cert "$certs/client.crt" -key "$certs/client.key" 2>/dev/null
}

# {"Pod": ..., "Nodes": null, "NodeNames": [...]} as kube-scheduler sends it.
filter_request() { # POD-FILE STATE-FILE
    jq -c --slurpfile pod "$1" \
        '{Pod: $pod[0], Nodes: null, NodeNames: [.items[] | select(.kind == "Node").metadata.name]}' \
        "$2"
}
