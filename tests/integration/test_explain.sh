#!/usr/bin/env bash
# "Why there?", asked over HTTP and by `evenkeel explain`: the worked example of docs/guides/explain.md,
# callers who may ask, unknown objects, and a check that each of the last 10,000 decisions is found.
. "$(dirname "$0")/lib.sh"

guide=docs/guides/explain.md
state=$example/state.json
pod=$example/pod.json

explain() { # ARGUMENT...
    "$evenkeel" explain --server "http://$ops" --no-api-server "$@"
}
told() { ops "explain/pods/$1" | jq -c "$2"; } # NAMESPACE/NAME FILTER

# What changes from run to run: when, how long, by whom.
same_words() {
    sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/' -e 's/in [0-9]+ us/in N us/' \
        -e 's/by replica [^ ]+ \(evenkeel [^)]+\)/by replica R/' -e 's/ +$//'
}

# What stands in the guide behind "$ COMMAND".
shown() { # COMMAND
    awk -v command="\$ $1" '$0 == command { on = 1; next } on && /^(```|\$ )/ { exit } on' "$guide"
}

start_server --state "$state" --policy "$example/policy.yaml" "${webhook_options[@]}"

# ---- the worked example ----

# As the pod of a Deployment: it has no name yet when the webhook is asked. The scheduler sees it as it
# was patched.
jq -c 'del(.metadata.name, .metadata.uid) | .metadata.generateName = "web-"
    | .spec.topologySpreadConstraints |= .[:1]' "$pod" >"$work/new.json"
jq -c '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "r", operation: "CREATE",
    namespace: "shop", resource: {group: "", version: "v1", resource: "pods"}, object: .}}' "$work/new.json" >"$work/review.json"
review pods <"$work/review.json" | jq -c '.response.patch | @base64d | fromjson | .[].value' >"$work/added.json"
jq -c --slurpfile added "$work/added.json" \
    '.spec.topologySpreadConstraints += $added | .metadata += {name: "web-x7k2p", uid: "u"}' "$work/new.json" >"$work/patched.json"
filter_request "$work/patched.json" "$state" >"$work/filter.json"
call filter <"$work/filter.json" >"$work/filtered.json"
jq -c --slurpfile f "$work/filtered.json" '.NodeNames = $f[0].NodeNames' "$work/filter.json" >"$work/prioritize.json"
call prioritize <"$work/prioritize.json" >"$work/scored.json"

explain pod shop/web-x7k2p >"$work/table"
is "the guide shows what is printed" "$(shown 'evenkeel explain pod shop/web-x7k2p' | same_words)" \
    "$(same_words <"$work/table")"
explain what-if "$pod" >"$work/table"
is "... and what would be" "$(shown 'evenkeel explain what-if docs/examples/three-regions/pod.json' | same_words)" \
    "$(same_words <"$work/table")"

is "admission, filter, prioritize, in order" "$(told shop/web-x7k2p '[.decisions[].verb]')" '["admit","filter","prioritize"]'
is "the policy is named" "$(told shop/web-x7k2p '.decisions[0].policy')" '"rest"'
is "every candidate is accounted for" \
    "$(told shop/web-x7k2p '.decisions[1] | .passed + ([.dropped[].nodes] | add) == .candidates')" true
# shellcheck disable=SC2016  # jq's $
is "what was dropped is what filter answered" \
    "$(told shop/web-x7k2p '[.decisions[1].dropped[] | .reason as $r | .names[] | {(.): $r}] | add' | jq -S .)" \
    "$(jq -S '.FailedNodes + .FailedAndUnresolvableNodes' "$work/filtered.json")"
is "the best nodes are those that prioritize scored best" \
    "$(told shop/web-x7k2p '[.decisions[2].scores[].priority]')" \
    "$(jq -c '[.[].Score] | sort | reverse | .[:5]' "$work/scored.json")"
is "the replica says who it is" "$(ops explain | jq -r .replica.version)" "$("$evenkeel" version -o json | jq -r .version)"
as_asked() { jq -c '[.replica, .decisions]'; }
is "json is what the daemon answers" "$(explain pod shop/web-x7k2p -o json | as_asked)" "$(ops explain/pods/shop/web-x7k2p | as_asked)"
is "a pod needs no word before its name" "$(explain shop/web-x7k2p)" "$(explain pod shop/web-x7k2p)"
same_pod='explain?group=&kind=Pod&namespace=shop&name=web-x7k2p'
is "a pod is an object like any other" "$(ops "$same_pod")" "$(ops explain/pods/shop/web-x7k2p)"
is "... also by the command" "$(explain Pod shop/web-x7k2p -o json)" "$(explain pod shop/web-x7k2p -o json)"
is "recent: a line for each" "$(explain recent | sed 1d | awk '{ print $1, $3, $4 }' | paste -s -d ,)" \
    '3 prioritize shop/web-x7k2p,2 filter shop/web-x7k2p,1 admit shop/web-*'
is "recent: no more than asked for" "$(ops 'explain?limit=2' | jq '.decisions | length')" 2

# ---- what if ----

what_if() { ops explain --header 'Content-Type: application/json' --data-binary @- "$@"; }
made=$(ops explain | jq .made)
# kube-scheduler offers no cordoned nodes to an extender; a what-if refuses them itself.
is "what-if filters as filter does, but for cordoned nodes" \
    "$(jq -c '{pod: .Pod, nodeNames: .NodeNames}' "$work/filter.json" | what_if | jq -c '.decisions[0] |
        [.verb, .passed + (.dropped[] | select(.reason == "node(s) were unschedulable").nodes)]')" \
    "[\"filter\",$(jq '.NodeNames | length' "$work/filtered.json")]"
what_if <"$work/new.json" >"$work/answer.json"
is "a new pod is admitted first" "$(jq -c '[.decisions[].verb]' "$work/answer.json")" '["admit","filter","prioritize"]'
is "... and judged with what it got" "$(jq -c '[.decisions[1].constraints[].topologyKey]' "$work/answer.json")" \
    '["topology.kubernetes.io/zone"]'
is "... and shown" "$(jq '.pod.spec.topologySpreadConstraints | length' "$work/answer.json")" 2
is "a policy on trial" \
    "$(jq -c '{pod: ., policies: [{kind: "TopologyPolicy", metadata: {name: "trial"},
        spec: {pods: {spread: [{topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule"}]}}}]}' "$work/new.json" |
        what_if | jq -c '[.decisions[0].policy, .decisions[0].notes[0].note, .decisions[1].passed]')" \
    '["trial","left out (NoNodeHasKey): rack",9]'
jq -c '{pod: (. | del(.spec.topologySpreadConstraints)), policies: [{kind: "TopologyPolicy", metadata: {name: "trial"},
    spec: {pods: {spread: [{topologyKey: "topology.kubernetes.io/region", whenUnsatisfiable: "ScheduleAnyway"},
        {topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway"}]}}}]}' "$work/new.json" |
    what_if >"$work/answer.json"
is "a policy's keys are an ordered rule of its pods" \
    "$(jq -c '[.decisions[2].constraints[] | [.from, .rule, .topologyKey]]' "$work/answer.json")" \
    '[["rule","TopologyPolicy trial","topology.kubernetes.io/region"],["rule","TopologyPolicy trial","topology.kubernetes.io/zone"]]'
is "... and scored as one" "$(jq -c '[.decisions[2].scores[0] | .node, keys[]]' "$work/answer.json")" \
    '["ap-south-a-1","inTree","node","orderedSpread","priority","total"]'
is "... in which a node of no region is no good place" \
    "$(jq -c '[.decisions[2].scores[] | select(.node == "edge-1").priority]' "$work/answer.json")" '[0]'
is "a mistake in the file of a workload, with its path there" \
    "$(jq -n '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "web", namespace: "shop"}, spec: {replica: 2,
        template: {metadata: {labels: {app: "web"}}, spec: {containers: [{name: "c"}], topologySpreadConstraints: [
        {maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels: {app: "wbe"}}}]}}}}' |
        explain what-if /dev/stdin -o json | jq -c '[.findings[] | .code + " " + .path]')" \
    '["UnknownField spec.replica","SelectorMissesPod spec.template.spec.topologySpreadConstraints[0].labelSelector","KeyUnknown spec.template.spec.topologySpreadConstraints[0].topologyKey"]'
is "... and for people" "$(jq '.spec.tolerations = [{operator: "Exist", key: "k"}]' "$pod" | explain what-if /dev/stdin | grep '^note: spec.tol')" \
    "note: spec.tolerations[0].operator: 'Exist' is no operator of a toleration. Write Exists"
is "a nodeSelector that fits no node" \
    "$(jq '.spec.nodeSelector = {"topology.kubernetes.io/zone": "us-eest-a"}' "$pod" | explain what-if /dev/stdin | grep '^note: ')" \
    "note: spec.nodeSelector: no node has the label 'topology.kubernetes.io/zone: us-eest-a': the pod fits no node; the nearest is 'us-east-a'. Write us-east-a"
is "nothing of this is recorded" "$(ops explain | jq .made)" "$made"

# ---- questions without an answer ----

code() { ops "$@" --output "$work/body" --write-out '%{http_code}'; }
is "a pod that nobody asked about" "$(code explain/pods/shop/nobody)" 404
like "... in a sentence" "$(<"$work/body")" '^nothing is known of pod shop/nobody: this replica has made 3 decisions and keeps 10000, the last ones of every namespace$'
is "another kind of the same name" "$(code 'explain?kind=Service&namespace=shop&name=web-x7k2p')" 404
like "... is named" "$(<"$work/body")" '^nothing is known of service shop/web-x7k2p: '
is "an object without a name" "$(code 'explain?kind=Node')" 400
is "a path that is none" "$(code explain/nodes)" 404
like "... names those there are" "$(<"$work/body")" 'GET /explain/pods/\*'
is "half a path" "$(code explain/pods/shop)" 404
is "another method" "$(code explain/pods/shop/web-x7k2p --request DELETE)" 405
is "a page that is none" "$(code 'explain?limit=-1')" 400
is "a question of another type" "$(code explain --data x)" 415
# ---- the web has no business here ----

by_name() { code explain -H "Host: $1"; }
is "a page whose name resolves to this machine" "$(by_name evil.example.com:8080)" 403
is "localhost is this machine" "$(by_name localhost:8080)" 200
is "so is [::1]" "$(by_name '[::1]:8080')" 200
is "a page of another site, as browsers say" "$(code explain -H 'Sec-Fetch-Site: cross-site')" 403
is "... as older ones do" "$(code metrics -H 'Origin: https://evil.example.com')" 403
is "a mesh's proxy is not this machine" "$(code explain --interface 127.0.0.6)" 403
is "the address bar" "$(code metrics -H 'Sec-Fetch-Site: none')" 200

is "a question that is none" "$(what_if --output "$work/body" --write-out '%{http_code}' <<<'{"pods": 1}')" 400
like "... with the reason" "$(<"$work/body")" '^Question.pods: unknown member'

refused() { # NAME STATUS PATTERN ARGUMENT...
    local status=0 out
    out=$("$evenkeel" explain "${@:4}" 2>&1) || status=$?
    if [ "$status" = "$2" ]; then like "$1" "$out" "$3"; else fail "$1" "exit code $status" "$out"; fi
}
refused "the command: a pod that is not known" 1 '^evenkeel explain: nothing is known of pod shop/nobody' \
    pod shop/nobody --server "http://$ops" --no-api-server
refused "the command: nobody there" 1 'evenkeel explain: .*127.0.0.1' recent --server http://127.0.0.1:1
refused "the command: no such file" 1 "cannot open '$work/none'" what-if "$work/none" --server "http://$ops"
jq -n '{apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration", profiles: [{pluginConfig: [
    {name: "NodeAffinity", args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
        {matchExpressions: [{key: "topology.kubernetes.io/region", operator: "In", values: ["ap-south"]}]}]}}}}]}]}' \
    >"$work/scheduler.json"
is "the command: what-if under kube-scheduler's configuration" \
    "$(explain what-if "$pod" -o json --kube-scheduler-config "$work/scheduler.json" |
        jq -c '.decisions[] | select(.verb == "filter") | [.passed, [.dropped[].reason | select(test("scheduler-enforced"))] | length]')" \
    '[4,1]'
refused "... which is not there" 1 "cannot open '$work/none'" what-if "$pod" --kube-scheduler-config "$work/none" \
    --server "http://$ops"
refused "the command: explain what?" 2 'pod NAMESPACE/NAME, recent, or what-if FILE'
refused "the command: which pod?" 2 'expected pod NAMESPACE/NAME' pod web
refused "the command: another kind" 1 'nothing is known of statefulset.apps shop/web-x7k2p: ' \
    statefulsets shop/web-x7k2p --server "http://$ops"
refused "the command: in no namespace" 1 'nothing is known of node edge-1: ' node edge-1 --server "http://$ops"
refused "the command: a kind that it does not know" 1 'nothing is known of placement.example.com fleet/web: ' \
    Placement.example.com fleet/web --server "http://$ops"
refused "the command: ... is written in full" 2 'Kind.group NAMESPACE/NAME' gadgets fleet/web
refused "the command: no object" 2 'expected node NAMESPACE/NAME, or NAME alone' node
refused "the command: a name that is none" 2 'expected pod NAMESPACE/NAME' pod 'shop/../metrics'
refused "the command: too much" 2 "unexpected argument 'more'" recent more
check "no crash" no_crash
# ---- the level of the log ----

trace=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
is "the log's level" "$(ops log-level)" info
is "... is changed" "$(ops log-level -X PUT --data debug -H "traceparent: $trace") $(ops log-level)" 'debug debug'
is "... which the log says" "$(grep -c 'msg="the log.s level is changed" from=info to=debug peer=127.0.0.1:.* traceparent='$trace'$' "$log")" 1
is "... not to what is none" "$(ops log-level -X PUT --data loud -o "$work/said" -w '%{http_code}') $(ops log-level)" '400 debug'
is "... nor by a web page" "$(ops log-level -X PUT --data error -H 'Origin: http://evil.example.com' -o "$work/said" -w '%{http_code}') $(ops log-level)" '403 debug'
ops log-level -X PUT --data info >"$work/said"

stop_server INT

# ---- in the pod itself ----

simulate() { "$evenkeel" simulate --admit --state "$state" --policy "$example/policy.yaml" --pod "$1" -o json "${@:2}"; }
is "a pod may say by what it was changed" \
    "$(simulate "$work/new.json" --webhook-annotate | jq -c .pod.metadata.annotations)" \
    '{"pods.evenkeel.io/explained":"policy: rest; spread: added: kubernetes.io/hostname"}'
is "... and does not unless it is told to" "$(simulate "$work/new.json" | jq -c .pod.metadata.annotations)" null
simulate "$work/new.json" --webhook-annotate | jq .pod >"$work/annotated.json"
is "... once" "$(simulate "$work/annotated.json" --webhook-annotate | jq -c .patch)" '[]'

# ---- who may ask ----

# An address of this machine that is not the loopback's, if it has one.
outside=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 -E '^[0-9.]+$' || true)
printf 'sesame-1\n' >"$work/token"
start_server --state "$state" --ops-listen 0.0.0.0:0 --explain-token-file "$work/token" --state-poll-interval 50ms
check "an ops listener for everyone is warned of" wait_log 'level=warn .*open door.* setting=ops.listen '
check "... and its token, which goes over plain HTTP" wait_log 'level=warn .*open door.* setting=explain.tokenFile '
port=${ops##*:}
ops=127.0.0.1:$port
call filter <"$work/filter.json" >/dev/null
is "the machine itself needs no token" "$(code explain)" 200
if [ -n "$outside" ]; then
    ops=$outside:$port
    is "from outside without a token" "$(code explain/pods/shop/web-x7k2p)" 401
    unlike "... nothing is told" "$(<"$work/body")" 'web'
    is "... with a wrong one" "$(code explain --header 'Authorization: Bearer sesame-2')" 401
    is "... with a part of it" "$(code explain --header 'Authorization: Bearer sesame-')" 401
    is "... with the right one" "$(code explain --header 'Authorization: Bearer sesame-1')" 200
    is "... health needs none" "$(code livez)" 200
    check "... nor does the command" explain recent --token-file "$work/token"
    printf 'sesame-2' >"$work/token.new"
    mv "$work/token.new" "$work/token"
    renewed() { [ "$(code explain --header 'Authorization: Bearer sesame-2')" = 200 ]; }
    check "a new token counts" await renewed
    is "... and the old one no more" "$(code explain --header 'Authorization: Bearer sesame-1')" 401
    from=$(log_end)
    : >"$work/token"
    check "an empty one is refused" wait_log 'token refused.*is empty' "$from"
    check "... and the one before stays" renewed
else
    skip "from outside" "this machine has the loopback address only"
fi
check "no crash with a token" no_crash
stop_server INT
: >"$work/empty"
like "a daemon with an empty token does not start" \
    "$("$evenkeel" serve --state "$state" --insecure-extender --extender-listen 127.0.0.1:0 --ops-listen 0 \
        --explain-token-file "$work/empty" 2>&1 || true)" "token of explain.tokenFile: '$work/empty' is empty"

# ---- each of the last 10,000 ----

decisions=10000
start_server --state "$state"
# One curl, one connection: a request for each of 10,100 pods.
awk -v n=$((decisions + 100)) -v url="https://$extender/extender/v1/filter" -v certs="$certs" \
    -v nodes="$(jq -c .NodeNames "$work/filter.json" | sed 's/"/\\\\"/g')" 'BEGIN {
    for (i = 1; i <= n; i++) {
        if (i > 1) print "next"
        printf "url = \"%s\"\nsilent\noutput = /dev/null\n", url
        printf "cacert = \"%s/ca.crt\"\ncert = \"%s/client.crt\"\nkey = \"%s/client.key\"\n", certs, certs, certs
        print "header = \"Content-Type: application/json\""
        printf "data = \"{\\\"Pod\\\":{\\\"metadata\\\":{\\\"name\\\":\\\"p%d\\\",\\\"namespace\\\":\\\"load\\\"}},\\\"NodeNames\\\":%s}\"\n", i, nodes
    }
}' >"$work/calls"
check "10,100 decisions" curl --config "$work/calls"
found() { # FROM TO: statuses, and how many of each
    curl --silent --output /dev/null --write-out '%{http_code} %{time_total}\n' \
        "http://$ops/explain/pods/load/p[$1-$2]" >"$work/found"
    cut -d ' ' -f 1 "$work/found" | sort | uniq -c | sed 's/^ *//'
}
is "all of the last 10,000 are found" "$(found 101 $((decisions + 100)))" "$decisions 200"
echo "# slowest answer: $(sort -k 2 -g -r "$work/found" | head -n 1 | cut -d ' ' -f 2) s;" \
    "resident: $(awk '/^VmRSS/ { print $2, $3 }' "/proc/$server/status")"
is "those before are gone" "$(found 1 100)" '100 404'
is "... and counted" "$(ops 'explain?limit=1' | jq -c '[.made, .kept, .decisions[0].name]')" '[10100,10000,"p10100"]'
check "no crash under load" no_crash
stop_server INT

start_server --state "$state" --explain-decisions 0
call filter <"$work/filter.json" >/dev/null
is "recording can be turned off" "$(code explain)" 404
like "... and says so" "$(<"$work/body")" 'explain.decisions is 0'
stop_server INT
finish_tests
