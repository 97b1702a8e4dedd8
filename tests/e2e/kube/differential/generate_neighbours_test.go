package differential

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// What podAffinity selects namespaces by; "other" is often not known at all.
var namespaceLabels = map[string][]string{"team": {"a", "a", "b"}, "env": {"prod", ""}}

func (d dice) namespaceSelector() *metav1.LabelSelector {
	switch {
	case d.chance(60):
		return nil
	case d.chance(20):
		return &metav1.LabelSelector{}
	}
	key := pick(d, sortedKeys(namespaceLabels)...)
	q := metav1.LabelSelectorRequirement{Key: key, Operator: pick(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn,
		metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
	if q.Operator == metav1.LabelSelectorOpIn || q.Operator == metav1.LabelSelectorOpNotIn {
		q.Values = []string{pick(d, namespaceLabels[key]...)}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{q}}
}

// podAffinityTerm has matchLabelKeys now and then: the API server merges them, the plugin does not.
func (d dice) podAffinityTerm() corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{
		TopologyKey:       pick(d, zoneKey, zoneKey, hostnameKey, hostnameKey, corev1.LabelTopologyRegion, rackKey),
		LabelSelector:     d.labelSelector(),
		NamespaceSelector: d.namespaceSelector(),
	}
	if d.chance(3) {
		term.TopologyKey = "on-no-node"
	}
	if d.chance(20) {
		term.Namespaces = some(d, 50, append(namespaces, "nowhere")...)
	}
	if d.chance(10) {
		term.MatchLabelKeys = []string{hashKey}
	}
	if d.chance(10) {
		term.MismatchLabelKeys = []string{"tier"}
	}
	return term
}

func (d dice) podAffinityTerms(none int) (required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	if !d.chance(none) {
		for range pick(d, 1, 1, 1, 2, 3) {
			required = append(required, d.podAffinityTerm())
		}
	}
	if !d.chance(none) {
		for range pick(d, 1, 1, 2) {
			preferred = append(preferred, corev1.WeightedPodAffinityTerm{Weight: pick[int32](d, 1, 1, 5, 50, 100),
				PodAffinityTerm: d.podAffinityTerm()})
		}
	}
	return required, preferred
}

// neighbourly adds podAffinity or podAntiAffinity, or both, to a pod.
func (d dice) neighbourly(pod *corev1.Pod, none int) {
	affinity := &corev1.Affinity{}
	if pod.Spec.Affinity != nil {
		affinity = pod.Spec.Affinity.DeepCopy()
	}
	if d.chance(60) {
		required, preferred := d.podAffinityTerms(none)
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required,
			PreferredDuringSchedulingIgnoredDuringExecution: preferred}
	}
	if d.chance(60) {
		required, preferred := d.podAffinityTerms(none)
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required,
			PreferredDuringSchedulingIgnoredDuringExecution: preferred}
	}
	pod.Spec.Affinity = affinity
}

// withNeighbours adds what InterPodAffinity looks at to a cluster and a pod.
func (d dice) withNeighbours(objects *intree.Objects, incoming *corev1.Pod) {
	for _, name := range some(d, 80, namespaces...) {
		objects.Namespaces = append(objects.Namespaces, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: d.labels(namespaceLabels, 70)}})
	}
	percent := pick(d, 0, 0, 5, 20)
	for _, pod := range objects.Pods {
		if d.chance(percent) {
			d.neighbourly(pod, 50)
		}
	}
	if d.chance(50) {
		d.neighbourly(incoming, 30)
	}
}
