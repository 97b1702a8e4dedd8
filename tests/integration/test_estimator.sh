#!/usr/bin/env bash
# The estimator as callers see it: gRPC over HTTP/2, in plaintext and in TLS, as curl speaks it.
. "$(dirname "$0")/lib.sh"

# Two nodes, with a pod of a core on the first: 3 and 8 cores are free.
jq -n '{apiVersion: "v1", kind: "List", items: [
    ({n1: "4", n2: "8"} | to_entries[] | {apiVersion: "v1", kind: "Node", metadata: {name: .key}, status: {allocatable: {cpu: .value, memory: "32Gi", pods: "110"}}}),
    {apiVersion: "v1", kind: "Pod", metadata: {name: "p", namespace: "d"}, spec: {nodeName: "n1", containers: [{name: "c", resources: {requests: {cpu: "1"}}}]}}]}' \
    >"$work/member.json"

# A request for 1 cpu and 2Gi in member `fake`, of version 1.19 (specification, C.8), and one for 9 cpu.
frame() { # HEX: a message with its prefix
    printf '00%08x%s' $((${#1} / 2)) "$1" | xxd -r -p
}
frame 0a0466616b6512221a036e73312a0a0a0363707512030a01312a0f0a066d656d6f727912050a03324769 >"$work/one"
frame 0a0466616b6512111a036e73312a0a0a0363707512030a0139 >"$work/nine"
frame 0a056f7468657212001a00 >"$work/other"
frame ffff >"$work/garbage"
start_estimator() { # OPTION...
    start_bare_server --extender-listen 0 --state "$work/member.json" --estimator-listen 127.0.0.1:0 --estimator-member fake --shutdown-delay 0s "$@"
    estimator=$(sed -nE 's/.*msg=serving.*estimator=([^ ]*).*/\1/p' "$log")
}
service=github.com.karmada_io.karmada.pkg.estimator.service.Estimator
# Prints the response in hex, the grpc-status, and the message.
call() { # FRAME METHOD SCHEME CURL-OPTION...
    local code=0
    curl --silent --max-time 10 --dump-header "$work/headers" --output "$work/response" --header 'content-type: application/grpc' --header 'te: trailers' \
        --data-binary "@$work/$1" "${@:4}" "$3://$estimator/$service/$2" || code=$?
    [ $code -eq 0 ] || { echo "curl $code" && return; }
    echo "$(xxd -p "$work/response" 2>/dev/null) $(tr -d '\r' <"$work/headers" | sed -nE 's/^grpc-status: //p') $(tr -d '\r' <"$work/headers" | sed -nE 's/^grpc-message: //p')"
}
plain() { call "$1" "${2:-MaxAvailableReplicas}" http --http2-prior-knowledge; }

# ---- plaintext ----

start_estimator
is "three cores and eight" "$(plain one)" '0000000002080b 0 '
is "0 is the empty message" "$(plain nine)" '0000000000 0 '
is "another cluster" "$(plain other)" ' 2 cluster name does not match, got: other, desire: fake'
like "a message that is none" "$(plain garbage)" '^ 13 '
like "a method that is none" "$(plain one Min)" '^ 12 '
is "a caller that speaks HTTP/1.1 is hung up on" "$(call one MaxAvailableReplicas http --http1.1)" 'curl 1'
is "... and the next one is answered" "$(plain one)" '0000000002080b 0 '
like "metrics count" "$(ops metrics)" 'evenkeel_estimator_requests_total\{method="MaxAvailableReplicas",result="ok"\} 3'
like "... and the member is there" "$(ops metrics)" 'evenkeel_estimator_members\{state="synced"\} 1'
stop_server INT
is "it stops in good order" "$exit_code" 0

# ---- TLS ----

"$evenkeel" certs init --dir "$work/other-ca" >/dev/null
start_estimator --estimator-cert-file "$certs/tls.crt" --estimator-key-file "$certs/tls.key" --estimator-client-ca-file "$certs/ca.crt" \
    --estimator-allowed-subject system:kube-scheduler
secure() { call one MaxAvailableReplicas https --cacert "$certs/ca.crt" "$@"; }
own=(--cert "$certs/client.crt" --key "$certs/client.key")
is "a client with a certificate of the CA" "$(secure --http2 "${own[@]}")" '0000000002080b 0 '
like "... without one" "$(secure --http2)" '^curl '
like "... of another CA" "$(secure --http2 --cert "$work/other-ca/client.crt" --key "$work/other-ca/client.key")" '^curl '
like "... that does not speak h2" "$(secure --http1.1 "${own[@]}")" '^curl 35'
like "... of TLS 1.2" "$(secure --http2 --tls-max 1.2 "${own[@]}")" '^curl 35'
stop_server INT
start_estimator --estimator-cert-file "$certs/tls.crt" --estimator-key-file "$certs/tls.key" --estimator-client-ca-file "$certs/ca.crt" \
    --estimator-allowed-subject somebody-else
like "a client that is not on the list" "$(secure --http2 "${own[@]}")" '^curl '
stop_server INT
finish_tests
