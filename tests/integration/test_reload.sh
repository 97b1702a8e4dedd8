#!/usr/bin/env bash
# State that changes on disk: it is read again, all of it or nothing, and what is wrong is said.
. "$(dirname "$0")/lib.sh"

request=tests/golden/filter/names-mode/request.json
golden=tests/golden/state.json
reads='evenkeel_state_reads_total{result="success"}'
errors='evenkeel_state_reads_total{result="error"}'

# The nodes that pass, in words.
passing() { call filter <"$request" | jq -r '.NodeNames | join(" ")'; }
passes() { [ "$(passing)" = "$1" ]; }

# As `kubectl get ... > file` does it and an editor does it: in place, and by renaming.
write() { # FILE: standard input in place of what it was
    cat >"$work/new"
    mv "$work/new" "$1"
}
put_pod() { # NAME NODE: one line of state
    printf '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","namespace":"shop","uid":"%s","labels":{"app":"web"}},"spec":{"nodeName":"%s"}}' "$1" "$1" "$2"
}
with_pods() { # STATE POD...: the state with more pods in it
    jq --slurpfile more <(printf '%s\n' "${@:2}") '.items += $more' "$1"
}

# ---- one file ----

state=$work/state.json
cp "$golden" "$state"
start_server --state "$state" --state-poll-interval 50ms
is "as it is" "$(passing)" 'b2 c1 b1'
is "one reading" "$(metric "$reads") $(metric "$errors")" '1 0'

# A web pod more in zone b: 3, 2, 1, so only c is left.
with_pods "$golden" "$(put_pod web-6 b2)" | write "$state"
check "a pod more, in a renamed file" await passes 'c1'
is "... is counted" "$(metric evenkeel_cache_pods)" 8
like "... is logged" "$(grep -c 'msg="state read" files=1 objects=17 nodes=6 pods=8' "$log")" '^1$'
cat "$golden" >"$state"
check "the pod gone, in a file written in place" await passes 'b2 c1 b1'
jq '.items |= map(select(.metadata.name != "c1"))' "$golden" | write "$state"
# c1 is known no more, though pods are still bound to it; zones a and b are left: 3 and 1.
check "a node gone" await passes 'b2 b1'
is "... is said" "$(call filter <"$request" | jq -r '.FailedNodes.c1')" 'node is not in the cache yet'
jq '(.items[] | select(.metadata.name == "c1" and .kind == "Node").metadata.labels["topology.kubernetes.io/zone"]) = "a"' \
    "$golden" | write "$state"
check "a node that moved to another zone" await passes 'b2 b1'
is "... is judged there" "$(call filter <"$request" | jq -r '.FailedNodes | keys | join(" ")')" 'a1 a2 c1'
write "$state" <"$golden"
await passes 'b2 c1 b1'

# ---- what is wrong ----

refused() { # NAME PATTERN; the file on standard input
    local from before
    from=$(log_end) before=$(metric "$errors")
    write "$state"
    check "$1: refused and logged" wait_log \
        "level=error msg=\"state refused; serving what was read before\" err=\"state file '$state': $2" "$from"
    is "... counted" "$(metric "$errors")" $((before + 1))
    is "... and nothing changed" "$(passing) $(metric evenkeel_cache_pods)" 'b2 c1 b1 7'
}
# The first 16 objects are read before the mistake is; none of them may show.
broken=$(with_pods "$golden" "$(put_pod web-6 b2)")
refused "a truncated file" 'document\.items\[16\]\.metadata\.labels\.app: expected a string, but the text ends, at byte [0-9]+' \
    <<<"${broken%\"web\"*}"
refused "a number for a name" 'document\.items\[2\]\.metadata\.name: expected a string, found a number, at byte' \
    < <(jq '.items[2].metadata.name = 7' "$golden")
refused "an object without a name" 'document\.items\[16\]: the object that ends here has no metadata\.name' \
    < <(jq '.items += [{kind: "Pod"}]' "$golden")
refused "not JSON" 'document: expected .*, at byte 0' <<<'no resources found'
refused "an empty file" 'document: .*' </dev/null
refused "an error page" 'document: .*, at byte 0' <<<'<html>'
from=$(log_end)
rm "$state"
check "a file that is gone: refused and logged" \
    wait_log "level=error msg=\"state refused.* err=\"cannot read state '$state': No such file" "$from"
is "... and nothing changed" "$(passing)" 'b2 c1 b1'
is "ready all the time" "$(ops readyz --output /dev/null --write-out '%{http_code}')" 200
with_pods "$golden" "$(put_pod web-6 b2)" | write "$state"
check "a good file is read again" await passes 'c1'
check "no crash" no_crash
stop_server INT

# ---- SIGHUP ----

write "$state" <"$golden"
start_server --state "$state" --state-poll-interval 1h
with_pods "$golden" "$(put_pod web-6 b2)" | write "$state"
is "nobody has looked yet" "$(passing)" 'b2 c1 b1'
from=$(log_end)
kill -HUP "$server"
check "SIGHUP reads at once" wait_log 'msg="state read"' "$from"
is "... what is there" "$(passing)" 'c1'
from=$(log_end)
kill -HUP "$server"
check "SIGHUP reads what has not changed, too" wait_log 'msg="state read"' "$from"
from=$(log_end)
echo '{' >"$state"
kill -HUP "$server"
check "SIGHUP on a broken file: refused" wait_log 'level=error msg="state refused' "$from"
is "... and nothing changed" "$(passing)" 'c1'
check "no crash" no_crash
stop_server INT

# ---- a folder, and YAML ----

folder=$work/state
mkdir "$folder"
jq '.items |= map(select(.kind != "Pod"))' "$golden" >"$folder/nodes.json"
jq '{kind: "PodList", apiVersion: "v1", items: .items | map(select(.kind == "Pod" and .metadata.namespace == "shop") | del(.kind))}' \
    "$golden" >"$folder/pods-shop.json"
cat >"$folder/pods-other.yaml" <<'YAML'
# As kubectl get -o yaml prints it, and a document by itself behind it.
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-1
    namespace: other
    uid: other-web-1
    labels:
      app: web
    creationTimestamp: "2026-01-02T03:04:05Z"
  spec:
    nodeName: c1
---
apiVersion: v1
kind: Namespace
metadata: {name: third, labels: {kubernetes.io/metadata.name: third}}
YAML
echo 'this is not state' >"$folder/README.txt"
echo '{' >"$folder/.hidden.json"
start_server --state "$folder" --state-poll-interval 50ms
is "a folder of JSON and YAML" "$(passing) $(metric evenkeel_cache_pods)" 'b2 c1 b1 7'
like "... of three files" "$(<"$log")" 'msg="state read" files=3 objects=17 nodes=6 pods=7'
is "every namespace of every file" "$(metric evenkeel_cache_namespaces)" 3
cat >"$folder/more.yml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web-6, namespace: shop, uid: web-6, labels: {app: web}}
spec: {nodeName: b2}
YAML
check "a file more" await passes 'c1'
rm "$folder/more.yml"
check "a file less" await passes 'b2 c1 b1'
from=$(log_end)
printf 'kind: Pod\nmetadata:\n\tname: x\n' >"$folder/more.yml"
check "YAML that is none: refused with file and line" \
    wait_log "level=error msg=\"state refused.* err=\"state file '$folder/more.yml': line 3, column 1: " "$from"
is "... and nothing changed" "$(passing)" 'b2 c1 b1'
echo '{"kind": "Pod", "metadata": {"name": "web-6", "namespace": "shop", "labels": {"app": "web"}}, "spec": {"nodeName": "b2"}}' >"$folder/more.yml"
check "JSON in a file called YAML" await passes 'c1'
check "no crash" no_crash
stop_server INT

# Several paths, a file of one kind each.
start_server --state "$folder/nodes.json" --state "$folder/pods-shop.json"
is "several paths" "$(passing)" 'b2 c1 b1'
stop_server INT
is "it ended well" "$exit_code" 0

# ---- under load ----

# States alternate while calls go on: every answer must belong to one of the two.
with_pods "$golden" "$(put_pod web-6 b2)" >"$work/other.json"
write "$state" <"$golden"
start_server --state "$state" --state-poll-interval 10ms
answers() {
    while [ ! -e "$work/enough" ]; do
        call 'filter?[1-20]' <"$request" | grep -oE '"NodeNames":\[[^]]*\]' >>"$work/answers"
    done
}
answers &
children+=($!)
for _ in {1..20}; do
    cp "$work/other.json" "$state"
    await passes 'c1'
    cp "$golden" "$state"
    await passes 'b2 c1 b1'
done
touch "$work/enough"
wait "${children[@]}"
children=()
is "40 readings under load: each answer is of the one state or the other" \
    "$(sort -u "$work/answers" | paste -s -d ' ')" '"NodeNames":["b2","c1","b1"] "NodeNames":["c1"]'
check "no crash" no_crash
stop_server INT
finish_tests
