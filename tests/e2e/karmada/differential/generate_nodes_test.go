package differential

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
)

const cordon = "node.kubernetes.io/unschedulable"

func (d dice) node(number int) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", number), Labels: map[string]string{}}}
	if d.chance(70) {
		n.Labels["a"] = pick(d, "1", "2", "3", "ten", "-4", "")
	}
	if d.chance(60) {
		n.Labels["z"] = pick(d, "x", "y")
	}
	if d.chance(50) {
		n.Labels[corev1.LabelTopologyZone] = pick(d, "1a", "1b", "1c")
	}
	if d.chance(30) {
		n.Labels[corev1.LabelTopologyRegion] = pick(d, "east", "west")
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: d.amount(corev1.ResourceCPU, 1, 16), corev1.ResourceMemory: d.amount(corev1.ResourceMemory, 2, 64),
	}
	if d.chance(95) {
		n.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(int64(d.between(0, 30)), resource.DecimalSI)
	}
	if d.chance(30) {
		n.Status.Allocatable[gpu] = d.amount(gpu, 0, 8)
	}
	if d.chance(70) {
		n.Status.Allocatable[corev1.ResourceEphemeralStorage] = resource.MustParse("20Gi")
	}
	for _, name := range unusual {
		if d.chance(20) && name != corev1.ResourcePods {
			n.Status.Allocatable[name] = d.amount(name, 0, 20)
		}
	}
	n.Spec.Unschedulable = d.chance(6)
	if n.Spec.Unschedulable && d.chance(50) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: cordon, Effect: corev1.TaintEffectNoSchedule})
	}
	if d.chance(15) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: pick(d, "k", "l"), Value: pick(d, "", "v0", "v1"),
			Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)})
	}
	return n
}

func (d dice) nodes(least int) []*corev1.Node {
	number := 0
	return several(d, least, 10, func() *corev1.Node {
		number++
		return d.node(number)
	})
}

// inTurns is the order in which Karmada's estimator tries nodes: one of each zone in turn, zones and the
// nodes of each as they came. Evenkeel tries them as a question lists them.
func inTurns(nodes []*corev1.Node) []*corev1.Node {
	var zones [][]*corev1.Node
	numbers := map[string]int{}
	for _, n := range nodes {
		key := n.Labels[corev1.LabelTopologyRegion] + "/" + n.Labels[corev1.LabelTopologyZone]
		number, known := numbers[key]
		if !known {
			number = len(zones)
			numbers[key], zones = number, append(zones, nil)
		}
		zones[number] = append(zones[number], n)
	}
	ordered := []*corev1.Node{}
	for turn := 0; len(ordered) < len(nodes); turn++ {
		for _, zone := range zones {
			if turn < len(zone) {
				ordered = append(ordered, zone[turn])
			}
		}
	}
	return ordered
}

// container requests nothing that an API server would refuse.
func (d dice) container(name string) corev1.Container {
	requests := d.request()
	for _, name := range []corev1.ResourceName{"foo", "attachable-volumes-csi", corev1.ResourcePods, corev1.ResourceStorage} {
		delete(requests, name)
	}
	return corev1.Container{Name: name, Image: "i", Resources: corev1.ResourceRequirements{Requests: requests}}
}

func (d dice) pod(number int, nodes []*corev1.Node) *corev1.Pod {
	name := fmt.Sprintf("p%d", number)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", UID: types.UID("u" + name)}}
	if len(nodes) > 0 && d.chance(92) {
		p.Spec.NodeName = pick(d, nodes...).Name
	} else if d.chance(30) {
		p.Spec.NodeName = "gone"
	}
	p.Spec.Containers = several(d, 1, 2, func() corev1.Container { return d.container("c") })
	if d.chance(25) {
		p.Spec.InitContainers = several(d, 1, 3, func() corev1.Container {
			one := d.container("i")
			if d.chance(40) {
				always := corev1.ContainerRestartPolicyAlways
				one.RestartPolicy = &always
			}
			return one
		})
	}
	if d.chance(10) {
		p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	}
	p.Status.Phase = pick(d, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, "")
	if d.chance(8) {
		p.Status.Phase = pick(d, corev1.PodSucceeded, corev1.PodFailed)
	}
	return p
}

func (d dice) pods(nodes []*corev1.Node) []*corev1.Pod {
	number := 0
	return several(d, 0, 12, func() *corev1.Pod {
		number++
		return d.pod(number, nodes)
	})
}

func (d dice) nodeRequirement() corev1.NodeSelectorRequirement {
	one := corev1.NodeSelectorRequirement{Key: pick(d, "a", "z"), Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn,
		corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
	switch one.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		one.Values = append(some(d, 40, "1", "x"), pick(d, "2", "y", "3"))
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		one.Values = []string{pick(d, "0", "1", "2")}
	}
	if d.chance(4) { // invalid, mostly
		one.Values = pick(d, nil, []string{}, []string{"bad value!"}, []string{"1", "2"})
	}
	return one
}

func (d dice) nodeTerm() corev1.NodeSelectorTerm {
	term := corev1.NodeSelectorTerm{}
	if d.chance(85) {
		term.MatchExpressions = several(d, 1, 2, d.nodeRequirement)
	}
	if d.chance(25) {
		term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name",
			Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{fmt.Sprintf("n%d", d.between(1, 6))}}}
	}
	return term
}

// claim is of nodes; nil is none.
func (d dice) claim() *workv1alpha2.NodeClaim {
	if d.chance(35) {
		return nil
	}
	c := &workv1alpha2.NodeClaim{}
	if d.chance(15) {
		c.NodeSelector = map[string]string{"z": pick(d, "x", "y")}
	}
	if d.chance(30) {
		c.HardNodeAffinity = &corev1.NodeSelector{NodeSelectorTerms: several(d, 1, 3, d.nodeTerm)}
		if d.chance(5) {
			c.HardNodeAffinity.NodeSelectorTerms = nil
		}
	}
	if d.chance(40) {
		c.Tolerations = several(d, 1, 2, d.toleration)
	}
	if d.chance(15) {
		c.Tolerations = append(c.Tolerations, corev1.Toleration{Key: cordon, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return c
}
