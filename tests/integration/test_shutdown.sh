#!/usr/bin/env bash
# Ending: gently on SIGTERM, without delay on SIGINT, at once on a second signal; and no request that
# was begun is lost.
. "$(dirname "$0")/lib.sh"

state=tests/golden/state.json
request=tests/golden/filter/names-mode/request.json
good_answer=$(<tests/golden/filter/names-mode/expected.json)

good_call() { [ "$(call filter <"$request" 2>&1)" = "$good_answer" ]; }
readiness() { ops readyz --output /dev/null --write-out '%{http_code}'; }
is_refused() { # HOST:PORT: nobody listens there
    ! (: <>"/dev/tcp/${1/://}") 2>/dev/null
}
has_ended() { ! kill -0 "$server" 2>/dev/null; }

# A client whose request is half sent: $half_to takes the rest, $half_from gives the answer.
open_half_request() { # NAME
    local length
    length=$(wc -c <"$request")
    mkfifo "$work/$1-to" "$work/$1-from"
    raw <"$work/$1-to" >"$work/$1-from" &
    children+=($!)
    exec {half_to}>"$work/$1-to" {half_from}<"$work/$1-from"
    printf 'POST /extender/v1/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' \
        "$length" >&"$half_to"
    head -c 100 "$request" >&"$half_to"
}
in_flight() { [ "$(metric 'evenkeel_http_requests_in_flight{listener="extender"}')" = "$1" ]; }
close_half_request() {
    exec {half_to}>&- {half_from}<&-
    wait "${children[@]}" || true
    children=()
}

# ---- SIGTERM: the delay ----

start_server --state "$state" --shutdown-delay 3s --shutdown-drain 10s
is "ready" "$(readiness)" 200
from=$(log_end)
kill -TERM "$server"
check "SIGTERM is logged" wait_log 'level=info msg="shutting down; a second signal ends at once" delay_ms=3000' "$from"
is "not ready at once" "$(readiness)" 503
like "... and says why" "$(ops readyz)" '\[\+\] state: read.*\[-\] shutdown: under way'
is "still alive" "$(ops livez)" ok
check "calls are still answered" good_call
is "... with Connection: close" \
    "$(call filter --dump-header - --output /dev/null <"$request" | tr -d '\r' | grep -i '^connection:')" 'Connection: close'
is "... so that clients come anew" \
    "$(call '{filter,filter}' --output /dev/null --write-out '%{num_connects}%{http_code} ' <"$request")" '1200 1200 '
check "after the delay connections are refused" await is_refused "$extender"
reap_server
is "it ended well" "$exit_code" 0
like "the last line says so" "$(tail -n 1 "$log")" 'level=info msg=stopped$'
check "no crash" no_crash

# ---- SIGINT: no delay, but what was begun is finished ----

start_server --state "$state" --shutdown-delay 60s --shutdown-drain 10s
open_half_request drained
check "a request is under way" await in_flight 1
kill -INT "$server"
check "SIGINT: connections are refused without the delay" await is_refused "$extender"
check "... the process waits for the request" kill -0 "$server"
is "... and is not ready" "$(readiness)" 503
tail -c +101 "$request" >&"$half_to"
answer=$(timeout "$PATIENCE" cat <&"$half_from")
like "the request that was begun is answered" "$answer" '^HTTP/1\.1 200 OK.*Connection: close'
is "... rightly" "${answer##*$'\n'}" "$good_answer"
close_half_request
reap_server
is "it ended well" "$exit_code" 0
check "no crash" no_crash

# ---- the drain has an end, too ----

start_server --state "$state" --shutdown-drain 300ms
open_half_request cut
await in_flight 1
started=$(now_ms)
kill -INT "$server"
reap_server
is "a request that does not end is cut off: it ended well" "$exit_code" 0
at_most "... soon (ms)" $(($(now_ms) - started)) 5000
is "... without an answer" "$(timeout "$PATIENCE" cat <&"$half_from")" ''
close_half_request

# ---- a second signal ----

for signals in 'TERM TERM' 'TERM INT' 'INT TERM'; do
    read -r first second <<<"$signals"
    start_server --state "$state" --shutdown-delay 60s --shutdown-drain 60s
    open_half_request "${signals/ /-}"
    await in_flight 1
    from=$(log_end)
    kill -"$first" "$server"
    wait_log 'msg="shutting down' "$from"
    # SIGINT has no delay: wait until it is in the drain.
    if [ "$first" = INT ]; then await is_refused "$extender"; fi
    started=$(now_ms)
    kill -"$second" "$server"
    reap_server
    is "SIG$first, then SIG$second: it ended well" "$exit_code" 0
    at_most "... at once (ms)" $(($(now_ms) - started)) 2000
    close_half_request
    check "... without a crash" no_crash
done

# ---- under load ----

# Clients with a connection per call and with kept ones. A call fails when it was sent and not
# answered; not being let in any more (7: refused, 35: no handshake) ends the client.
load() { # NAME CURL OPTION...
    local code
    while :; do
        code=0
        call 'filter?[1-5]' --fail --fail-early --output /dev/null "${@:2}" <"$request" 2>"$work/$1.error" || code=$?
        echo "$code" >>"$work/$1.codes"
        if [ $code -ne 0 ]; then break; fi
    done
}
start_server --state "$state" --shutdown-delay 500ms --shutdown-drain 10s
clients=()
for client in fresh-1 fresh-2 kept-1 kept-2; do
    if [[ $client = fresh-* ]]; then
        load "$client" --header 'Connection: close' &
    else
        load "$client" &
    fi
    clients+=($!)
done
children+=("${clients[@]}")
busy() { [ "$(cat "$work"/*.codes 2>/dev/null | wc -l)" -gt 20 ]; }
check "four clients call without a pause" await busy
kill -TERM "$server"
wait "${clients[@]}" || true
children=()
reap_server
is "it ended well under load" "$exit_code" 0
is "no call was lost before connections were refused" \
    "$(cat "$work"/*.codes | grep -vxE '0|7|35' | sort | uniq -c | paste -s -d ' ')" ''
is "... and every client got there" "$(cat "$work"/*.codes | grep -cxE '7|35')" 4
check "no crash" no_crash
finish_tests
