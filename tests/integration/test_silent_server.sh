#!/usr/bin/env bash
# An API server that takes connections and does not answer, one that answers late, one that takes no
# connection, one that refuses them, and a credential plugin that takes long: `explain` answers soon,
# with what the daemon has, and names the part that is slow; `check cluster` tells them apart.
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
    skip "a silent API server" "no python3"
    finish_tests
    exit
fi
# The late server speaks TLS and answers 2.5 s after it has the request. The full one has no room in its queue, so
# that the kernel drops the first packet of each connection.
cat >"$work/silent.py" <<'END'
import socket, ssl, sys, threading
silent, late = (socket.create_server(("127.0.0.1", 0), backlog=16) for _ in range(2))
full = socket.create_server(("127.0.0.1", 0), backlog=0)
waiting = []
for _ in range(8):
    waiting.append(socket.socket())
    waiting[-1].setblocking(False)
    waiting[-1].connect_ex(full.getsockname())
pod = open(sys.argv[1], "rb").read()
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[2], sys.argv[3])
print(*(s.getsockname()[1] for s in (silent, late, full)), flush=True)

def answer(raw):
    connection = tls.wrap_socket(raw, server_side=True)
    connection.recv(65536)
    threading.Event().wait(2.5)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(pod) + pod)

while True:
    threading.Thread(target=answer, args=(late.accept()[0],), daemon=True).start()
END
jq '.metadata += {uid: "u", creationTimestamp: "2026-01-01T00:00:00Z"}
    | .status = {phase: "Pending", conditions: [{type: "PodScheduled", status: "False",
    reason: "Unschedulable", message: "0/13 nodes are available"}]}' "$example/pod.json" >"$work/pod.json"
mkfifo "$work/port"
python3 "$work/silent.py" "$work/pod.json" "$certs/tls.crt" "$certs/tls.key" >"$work/port" &
children+=($!)
read -r port late full <"$work/port"

kubeconfig() { # URL [PLUGIN]
    jq -n --arg server "$1" --arg plugin "${2-}" --arg ca "$certs/ca.crt" '{apiVersion: "v1", kind: "Config",
        "current-context": "a", contexts: [{name: "a", context: {cluster: "a", user: "a"}}],
        clusters: [{name: "a", cluster: {server: $server, "certificate-authority": $ca}}], users: [{name: "a", user: (if $plugin == "" then {} else
            {exec: {apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never", command: $plugin}} end)}]}' \
        >"$work/kubeconfig"
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

kubeconfig "http://127.0.0.1:$port"
first=""
from=$(now_ms)
code=0
while IFS= read -r line; do
    [ -n "$first" ] || { first=$line took=$(($(now_ms) - from)); }
    out+=$line$'\n'
done < <(timeout "$PATIENCE" "$evenkeel" explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig" \
    --timeout 3s 2>&1)
whole=$(($(now_ms) - from))
at_most "explain begins soon" "$took" 2000
like "... with the reason why the pod itself is missing" "$first" \
    "^pod $name: the pod itself was not read: http://127.0.0.1:$port: it accepts the connection and does not answer within 1500 ms\$"
like "... and has the decisions" "$out" 'filter: answered'
like "... and says that it waits" "$out" "waiting for the pod from http://127.0.0.1:$port, 3s at most \(--timeout\)"
like "... and in the end, in vain" "$(tail -n 2 <<<"${out%$'\n'}")" "pod $name: the pod itself was not read: .* within 3000 ms"
at_most "... when the time is over" "$whole" 5000
run explain shop/nobody --server "http://$ops" --kubeconfig "$work/kubeconfig" --timeout 2s
like "... of a pod without decisions, too" "$code $out" \
    '^1 evenkeel explain: waiting .*evenkeel explain: the pod itself was not read \(.* does not answer within 2000 ms\): nothing is known of pod shop/nobody'
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig" --timeout 2s -o json
is "... and as JSON it is one document" "$(tail -n +2 <<<"$out" | jq -r '.decisions | length')" 1
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig" --timeout 0s
like "a time limit of nothing is refused" "$code $out" "^2 .*--timeout: '0s' is not a duration of 1ms to 3600s"

kubeconfig "https://127.0.0.1:$late"
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig"
is "an API server that answers after 2.5 s" "$code" 0
like "... is not silent: its pod is judged" "$out" "pod $name: .*PodScheduled is False.*the pod as https://127.0.0.1:$late has it.*judged now"
is "... and the decisions are printed once" "$(grep -c 'filter: answered' <<<"${out%%judged now*}")" 1

kubeconfig "http://127.0.0.1:$full"
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig"
at_most "an API server that takes no connection is given up soon" "$took" 3000
like "... and that is said" "$out" "was not read: http://127.0.0.1:$full: it does not accept the connection within 1500 ms"

printf '%s\n' '#!/bin/sh' 'sleep 3' \
    'echo "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t\"}}"' \
    >"$work/plugin"
chmod +x "$work/plugin"
kubeconfig "https://127.0.0.1:$late" "$work/plugin"
run explain "$name" --server "http://$ops" --kubeconfig "$work/kubeconfig"
like "a plugin that takes 3 s is named" "$out" "waiting for the credential plugin '$work/plugin' of kubeconfig '$work/kubeconfig'"
like "... and does not shorten the wait for the API server" "$out" 'judged now'

kubeconfig "http://127.0.0.1:$port"
run check cluster --kubeconfig "$work/kubeconfig"
like "check cluster: a server that hangs" "$code $out" 'no answer: it accepts the connection and does not answer within [0-9]+ ms'
like "... with a remedy" "$out" 'look whether the API server runs, hangs or is overloaded'
kubeconfig http://127.0.0.1:1
run check cluster --kubeconfig "$work/kubeconfig"
like "check cluster: a server that refuses" "$code $out" "no answer: .*(onnect|refused)"
unlike "... is not said to hang" "$out" 'does not answer within'
stop_server INT
finish_tests
