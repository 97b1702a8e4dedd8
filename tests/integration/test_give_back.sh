#!/usr/bin/env bash
# evenkeel give-back against a small API server: it sets the mode of the Placements with Evenkeel's marks, and of no others,
# waits for the marks to go, and fails with names when they do not. The real one: tests/e2e/kube/installed_hub_test.go.
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
    skip "giving Placements back" "no python3"
    finish_tests
    exit
fi
# It keeps annotations, and with `helps` it removes the marks of a Placement that gets mode Off, as Evenkeel does.
cat >"$work/server.py" <<'END'
import http.server, json, sys
ours, ocm = "placements.evenkeel.io/", "cluster.open-cluster-management.io/experimental-scheduling-disable"
helps, status = sys.argv[1] == "helps", int(sys.argv[2])
placements = {
    "web": {ours + "disabled-ocm": "true", ocm: "true", ours + "mode": "Owner"},
    "scored": {ours + "injected": "{}", ours + "mode": "Scores"},
    "left": {ours + "disabled-ocm": "true", ocm: "true", ours + "mode": "Off"},
    "others": {ocm: "true"}, "plain": {},
}
patched = []
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, code, body):
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def do_GET(self):
        if self.path == "/patched":
            return self.answer(200, patched)
        self.answer(status, {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementList", "metadata": {},
            "items": [{"metadata": {"name": n, "namespace": "shop", "annotations": a}, "spec": {}} for n, a in placements.items()]})
    def do_PATCH(self):
        name = self.path.rsplit("/", 1)[1]
        changes = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["metadata"]["annotations"]
        patched.append([self.headers["Content-Type"], name, changes])
        for key, value in changes.items():
            placements[name].pop(key, None) if value is None else placements[name].update({key: value})
        if helps:
            for one in placements.values():
                if one.get(ours + "mode") == "Off":
                    for mark in (ours + "disabled-ocm", ours + "injected", ocm):
                        one.pop(mark, None)
        self.answer(200, {})
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
start() { # ARGUMENT...
    rm -f "$work/port"
    mkfifo "$work/port"
    python3 "$work/server.py" "$@" >"$work/port" &
    children+=($!)
    read -r port <"$work/port"
    jq -n --arg server "http://127.0.0.1:$port" '{apiVersion: "v1", kind: "Config", "current-context": "a",
        contexts: [{name: "a", context: {cluster: "a", user: "a"}}], clusters: [{name: "a", cluster: {server: $server}}],
        users: [{name: "a", user: {}}]}' >"$work/kubeconfig"
}
give_back() { # OPTION...: $out and $code
    code=0
    out=$(timeout 60 "$evenkeel" give-back --kubeconfig "$work/kubeconfig" "$@" 2>&1) || code=$?
}
patched() { curl --silent "http://127.0.0.1:$port/patched" | jq -c "$@"; }

start helps 200
give_back
is "Placements are given back by the Evenkeel that runs" "$code $out" "0 3 Placements are given back to Open Cluster Management"
is "... those with marks, by their mode" "$(patched 'map(.[1:])')" \
    '[["web",{"placements.evenkeel.io/mode":"Off"}],["scored",{"placements.evenkeel.io/mode":"Off"}]]'
is "... with a merge patch" "$(patched 'map(.[0]) | unique')" '["application/merge-patch+json"]'
give_back
is "... and once more there is nothing to do" "$code $out" "0 0 Placements are given back to Open Cluster Management"

start alone 200
give_back --timeout 25s
like "where none runs, some are named" "$code $out" \
    '^1 evenkeel give-back: 1 Placements are not given back: shop/scored; 1 of them have marks of mode Scores, which only'
is "... and others get OCM back" "$(patched 'map(select(.[1] == "left" or (.[2] | length > 1)) | .[1:]) | unique')" \
    '[["left",{"placements.evenkeel.io/disabled-ocm":null,"cluster.open-cluster-management.io/experimental-scheduling-disable":null}],["web",{"placements.evenkeel.io/disabled-ocm":null,"cluster.open-cluster-management.io/experimental-scheduling-disable":null}]]'

start alone 404
give_back
is "without Open Cluster Management there is none" "$code $out" "0 0 Placements are given back to Open Cluster Management"
start alone 403
give_back --timeout 1s
like "without the right it fails" "$code $out" '^1 .*the API server answers with status 403 to a list of Placements'
give_back --timeout 0s
like "a time limit of nothing is refused" "$code $out" "^2 .*--timeout: '0s' is not a duration of 1ms to 3600s"
finish_tests
