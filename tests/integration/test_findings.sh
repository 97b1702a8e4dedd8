#!/usr/bin/env bash
# Findings of `evenkeel simulate`: what a user wrote that cannot be meant, or that holds nothing. Each code has an
# input as a user would write it; what is right has none.
. "$(dirname "$0")/lib.sh"

# ---- pods, beside three nodes in two zones, of which one zone is cordoned ----

node() { # NAME ZONE CORDONED
    jq -n --arg n "$1" --arg z "$2" --argjson c "$3" '{apiVersion: "v1", kind: "Node", metadata: {name: $n, labels: {
        "topology.kubernetes.io/zone": $z, "topology.kubernetes.io/region": "r", "kubernetes.io/hostname": $n}},
        spec: ({unschedulable: $c} + if $c then {taints: [{key: "node.kubernetes.io/unschedulable", effect: "NoSchedule"}]} else {} end), status: {allocatable: {cpu: "4", memory: "8Gi", pods: "9"}}}'
}
running() { # NAME NODE
    jq -n --arg n "$1" --arg at "$2" '{apiVersion: "v1", kind: "Pod", metadata: {name: $n, namespace: "default", labels:
        {app: "web"}}, spec: {nodeName: $at, containers: [{name: "c"}]}}'
}
as_list() { jq -s "{apiVersion: \"v1\", kind: \"List\", items: .}"; }
{ node n1 a false; node n2 a false; node n3 b true; running w1 n1; running w2 n2; } | as_list >"$work/nodes.json"
{ node n1 a false; node n2 b false; } | as_list >"$work/good.json"
pod() { # CONSTRAINTS-JSON [jq to change the Pod]
    jq -n --argjson c "$1" '{apiVersion: "v1", kind: "Pod", metadata: {name: "web", labels: {app: "web"}}, spec: {
        containers: [{name: "c"}], topologySpreadConstraints: $c}}' | jq "${2:-.}"
}
constraint() { # jq to change it
    jq -n '{maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule",
        labelSelector: {matchLabels: {app: "web"}}}' | jq -c "[${1:-.}]"
}
codes() { jq -c '[.findings[] | .code + " " + .path]'; }
of_pod() { # STATE: the pod of standard input
    cat >"$work/pod.json"
    "$evenkeel" simulate --state "$work/$1" --pod "$work/pod.json" -o json | codes
}
at='spec.topologySpreadConstraints[0]'

is "a good pod has none" "$(pod "$(constraint)" | of_pod good.json)" '[]'
is "a pod without constraints has none" "$(pod '[]' | of_pod nodes.json)" '[]'
is "a selector that misses the pod" "$(pod "$(constraint '.labelSelector.matchLabels.app = "wbe"')" | of_pod good.json)" \
    "[\"SelectorMissesPod $at.labelSelector\"]"
is "no selector" "$(pod "$(constraint 'del(.labelSelector)')" | of_pod good.json)" "[\"SelectorMissesPod $at.labelSelector\"]"
is "a key that no node has, hard" "$(pod "$(constraint '.topologyKey = "topology.kubernetes.io/zoen"')" | of_pod good.json)" \
    "[\"KeyUnknown $at.topologyKey\"]"
is "... and soft" "$(pod "$(constraint '.topologyKey = "rack" | .whenUnsatisfiable = "ScheduleAnyway"')" | of_pod good.json)" \
    "[\"KeyUnknown $at.topologyKey\"]"
is "a key with one value" "$(pod "$(constraint '.topologyKey = "topology.kubernetes.io/region"')" | of_pod good.json)" \
    "[\"SingleDomain $at.topologyKey\"]"
is "node affinity leaves one zone" \
    "$(pod "$(constraint)" '.spec.nodeSelector = {"topology.kubernetes.io/zone": "a"}' | of_pod good.json)" \
    "[\"SingleDomain $at.topologyKey\"]"
is "a cordoned zone holds others up" "$(pod "$(constraint)" | of_pod nodes.json)" "[\"UnusableDomain $at\"]"
is "... not with nodeTaintsPolicy: Honor" "$(pod "$(constraint '.nodeTaintsPolicy = "Honor"')" | of_pod nodes.json)" \
    "[\"SingleDomain $at.topologyKey\"]"
# zone a has three pods, b is cordoned and has one, c is empty: a waits for c, which can take pods
{ node n1 a false; node n2 b true; node n3 c false; running w1 n1; running w2 n1; running w3 n1; running w4 n2; } |
    as_list >"$work/three.json"
is "a cordoned zone with more pods than another holds nothing up" \
    "$(pod "$(constraint '.maxSkew = 2')" | of_pod three.json)" '[]'
is "... nor with fewer zones than minDomains" "$(pod "$(constraint '.minDomains = 3')" | of_pod nodes.json)" '[]'
bound_volume() { # ZONE: a claim, and its volume there
    jq -n '{apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: {name: "data", namespace: "default"},
        spec: {volumeName: "pv"}, status: {phase: "Bound"}}'
    jq -n --arg z "$1" '{apiVersion: "v1", kind: "PersistentVolume", metadata: {name: "pv"}, spec: {nodeAffinity: {required:
        {nodeSelectorTerms: [{matchExpressions: [{key: "topology.kubernetes.io/zone", operator: "In", values: [$z]}]}]}}}}'
}
for zone in a b; do
    { node n1 a false; node n2 b false; running w1 n1; running w2 n1; bound_volume $zone; } | as_list >"$work/volume-$zone.json"
done
mounting='.metadata.namespace = "default" | .spec.volumes = [{name: "d", persistentVolumeClaim: {claimName: "data"}}]'
is "a claim leaves only the zone that is full" "$(pod "$(constraint)" "$mounting" | of_pod volume-a.json)" \
    "[\"UnusableDomain $at\",\"VolumePins $at\"]"
like "... and the first line names claim and zone" \
    "$("$evenkeel" simulate --state "$work/volume-a.json" --pod "$work/pod.json" | grep -m 1 '^Pending')" \
    "claim 'data' is bound to volume 'pv', which needs a node with topology.kubernetes.io/zone in .a."
is "... but not one with room" "$(pod "$(constraint)" "$mounting" | of_pod volume-b.json)" '[]'
is "... nor a soft constraint" \
    "$(pod "$(constraint '.whenUnsatisfiable = "ScheduleAnyway"')" "$mounting" | of_pod volume-a.json)" '[]'

# ---- node selectors and required node affinity that fit no node ----

zone_of() { jq -nc --arg z "$1" '{key: "topology.kubernetes.io/zone", operator: "In", values: [$z]}'; }
required() { # TERM...: the required node affinity of a pod
    jq -sc '{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: map({matchExpressions: [.]})}}}' <<<"$*"
}
said_of() { # jq to change the Pod [STATE]: path, message and remedy of the findings
    pod '[]' "$1" >"$work/pod.json"
    "$evenkeel" simulate --state "$work/${2:-zones.json}" --pod "$work/pod.json" -o json |
        jq -r '.findings[] | "\(.code) \(.path | sub("requiredDuringSchedulingIgnoredDuringExecution"; "R")): \(.message). \(.remedy)"'
}
{ node n1 eu-a false; node n2 eu-b false; node n3 us-a true; } | as_list >"$work/zones.json"
selecting() { jq -nrc --argjson l "$1" '".spec.nodeSelector = \($l)"'; }
is "a nodeSelector that fits a node" "$(said_of "$(selecting '{"topology.kubernetes.io/zone":"us-a"}')")" ''
is "a value that no node has" "$(said_of "$(selecting '{"topology.kubernetes.io/zone":"eu-aa"}')")" \
    "LabelUnknown spec.nodeSelector: no node has the label 'topology.kubernetes.io/zone: eu-aa': the pod fits no node; the nearest is 'eu-a'. Write eu-a"
like "... is the cause of a Pending pod" "$("$evenkeel" simulate --state "$work/zones.json" --pod "$work/pod.json" | grep -m 1 '^Pending')" \
    "^Pending because of spec.nodeSelector: no node has the label 'topology.kubernetes.io/zone: eu-aa'.*the nearest is 'eu-a'"
like "... of replicas, too" "$("$evenkeel" simulate --state "$work/zones.json" --pod "$work/pod.json" --replicas 2)" \
    "because of spec.nodeSelector: no node has the label .topology.kubernetes.io/zone: eu-aa"
is "a value that is near none" "$(said_of "$(selecting '{"topology.kubernetes.io/zone":"moon"}')")" \
    "LabelUnknown spec.nodeSelector: no node has the label 'topology.kubernetes.io/zone: moon': the pod fits no node. Write a value that nodes have: eu-a, eu-b, us-a"
is "a key that no node has" "$(said_of "$(selecting '{"topology.kubernetes.io/zoen":"eu-a"}')")" \
    "LabelUnknown spec.nodeSelector: no node has the label 'topology.kubernetes.io/zoen': the pod fits no node; the nearest is 'topology.kubernetes.io/zone'. Write topology.kubernetes.io/zone"
is "labels that no node has together" \
    "$(said_of "$(selecting '{"topology.kubernetes.io/zone":"eu-a","kubernetes.io/hostname":"n2"}')")" \
    "LabelUnknown spec.nodeSelector: nodes have each of these labels, but no node has all of them: the pod fits no node. Leave out a label, or label a node"
is "a state without nodes" "$(jq '.items |= map(select(.kind == "Pod"))' "$work/nodes.json" >"$work/empty.json"; said_of "$(selecting '{"a":"b"}')" empty.json 2>&1)" \
    'evenkeel simulate: there are no nodes: no object of kind Node is in the state'
terms() { echo ".spec.affinity = $(required "$@")"; }
at_term=spec.affinity.nodeAffinity.R.nodeSelectorTerms
is "a term that fits no node" "$(said_of "$(terms "$(zone_of eu-aa)")")" \
    "LabelUnknown ${at_term}[0].matchExpressions[0]: no node has the label 'topology.kubernetes.io/zone: eu-aa': the pod fits no node; the nearest is 'eu-a'. Write eu-a"
is "... is fine beside a term that does" "$(said_of "$(terms "$(zone_of eu-aa)" "$(zone_of eu-b)")")" ''
is "all of the terms fit none" "$(said_of "$(terms "$(zone_of eu-aa)" '{"key": "rack", "operator": "Exists"}')" | cut -d: -f1,2)" \
    "LabelUnknown ${at_term}[0].matchExpressions[0]: no node has the label 'topology.kubernetes.io/zone
LabelUnknown ${at_term}[1].matchExpressions[0]: no node has the label 'rack'"
is "a value of several" "$(said_of "$(terms '{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["moon", "eu-b"]}')")" ''
is "what a node must not have" "$(said_of "$(terms '{"key": "rack", "operator": "DoesNotExist"}')")" ''
is "... and all nodes have" "$(said_of "$(terms '{"key": "topology.kubernetes.io/zone", "operator": "DoesNotExist"}')" | cut -d: -f1,2)" \
    "LabelUnknown ${at_term%.nodeSelectorTerms}: no term matches a node"
is "selector and terms fit no node together" \
    "$(said_of "$(selecting '{"topology.kubernetes.io/zone":"eu-a"}') | $(terms "$(zone_of eu-b)")" | cut -d: -f1,2)" \
    "LabelUnknown spec.affinity: nodes match nodeSelector, and nodes match the node affinity, but no node matches both"
is "a node that is not there" \
    "$(said_of '.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms = [{matchFields: [{key: "metadata.name", operator: "In", values: ["n9"]}]}]')" \
    "NameUnknown ${at_term}[0].matchFields[0]: no node has the name 'n9': the pod fits no node. Write the name of a node"

is "a misspelt field" "$(pod '[]' '.spec.topologySpreadConstraint = []' | of_pod good.json)" \
    '["UnknownField spec.topologySpreadConstraint"]'
is "a field at another level" "$(pod '[]' '.tolerations = []' | of_pod good.json)" '["UnknownField tolerations"]'
is "a value that an API server refuses" \
    "$(pod "$(constraint '.whenUnsatisfiable = "ScheduleAnyway" | .minDomains = 2')" | of_pod good.json)" \
    "[\"Invalid $at.minDomains\"]"
pod "$(constraint)" | jq '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "web"}, spec: {replicas: 4, template:
    {metadata: .metadata, spec: .spec}, topologySpreadConstraints: []}}' >"$work/deployment.json"
is "a workload, by its own paths" \
    "$("$evenkeel" simulate --state "$work/nodes.json" --pod "$work/deployment.json" -o json | codes)" \
    '["UnusableDomain spec.template.spec.topologySpreadConstraints[0]","UnknownField spec.topologySpreadConstraints"]'

jq '.apiVersion = "extensions/v1beta1"' "$work/deployment.json" >"$work/old.json"
is "a workload of a version that has ended" \
    "$("$evenkeel" check workload "$work/old.json" -o json | codes)" '["OldVersion apiVersion"]'

# ---- kinds and versions that no API server has ----

of_kind() { # VERSION KIND: the workload above, with these
    jq --arg v "$1" --arg k "$2" '.apiVersion = $v | .kind = $k | del(.spec.topologySpreadConstraints)' "$work/deployment.json" >"$work/kind.json"
    "$evenkeel" check workload "$work/kind.json" -o json | jq -c '[.findings[] | .code, .path, .message, .remedy]'
}
is "a misspelt kind" "$(of_kind apps/v1 Deploiment)" \
    '["Invalid","kind","'"apps/v1 has no kind 'Deploiment'; the nearest is 'Deployment'"'","Write Deployment"]'
is "... and simulate has it, too" \
    "$("$evenkeel" simulate --state "$work/good.json" --pod "$work/kind.json" | grep '^note: kind')" \
    "note: kind: apps/v1 has no kind 'Deploiment'; the nearest is 'Deployment'. Write Deployment"
is "a kind of another case" "$(of_kind apps/v1 Statefulset | jq -c '[.[1], .[3]]')" '["kind","Write StatefulSet"]'
is "kind and version are wrong" "$(of_kind v1 Deploiment | jq -c '[.[1], .[3]]')" '["kind","Write Deployment, and apiVersion apps/v1"]'
is "a kind that is near none" "$(of_kind apps/v1 Rollout | jq -c .[1:4])" \
    '["kind","'"apps/v1 has no kind 'Rollout'"'","Write a kind of Kubernetes, or the apiVersion of the resource that defines the kind"]'
is "a kind of another group" "$(of_kind v1 Deployment)" \
    '["Invalid","apiVersion","'"v1 has no kind 'Deployment'"'","Write apps/v1"]'
is "a version that never was" "$(of_kind apps/v2 Deployment | jq -c '[.[1], .[3]]')" '["apiVersion","Write apps/v1"]'
is "... nor of a group" "$(of_kind app/v1 StatefulSet | jq -c '[.[1], .[3]]')" '["apiVersion","Write apps/v1"]'
for own in argoproj.io/v1alpha1=Rollout apps.kruise.io/v1beta1=StatefulSet apps.kruise.io/v1alpha1=CloneSet \
    apps.openshift.io/v1=DeploymentConfig example.com/v1=Deploiment example.com/v2=Jobs; do
    is "a kind that a CRD may define: $own" "$(of_kind "${own%=*}" "${own#*=}")" '[]'
done
for right in apps/v1=Deployment apps/v1=StatefulSet apps/v1=ReplicaSet apps/v1=DaemonSet v1=ReplicationController batch/v1=Job; do
    is "a kind of Kubernetes: $right" "$(of_kind "${right%=*}" "${right#*=}" | jq -c 'map(select(startswith("'"'"'")))')" '[]'
done
refused() { { "$evenkeel" check workload "$1" >"$work/out" || echo "exit $?" >&2; } 2>&1; }
pod '[]' '.kind = "Podd"' >"$work/kind.json"
like "a misspelt Pod is refused" "$(refused "$work/kind.json" | tr '\n' ' ')" \
    "kind is 'Podd'; expected one Pod, or a workload with spec.template; did you mean 'Pod'\? exit 1"
{ cat "$work/kind.json"; running w1 n1; } | as_list >"$work/kinds.json"
like "... also beside others" "$(refused "$work/kinds.json" | tr '\n' ' ')" "did you mean 'Pod'.*exit 1"
{
    for other in v1=Binding v1=ConfigMap v1=Endpoints v1=Event v1=LimitRange v1=Namespace v1=Node v1=PersistentVolume v1=PodTemplate \
        v1=PersistentVolumeClaim v1=ResourceQuota v1=Secret v1=Service v1=ServiceAccount apps/v1=ControllerRevision policy/v1=Eviction \
        policy/v1=PodDisruptionBudget autoscaling/v1=Scale autoscaling/v2=HorizontalPodAutoscaler example.com/v1=Podd; do
        jq -n --arg v "${other%=*}" --arg k "${other#*=}" '{apiVersion: $v, kind: $k, metadata: {name: "n"}}'
    done
    running w1 n1
} | as_list >"$work/kinds.json"
is "... but other kinds of Kubernetes and of CRDs are passed over" "$(refused "$work/kinds.json"; cat "$work/out")" 'no findings'

# ---- as people see them, and for CI ----

pod "$(constraint '.labelSelector.matchLabels.app = "wbe"')" >"$work/pod.json"
like "the message and the remedy in one line" "$("$evenkeel" simulate --state "$work/good.json" --pod "$work/pod.json")" \
    "note: spec.topologySpreadConstraints.0..labelSelector: the labelSelector does not select the pod itself, which has no label 'app: wbe': the constraint counts none of these pods. Select labels that the pod has"
code=0
"$evenkeel" simulate --state "$work/good.json" --pod "$work/pod.json" >/dev/null || code=$?
is "they change no exit code" "$code" 0
"$evenkeel" simulate --state "$work/good.json" --pod "$work/pod.json" --strict >/dev/null || code=$?
is "... but with --strict" "$code" 3
code=0
pod "$(constraint)" >"$work/pod.json"
"$evenkeel" simulate --state "$work/good.json" --pod "$work/pod.json" --strict >/dev/null || code=$?
is "... where there is one" "$code" 0
many=$(jq -nc '[range(40) | {maxSkew: 1, topologyKey: "k\(.)", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {}}]')
pod "$many" >"$work/pod.json"
is "at most 32, the others are counted" \
    "$("$evenkeel" simulate --state "$work/good.json" --pod "$work/pod.json" -o json | jq -c '[(.findings | length), .findingsOmitted]')" '[32,8]'


# ---- check workload, and --admit ----

checked() { "$evenkeel" check workload "$@" -o json | codes; }
pod "$(constraint '.topologyKey = "rack" | .labelSelector.matchLabels.app = "wbe"')" >"$work/pod.json"
is "check workload, by itself" "$(checked "$work/pod.json")" "[\"SelectorMissesPod $at.labelSelector\"]"
is "... beside a state" "$(checked "$work/pod.json" --state "$work/good.json")" \
    "[\"SelectorMissesPod $at.labelSelector\",\"KeyUnknown $at.topologyKey\"]"
code=0
"$evenkeel" check workload "$work/pod.json" --strict >"$work/out" || code=$?
is "... --strict" "$code $(grep -c '^note: ' "$work/out")" '3 1'
pod "$(constraint)" >"$work/pod.json"
is "... of a good one" "$("$evenkeel" check workload "$work/pod.json" --strict)" 'no findings'
code=0
jq '.items |= map(select(.kind == "Node"))' "$work/nodes.json" >"$work/only-nodes.json"
out=$("$evenkeel" check workload "$work/only-nodes.json" 2>&1) || code=$?
like "... of another kind" "$code $out" "^1 .*[0-9]+ documents, and none of them is a Pod or workload"
code=0
is "each of several workloads" "$("$evenkeel" check workload "$work/nodes.json" -o json | jq -c '.answers | map(.subject)')" \
    '["default/Pod/w1","default/Pod/w2"]'
is "... or one by name" "$("$evenkeel" check workload "$work/nodes.json" --name w2 -o json)" '{"findings":[]}'
jq '.items[-1].spec.topologySpreadConstraint = []' "$work/nodes.json" >"$work/odd.json"
"$evenkeel" check workload "$work/odd.json" --strict >"$work/out" || code=$?
is "... and the worst exit code" "$code $(grep -A1 '/w1:' "$work/out" | tail -n 1)" '3 no findings'
is "--admit has them" "$(pod '[]' '.tolerations = []' >"$work/pod.json"; "$evenkeel" simulate --admit --state "$work/good.json" --pod "$work/pod.json" -o json | codes)" \
    '["UnknownField tolerations"]'

# ---- Placements ----

cluster() { # NAME [jq]
    jq -n --arg n "$1" '{apiVersion: "cluster.open-cluster-management.io/v1", kind: "ManagedCluster", metadata: {name: $n, labels:
        {"cluster.open-cluster-management.io/clusterset": "s", zone: "z\($n)", cloud: "aws"}}, spec: {hubAcceptsClient: true},
        status: {clusterClaims: [{name: "id", value: $n}]}}' | jq "${2:-.}"
}
{
    cluster c1
    cluster c2
    cluster c3 '.metadata.deletionTimestamp = "2026-01-01T00:00:00Z" | .metadata.finalizers = ["x"]'
    jq -n '{apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSet", metadata: {name: "s"}},
        {apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSetBinding", metadata: {name: "s",
        namespace: "default"}, spec: {clusterSet: "s"}},
        {apiVersion: "cluster.open-cluster-management.io/v1alpha1", kind: "AddOnPlacementScore", metadata: {name: "cpu",
        namespace: "c1"}, status: {validUntil: "2026-01-01T00:00:00Z", scores: [{name: "free", value: 3}]}}'
} | as_list >"$work/hub.json"
of_placement() { # SPEC-JSON
    jq -n --argjson s "$1" '{apiVersion: "cluster.open-cluster-management.io/v1beta1", kind: "Placement", metadata: {name: "p"}, spec: $s}' >"$work/p.json"
    "$evenkeel" simulate --state "$work/hub.json" --placement "$work/p.json" --now 2026-01-02T00:00:00Z -o json | codes
}
going='"BeingDeleted "'
spread() { jq -nc --argjson t "$1" '{spreadPolicy: {spreadConstraints: [$t + {whenUnsatisfiable: "ScheduleAnyway", maxSkew: 1}]}}'; }
addon() { jq -nc --arg r "$1" --arg s "$2" '{prioritizerPolicy: {configurations: [{scoreCoordinate: {type: "AddOn", addOn: {resourceName: $r, scoreName: $s}}}]}}'; }
key='spec.spreadPolicy.spreadConstraints[0].topologyKey'
score='spec.prioritizerPolicy.configurations[0].scoreCoordinate.addOn'

is "a cluster that is being deleted" "$(of_placement '{}')" "[$going]"
is "a term over labels that differ" "$(of_placement "$(spread '{"topologyKey":"zone","topologyKeyType":"Label"}')")" "[$going]"
is "a label that is a claim" "$(of_placement "$(spread '{"topologyKey":"id","topologyKeyType":"Label"}')")" "[$going,\"OtherKeyType $key\"]"
is "... and the reverse" "$(of_placement "$(spread '{"topologyKey":"zone","topologyKeyType":"Claim"}')")" "[$going,\"OtherKeyType $key\"]"
is "a label that no cluster has" "$(of_placement "$(spread '{"topologyKey":"zoen","topologyKeyType":"Label"}')")" "[$going,\"KeyUnknown $key\"]"
is "a label with one value" "$(of_placement "$(spread '{"topologyKey":"cloud","topologyKeyType":"Label"}')")" "[$going,\"SingleDomain $key\"]"
is "a misspelt field" "$(of_placement '{"numberOfCluster":1}')" "[$going,\"UnknownField spec.numberOfCluster\"]"
is "a set that is not there" "$(of_placement '{"clusterSets":["t"]}')" '["NameUnknown spec.clusterSets[0]"]'
is "a score that nobody has" "$(of_placement "$(addon mem free)")" "[$going,\"NameUnknown $score\"]"
is "a score that is over" "$(of_placement "$(addon cpu free)")" "[$going,\"Expired $score\"]"
mv "$work/hub.json" "$work/own.json"
jq '.items |= map(if .metadata.name == "c1" or .metadata.name == "c3" then
    .metadata.labels["cluster.open-cluster-management.io/clusterset"] = "other" else . end)' "$work/own.json" >"$work/hub.json"
is "clusters of other sets are no candidates" "$(of_placement "$(addon cpu free)")" '[]'
mv "$work/own.json" "$work/hub.json"
is "a label that empties the answer" \
    "$(of_placement '{"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"clod":"aws"}}}}]}')" \
    "[$going,\"LabelUnknown spec.predicates[0].requiredClusterSelector.labelSelector\"]"
is "... not beside a predicate that matches" \
    "$(of_placement '{"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"clod":"aws"}}}},{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"cloud":"aws"}}}}]}')" \
    "[$going]"
is "a toleration's operator" "$(of_placement '{"tolerations":[{"key":"a","operator":"Exist"}]}')" "[$going,\"Invalid spec.tolerations[0].operator\"]"

is "--admit has them" "$("$evenkeel" simulate --admit --placement "$work/p.json" -o json | codes)" '["Invalid spec.tolerations[0].operator"]'

code=0
"$evenkeel" simulate --state "$work/hub.json" --placement "$work/p.json" --strict >/dev/null || code=$?
is "--strict" "$code" 3
code=0
"$evenkeel" simulate --admit --placement "$work/p.json" --strict >/dev/null || code=$?
is "... with --admit" "$code" 3

# ---- bindings ----

member() { # NAME [jq]
    jq -n --arg n "$1" '{apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: {name: $n, labels: {team: "a"}},
        spec: {region: "r\($n)", syncMode: "Push"}, status: {apiEnablements: [{groupVersion: "apps/v1", resources: [{kind: "Deployment"}]}],
        conditions: [{type: "Ready", status: "True"}], resourceSummary: {allocatable: {cpu: "100", pods: "100"}}}}' | jq "${2:-.}"
}
{ member m1 '.spec.taints = [{key: "k", effect: "NoExecute"}]'; member m2; } | as_list >"$work/members.json"
of_binding() { # PLACEMENT-JSON [jq to change the binding]
    jq -n --argjson p "$1" '{apiVersion: "work.karmada.io/v1alpha2", kind: "ResourceBinding", metadata: {name: "b", namespace: "default"},
        spec: {resource: {apiVersion: "apps/v1", kind: "Deployment", name: "d", namespace: "default"}, replicas: 4,
        replicaRequirements: {}, placement: $p}}' | jq "${2:-.}" >"$work/b.json"
    "$evenkeel" simulate --state "$work/members.json" --binding "$work/b.json" -o json | codes
}
static='{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["m2"]},"weight":1}]}}}'
by() { jq -nc --argjson c "$1" '{spreadConstraints: ($c + [{spreadByField: "cluster", maxGroups: 2, minGroups: 1}])}'; }
c=spec.placement.spreadConstraints
is "a good binding has none" "$(of_binding '{}')" '[]'
is "constraints beside static weights" "$(of_binding "$(jq -nc --argjson a "$static" --argjson b "$(by '[]')" '$a + $b')")" "[\"PassedOver $c\"]"
is "maxGroups below minGroups" "$(of_binding "$(by '[{"spreadByField":"region","maxGroups":1,"minGroups":2}]')")" "[\"Invalid ${c}[0]\"]"
is "maxGroups unset" "$(of_binding "$(by '[{"spreadByField":"region","minGroups":1}]')")" "[\"MaxGroupsUnset ${c}[0].maxGroups\"]"
is "field and label in one" "$(of_binding "$(by '[{"spreadByField":"region","spreadByLabel":"team","maxGroups":2,"minGroups":1}]')")" "[\"Invalid ${c}[0]\"]"
is "a field that no cluster has" "$(of_binding "$(by '[{"spreadByField":"provider","maxGroups":1,"minGroups":1}]')")" "[\"KeyUnknown ${c}[0].spreadByField\"]"
is "a label that no cluster has" "$(of_binding "$(by '[{"spreadByLabel":"rack","maxGroups":1,"minGroups":1}]')")" "[\"LabelUnknown ${c}[0].spreadByLabel\"]"
terms() { # TEAM: two terms; the second selects by a label that no cluster has
    jq -nc --arg t "$1" '{clusterAffinities: [{affinityName: "a", labelSelector: {matchLabels: {team: $t}}},
        {affinityName: "b", labelSelector: {matchLabels: {tier: "gold"}}}]}'
}
is "a label that no cluster has, in a term" "$(of_binding "$(terms c)")" '["LabelUnknown spec.placement.clusterAffinities[1].labelSelector"]'
is "... not beside a term that gives an answer" "$(of_binding "$(terms a)")" '[]'
is "a name that no cluster has" "$(of_binding '{"clusterAffinity":{"clusterNames":["m2","m9"]}}')" '["NameUnknown spec.placement.clusterAffinity.clusterNames"]'
is "a failed cluster that stays" "$(of_binding '{}' '.spec.clusters = [{name: "m1", replicas: 4}]')" '["KeepsFailed spec.clusters[0]"]'
is "... but not in the answer" "$(of_binding '{"clusterAffinity":{"clusterNames":["m2"]}}' '.spec.clusters = [{name: "m1", replicas: 4}]')" '[]'
kept() { # REPLICAS of the binding, whose failed cluster has 4
    of_binding '{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"}}' \
        ".spec.clusters = [{name: \"m1\", replicas: 4}] | .spec.replicas = $1" >/dev/null
    "$evenkeel" simulate --state "$work/members.json" --binding "$work/b.json" -o json | jq -r '.findings[].message' | sed 's/.*, and //; s/:.*//'
}
is "... that keeps some" "$(kept 3)" "keeps 3 of 4 replicas"
is "... that gets more" "$(kept 9)" "gets 9 replicas instead of 4"
is "workload affinity" "$(of_binding '{"workloadAffinity":{"affinity":{"groupByLabelKey":"a"}}}')" '["PassedOver spec.placement.workloadAffinity"]'
is "an old version" "$(of_binding '{}' '.apiVersion = "work.karmada.io/v1alpha1"')" '["OldVersion apiVersion"]'
is "a field of the placement in the spec" "$(of_binding '{}' '.spec.spreadConstraints = []')" '["UnknownField spec.spreadConstraints"]'

# ---- very many ----

pod "$(constraint '. + ([range(2000) | {"topologyKay\(.)": 1}] | add)')" >"$work/many.json"
is "very many mistakes: the first ones, and how many more" \
    "$("$evenkeel" check workload "$work/many.json" | tail -n 1)" \
    'note: and 1968 more findings; -o json has none of them'

code=0
"$evenkeel" simulate --state "$work/members.json" --binding "$work/b.json" --strict >/dev/null || code=$?
is "--strict" "$code" 3

# ---- no false alarm: pods in the shape of what well-known charts and operators make ----

mkdir "$work/made"
for file in tests/e2e/kube/differential/testdata/templates/*.yaml; do
    awk -v name="$work/made/$(basename "$file" .yaml)" 'BEGIN { n = 1 } /^---/ { n++; next } { print >(name "-" n ".yaml") }' "$file"
done
said=$(for file in "$work"/made/*.yaml; do "$evenkeel" check workload "$file" 2>&1; done | sort | uniq -c | sed 's/^ *//')
is "pods of charts and operators have none" "$said" "$(find "$work/made" -name '*.yaml' | wc -l) no findings"
is "... and there are many of them" "$(($(find "$work/made" -name '*.yaml' | wc -l) >= 42))" 1
finish_tests
