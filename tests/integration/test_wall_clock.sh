#!/usr/bin/env bash
# The machine's clock jumps by a year, ahead and back, under a running server: certificates look expired
# or not valid yet, which is said and changes nothing; whatever waits or grows old goes by another clock.
. "$(dirname "$0")/lib.sh"

# The same program, with a clock that the test owns. What the test itself runs has the right time.
shim=$(realpath "$(dirname "$evenkeel")")/wall_clock.so
[ -e "$shim" ] || { echo "Bail out! no $shim; run make $(dirname "$evenkeel")/wall_clock.so"; exit 1; }
cat >"$work/evenkeel" <<END
#!/bin/sh
LD_PRELOAD='$shim' WALL_CLOCK_FILE='$work/clock' exec '$(realpath "$evenkeel")' "\$@"
END
chmod +x "$work/evenkeel"
evenkeel=$work/evenkeel

year=$((366 * 86400))
shift_s=0
jump() { # SECONDS that the clock is ahead
    shift_s=$1
    echo "$1" >"$work/clock.new"
    mv "$work/clock.new" "$work/clock"
}

# ---- calls ----

request=tests/golden/filter/names-mode/request.json
good_answer=$(<tests/golden/filter/names-mode/expected.json)
expires='evenkeel_certificate_expiration_timestamp_seconds{listener="extender"}'

filter() { call filter <"$request"; }
patches() { review pods <tests/golden/pods/deployment/request.json | jq -c '.response.patch != null'; }

# A connection that is kept: opened once, asked again and again.
keep_connection() {
    coproc KEPT { exec openssl s_client -connect "$extender" -quiet -CAfile "$certs/ca.crt" \
        -cert "$certs/client.crt" -key "$certs/client.key" 2>/dev/null; }
    children+=("$KEPT_PID")
}
ask_kept() { # prints "STATUS BODY"
    local line status length=0 body=
    {
        printf 'POST /extender/v1/filter HTTP/1.1\r\nHost: evenkeel\r\nContent-Type: application/json\r\n'
        printf 'Content-Length: %d\r\n\r\n' "$(wc -c <"$request")"
        cat "$request"
    } >&"${KEPT[1]}"
    read -r -t "$PATIENCE" _ status _ <&"${KEPT[0]}" || return 0
    while read -r -t "$PATIENCE" line <&"${KEPT[0]}" && line=${line%$'\r'} && [ -n "$line" ]; do
        case ${line,,} in content-length:*) length=${line##* } ;; esac
    done
    read -r -t "$PATIENCE" -N "$length" body <&"${KEPT[0]}" || true
    printf '%s %s\n' "$status" "$body"
}

# How far the time of the log's last line is from what the clock shows, in seconds.
log_off() {
    local said
    said=$(date -d "$(tail -n 1 "$log" | sed -nE 's/^time=([^ ]+) .*/\1/p')" +%s)
    echo $((said - EPOCHSECONDS - shift_s)) | tr -d -
}

passing() { # POD NODE...
    jq -c --arg pod "$1" '.Pod.metadata.name = $pod | .Pod.metadata.uid = $pod | .NodeNames = $ARGS.positional' \
        "$request" --args "${@:2}" | call filter | jq -r '.NodeNames | join(" ")'
}

# Everything that must not mind the clock.
goes_on() { # WHEN
    is "$1: a new connection is answered" "$(filter)" "$good_answer"
    is "$1: one that is kept, too" "$(ask_kept)" "200 $good_answer"
    is "$1: so are reviews" "$(patches)" true
    is "$1: it is ready" "$(ops readyz --output /dev/null --write-out '%{http_code}')" 200
    at_most "$1: lines of the log have the time of the clock" "$(log_off)" 60
    at_most "$1: calls took seconds at most" "$(metric 'evenkeel_http_request_duration_seconds_sum{listener="extender",verb="filter"}')" 60
    at_most "$1: ... by the explanations as well" "$(ops explain | jq '[.decisions[].tookMicroseconds] | max')" 60000000
}

# ---- a year ahead ----

cp -r "$certs" "$work/before"
jump 0
start_server --state tests/golden/state.json --policy tests/golden/policies.yaml "${webhook_options[@]}" \
    --reservations SingleNode --reservations-ttl 5m --state-poll-interval 50ms
end=$(date -d "$(openssl x509 -noout -enddate -in "$certs/tls.crt" | cut -d = -f 2)" +%s)
keep_connection
is "a call on a connection that is kept" "$(ask_kept)" "200 $good_answer"
is "a reservation is made" "$(passing first a1 c1)" c1
good_answer=$(filter) # now that c has one more
from=$(log_end)
jump $((end - EPOCHSECONDS - 60))
check "a minute before the end: it is logged" wait_log \
    'level=warn msg="the serving certificate expires soon: put a renewed pair into its files" listener=extender' "$from"
is "... and connections go on" "$(filter)" "$good_answer"
from=$(log_end)
jump "$year"
for listener in extender webhook; do
    check "ahead: that the certificate has expired is logged, with what to do ($listener)" wait_log \
        "level=warn msg=\"the serving certificate has expired, .*put a renewed pair into its files, or set this machine's clock right\" listener=$listener .*not_after=$end" "$from"
done
goes_on ahead
is "ahead: the metric says when it ends" "$(metric "$expires")" "$end"
is "ahead: a reservation lasts" "$(metric evenkeel_cache_reservations)" 1

# Who believes that clock renews the certificate: by it, the new one is good.
from=$(log_end)
"$evenkeel" certs init --dir "$certs" >/dev/null
check "ahead: a renewed pair is taken" wait_log 'msg="certificate file loaded again" listener=extender' "$from"
check "... by both" wait_log 'msg="certificate file loaded again" listener=webhook' "$from"
at_most "... and lasts another year" $((end + 360 * 86400)) "$(metric "$expires")"
is "... so that nothing is said of it" "$(tail -n +"$from" "$log" | grep -c 'the serving certificate')" 0
is "... and connections go on" "$(ask_kept)" "200 $good_answer"

# ---- back again, and a year behind ----

from=$(log_end)
jump 0
check "back: it is not valid yet" wait_log \
    "level=warn msg=\"the serving certificate is not valid yet: set this machine's clock right, or put another pair" "$from"
is "back: it is served all the same" "$(fetch --insecure --output /dev/null --write-out '%{http_code}' \
    --header 'Content-Type: application/json' --data-binary @"$request" "https://$extender/extender/v1/filter")" 200
like "back: who has the right time refuses it" "$(filter 2>&1 || true)" 'not yet valid'
from=$(log_end)
for file in tls.key tls.crt client.key client.crt; do mv "$work/before/$file" "$certs/"; done
for listener in extender webhook; do
    check "back: the pair before is taken ($listener)" wait_log \
        "msg=\"certificate file loaded again\" listener=$listener" "$from"
done
goes_on back

from=$(log_end)
jump "-$year"
check "behind: it is not valid yet" wait_log 'msg="the serving certificate is not valid yet: .* listener=webhook' "$from"
goes_on behind
is "behind: a reservation lasts" "$(metric evenkeel_cache_reservations)" 1
from=$(log_end)
jump 0
check "right again: it is said" wait_log 'level=info msg="the serving certificate is valid again" listener=extender' "$from"
goes_on 'right again'
check "nothing has crashed" no_crash
stop_server INT
is "it ends as ever" "$exit_code" 0

# ---- what waits, while the clock goes back ----

start_server --state tests/golden/state.json --reservations SingleNode --reservations-ttl 2s --state-poll-interval 50ms \
    --shutdown-delay 1s
exec {idle}<>"/dev/tcp/${extender%:*}/${extender##*:}" # says nothing
is "a reservation that ends soon" "$(passing first a1 c1)" c1
jump "-$year"
forgotten() { [ "$(metric evenkeel_cache_reservations)" = 0 ]; }
check "behind: it ends" await forgotten
ended=0
read -r -t "$PATIENCE" -u "$idle" || ended=$?
at_most "behind: a connection that says nothing is closed" "$ended" 128 # more: it was not, in time
exec {idle}>&-
stop_server TERM
is "behind: the delay before the end is over soon" "$exit_code" 0

# ---- whose certificate is judged here ----

jump 0
start_server --state tests/golden/state.json --extender-client-ca-file "$certs/ca.crt"
good_answer=$(<tests/golden/filter/names-mode/expected.json)
keep_connection
is "a client's certificate is good" "$(ask_kept)" "200 $good_answer"
jump "$year"
like "ahead: it has expired" "$(ask_kept)" "^403 certificate of client 'system:kube-scheduler' refused: .*expired"
jump 0
is "... and its connection has ended" "$(ask_kept)" ""
keep_connection
is "right again: it is answered on a new one" "$(ask_kept)" "200 $good_answer"
stop_server INT
finish_tests
