#!/usr/bin/env bash
# Pods that mount datasets: the worked example of docs/guides/data-locality.md, and the webhook over
# HTTPS with Fluid's objects from files that change.
. "$(dirname "$0")/lib.sh"

data=docs/examples/data-locality
guide=docs/guides/data-locality.md

simulate() { # [OPTION...]
    "$evenkeel" simulate --admit --state "$data/state.yaml" --pod "$data/pod.yaml" "$@"
}
answer() { jq -c "$1" "$work/answer.json"; }

# ---- the worked example ----

# What the guide shows, up to where it cuts a line short, is what is printed.
simulate >"$work/table"
sed -n '/^WHAT /,/^```/p' "$guide" | sed '/^```/d; s/ \.\.\.$//' >"$work/shown"
is "the guide shows as many lines" "$(wc -l <"$work/shown")" "$(wc -l <"$work/table")"
while IFS= read -r line; do
    check "the guide shows: ${line:0:50}" grep -qF -- "$line" "$work/table"
done <"$work/shown"

term() { # KEY OPERATOR VALUES
    printf '{"key":"%s","operator":"%s","values":[%s]}' "$@"
}
fuse=$(term disk In '"ssd"')
leaving=$(term data.fluid.io/storage-scalein-shop-images NotIn '"true"')
required() { # TERMS
    printf '{"nodeSelectorTerms":[{"matchExpressions":[%s]}]}' "$1"
}
preferred() { # WEIGHT OF THE NODE, WEIGHT OF THE ZONE
    printf '[{"weight":%s,"preference":{"matchExpressions":[%s]}},{"weight":%s,"preference":{"matchExpressions":[%s]}}]' \
        "$1" "$(term fluid.io/s-shop-images In '"true"')" "$2" "$(term topology.kubernetes.io/zone In '"zone-a","zone-b"')"
}
affinity='.pod.spec.affinity.nodeAffinity'
simulate -o json >"$work/answer.json"
is "it is allowed" "$(answer '[.allowed, .code, .message, .warnings]')" '[true,200,"",[]]'
is "what it requires" "$(answer "$affinity.requiredDuringSchedulingIgnoredDuringExecution")" "$(required "$fuse,$leaving")"
is "what it prefers" "$(answer "$affinity.preferredDuringSchedulingIgnoredDuringExecution")" "$(preferred 100 50)"
is "only Fluid's paths are written" "$(answer '[.patch[].path]')" \
    '["/metadata/annotations","/spec/containers/0/volumeMounts/0/mountPropagation","/spec/affinity"]'
answer .pod >"$work/again.json"
is "a second time nothing is left to do" \
    "$("$evenkeel" simulate --admit --state "$data/state.yaml" --pod "$work/again.json" -o json | jq -c .patch)" '[]'

simulate -o json --fluid-profile "$data/profile.yaml" >"$work/answer.json"
is "a profile's weights" "$(answer "$affinity.preferredDuringSchedulingIgnoredDuringExecution")" "$(preferred 80 10)"
simulate -o json --compat head >"$work/answer.json"
is "Fluid knows no exclusion" "$(answer "$affinity.requiredDuringSchedulingIgnoredDuringExecution")" "$(required "$fuse")"
printf 'apiVersion: evenkeel.io/v1alpha1\nkind: EvenkeelConfiguration\nwebhook: {fluid: {scaleInExclusion: false}}\n' >"$work/config.yaml"
simulate -o json --config "$work/config.yaml" >"$work/answer.json"
is "it can be turned off" "$(answer "$affinity.requiredDuringSchedulingIgnoredDuringExecution")" "$(required "$fuse")"
simulate -o json --policy "$example/policy.yaml" >"$work/answer.json"
is "spread comes after data" "$(answer '[.patch[-2:][].path]')" '["/spec/affinity","/spec/topologySpreadConstraints"]'

# ---- by policy ----

by_policy() { # POLICY POD
    "$evenkeel" simulate --admit --state "$data/state.yaml" --policy "$1" --pod "$2" -o json >"$work/answer.json"
}
by_policy "$data/policy.yaml" "$data/pod.yaml"
is "a policy's tiers take the place of the profile's" \
    "$(answer "$affinity.preferredDuringSchedulingIgnoredDuringExecution")" "$(preferred 100 25)"
unlabelled() { sed 's/, fuse.serverful.fluid.io.inject: "true"//; '"$1" "$data/pod.yaml" >"$work/pod.yaml"; }
unlabelled ''
by_policy "$data/policy.yaml" "$work/pod.yaml"
is "no label of Fluid's is needed" "$(answer "$affinity")" "$(printf \
    '{"requiredDuringSchedulingIgnoredDuringExecution":%s,"preferredDuringSchedulingIgnoredDuringExecution":%s}' \
    "$(required "$fuse,$leaving")" "$(preferred 100 25)")"
is "... and only affinity is written" "$(answer '[.patch[].path]')" '["/spec/affinity"]'
sed 's/^      mode: Preferred$/      mode: Required/' "$data/policy.yaml" >"$work/required.yaml"
by_policy "$work/required.yaml" "$work/pod.yaml"
zones=$(term topology.kubernetes.io/zone In '"zone-a","zone-b"')
is "the widest tier can be required" "$(answer "$affinity.requiredDuringSchedulingIgnoredDuringExecution")" "$(required "$fuse,$zones,$leaving")"
# shellcheck disable=SC2016 # sed's own $
unlabelled '/volumes:/,$d; /volumeMounts/d'
by_policy "$data/policy.yaml" "$work/pod.yaml"
is "pods without data keep off" "$(answer "$affinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[]")" \
    '{"key":"fluid.io/dataset-num","operator":"DoesNotExist"}'

# ---- scores ----

"$evenkeel" simulate --state "$data/state.yaml" --pod "$data/pod.yaml" >"$work/scores"
sed -n '/^NODE /,/^```/p' "$guide" | sed '/^```/d' >"$work/shown"
is "the guide shows the scores" "$(cat "$work/shown")" "$(cat "$work/scores")"
sed 's/^  pods:/  pods:\n    weights: {spread: 10, locality: 0}/' "$data/policy.yaml" >"$work/policy.yaml"
"$evenkeel" simulate --state "$data/state.yaml" --pod "$data/pod.yaml" --policy "$work/policy.yaml" -o json >"$work/answer.json"
is "a policy's weights count here, too: data weighs nothing" "$(answer '[.score[].priority | values]')" '[]'

# ---- scale-in ----

# The dataset of the example with a worker on both of its nodes, and a runtime that wants this many.
# A worker is "NAME NODE" and what else its metadata says.
worker() { # NAME NODE METADATA
    printf -- "- {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: shop, labels: {fluid.io/dataset: shop-images}%s}, spec: {nodeName: %s}}\n" "$1" "${3-}" "$2"
}
scaled() { # REPLICAS METADATA OF THE SECOND WORKER
    sed "s/spec: {fuse:/spec: {replicas: $1, fuse:/" "$data/state.yaml"
    worker images-worker-0 node-3
    worker images-worker-1 node-1 "${2-}"
}
by_node() { "$evenkeel" simulate --state "$work/scaled.yaml" --pod "$data/pod.yaml" -o json | jq -c '[.score[] | [.raw, .priority]]'; }
scaled 2 >"$work/scaled.yaml"
is "workers that stay change no score" "$(by_node)" '[[750,10],[188,2],[250,3]]'
scaled 1 >"$work/scaled.yaml"
is "one too many for its runtime: its bytes count nowhere" "$(by_node)" '[[0,0],[0,0],[250,10]]'
scaled 2 ', deletionTimestamp: "2026-01-01T00:00:00Z"' >"$work/scaled.yaml"
is "a worker that is being deleted: the same" "$(by_node)" '[[0,0],[0,0],[250,10]]'
start_server --state "$work/scaled.yaml" --shutdown-delay 0s
why() { "$evenkeel" explain --server "http://$ops" --no-api-server what-if "$data/pod.yaml"; }
like "... a what-if says why" "$(why)" "node-1 +shop-images +worker 'images-worker-1' is being deleted"
like "... of the node, too" "$(why)" "node-1 .*shop-images: none \(raw 0\), worker 'images-worker-1' is being deleted"
"$evenkeel" simulate --state "$work/scaled.yaml" --pod "$data/pod.yaml" --admit -o json |
    jq -c '{Pod: (.pod | .metadata += {name: "train-1", uid: "u"}), NodeNames: ["node-1", "node-2", "node-3"]}' | call prioritize >"$work/answer.json"
is "the extender answers the same" "$(jq -c '[.[].Score]' "$work/answer.json")" '[0,0,10]'
is "... and what it remembers says why" "$(ops explain/pods/shop/train-1 | jq -c '.decisions[0].leaving')" \
    "[{\"node\":\"node-1\",\"dataset\":\"shop-images\",\"reason\":\"worker 'images-worker-1' is being deleted\"}]"
like "... in a table, too" "$("$evenkeel" explain --server "http://$ops" --no-api-server pod shop/train-1)" \
    "node-1 +shop-images +worker 'images-worker-1' is being deleted"
stop_server

# ---- who takes part ----

opted() { # LABELS OF THE POD, LABELS OF ITS NAMESPACE
    sed "s/labels: {.*}/labels: {$1}/" "$data/pod.yaml" >"$work/opted.yaml"
    sed "s/{name: shop}/{name: shop, labels: {$2}}/" "$data/state.yaml" >"$work/opted-state.yaml"
    "$evenkeel" simulate --admit --state "$work/opted-state.yaml" --pod "$work/opted.yaml" -o json | jq -c '[.allowed, [.patch[].path]]'
}
whole='[true,["/metadata/annotations","/spec/containers/0/volumeMounts/0/mountPropagation","/spec/affinity"]]'
is "a namespace brings its pods in" "$(opted '' 'Fluid-Injection: enabled')" "$whole"
is "... but for one that opts out" "$(opted 'Fluid-Injection: disabled' 'Fluid-Injection: enabled')" '[true,[]]'
is "another namespace does not" "$(opted '' 'a: b')" '[true,[]]'

# ---- what is missing ----

sed 's/phase: Bound/phase: NotBound/' "$data/state.yaml" >"$work/unbound.yaml"
unbound() { "$evenkeel" simulate --admit --state "$work/unbound.yaml" --pod "$data/pod.yaml" -o json "$@" >"$work/answer.json"; }
unbound
is "a dataset that is not bound: admitted as it came" "$(answer '[.allowed, .code, .patch]')" '[true,200,[]]'
like "... with a warning" "$(answer '.warnings')" '^\["evenkeel: fluid: .*images.*"\]$'
for compat in head legacy; do
    unbound --compat "$compat"
    is "... and refused, as Fluid does ($compat)" "$(answer '[.allowed, .code, (.message | length > 0), .warnings, .patch]')" '[false,500,true,[],[]]'
done
like "... in the table" "$("$evenkeel" simulate --admit --state "$work/unbound.yaml" --pod "$data/pod.yaml" --compat head)" \
    'the pod is +refused'
table=$("$evenkeel" simulate --admit --state "$work/unbound.yaml" --pod "$data/pod.yaml" --policy "$example/policy.yaml")
like "a pod that lacks its data is spread all the same" "$table" 'the pod is +patched, with a warning'
refused() { # NAME PATTERN CODE OPTION...
    local code=0 out
    out=$(simulate "${@:4}" 2>&1) || code=$?
    if [ "$code" = "$3" ]; then like "$1" "$out" "$2"; else fail "$1" "exit code $code" "$out"; fi
}
refused "a mode that is none" 'compat' 2 --compat old
refused "a profile that is not there" "Fluid profile 'nothing'|profile 'nothing'" 1 --fluid-profile nothing
echo 'plugins: {serverful: {withDataset: [Nope]}}' >"$work/bad.yaml"
refused "a plugin that is not known" "Fluid profile '$work/bad.yaml'.*Nope" 1 --fluid-profile "$work/bad.yaml"

# ---- the extender alone ----

# What is known does not depend on which doors are open: the extender answers as simulate does.
as_simulated() { # NAME OPTION...
    "$evenkeel" simulate --state "$data/state.yaml" --pod "$data/pod.yaml" "${@:2}" -o json |
        jq -c '[.score | to_entries[] | {Host: .key, Score: .value.priority}] | sort' >"$work/expected.json"
    start_server --state "$data/state.yaml" "${@:2}" --shutdown-delay 0s
    jq -nc --slurpfile pod <("$evenkeel" simulate --admit --state "$data/state.yaml" --pod "$data/pod.yaml" -o json) \
        '{Pod: $pod[0].pod, NodeNames: ["node-1", "node-2", "node-3"]}' |
        call prioritize | jq -c 'sort' >"$work/answer.json"
    is "$1" "$(cat "$work/answer.json")" "$(cat "$work/expected.json")"
    stop_server
}
as_simulated "the extender alone knows where data is"
as_simulated "... and a policy's weights" --policy "$data/policy.yaml"

# ---- over HTTPS ----

cp "$data/state.yaml" "$work/state.yaml"
cp "$data/profile.yaml" "$work/profile.yaml"
weighing() { # SPREAD LOCALITY NAMESPACE: the policy, put in place whole
    sed "s/^  pods:/  pods:\n    weights: {spread: $1, locality: $2}/; /keepOthersOff/d
        s/near-data/weights/; s/: shop/: $3/" "$data/policy.yaml" >"$work/weights.new"
    mv "$work/weights.new" "$work/weights.yaml"
}
weighing 50 50 elsewhere
start_server --state "$work/state.yaml" --fluid-profile "$work/profile.yaml" "${webhook_options[@]}" \
    --policy "$work/weights.yaml" --state-poll-interval 50ms --shutdown-delay 0s
simulate -o json | jq -c '{apiVersion:"admission.k8s.io/v1",kind:"AdmissionReview",request:{uid:"u",
    operation:"CREATE",namespace:"shop",resource:{group:"",version:"v1",resource:"pods"},
    object:(.pod | del(.spec.affinity, .metadata.annotations))}}' >"$work/request.json"
ask() { review pods <"$work/request.json" | jq -c "${1:-.response.patch | @base64d | fromjson}" >"$work/answer.json"; }
weights() { answer '[.[].value.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution[]?.weight]'; }
ask
is "the webhook answers the same" "$(weights)" '[80,10]'
priorities() {
    simulate -o json | jq -c '{Pod: .pod, NodeNames: ["node-1", "node-2", "node-3", "node-9"]}' |
        call prioritize | jq -c '[.[].Score]'
}
is "the extender prefers nodes near the data" "$(priorities)" '[10,2,3,0]'
spread_too() {
    simulate -o json | jq -c '{Pod: (.pod | .metadata.namespace = "shop" | .spec.topologySpreadConstraints = [{maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: {matchLabels: {app: "train"}}}]), NodeNames: ["node-1", "node-2", "node-3"]}' |
        call prioritize | jq -c '[.[].Score]'
}
is "... as much as it spreads" "$(spread_too)" '[10,5,6]'
reweigh() { # SPREAD LOCALITY NAMESPACE
    local from
    from=$(log_end)
    weighing "$@"
    wait_log 'policies read' "$from"
}
check "a policy that matches is noticed" reweigh 0 10 shop
is "... and its weights count" "$(spread_too)" '[10,2,3]'
check "... whatever they are" reweigh 10 0 shop
is "... and its weights count again" "$(spread_too)" '[10,10,10]'
check "a policy of another namespace's is noticed" reweigh 10 0 elsewhere
is "... and is not this pod's" "$(spread_too)" '[10,5,6]'
ask '.response.auditAnnotations'
like "... and tells the audit log" "$(answer '.[]')" 'ran: RequireNodeWithFuse, NodeAffinityWithCache'
from=$(log_end)
sed -i 's/weight: 80/weight: 70/' "$work/profile.yaml"
check "a profile that changes is noticed" wait_log "Fluid's objects read" "$from"
ask
is "... and in force" "$(weights)" '[70,10]'
from=$(log_end)
mv "$work/bad.yaml" "$work/profile.yaml"
check "a bad one is refused" wait_log "level=error msg=\"state refused; serving what was read before\".*Nope" "$from"
ask
is "... and what was there stays" "$(weights)" '[70,10]'
from=$(log_end)
cp "$data/profile.yaml" "$work/new.yaml"
mv "$work/new.yaml" "$work/profile.yaml"
check "a good one is read" wait_log "Fluid's objects read" "$from"
from=$(log_end)
cp "$work/unbound.yaml" "$work/new.yaml"
mv "$work/new.yaml" "$work/state.yaml"
check "a dataset that changes is noticed" wait_log "Fluid's objects read" "$from"
from=$(log_end)
kill -HUP "$server"
check "SIGHUP reads at once" wait_log "Fluid's objects read" "$from"
ask '[.response.allowed, (.response.warnings | length)]'
is "... with a warning now" "$(answer .)" '[true,1]'
check "no crash" no_crash
stop_server INT

start_server --state "$work/state.yaml" --compat head "${webhook_options[@]}" --shutdown-delay 0s
ask '[.response | .allowed, .status.code, (.status.message | length > 0), .patch]'
is "the webhook refuses as Fluid does, when told to" "$(answer .)" '[false,500,true,null]'
is "... and counts it" "$(metric 'evenkeel_admission_requests_total{verb="pods",result="denied"}')" 1
check "... without a crash" no_crash

finish_tests
