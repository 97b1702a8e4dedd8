#!/usr/bin/env bash
# evenkeel estimator in the place of karmada-scheduler-estimator: its flags, its ports, its end. The member's API
# server refuses connections, or lists the nodes and pods of a member.
. "$(dirname "$0")/lib.sh"

frame() { # HEX: a message with its prefix
    printf '00%08x%s' $((${#1} / 2)) "$1" | xxd -r -p
}
# A request for 1 cpu and 2Gi in member `fake` (as in test_estimator.sh), and one in another.
frame 0a0466616b6512221a036e73312a0a0a0363707512030a01312a0f0a066d656d6f727912050a03324769 >"$work/one"
frame 0a056f7468657212001a00 >"$work/other"
cat >"$work/refuses" <<'END'
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
END

probes=
start_estimator() { # FLAG...: $estimator, $ops and $probes are its addresses
    log_number=$((log_number + 1))
    log=$work/server-$log_number.log
    : >"$log"
    "$evenkeel" estimator --server-port=0 --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=localhost:0 "$@" 2>"$log" &
    server=$!
    wait_log 'msg(=|":")serving' || { sed 's/^/#   /' "$log" && return 1; }
    local door
    for door in estimator ops probes; do
        printf -v $door '%s' "$(sed -nE "s/.*msg(=|\":\")serving.*[ \"]$door(=|\":\")([^ \"]*).*/\3/p" "$log")"
    done
    estimator=127.0.0.1:${estimator##*:}
}
service=github.com.karmada_io.karmada.pkg.estimator.service.Estimator
# Prints the response in hex, the grpc-status, and the message.
ask() { # FRAME SCHEME CURL-OPTION...
    local code=0
    curl --silent --max-time "$PATIENCE" --dump-header "$work/headers" --output "$work/response" --header 'content-type: application/grpc' \
        --header 'te: trailers' --data-binary "@$work/$1" "${@:3}" "$2://$estimator/$service/MaxAvailableReplicas" || code=$?
    [ $code -eq 0 ] || { echo "curl $code" && return; }
    echo "$(xxd -p "$work/response" 2>/dev/null) $(tr -d '\r' <"$work/headers" | sed -nE 's/^grpc-status: //p') $(tr -d '\r' <"$work/headers" | sed -nE 's/^grpc-message: //p')"
}
get() { # ADDRESS PATH: the first line, and the status
    curl --silent --max-time "$PATIENCE" --write-out '%{http_code}\n' "http://$1/$2" | sed -n '1p;$p' | paste -sd ' '
}

# ---- the member does not answer ----

start_estimator --cluster-name=fake --kubeconfig "$work/refuses" --kube-api-qps=20 --parallelism 16 --enable_pprof --v=2
is "an API server that refuses: -1, and no error" "$(ask one http --http2-prior-knowledge)" '000000000b08ffffffffffffffffff01 0 '
is "another cluster" "$(ask other http --http2-prior-knowledge)" ' 2 cluster name does not match, got: other, desire: fake'
is "it is alive" "$(get "$probes" healthz)" 'ok 200'
is_ready() { [[ $(get "$probes" readyz) == *' 200' ]]; }
check "... and ready once the member has been tried: without an answer a scheduler would pass over all members" await is_ready
is "probes get nothing else" "$(for path in metrics version explain livez log-level ''; do get "$probes" "$path"; done | grep -o '...$' | sort -u)" 404
like "metrics are elsewhere" "$(ops metrics)" 'evenkeel_estimator_members\{state="syncing"\} 1'
is "flags that mean nothing are named, once" "$(grep -c 'flags that mean nothing here' "$log") $(grep -o 'flags="[^"]*"' "$log")" \
    '1 flags="kube-api-qps, parallelism, enable-pprof"'
unlike "it speaks plaintext by intent" "$(<"$log")" 'TLS needs a certificate and its key'
stop_server TERM
is "SIGTERM stops it" "$exit_code $(grep -c 'msg=stopped' "$log")" '0 1'

# ---- TLS, and incomplete TLS settings ----

own=(--cert "$certs/client.crt" --key "$certs/client.key" --cacert "$certs/ca.crt")
files=(--grpc-auth-cert-file="$certs/tls.crt" --grpc-auth-key-file="$certs/tls.key" --grpc-client-ca-file="$certs/ca.crt")
start_estimator --cluster-name=fake --kubeconfig="$work/refuses" "${files[@]}" --logging-format=json
like "TLS, and a certificate of the CA" "$(ask one https --http2 "${own[@]}")" ' 0 $'
like "... is asked for" "$(ask one https --http2 --cacert "$certs/ca.crt")" '^curl '
stop_server INT
start_estimator --cluster-name=fake --kubeconfig="$work/refuses" "${files[@]}" --insecure-skip-grpc-client-verify
like "... but not with --insecure-skip-grpc-client-verify" "$(ask one https --http2 --cacert "$certs/ca.crt")" ' 0 $'
stop_server INT
start_estimator --cluster-name=fake --kubeconfig="$work/refuses" "${files[0]}"
like "a certificate without a key is plaintext" "$(ask one http --http2-prior-knowledge)" ' 0 $'
like "... and the log says so" "$(<"$log")" 'level=warn msg="plaintext: TLS needs a certificate and its key"'
stop_server INT

# ---- one address for metrics and health, and no address at all ----

both=$ops # is free now
start_estimator --cluster-name=fake --kubeconfig="$work/refuses" --metrics-bind-address="$both" --health-probe-bind-address="$both"
is "one address for both" "$(get "$ops" healthz), probes $probes" 'ok 200, probes off'
like "... with metrics" "$(ops metrics)" '# HELP'
stop_server INT
start_estimator --cluster-name=fake --kubeconfig="$work/refuses" --metrics-bind-address=0 --health-probe-bind-address=
is "neither" "$ops $probes" 'off off'
stop_server INT

# ---- an API server at another address ----

# It lists what a member has, and refuses watches.
if ! command -v python3 >/dev/null; then
    skip "--master takes the place of the kubeconfig's server" "no python3"
else
    cat >"$work/server.py" <<'END'
import http.server, json
node = {"metadata": {"name": "n1", "resourceVersion": "1"}, "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}}}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if "watch=" in self.path:
            body, status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}, 422
        else:
            items = [node] if self.path.startswith("/api/v1/nodes") else []
            body, status = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}, 200
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
    mkfifo "$work/port"
    python3 "$work/server.py" >"$work/port" &
    children+=($!)
    read -r port <"$work/port"
    start_estimator --cluster-name=fake --kubeconfig="$work/refuses" --master="http://127.0.0.1:$port"
    is_estimated() { [ "$(ask one http --http2-prior-knowledge)" = '00000000020804 0 ' ]; }
    check "--master takes the place of the kubeconfig's server, whose nodes are estimated" await is_estimated
    stop_server INT
fi

# ---- wrong usage, and missing files ----

run() { # FLAG...
    code=0
    timeout "$PATIENCE" "$evenkeel" estimator "$@" >"$work/out" 2>"$work/err" || code=$?
    err=$(<"$work/err")
}
wrong() { # NAME PATTERN FLAG...
    run "${@:3}"
    like "$1" "$code $err" "^2 evenkeel estimator: $2.*Try 'evenkeel estimator --help'"
}
wrong "no cluster" '--cluster-name is required' --kubeconfig="$work/refuses"
wrong "an unknown flag" "unknown option '--grpc-client-ca'; did you mean --grpc-client-ca-file" --cluster-name=a --grpc-client-ca=f
wrong "a gate that is none" "--feature-gates: there is no gate 'ResourceQuota'" --cluster-name=a --feature-gates=ResourceQuota=true
off=(--metrics-bind-address=0 --health-probe-bind-address=0 --server-port=0)
run --cluster-name=a --kubeconfig="$work/nothing" "${off[@]}"
like "a kubeconfig that is not there" "$code $err" "^1 .*member cluster 'a': .*'$work/nothing' does not exist"
KUBERNETES_SERVICE_HOST='' run --cluster-name=a "${off[@]}"
like "no kubeconfig, and no pod" "$code $err" "^1 .*member cluster 'a': this is not a pod"
finish_tests
