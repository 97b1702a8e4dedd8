#!/usr/bin/env bash
# Every row of the table in docs/security.md, "What bad input gets", but for certificates, which are
# in test_certificates.sh. After all of it the daemon must still be there, and no larger.
. "$(dirname "$0")/lib.sh"

state=tests/golden/state.json
request=tests/golden/filter/names-mode/request.json
good_answer=$(<tests/golden/filter/names-mode/expected.json)
verbs=(filter prioritize preempt)
resident_growth_bytes=$((${RESIDENT_GROWTH_MB:-64} << 20))

good_call_from() { # ADDRESS
    [ "$(call filter --interface "$1" <"$request" 2>&1)" = "$good_answer" ]
}
good_call() { good_call_from 127.0.0.1; }

mib() { head -c $(($1 << 20)) /dev/zero; }

# ---- one server for all malformed requests ----
# Clients that hold connections and bodies must outlive the checks, so its deadlines are long.

cat >"$work/patient.yaml" <<'EOT'
apiVersion: evenkeel.io/v1alpha1
kind: EvenkeelConfiguration
extender:
  limits: {headerTimeout: 60s, requestTimeout: 60s}
EOT
start_server --state "$state" --config "$work/patient.yaml"
url=https://$extender/extender/v1
good_call
open_files_before=$(metric process_open_fds)
mib 60 | call filter >/dev/null # so that what a large body leaves behind is in the first look
resident_before=$(metric process_resident_memory_bytes)

# An answer to a malformed request, "STATUS SENTENCE": the sentence is in Error, and filter's answer
# is otherwise empty.
answer_to() { # VERB; body on standard input
    call "$1" --output "$work/answer" --write-out '%{http_code}'
    jq -r --arg filter "$1" 'if $filter == "filter" and .NodeNames != [] then " NodeNames!" else "" end
        + " " + .Error' "$work/answer"
}

says() { # NAME PATTERN; body on standard input, asked of all three verbs
    local verb said status
    cat >"$work/body"
    for verb in "${verbs[@]}"; do
        status=400
        if [ "$verb" = filter ]; then status=200; fi
        said=$(answer_to "$verb" <"$work/body" 2>&1)
        if ! [[ $said =~ ^$status\ $2 ]]; then
            fail "$1" "$verb said: $said" "wanted: $status $2"
            return
        fi
    done
    pass "$1"
}

args='(ExtenderArgs|ExtenderPreemptionArgs)'
says "nothing at all" "$args: expected an object with Pod and " </dev/null
says "not JSON" "$args: expected an object .*, at byte 0$" <<<'hello'
says "an array" "$args: expected an object .*, at byte 0$" <<<'[]'
says "null" "$args: expected an object .*, at byte 0$" <<<'null'
says "an empty object" "$args\.Pod: missing$" <<<'{}'
says "no quotes" "$args: expected a member name in quotes, at byte 1$" <<<'{Pod: 1}'
says "a byte order mark" "$args: expected an object .*, at byte 0$" <<<$'\xef\xbb\xbf{}'
says "text behind the value" "$args: unexpected text after the value, at byte 3$" <<<'{} x'
says "a second value" "$args: a second value after the first, at byte 3$" <<<'{} {}'
says "a name that is a number" "$args\.Pod\.metadata\.name: expected a string, found a number, at byte 27$" \
    <<<'{"Pod":{"metadata":{"name":7}}}'
says "labels that are an array" "$args\.Pod\.metadata\.labels: expected an object, found an array, at byte 29$" \
    <<<'{"Pod":{"metadata":{"labels":[]}}}'
says "a fraction of maxSkew" "$args\.Pod\.spec\.topologySpreadConstraints\[0\]\.maxSkew: expected a whole number" \
    <<<'{"Pod":{"spec":{"topologySpreadConstraints":[{"maxSkew":1.5}]}}}'
says "a constraint without maxSkew" "$args\.Pod\.spec\.topologySpreadConstraints\[0\]: maxSkew is required" \
    <<<'{"Pod":{"spec":{"topologySpreadConstraints":[{"topologyKey":"zone"}]}}}'
says "invalid UTF-8" "$args\.Pod\.metadata\.name: invalid UTF-8 in a string" \
    <<<$'{"Pod":{"metadata":{"name":"\xc3("}}}'
says "half a surrogate pair" "$args\.Pod\.metadata\.name: a surrogate escape without its other half" \
    <<<'{"Pod":{"metadata":{"name":"\ud83d"}}}'
says "a raw control character" "$args\.Pod\.metadata\.name: a raw control character 0x01 in a string" \
    <<<$'{"Pod":{"metadata":{"name":"\x01"}}}'
says "a NUL" "$args\.Pod\.metadata\.name: a raw control character 0x00 in a string" \
    < <(printf '{"Pod":{"metadata":{"name":"a\0b"}}}')

is "an unknown node" "$(call filter <<<"$(jq -c '.NodeNames = ["nowhere"]' "$request")" | jq -c .FailedNodes)" \
    '{"nowhere":"node is not in the cache yet"}'
check "unknown fields of the Pod" \
    test "$(jq '.Pod += {new: {field: []}} | .Pod.spec.newer = 1' "$request" | call filter)" = "$good_answer"

# A million levels, open or closed, in what is skipped and in what is read.
million() { printf '%*s' 1000000 '' | sed "s/ /$1/g"; }
deeper='nested deeper than 1000 levels'
says "10^6 arrays" "$args\.Unknown(\[0\])+: $deeper" < <(printf '{"Unknown":'; million '[')
says "10^6 arrays, closed" "$args.*: $deeper" < <(printf '{"Unknown":'; million '['; million ']'; printf '}')
says "10^6 objects" "$args\.Pod\.a.*: $deeper" < <(printf '{"Pod":'; million '{"a":')
says "10^6 objects in a Pod" "$args\.Pod\.spec\.affinity.*: $deeper" < <(printf '{"Pod":{"spec":{"affinity":'; million '{"a":')

keys() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "\"key-%d\":\"v\",", i }'; }
check "200,000 unknown keys are passed over" \
    test "$({ printf '{'; keys 200000; tail -c +2 "$request"; } | call filter)" = "$good_answer"
labels='"labels":{'
flat=$(jq -c . "$request")
check "200,000 labels are a pod's like any others" \
    test "$({ printf '%s' "${flat%%"$labels"*}$labels"; keys 200000; printf '%s' "${flat#*"$labels"}"; } | call filter)" = "$good_answer"
awk 'BEGIN { printf "{\"Pod\":{},\"NodeNames\":[\"n\""; for (i = 0; i < 200000; i++) printf ",\"n\""; printf "]}" }' |
    call filter >"$work/answer"
like "200,000 names" "$(jq -r .Error "$work/answer")" '^ExtenderArgs\.NodeNames.*: more than 100000 (items|nodes)'

# ---- many variants over one connection ----

# A request per line of JSON on standard input, all in one write; prints how often each status came.
pipeline() { # VERB
    LC_ALL=C awk -v verb="$1" '{
        printf "POST /extender/v1/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n", verb
        printf "Content-Length: %d\r\n\r\n%s", length($0), $0
    } END { printf "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" }' >"$work/pipeline"
    raw <"$work/pipeline" | grep -ao 'HTTP/1.1 [0-9][0-9][0-9] ' | sort | uniq -c | awk '{ printf "%s:%d ", $3, $1 }'
}

# Every value of the request replaced, one at a time, at every depth.
jq -c '[paths] as $all | ([null], [7], ["x"], [true], [{}], [[]]) as [$bad]
    | $all[] as $p | setpath($p; $bad)' "$request" >"$work/variants"
n=$(wc -l <"$work/variants")
is "$n variants with null and wrong types: filter answers each" "$(pipeline filter <"$work/variants")" "200:$n 404:1 "
counts=$(pipeline prioritize <"$work/variants")
is "... prioritize does" "$(tr ' ' '\n' <<<"$counts" | awk -F : '$1 != 404 { n += $2 } END { print n }')" "$n"
like "... some with scores, some with 400" "$counts" '^200:[0-9]+ 400:[0-9]+ 404:1 $'
# Cut after every byte. Only the whole is well.
for ((i = 0; i < $(wc -c <"$request"); i++)); do
    head -c "$i" "$request"
    echo
done >"$work/cut"
n=$(wc -l <"$work/cut")
is "$n truncated requests: prioritize refuses each" "$(pipeline prioritize <"$work/cut")" "400:$n 404:1 "
is "null everywhere" "$(answer_to filter <<<'{"Pod":null,"Nodes":null,"NodeNames":null}')" '200 ExtenderArgs.Pod: missing'
is "neither names nor nodes" "$(answer_to filter <<<'{"Pod":{},"Nodes":null,"NodeNames":null}')" \
    '200 ExtenderArgs: neither NodeNames nor Nodes; set nodeCacheCapable: true'
check "a good call goes on being answered" good_call

# ---- HTTP ----

refusal() { # CURL OPTION...: "STATUS: BODY"
    fetch --write-out '\n%{http_code}' "$@" | tac | paste -s -d ' ' | sed 's/ /: /'
}
json=(--header 'Content-Type: application/json' --data '{}')
like "an unknown path gets the known ones" "$(refusal "${json[@]}" "$url/unbind")" \
    '^404: no such path; there are: POST /extender/v1/filter, POST /extender/v1/prioritize, POST /extender/v1/complement, POST /extender/v1/preempt, POST /clusters/v1/filter, POST /clusters/v1/prioritize, POST /clusters/v1/select, POST /clusters/v1/assign, POST /clusters/v1/estimate$'
like "bind is no path unless it is configured, and that is said" "$(refusal "${json[@]}" "$url/bind")" \
    '^404: no such path: binding is off: set extender.bind .*; there are: POST [^;]*/clusters/v1/estimate$'
check "... and logged, for kube-scheduler shows nobody" \
    wait_log 'level=warn .*path=/extender/v1/bind listener=extender .*set extender.bind'
like "a wrong method" "$(refusal "$url/filter")" '^405: .* takes only POST$'
like "... gets Allow" "$(fetch --head "$url/filter" | tr -d '\r')" 'Allow: POST'
is "a wrong content type" "$(refusal --data '{}' "$url/filter")" '415: send Content-Type: application/json'
is "no content type" "$(refusal --data '{}' --header 'Content-Type:' "$url/filter")" '415: send Content-Type: application/json'
is "a method that does not exist" "$(refusal "${json[@]}" --request BREW "$url/filter" | cut -c 1-3)" 405
# The server answers and hangs up in the middle of such a request. A client that is still sending may
# then see the end of the connection and not the answer, so it asks until it does.
long=$(printf 'x%.0s' {1..40000})
seen_as() { # STATUS CALL...
    local said
    said=$("${@:2}" <"$request" 2>/dev/null) || true
    if [ "$said" != 000 ] && [ "$said" != "$1" ]; then echo "status $said"; fi
    [ "$said" = "$1" ]
}
check "a header of 40,000 bytes" await seen_as 431 status_of filter --header "X: $long"
seq -f 'X-%g: some more or less long value' 2000 >"$work/headers"
check "2,000 headers" await seen_as 431 status_of filter --header @"$work/headers"
check "a path of 40,000 bytes" await seen_as 414 status_of "filter?$long"

# What curl would not send. The status is that of the first answer.
status_of_bytes() { # printf FORMAT
    # shellcheck disable=SC2059  # the format is ours
    printf "$1" | raw | head -n 1 | cut -d ' ' -f 2
}
head='POST /extender/v1/filter HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n'
is "two lengths" "$(status_of_bytes "${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")" 400
is "length and chunks" "$(status_of_bytes "${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")" 400
hidden='POST /extender/v1/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
answers_to_both() { # printf FORMAT of a header with two ideas of the body's length
    # shellcheck disable=SC2059  # the format is ours
    printf "${head/Connection: close\\r\\n/}$1\r\n\r\n0\r\n\r\n$hidden" | raw | grep -ao 'HTTP/1.1 [0-9]*'
}
is "nothing can hide behind two lengths" "$(answers_to_both 'Content-Length: 2\r\nContent-Length: 85')" 'HTTP/1.1 400'
is "... or behind length and chunks" "$(answers_to_both 'Content-Length: 5\r\nTransfer-Encoding: chunked')" 'HTTP/1.1 400'
is "an unknown transfer encoding" "$(status_of_bytes "${head}Transfer-Encoding: gzip\r\n\r\n")" 400
is "a length in words" "$(status_of_bytes "${head}Content-Length: two\r\n\r\n{}")" 400
is "a negative length" "$(status_of_bytes "${head}Content-Length: -2\r\n\r\n{}")" 400
is "a length beyond 64 bits" "$(status_of_bytes "${head}Content-Length: 99999999999999999999\r\n\r\n")" 413
is "a broken chunk" "$(status_of_bytes "${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")" 400
is "no host" "$(status_of_bytes 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')" 400
is "HTTP/2 without asking" "$(status_of_bytes 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')" 505

# Not TLS at all. The connection ends, one way or another.
garbage() { # BYTES on standard input
    local fd
    exec {fd}<>"/dev/tcp/${extender/://}"
    cat >&"$fd" || true
    timeout "$PATIENCE" cat <&"$fd" >/dev/null || [ $? -eq 1 ]
    exec {fd}<&-
}
check "plain HTTP on the TLS port is hung up on" garbage <<<$'GET / HTTP/1.1\r\nHost: x\r\n\r'
check "random bytes are hung up on" garbage < <(head -c 100000 /dev/urandom)

# ---- large bodies ----

body_bytes='evenkeel_http_request_body_bytes_total{listener="extender"}'
before=$(metric "$body_bytes")
is "64 MiB announced: refused before a byte is sent" \
    "$(status_of_bytes "${head}Content-Length: 67108864\r\n\r\n")" 413
is "64 MiB with Expect: 100-continue" "$(mib 64 | status_of filter --header 'Expect: 100-continue')" 413
is "... and not a byte was read" "$(metric "$body_bytes")" "$before"
is "64 MiB in chunks" "$(mib 64 | status_of filter --header 'Transfer-Encoding: chunked')" 413
like "a byte less is read" "$(head -c 67108863 /dev/zero | answer_to filter)" '^200 ExtenderArgs: expected an object'
check "63 MiB of blanks before a good request" \
    test "$({ mib 63 | tr '\0' ' '; cat "$request"; } | call filter | md5sum)" = "$(printf %s "$good_answer" | md5sum)"

# 256 MiB of bodies at once are the most. Four clients send 60 MiB each of a body one byte longer, and
# stay until their input ends.
before=$(metric "$body_bytes")
holders=()
for i in 1 2 3 4; do
    mkfifo "$work/hold-$i"
    timeout "$PATIENCE" openssl s_client -connect "$extender" -quiet -no_ign_eof -CAfile "$certs/ca.crt" \
        <"$work/hold-$i" >/dev/null 2>&1 &
    children+=($!)
done
for i in 1 2 3 4; do
    exec {holder}>"$work/hold-$i"
    holders+=("$holder")
    # shellcheck disable=SC2059  # as above
    { printf "${head}Content-Length: 62914561\r\n\r\n"; mib 60; } >&"$holder"
done
received() { [ "$(metric "$body_bytes")" -ge $((before + 4 * 62914560)) ]; }
check "four bodies of 60 MiB are being received" await received
like "a fifth that is larger has to wait" \
    "$(mib 63 | call filter --include --output - --header 'Expect: 100-continue' | tr -d '\r')" \
    $'HTTP/1.1 503 .*\nRetry-After: 1\n.*too many bodies are being received at the moment: try again'
is "... and a smaller one gets the place of one of them" \
    "$(mib 20 | status_of filter --header 'Transfer-Encoding: chunked')" 200
check "a small one is answered meanwhile" good_call
for holder in "${holders[@]}"; do exec {holder}>&-; done
wait "${children[@]}" || true
children=()
fits() { [ "$(mib 20 | status_of filter --header 'Expect: 100-continue')" = 200 ]; }
check "when they are gone there is room again" await fits

# ---- many connections ----

ulimit -S -n "$(ulimit -H -n)" 2>/dev/null || true
connections='evenkeel_http_connections{listener="extender"}'
evicted='evenkeel_http_connections_evicted_total{listener="extender",reason='
sockets=()
open_idle() { # NUMBER
    local fd
    for ((i = 0; i < $1; i++)); do
        exec {fd}<>"/dev/tcp/${extender/://}" || return 1
        sockets+=("$fd")
    done
}
close_idle() {
    local fd
    for fd in "${sockets[@]}"; do exec {fd}<&-; done
    sockets=()
}
counted() { # OPEN EVICTED REASON: what the server has, besides the connections of calls
    [ "$(metric "$connections") $(metric "$evicted\"$3\"}")" = "$1 $2" ]
}
if [ "$(ulimit -n)" -lt 1100 ] && [ "$(ulimit -n)" != unlimited ]; then
    skip "1,000 idle connections" "this system allows $(ulimit -n) open files"
else
    await counted 0 0 address
    open_idle 1000
    check "1,000 idle connections from one address: 128 are kept" await counted 128 872 address
    check "another address is served" good_call_from 127.0.0.2
    check "... and so is that one" good_call
    at_most "this does not flood the log" "$(grep -c 'to make room for another' "$log")" 40
    close_idle
fi

# All of the ops listener's, by one address; the probe comes from another.
probe() { curl --silent --max-time "$PATIENCE" --interface 127.0.0.3 "http://$ops/livez"; }
for ((i = 0; i < 64; i++)); do
    exec {fd}<>"/dev/tcp/${ops/://}" || break
    printf 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n' >&"$fd"
    sockets+=("$fd")
done
is "64 idle connections to the ops listener: a probe is answered" "$(probe)" ok
close_idle

# ---- afterwards ----

check "a good call is answered" good_call
same_open_files() { [ "$(metric process_open_fds)" -le "$open_files_before" ]; }
check "no descriptor was lost" await same_open_files
grown() { [ $(($(metric process_resident_memory_bytes) - resident_before)) -le "$resident_growth_bytes" ]; }
check "memory has not grown" await grown
check "no crash" no_crash
is "nothing in the log is an error" "$(grep -c level=error "$log" || true)" 0
stop_server INT
is "it ended well" "$exit_code" 0

# ---- slow clients, against short deadlines ----
# libmicrohttpd has a deadline of its own, 1 s above the longest; the checks must be below it.

cat >"$work/hasty.yaml" <<'EOT'
apiVersion: evenkeel.io/v1alpha1
kind: EvenkeelConfiguration
extender:
  limits: {headerTimeout: 700ms, requestTimeout: 3s, idleTimeout: 1s}
EOT
start_server --state "$state" --config "$work/hasty.yaml"
closed='evenkeel_http_deadline_closes_total{listener="extender"}'

# A client that sends its first bytes, and then one byte ten times a second until the server closes the
# connection. Prints the milliseconds until then, and the answer.
drip() { # FIRST-BYTES BYTE NAME: the answer's file is $work/NAME
    local to from byte started answer='' status
    trap '' PIPE
    mkfifo "$work/$3-to" "$work/$3-from"
    raw <"$work/$3-to" >"$work/$3-from" &
    exec {to}>"$work/$3-to" {from}<"$work/$3-from"
    started=$(now_ms)
    printf %s "$1" >&"$to"
    while [ $(($(now_ms) - started)) -lt $((PATIENCE * 1000)) ]; do
        status=0
        IFS= read -r -t 0.1 -N 1 -u "$from" byte || status=$?
        if [ $status -eq 1 ]; then break; fi
        answer+=$byte
        if [ $status -gt 128 ]; then printf %s "$2" >&"$to" || true; fi
    done
    echo "$(($(now_ms) - started)) $answer" >"$work/$3"
}
between() { # NAME GOT LEAST MOST
    if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
        pass "$1"
    else
        fail "$1" "got $2 ms, which is not between $3 and $4"
    fi
}
half_request=$(printf 'POST /extender/v1/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json')
before=$(metric "$closed")
drip "$half_request"$'\r\nX: ' x header 2>/dev/null &
slow=($!)
drip "$half_request"$'\r\nContent-Length: 1000\r\n\r\n{"Pod":' ' ' body 2>/dev/null &
slow+=($!)
drip "$half_request"$'\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{"Pod":' ' ' chunk 2>/dev/null &
slow+=($!)
children+=("${slow[@]}")
served=0
for _ in {1..20}; do
    if good_call; then served=$((served + 1)); fi
done
is "good clients are served meanwhile" "$served" 20
wait "${slow[@]}"
children=()
read -r header_ms _ <"$work/header"
read -r body_ms _ <"$work/body"
read -r chunk_ms _ <"$work/chunk"
# The deadline counts from the connection, or the headers; the rest is the client's start.
between "a slow header is cut off after 0.7 s" "$header_ms" 400 2900
between "a slow body is cut off after 3 s" "$body_ms" 2800 9000
between "a slow body in chunks is, too" "$chunk_ms" 2800 9000
is "metrics count the three" "$(($(metric "$closed") - before))" 3

# A client that says nothing, before and after the handshake.
started=$(now_ms)
garbage </dev/null
between "a connection without a handshake is closed after 0.7 s" $(($(now_ms) - started)) 600 3500
started=$(now_ms)
printf '%s\r\nContent-Length: 2\r\n\r\n{}' "$half_request" | raw >"$work/idle" || true
between "an idle connection is closed after 1 s" $(($(now_ms) - started)) 950 3500
like "... after its request was answered" "$(<"$work/idle")" '^HTTP/1.1 200 '

# A client that does not read: 24 MB of nodes come back, more than socket buffers hold.
big_node() { printf '{"metadata":{"name":"b1","annotations":{"x":"'; mib 1 | tr '\0' x; printf '"}}}'; }
big_node >"$work/node"
{
    printf '{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":['
    cat "$work/node"
    for _ in {2..24}; do printf ,; cat "$work/node"; done
    printf ']}}'
} >"$work/large"
before=$(metric "$closed")
mkfifo "$work/unread"
{ printf '%s\r\nContent-Length: %d\r\n\r\n' "$half_request" "$(wc -c <"$work/large")"; cat "$work/large"; } |
    raw >"$work/unread" &
children+=($!)
exec {unread}<"$work/unread"
one_more() { [ "$(metric "$closed")" -gt "$before" ]; }
check "a slow reader is cut off" await one_more
got=$(timeout "$PATIENCE" cat <&"$unread" | wc -c)
between "... in the middle of its answer (bytes)" "$got" 1 $(($(wc -c <"$work/large") - 1))
exec {unread}<&-
wait "${children[@]}" 2>/dev/null || true
children=()
check "a good call is answered after all that" good_call
check "no crash" no_crash
stop_server INT
is "it ended well" "$exit_code" 0

# ---- all connections together ----

if [ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 1100 ]; then
    start_server --state "$state" --config "$work/patient.yaml" --extender-limit-connections-per-address 2000
    open_idle 1000
    check "1,000 idle connections in all: 512 are kept" await counted 512 488 all
    check "... and calls are answered" good_call
    close_idle
    check "no crash" no_crash
    stop_server INT
fi

# ---- before the state has been read ----

# The state is a pipe that nobody has written to yet, but has open for writing. The log does not tell the addresses at this
# point, so they are looked up.
addresses_of() { # PID: host:port of what it listens on
    local inodes
    inodes=$(find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n' | paste -s -d '|')
    [ -n "$inodes" ] || return 1
    awk -v inodes="^($inodes)$" '$4 == "0A" && $10 ~ inodes { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp |
        while read -r port; do echo "127.0.0.1:$((16#$port))"; done
}
mkfifo "$work/state.json"
exec {writer}<>"$work/state.json"
log=$work/unready.log
"$evenkeel" serve --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --state "$work/state.json" \
    --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key" 2>"$log" {writer}>&- &
server=$!
both_listen() {
    mapfile -t listening < <(addresses_of "$server")
    [ ${#listening[@]} -eq 2 ]
}
await both_listen
for address in "${listening[@]}"; do
    if [ "$(curl --silent --max-time 2 "http://$address/livez")" = ok ]; then ops=$address; else extender=$address; fi
done
is "alive before the state has been read" "$(ops livez)" ok
is "... not ready" "$(ops readyz --write-out '%{http_code}' | paste -s -d ' ')" \
    '[-] state: not read yet; see the log [+] shutdown: not asked for 503'
not_ready='not ready: the cluster state has not been read yet; see /readyz'
is "... filter says so" "$(answer_to filter <"$request")" "200 $not_ready"
is "... prioritize says so" "$(answer_to prioritize <"$request")" "503 $not_ready"
is "... preempt says so" "$(answer_to preempt <tests/golden/preempt/meta-victims/request.json)" "503 $not_ready"
cat "$state" >"$work/state.json"
exec {writer}>&-
check "then it is" await good_call
stop_server
mkfifo "$work/nobody.json"
is "a pipe that nobody writes to is not waited for" \
    "$(timeout "$PATIENCE" "$evenkeel" serve --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 \
        --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key" --state "$work/nobody.json" 2>&1)" \
    "evenkeel serve: cannot read '$work/nobody.json': it is a pipe, and nobody writes to it"
finish_tests
