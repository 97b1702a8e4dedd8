#!/usr/bin/env bash
# An API server that takes connections and does not answer, and one that refuses them: `explain`
# answers soon, with what the daemon has, and `check cluster` tells the two apart.
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
    skip "a silent API server" "no python3"
    finish_tests
    exit
fi
cat >"$work/silent.py" <<'END'
import signal, socket
server = socket.create_server(("127.0.0.1", 0), backlog=16)
print(server.getsockname()[1], flush=True)
signal.pause()
END
mkfifo "$work/port"
python3 "$work/silent.py" >"$work/port" &
children+=($!)
read -r port <"$work/port"

kubeconfig() { # PORT
    jq -n --arg server "http://127.0.0.1:$1" '{apiVersion: "v1", kind: "Config", "current-context": "a",
        contexts: [{name: "a", context: {cluster: "a", user: "a"}}], clusters: [{name: "a", cluster: {server: $server}}],
        users: [{name: "a", user: {}}]}' >"$work/kubeconfig"
}
run() { # ARGUMENT...: $out, $code and $took in milliseconds
    local from
    from=$(now_ms)
    code=0
    out=$(timeout "$PATIENCE" "$evenkeel" "$@" 2>&1) || code=$?
    took=$(($(now_ms) - from))
}

start_server --state "$example/state.json"
filter_request "$example/pod.json" "$example/state.json" >"$work/filter.json"
call filter <"$work/filter.json" >/dev/null
name=$(jq -r '.metadata.namespace + "/" + .metadata.name' "$example/pod.json")

kubeconfig "$port"
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig"
is "explain answers from the daemon" "$code" 0
at_most "... soon" "$took" 3000
like "... and begins with the reason why the pod itself is missing" "${out%%$'\n'*}" \
    "^pod $name: the pod itself was not read: http://127.0.0.1:$port: it accepts the connection and does not answer within 1500 ms\$"
like "... and then has the decisions" "$out" 'filter: answered'
run explain shop/nobody --server "http://$ops" --kubeconfig "$work/kubeconfig"
like "... of a pod without decisions, too" "$code $out" \
    '^1 evenkeel explain: the pod itself was not read \(.* does not answer within 1500 ms\): nothing is known of pod shop/nobody'

run check cluster --kubeconfig "$work/kubeconfig"
like "check cluster: a server that hangs" "$code $out" 'no answer: it accepts the connection and does not answer within [0-9]+ ms'
like "... with a remedy" "$out" 'look whether the API server runs, hangs or is overloaded'
kubeconfig 1
run check cluster --kubeconfig "$work/kubeconfig"
like "check cluster: a server that refuses" "$code $out" "no answer: .*(onnect|refused)"
unlike "... is not said to hang" "$out" 'does not answer within'
stop_server INT
finish_tests
