#!/usr/bin/env bash
# evenkeel simulate --admit: how the webhook would change a pod. No server runs.
. "$(dirname "$0")/lib.sh"

policy=$example/policy.yaml
cat >"$work/state.yaml" <<'STATE'
kind: List
items:
- {kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/region: r, topology.kubernetes.io/zone: z, kubernetes.io/hostname: n1}}}
- {kind: Namespace, metadata: {name: shop}}
- {kind: Namespace, metadata: {name: default}}
STATE

admit() { # POD [OPTION...]
    "$evenkeel" simulate --admit --state "$work/state.yaml" --pod "$1" -o json "${@:2}"
}

# ---- a pod of a Deployment, with what Evenkeel knows nothing of ----

cat >"$work/pod.json" <<'POD'
{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-7d4b9-","namespace":"shop",
 "labels":{"app":"web","tier":"web","pod-template-hash":"7d4b9"}},
 "spec":{"containers":[{"name":"c","image":"i","future":{"big":12345678901234567890,"half":1.50}}]}}
POD
wanted='[{"op":"add","path":"/spec/topologySpreadConstraints","value":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/region","whenUnsatisfiable":"ScheduleAnyway","nodeTaintsPolicy":"Honor","labelSelector":{"matchLabels":{"app":"web","tier":"web"}},"matchLabelKeys":["pod-template-hash"]},{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","minDomains":3,"nodeTaintsPolicy":"Honor","labelSelector":{"matchLabels":{"app":"web","tier":"web"}},"matchLabelKeys":["pod-template-hash"]},{"maxSkew":3,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway","nodeTaintsPolicy":"Ignore","labelSelector":{"matchLabels":{"app":"web","tier":"web"}},"matchLabelKeys":["pod-template-hash"]}]}]'
admit "$work/pod.json" --policy "$policy" >"$work/answer.json"
answer() { jq -c "$1" "$work/answer.json"; }
is "it is allowed" "$(answer '[.allowed, .code, .message, .warnings]')" '[true,200,"",[]]'
is "the patch" "$(answer .patch)" "$wanted"
is "the pod has what the patch says" "$(answer .pod.spec.topologySpreadConstraints)" "$(answer '.patch[0].value')"
is "... and nothing else is changed" "$(answer '.pod | del(.spec.topologySpreadConstraints)')" "$(jq -c . "$work/pod.json")"
check "... not even how numbers are written" grep -qF '"big":12345678901234567890,"half":1.50' "$work/answer.json"

answer .pod >"$work/again.json"
admit "$work/again.json" --policy "$policy" >"$work/answer.json"
is "a second time nothing is left to do" "$(answer '[.patch, .warnings]')" '[[],[]]'

# ---- which policy ----

keys() { admit "$@" | jq -r '[.pod.spec.topologySpreadConstraints[]?.topologyKey] | join(" ")'; }
printf 'kind: Pod\nmetadata: {name: p, labels: {tier: web}}\n' >"$work/pod.yaml"
is "another namespace, another policy, and the default beside it" "$(keys "$work/pod.yaml" --policy "$policy")" \
    "kubernetes.io/hostname topology.kubernetes.io/zone"
printf 'kind: Pod\nmetadata: {name: p, namespace: shop, labels: {tier: db}}\n' >"$work/pod.yaml"
is "other labels, another policy" "$(keys "$work/pod.yaml" --policy "$policy")" \
    "kubernetes.io/hostname topology.kubernetes.io/zone"
is "no policies, no patch" "$(admit "$work/pod.yaml" | jq -c .patch)" '[]'
mkdir "$work/policies"
is "an empty folder has none" "$(admit "$work/pod.yaml" --policy "$work/policies" | jq -c .patch)" '[]'
sed 's/name: rest/name: own/; s/kubernetes.io.hostname/rack/; s/^  pods:/  priority: 99\n  pods:\n    replaceDefaults: true/' "$policy" |
    sed -n '/^---/,$p' >"$work/policies/own.yaml"
is "a folder and a file together, by priority" \
    "$(keys "$work/pod.yaml" --policy "$work/policies" --policy "$policy")" rack
printf 'apiVersion: evenkeel.io/v1alpha1\nkind: EvenkeelConfiguration\npolicies: {paths: [%s]}\n' "$policy" >"$work/config.yaml"
is "policies of the configuration" "$(keys "$work/pod.yaml" --config "$work/config.yaml")" \
    "kubernetes.io/hostname topology.kubernetes.io/zone"

# ---- what cannot be done ----

printf 'kind: Pod\nmetadata: {name: p, namespace: new, labels: {tier: web}}\n' >"$work/pod.yaml"
is "a namespace that is not known" "$(admit "$work/pod.yaml" --policy "$policy" | jq -c '[.allowed, .patch, .warnings]')" \
    "[true,[],[\"evenkeel: the pod is unchanged: the labels of namespace 'new' are not known yet\"]]"

refused() { # NAME PATTERN CODE ARGUMENT...
    local code=0 out
    out=$("$evenkeel" simulate --admit --state "$work/state.yaml" "${@:4}" 2>&1) || code=$?
    if [ "$code" = "$3" ]; then like "$1" "$out" "$2"; else fail "$1" "exit code $code" "$out"; fi
}
refused "candidates are of no use" 'leave out --candidates' 2 --pod "$work/pod.yaml" --candidates n1
refused "a policy that is not there" "cannot read policy 'nothing'" 1 --pod "$work/pod.yaml" --policy nothing
sed 's/spread:/spreads:/' "$policy" >"$work/bad.yaml"
refused "a policy with a field that is none" \
    "policy file '$work/bad.yaml', document 1: policy\.spec\.pods\.spreads: unknown field" 1 --pod "$work/pod.yaml" --policy "$work/bad.yaml"

printf 'kind: TopologyPolicy\napiVersion: evenkeel.io/v1alpha1\nmetadata: {name: idle}\nspec: {pods: {}}\n' >"$work/idle.yaml"
refused "a policy that cannot work is said to" 'a policy cannot work.* policy=idle why="spec\.pods has none of spread' 0 \
    --pod "$work/pod.json" --policy "$work/idle.yaml"

# ---- for people ----

table=$("$evenkeel" simulate --admit --state "$work/state.yaml" --policy "$policy" --pod "$work/pod.json")
like "the table says what" "$table" 'the pod is +patched'
like "... by which policy" "$table" 'policy +web'
like "... and what for" "$table" 'spread +added: topology.kubernetes.io/region, topology.kubernetes.io/zone'
like "... and the patch" "$table" '/spec/topologySpreadConstraints +\[\{'

# ---- without --admit the pod is placed as it is, and what it would get is said ----

placed() { # POD [OPTION...]: what is said beside the answer
    "$evenkeel" simulate --state "$work/state.yaml" --policy "$policy" --pod "$1" -o json "${@:2}" 3>&1 1>/dev/null 2>&3
}
note="^evenkeel simulate: the pod was placed as '$work/pod.json' has it, but on its creation policy 'web' would change it"
like "a pod that a policy would change" "$(placed "$work/pod.json")" "$note"
like "... several of it" "$(placed "$work/pod.json" --replicas 2)" "$note"
is "... and as it would be stored" "$(placed "$work/again.json")" ''
is "... and without policies" "$("$evenkeel" simulate --state "$work/state.yaml" --pod "$work/pod.json" 3>&1 1>/dev/null 2>&3)" ''
sed '/^---/,$d; s/^  match:/  mode: Audit\n  match:/' "$policy" >"$work/audit.yaml"
is "... and of one that only watches" "$("$evenkeel" simulate --state "$work/state.yaml" --policy "$work/audit.yaml" --pod "$work/pod.json" 3>&1 1>/dev/null 2>&3)" ''

# ---- each file of the state and of the policies is read once: a pipe has its bytes only once ----

jq '.items += [{apiVersion: "data.fluid.io/v1alpha1", kind: "Dataset", metadata: {name: "d", namespace: "shop"}}]' "$example/state.json" >"$work/data.json"
from_pipes() { # OPTION...
    timeout "$PATIENCE" "$evenkeel" simulate --state <(cat "$work/data.json") --policy <(cat "$policy") --pod "$work/pod.json" "$@" 2>&1
}
from_files() {
    "$evenkeel" simulate --state "$work/data.json" --policy "$policy" --pod "$work/pod.json" "$@" 2>&1
}
for how in --admit --replicas=2 --output=json; do
    is "simulate $how reads once" "$(from_pipes "$how")" "$(from_files "$how")"
done
finish_tests
