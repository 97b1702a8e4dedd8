#!/usr/bin/env bash
# kube-scheduler's configuration file, as projects ship it: which of its parts `evenkeel simulate` and `evenkeel explain`
# heed, which they name as not read, and what `evenkeel check kube-scheduler-config` says of old versions and of other
# projects' extenders.
. "$(dirname "$0")/lib.sh"

cat >"$work/state.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: g1, labels: {kubernetes.io/hostname: g1}}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110", example.com/gpu: "10"}}
END
cat >"$work/pod.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: infer, labels: {app: infer}}
spec:
  schedulerName: second
  containers:
  - {name: c, resources: {requests: {example.com/gpu: 1, example.com/memory: 3000}}}
END
file() { # EXTENDERS PROFILE-MEMBERS [VERSION]
    jq -n --argjson e "$1" --argjson p "$2" --arg v "${3:-v1}" '{apiVersion: "kubescheduler.config.k8s.io/\($v)", kind:
        "KubeSchedulerConfiguration", profiles: [{schedulerName: "second"} + $p], extenders: $e}' >"$work/scheduler.json"
}
ask() {
    "$evenkeel" simulate --state "$work/state.yaml" --pod "$work/pod.yaml" --kube-scheduler-config "$work/scheduler.json" \
        -o json "$@"
}
answer() { ask | jq -r '.filter.g1.verdict + " " + .filter.g1.reason'; }
not_judged() { ask | jq -r .notJudged; }
fit() { jq -n --argjson a "$1" '{pluginConfig: [{name: "NodeResourcesFit", args: $a}]}'; }

file '[]' '{}'
is "a resource that no node has" "$(answer)" 'UnschedulableAndUnresolvable Insufficient example.com/memory'
is "... and all of the file is read" "$(not_judged)" 'limits and capacity of volumes, devices'
managed='[{"urlPrefix": "https://127.0.0.1:443", "filterVerb": "predicate", "managedResources": [
    {"name": "example.com/gpu"}, {"name": "example.com/memory", "ignoredByScheduler": true}]}]'
file "$managed" '{}'
is "an extender manages it" "$(answer)" 'Pass '
is "... which is not asked" "$(not_judged)" 'limits and capacity of volumes, devices, 1 extender of kube-scheduler'
file "${managed//true/false}" '{}'
is "an extender manages it, and kube-scheduler checks it, too" "$(answer)" 'UnschedulableAndUnresolvable Insufficient example.com/memory'
file '[]' "$(fit '{"ignoredResources": ["example.com/memory"]}')"
is "ignoredResources" "$(answer)" 'Pass '
file '[]' "$(fit '{"ignoredResourceGroups": ["example.com"], "scoringStrategy": {"type": "MostAllocated"}}')"
is "ignoredResourceGroups" "$(answer)" 'Pass '
is "... and a part that is not read" "$(not_judged)" 'limits and capacity of volumes, devices, scoringStrategy of NodeResourcesFit'
file "${managed//memory/other}" "$(fit '{"ignoredResources": ["example.com/memory"]}')"
is "extenders' resources replace ignoredResources, as upstream" "$(answer)" 'UnschedulableAndUnresolvable Insufficient example.com/memory'
file '[{"urlPrefix": "https://evenkeel:8443/extender/v1", "filterVerb": "filter"}]' '{"plugins": {"score": {}},
    "pluginConfig": [{"name": "PodTopologySpread", "args": {}}, {"name": "DefaultPreemption", "args": {}}]}'
is "plugins and their arguments; Evenkeel itself is judged" "$(not_judged)" \
    'limits and capacity of volumes, devices, plugins of kube-scheduler'\''s profile, arguments of PodTopologySpread'
file '[]' "$(jq -n '{pluginConfig: [range(40) | {name: "Plugin\(.)", args: {}}]}')"
like "as many as have room" "$(not_judged)" 'arguments of Plugin0, .*, [0-9]+ more of its parts$'
file "$managed" '{}'
is "many pods" "$(ask --replicas 2 | jq -c '[.pending, .notJudged]')" '[0,"limits and capacity of volumes, devices, 1 extender of kube-scheduler"]'

# ---- old versions ----

is "v1 has no finding" "$(ask | jq -c .findings)" '[]'
for version in v1beta1:1.23 v1beta2:1.28 v1beta3:1.29; do
    file "$managed" '{}' "${version%:*}"
    is "${version%:*} is read as v1" "$(answer)" 'Pass '
    is "... with a finding" "$(ask | jq -r '.findings[] | .code + " " + .message + " " + .remedy')" \
        "OldVersion kube-scheduler's configuration '$work/scheduler.json' is of 'kubescheduler.config.k8s.io/${version%:*}', which ended with Kubernetes ${version#*:} Write kubescheduler.config.k8s.io/v1"
    like "... and the check names the version to write" \
        "$("$evenkeel" check kube-scheduler-config "$work/scheduler.json" -o json)" \
        "ended with Kubernetes ${version#*:}: .*\"advice\":\"write kubescheduler.config.k8s.io/v1,"
done
file '[]' '{}' v1beta4
like "no version of kube-scheduler" "$(ask 2>&1 || true)" "expected 'kubescheduler.config.k8s.io/v1'"

# ---- other projects' extenders ----

said() { "$evenkeel" check kube-scheduler-config "$work/scheduler.json" -o json | jq -c "[.findings[] | $1]"; }
file "$managed" '{}'
is "another project's extender gets no advice about its verbs" "$(said '[.severity, .field]')" '[["error","extenders"]]'
file '[{"urlPrefix": "https://other:1", "filterVerb": "predicate", "httpTimeout": "0s"},
    {"urlPrefix": "https://evenkeel:8443/extender/v1", "filterVerb": "filter", "bindVerb": "bind", "httpTimeout": "0s"}]' '{}'
is "httpTimeout 0s, of any extender" "$(said 'select(.field | endswith("httpTimeout")) | [.severity, .field, .problem]')" \
    '[["warning","extenders[0].httpTimeout","'\''0s'\'' means 5s, kube-scheduler'\''s default"],["warning","extenders[1].httpTimeout","'\''0s'\'' means 5s, kube-scheduler'\''s default"]]'

# ---- a running Evenkeel ----

start_server --state "$work/state.yaml"
file "$managed" '{}'
"$evenkeel" explain what-if "$work/pod.yaml" -o json --server "http://$ops" --kube-scheduler-config "$work/scheduler.json" \
    >"$work/what-if.json"
is "explain: it passes" "$(jq -c '[.decisions[] | select(.verb == "filter") | .passed]' "$work/what-if.json")" '[1]'
is "... and names what is not read" "$(jq -r .notJudged "$work/what-if.json")" 'limits and capacity of volumes, devices, 1 extender of kube-scheduler'
file '[]' "$(fit '{"ignoredResourceGroups": ["example.com"]}')" v1beta3
like "explain: groups, in an old version" "$("$evenkeel" explain what-if "$work/pod.yaml" -o json --server "http://$ops" \
    --kube-scheduler-config "$work/scheduler.json" 2>&1)" "ended with Kubernetes 1.29; write .*\"passed\":1"
stop_server INT
finish_tests
