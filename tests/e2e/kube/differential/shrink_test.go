package differential

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

func (q *question) clone() *question {
	c := *q
	c.cluster = cloneObjects(&q.cluster)
	c.pod = q.pod.DeepCopy()
	c.args = q.args.DeepCopy()
	c.candidates = slices.Clone(q.candidates)
	return &c
}

func cloneObjects(o *intree.Objects) (c intree.Objects) {
	for _, node := range o.Nodes {
		c.Nodes = append(c.Nodes, node.DeepCopy())
	}
	for _, pod := range o.Pods {
		c.Pods = append(c.Pods, pod.DeepCopy())
	}
	for _, owner := range o.Owners {
		c.Owners = append(c.Owners, owner.DeepCopyObject())
	}
	return c
}

// without is a list less one of its elements.
func without[T any](list []T, at int) []T {
	return slices.Delete(slices.Clone(list), at, at+1)
}

// shrink takes away what the difference does not need, a thing at a time, until nothing more can
// go. `differs` asks both sides.
func (q *question) shrink(differs func(*question) bool) *question {
	for {
		smaller := q.firstSmaller(differs)
		if smaller == nil {
			return q
		}
		q = smaller
	}
}

// firstSmaller returns the first simplification that still differs, nil without one.
func (q *question) firstSmaller(differs func(*question) bool) *question {
	for _, simplify := range q.simplifications() {
		c := q.clone()
		simplify(c)
		if differs(c) {
			return c
		}
	}
	return nil
}

func (q *question) simplifications() (all []func(*question)) {
	for i, node := range q.cluster.Nodes {
		if len(q.candidates) != 1 || q.candidates[0] != node.Name {
			all = append(all, func(c *question) { c.dropNode(i) })
		}
		for key := range node.Labels {
			all = append(all, func(c *question) { delete(c.cluster.Nodes[i].Labels, key) })
		}
		for j := range node.Spec.Taints {
			all = append(all, func(c *question) {
				c.cluster.Nodes[i].Spec.Taints = without(c.cluster.Nodes[i].Spec.Taints, j)
			})
		}
	}
	for i, pod := range q.cluster.Pods {
		all = append(all, func(c *question) { c.cluster.Pods = without(c.cluster.Pods, i) })
		for key := range pod.Labels {
			all = append(all, func(c *question) { delete(c.cluster.Pods[i].Labels, key) })
		}
	}
	for i := range q.cluster.Owners {
		all = append(all, func(c *question) { c.cluster.Owners = without[runtime.Object](c.cluster.Owners, i) })
	}
	return append(all, q.podSimplifications()...)
}

func (q *question) podSimplifications() (all []func(*question)) {
	spec := &q.pod.Spec
	for i := range spec.TopologySpreadConstraints {
		all = append(all, func(c *question) {
			c.pod.Spec.TopologySpreadConstraints = without(c.pod.Spec.TopologySpreadConstraints, i)
		})
		all = append(all, constraintSimplifications(&spec.TopologySpreadConstraints[i], i)...)
	}
	for i := range spec.Tolerations {
		all = append(all, func(c *question) { c.pod.Spec.Tolerations = without(c.pod.Spec.Tolerations, i) })
	}
	if spec.Affinity != nil {
		all = append(all, func(c *question) { c.pod.Spec.Affinity = nil })
	}
	if spec.NodeSelector != nil {
		all = append(all, func(c *question) { c.pod.Spec.NodeSelector = nil })
	}
	if q.pod.OwnerReferences != nil {
		all = append(all, func(c *question) { c.pod.OwnerReferences = nil })
	}
	for i := range q.candidates {
		if len(q.candidates) > 1 {
			all = append(all, func(c *question) { c.candidates = without(c.candidates, i) })
		}
	}
	return all
}

func constraintSimplifications(one *corev1.TopologySpreadConstraint, i int) (all []func(*question)) {
	add := func(applies bool, simplify func(*corev1.TopologySpreadConstraint)) {
		if applies {
			all = append(all, func(c *question) { simplify(&c.pod.Spec.TopologySpreadConstraints[i]) })
		}
	}
	add(one.MinDomains != nil, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = nil })
	add(one.NodeAffinityPolicy != nil, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = nil })
	add(one.NodeTaintsPolicy != nil, func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = nil })
	add(one.MatchLabelKeys != nil, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = nil })
	add(one.MaxSkew != 1, func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 1 })
	return all
}

// dropNode takes a node away, also from the candidates. It must not be the only one of those: to
// name none asks about all.
func (q *question) dropNode(i int) {
	if at := slices.Index(q.candidates, q.cluster.Nodes[i].Name); at >= 0 {
		q.candidates = without(q.candidates, at)
	}
	q.cluster.Nodes = without(q.cluster.Nodes, i)
}
