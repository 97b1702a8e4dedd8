package differential

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/utils/ptr"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// question tries a few times for a case whose answer is no foregone conclusion.
func (d dice) question() (*question, error) {
	const tries = 5
	constraints := pick(d, 0, 1, 1, 1, 2, 2, 3)
	for try := 1; ; try++ {
		q := d.anyQuestion(constraints)
		a, err := q.askPlugin(&q.cluster)
		if err != nil || try == tries || a.interesting() {
			return q, err
		}
	}
}

func (a *answer) interesting() bool {
	raw := map[int64]bool{}
	for _, score := range a.Scores {
		raw[score.Raw] = true
	}
	for _, verdict := range a.Verdicts {
		if verdict == fwk.Unschedulable.String() {
			return true
		}
	}
	return len(raw) > 1
}

func (d dice) anyQuestion(constraints int) *question {
	q := &question{cluster: d.cluster(), args: intree.SystemDefaulting(), countAll: d.chance(50), podsFirst: d.chance(50)}
	q.pod = d.incomingPod(q.cluster.Pods, constraints)
	if d.chance(30) {
		q.args = d.listDefaulting()
	}
	if len(q.cluster.Nodes) > 0 && d.chance(40) {
		for _, node := range q.cluster.Nodes {
			if d.chance(70) || q.candidates == nil {
				q.candidates = append(q.candidates, node.Name)
			}
		}
		d.Shuffle(len(q.candidates), func(i, j int) {
			q.candidates[i], q.candidates[j] = q.candidates[j], q.candidates[i]
		})
	}
	return q
}

func (d dice) incomingPod(neighbours []*corev1.Pod, constraints int) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "incoming", Namespace: pick(d, namespaces...), UID: "incoming",
			Labels: d.labels(podLabels, 90)},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if len(neighbours) > 0 && d.chance(95) {
		like := pick(d, neighbours...)
		pod.Namespace = like.Namespace
		if d.chance(60) {
			pod.Labels = like.Labels
		}
	}
	for range constraints {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, d.constraint())
	}
	if d.chance(75) {
		pod.OwnerReferences = d.ownerReferences()
	}
	if d.chance(20) {
		pod.Spec.NodeSelector = d.labels(nodeLabels, 50)
	}
	if d.chance(60) {
		pod.Spec.Affinity = d.affinity()
	}
	for range pick(d, 0, 1, 2, 3, 4) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, d.toleration())
	}
	return pod
}

func (d dice) ownerReferences() []metav1.OwnerReference {
	var references []metav1.OwnerReference
	for range 1 + d.IntN(2) {
		one := metav1.OwnerReference{Name: pick(d, ownerNames...), UID: "any"}
		one.APIVersion, one.Kind = "apps/v1", pick(d, "ReplicaSet", "ReplicaSet", "StatefulSet", "StatefulSet", "Deployment")
		if d.chance(25) {
			one.APIVersion, one.Kind = "v1", "ReplicationController"
		}
		if d.chance(10) {
			one.APIVersion = pick(d, "extensions/v1beta1", "apps/v1beta2", "v1", "a/b/c")
		}
		if d.chance(85) {
			one.Controller = ptr.To(d.chance(90))
		}
		references = append(references, one)
	}
	return references
}

// ---- constraints ----

func (d dice) constraint() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: pick[int32](d, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 5),
		TopologyKey: pick(d, zoneKey, zoneKey, zoneKey, hostnameKey, hostnameKey, hostnameKey,
			corev1.LabelTopologyRegion, rackKey),
		WhenUnsatisfiable: pick(d, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		LabelSelector:     d.labelSelector(),
	}
	if d.chance(3) {
		c.TopologyKey = pick(d, "disk", "on-no-node")
	}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && d.chance(35) || d.chance(2) {
		c.MinDomains = ptr.To(pick[int32](d, 1, 2, 2, 3, 3, 4, 5, math.MaxInt32))
	}
	if d.chance(3) {
		c.MaxSkew = math.MaxInt32 // only the label must exist
	}
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	policies := []*corev1.NodeInclusionPolicy{nil, &honor, &honor, &ignore}
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = pick(d, policies...), pick(d, policies...)
	if d.chance(30) {
		c.MatchLabelKeys = some(d, 40, hashKey, "tier", "on-no-pod")
	}
	return c
}

func (d dice) labelSelector() *metav1.LabelSelector {
	switch {
	case d.chance(8):
		return nil
	case d.chance(10):
		return &metav1.LabelSelector{}
	case d.chance(35):
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(d, podLabels["app"]...)}}
	}
	selector := &metav1.LabelSelector{}
	if d.chance(15) {
		selector.MatchLabels = d.labels(podLabels, 30)
	}
	for range pick(d, 1, 1, 1, 2) {
		selector.MatchExpressions = append(selector.MatchExpressions, d.selectorRequirement())
	}
	return selector
}

func (d dice) selectorRequirement() metav1.LabelSelectorRequirement {
	key := pick(d, sortedKeys(podLabels)...)
	q := metav1.LabelSelectorRequirement{Key: key, Operator: pick(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
	if q.Operator == metav1.LabelSelectorOpDoesNotExist && d.chance(50) {
		q.Key = "on-no-pod"
	}
	if q.Operator == metav1.LabelSelectorOpIn || q.Operator == metav1.LabelSelectorOpNotIn {
		q.Values = append(some(d, 40, podLabels[key]...), pick(d, podLabels[key]...))
	}
	if q.Operator == metav1.LabelSelectorOpNotIn && d.chance(50) {
		q.Values = []string{"on-no-pod"}
	}
	return q
}

// listDefaulting are arguments that the plugin accepts: no two constraints share key and action.
func (d dice) listDefaulting() *config.PodTopologySpreadArgs {
	args := &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}
	args.DefaultConstraints = []corev1.TopologySpreadConstraint{} // Evenkeel wants a list, if an empty one
	for _, key := range some(d, 50, zoneKey, hostnameKey, corev1.LabelTopologyRegion) {
		c := d.constraint()
		c.TopologyKey, c.LabelSelector, c.MatchLabelKeys = key, nil, nil
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			c.MinDomains = nil
		}
		args.DefaultConstraints = append(args.DefaultConstraints, c)
	}
	return args
}

// ---- node affinity and tolerations ----

func (d dice) affinity() *corev1.Affinity {
	affinity := &corev1.Affinity{}
	if d.chance(5) {
		return affinity
	}
	affinity.NodeAffinity = &corev1.NodeAffinity{}
	if d.chance(20) {
		affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution =
			[]corev1.PreferredSchedulingTerm{{Weight: 1, Preference: d.nodeSelectorTerm()}}
	}
	if d.chance(95) {
		required := &corev1.NodeSelector{}
		for range pick(d, 0, 1, 1, 1, 1, 1, 2, 2, 3) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, d.nodeSelectorTerm())
		}
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	return affinity
}

func (d dice) nodeSelectorTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range pick(d, 0, 1, 1, 1, 1, 2) {
		term.MatchExpressions = append(term.MatchExpressions, d.nodeRequirement())
	}
	if d.chance(25) {
		q := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField}
		q.Operator = pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
		q.Values = []string{nodeName(d.IntN(6))}
		if d.chance(10) {
			q.Values = append(q.Values, nodeName(0)) // two are refused, and the term with them
		}
		if d.chance(5) {
			q.Key = "metadata.uid"
		}
		if d.chance(5) {
			q.Operator = corev1.NodeSelectorOpExists
		}
		term.MatchFields = append(term.MatchFields, q)
	}
	return term
}

var nodeOperators = []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn,
	corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt}

// nodeRequirement is mostly one that makes sense; a term with one that does not matches nothing.
func (d dice) nodeRequirement() corev1.NodeSelectorRequirement {
	q := corev1.NodeSelectorRequirement{Key: pick(d, "disk", "size", "size", zoneKey), Operator: pick(d, nodeOperators...)}
	switch q.Operator {
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		q.Key, q.Values = "size", []string{pick(d, "1", "2", "2", "3", "3", "007", "9223372036854775806")}
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		values := nodeLabels[q.Key]
		if q.Key == zoneKey {
			values = []string{"zone-0", "zone-1", "zone-2"}
		}
		q.Values = append(some(d, 30, values...), pick(d, values...))
	}
	switch d.IntN(15) {
	case 0:
		q.Operator = "in"
	case 1:
		q.Values = append(q.Values, "not a label value")
	case 2:
		q.Values = nil
	case 3:
		q.Key = "not a label key"
	}
	return q
}

func (d dice) toleration() corev1.Toleration {
	return corev1.Toleration{
		Key: pick(d, append([]string{""}, taintKeys...)...),
		Operator: pick(d, "", "", corev1.TolerationOpEqual, corev1.TolerationOpExists,
			corev1.TolerationOpLt, corev1.TolerationOpGt),
		Value:  pick(d, taintValues...),
		Effect: pick(d, append([]corev1.TaintEffect{""}, effects...)...),
	}
}
