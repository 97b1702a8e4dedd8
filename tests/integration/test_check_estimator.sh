#!/usr/bin/env bash
# `evenkeel check estimator` beside an estimator: plaintext, TLS, client certificates, and what is wrong.
. "$(dirname "$0")/lib.sh"

jq -n '{apiVersion: "v1", kind: "List", items: [
    {apiVersion: "v1", kind: "Node", metadata: {name: "n1"}, status: {allocatable: {cpu: "4", memory: "32Gi", pods: "110"}}}]}' >"$work/member.json"
start_estimator() { # OPTION...
    start_bare_server --extender-listen 0 --state "$work/member.json" --estimator-listen 127.0.0.1:0 --estimator-member m1 --shutdown-delay 0s "$@"
    estimator=$(sed -nE 's/.*msg=serving.*estimator=([^ ]*).*/\1/p' "$log")
}
# Prints the exit code and, of each finding, its severity, field and problem.
check() { # OPTION...
    local code=0 out
    out=$("$evenkeel" check estimator --cluster m1 -o json --timeout 5s "$@" 2>&1) || code=$?
    echo "$code $(jq -r '.findings[] | "\(.severity) \(.field) \(.problem)"' <<<"$out" 2>/dev/null || echo "$out")"
}
ready='^0 info answer 110 replicas that request nothing fit cluster m1 \([0-9.]+ ms\) info connection connected to .* in [0-9]+ ms'
one_line() { tr '\n' ' ' | sed 's/ $//'; }

# ---- plaintext ----

start_estimator
like "plaintext" "$(check --address "$estimator" | one_line)" "$ready"
like "... says so" "$(check --address "$estimator")" 'in plaintext'
like "another cluster" "$(check --address "$estimator" --cluster m2 | one_line)" '^1 .*error cluster it answers with gRPC status 2: cluster name does not match, got: m2, desire: m1'
like "TLS where there is none" "$(check --address "$estimator" --insecure-skip-verify)" '^1 error tls cannot connect to .*TLS'
like "the wrong port" "$(check --address "$(sed -nE 's/.*msg=serving.* ops=([^ ]*).*/\1/p' "$log")")" '^1 error http2 cannot connect'
stop_server INT
like "nobody listens any more" "$(check --address "$estimator")" '^1 error connection cannot connect to .*: connect: Connection refused$'
like "... what to do" "$("$evenkeel" check estimator --cluster m1 --address "$estimator" || true)" 'nothing listens there'
like "a name that is none" "$(check --address estimator.invalid:10352)" "^1 error name cannot connect to .*: no address of 'estimator.invalid'"

# ---- TLS ----

"$evenkeel" certs init --dir "$work/other-ca" >/dev/null
tls=(--estimator-cert-file "$certs/tls.crt" --estimator-key-file "$certs/tls.key")
start_estimator "${tls[@]}"
port=${estimator##*:}
like "TLS" "$(check --address "$estimator" --ca-file "$certs/ca.crt" | one_line)" "$ready"
like "TLS by name" "$(check --address "localhost:$port" --ca-file "$certs/ca.crt" | one_line)" "$ready"
like "another CA" "$(check --address "$estimator" --ca-file "$work/other-ca/ca.crt")" '^1 error tls cannot connect to .* certificate is not accepted: no CA of the CA file has signed it'
like "... and not verified" "$(check --address "$estimator" --insecure-skip-verify | one_line)" "$ready"
like "a name that the certificate has not" "$(check --address "127.0.0.2:$port" --ca-file "$certs/ca.crt")" "^1 error (tls|connection) cannot connect to .*(it is not for '127.0.0.2'|Connection refused)"
like "plaintext where TLS is wanted" "$(check --address "$estimator")" '^1 error http2 cannot connect'
like "a CA file that is none" "$(check --address "$estimator" --ca-file "$work/member.json")" '^1 error tls cannot connect to .*cannot use the CA file'
like "a certificate is not asked for" "$(check --address "$estimator" --ca-file "$certs/ca.crt" --cert-file "$certs/client.crt" --key-file "$certs/client.key" | one_line)" "$ready"
stop_server INT

# ---- client certificates ----

start_estimator "${tls[@]}" --estimator-client-ca-file "$certs/ca.crt" --estimator-allowed-subject system:kube-scheduler
own=(--cert-file "$certs/client.crt" --key-file "$certs/client.key")
like "a client certificate" "$(check --address "$estimator" --ca-file "$certs/ca.crt" "${own[@]}" | one_line)" "$ready"
like "none" "$(check --address "$estimator" --ca-file "$certs/ca.crt")" '^1 error tls cannot connect to .*client certificate'
like "of another CA" "$(check --address "$estimator" --ca-file "$certs/ca.crt" --cert-file "$work/other-ca/client.crt" --key-file "$work/other-ca/client.key")" \
    "^1 error tls cannot connect to .* does not accept the client's certificate"
like "a key of another certificate" "$(check --address "$estimator" --ca-file "$certs/ca.crt" --cert-file "$certs/client.crt" --key-file "$certs/tls.key")" '^1 error tls .*cannot use the certificate'
stop_server INT

# ---- wrong usage ----

wrong() { # NAME PATTERN OPTION...
    local code=0 out
    out=$("$evenkeel" check estimator "${@:3}" 2>&1) || code=$?
    like "$1" "$code $out" "^2 .*$2"
}
wrong "no address" 'which estimator' --cluster m1
wrong "no cluster" 'which cluster' --address a:1
wrong "half a certificate" 'belong together' --address a:1 --cluster m1 --ca-file x --key-file y
wrong "a certificate in plaintext" 'no use in plaintext' --address a:1 --cluster m1 --cert-file x --key-file y
wrong "no duration" 'not a duration' --address a:1 --cluster m1 --timeout 0s
wrong "an argument" 'unexpected argument' m1
like "an address without a port" "$(check --address estimator)" "^1 error connection 'estimator' is not HOST:PORT"
finish_tests
