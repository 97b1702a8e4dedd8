package differential

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// ablation takes one feature out of a question.
type ablation struct {
	name   string
	change func(*question)
}

var ablations = slices.Concat(constraintAblations(), selectorAblations(), affinityAblations(),
	tolerationAblations(), defaultAblations(), clusterAblations())

// ofConstraints is an ablation of each of the pod's constraints.
func ofConstraints(name string, change func(*corev1.TopologySpreadConstraint)) ablation {
	return ablation{name, func(q *question) {
		for i := range q.pod.Spec.TopologySpreadConstraints {
			change(&q.pod.Spec.TopologySpreadConstraints[i])
		}
	}}
}

func constraintAblations() []ablation {
	return []ablation{
		ofConstraints("maxSkew above 1", func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 1 }),
		ofConstraints("minDomains", func(c *corev1.TopologySpreadConstraint) { c.MinDomains = nil }),
		ofConstraints("nodeAffinityPolicy", func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = nil }),
		ofConstraints("nodeTaintsPolicy", func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = nil }),
		ofConstraints("matchLabelKeys", func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = nil }),
		ofConstraints("keys but the zone", func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = zoneKey }),
		{"more than one constraint", func(q *question) {
			if constraints := &q.pod.Spec.TopologySpreadConstraints; len(*constraints) > 1 {
				*constraints = (*constraints)[:1]
			}
		}},
	}
}

func selectorAblations() []ablation {
	all := []ablation{
		ofConstraints("nil selectors", func(c *corev1.TopologySpreadConstraint) {
			if c.LabelSelector == nil {
				c.LabelSelector = &metav1.LabelSelector{}
			}
		}),
		{"selectors {} counting", func(q *question) { q.countAll = !q.countAll }},
		ofConstraints("matchLabels", func(c *corev1.TopologySpreadConstraint) {
			if c.LabelSelector != nil {
				c.LabelSelector.MatchLabels = nil
			}
		}),
	}
	for _, operator := range []metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist} {
		all = append(all, ofConstraints("selectors' "+string(operator), func(c *corev1.TopologySpreadConstraint) {
			if c.LabelSelector != nil {
				c.LabelSelector.MatchExpressions = slices.DeleteFunc(c.LabelSelector.MatchExpressions,
					func(q metav1.LabelSelectorRequirement) bool { return q.Operator == operator })
			}
		}))
	}
	return all
}

// eachTerm calls change with the pod's required node selector terms.
func eachTerm(q *question, change func(*corev1.NodeSelectorTerm)) {
	if affinity := q.pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil &&
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			change(&terms[i])
		}
	}
}

func affinityAblations() []ablation {
	all := []ablation{
		{"nodeSelector", func(q *question) { q.pod.Spec.NodeSelector = nil }},
		{"node affinity", func(q *question) { q.pod.Spec.Affinity = nil }},
		{"matchFields", func(q *question) {
			eachTerm(q, func(term *corev1.NodeSelectorTerm) { term.MatchFields = nil })
		}},
		{"unreadable requirements", func(q *question) {
			eachTerm(q, func(term *corev1.NodeSelectorTerm) {
				term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions, func(q corev1.NodeSelectorRequirement) bool {
					return !slices.Contains(nodeOperators, q.Operator) || q.Key == "not a label key" ||
						slices.Contains(q.Values, "not a label value")
				})
			})
		}},
	}
	for _, operator := range nodeOperators {
		all = append(all, ablation{"node affinity's " + string(operator), func(q *question) {
			eachTerm(q, func(term *corev1.NodeSelectorTerm) {
				term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions,
					func(q corev1.NodeSelectorRequirement) bool { return q.Operator == operator })
			})
		}})
	}
	return all
}

func tolerationAblations() (all []ablation) {
	for _, operator := range []corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists} {
		all = append(all, ablation{"tolerations' operator '" + string(operator) + "'", func(q *question) {
			q.pod.Spec.Tolerations = slices.DeleteFunc(q.pod.Spec.Tolerations,
				func(t corev1.Toleration) bool { return t.Operator == operator })
		}})
	}
	return append(all, ablation{"tolerations' effect", func(q *question) {
		for i := range q.pod.Spec.Tolerations {
			q.pod.Spec.Tolerations[i].Effect = ""
		}
	}})
}

func defaultAblations() []ablation {
	return []ablation{
		{"Services and owners", func(q *question) { q.cluster.Owners = nil }},
		{"owner references", func(q *question) { q.pod.OwnerReferences = nil }},
		{"defaulting List", func(q *question) { q.args = intree.SystemDefaulting() }},
	}
}

func clusterAblations() []ablation {
	return []ablation{
		{"terminating pods", func(q *question) {
			for _, pod := range q.cluster.Pods {
				pod.DeletionTimestamp = nil
			}
		}},
		{"finished pods", func(q *question) {
			for _, pod := range q.cluster.Pods {
				pod.Status.Phase = corev1.PodRunning
			}
		}},
		{"other namespaces", func(q *question) {
			for _, pod := range q.cluster.Pods {
				pod.Namespace = q.pod.Namespace
			}
		}},
		{"PreferNoSchedule apart from NoSchedule", func(q *question) {
			for _, node := range q.cluster.Nodes {
				for i := range node.Spec.Taints {
					node.Spec.Taints[i].Effect = corev1.TaintEffectNoSchedule
				}
			}
		}},
		{"missing topology labels", func(q *question) {
			for _, node := range q.cluster.Nodes {
				for _, key := range topologyKeys {
					if _, has := node.Labels[key]; !has {
						node.Labels[key] = node.Name
					}
				}
			}
		}},
		{"labels with the empty value", func(q *question) {
			for _, node := range q.cluster.Nodes {
				for _, key := range topologyKeys {
					if value, has := node.Labels[key]; has && value == "" {
						delete(node.Labels, key)
					}
				}
			}
		}},
	}
}
