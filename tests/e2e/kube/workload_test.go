package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// workload is a small cluster and a row of equal pods for it, such that topology spread alone
// decides how many pods a zone gets: which of several equal zones comes first is left to chance,
// the counts in order of size are not.
type workload struct {
	nodes      []workloadNode
	existing   []int // index of the node that each pod is on from the start
	pods       int
	constraint v1.TopologySpreadConstraint
	tolerate   bool // pods tolerate the taint of tainted nodes
}

type workloadNode struct {
	zone    string // "": no label
	tainted bool
}

// randomWorkload: hard constraints with maxSkew 1 place every pod in an emptiest zone; with more,
// there are enough pods to fill every zone up to the limit, so that the rest stays pending. That
// needs one zone which does not fill: tainted as a whole, or missing for minDomains.
func randomWorkload(dice *rand.Rand) workload {
	var w workload
	zones := 2 + dice.IntN(3)
	blocked := -1
	w.constraint = constraint(zoneKey, 1, v1.DoNotSchedule, "web")
	switch dice.IntN(4) {
	case 0:
		w.constraint.WhenUnsatisfiable = v1.ScheduleAnyway
	case 1: // plain
	case 2:
		w.constraint.MaxSkew = int32(1 + dice.IntN(3))
		blocked = dice.IntN(zones)
	case 3:
		w.constraint.MaxSkew = int32(1 + dice.IntN(3))
		domains := int32(zones + 1)
		w.constraint.MinDomains = &domains
	}
	if dice.IntN(3) == 0 {
		honor := v1.NodeInclusionPolicyHonor
		w.constraint.NodeTaintsPolicy = &honor
	}
	for zone := range zones {
		for range 1 + dice.IntN(3) {
			w.nodes = append(w.nodes, workloadNode{zone: fmt.Sprintf("zone-%d", zone), tainted: zone == blocked})
		}
	}
	if w.constraint.WhenUnsatisfiable == v1.DoNotSchedule && dice.IntN(2) == 0 {
		w.nodes = append(w.nodes, workloadNode{}) // must never be chosen
	}
	for range dice.IntN(6) {
		w.existing = append(w.existing, dice.IntN(len(w.nodes)))
	}
	w.tolerate = dice.IntN(4) == 0
	w.pods = 3 + dice.IntN(6)
	if w.constraint.MaxSkew > 1 {
		w.pods = zones*int(w.constraint.MaxSkew) + 2
		if blocked >= 0 && w.fillable() {
			w.constraint.MaxSkew = 1 // nothing stays pending, so counts would be a matter of taste
		}
	}
	return w
}

// Whether the tainted zone takes pods, or does not count, so that no limit is ever reached.
func (w *workload) fillable() bool {
	honored := w.constraint.NodeTaintsPolicy != nil && *w.constraint.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor
	return w.tolerate || honored
}

func (w *workload) String() string {
	var text strings.Builder
	c := w.constraint
	fmt.Fprintf(&text, "%d pods, %s maxSkew %d", w.pods, c.WhenUnsatisfiable, c.MaxSkew)
	if c.MinDomains != nil {
		fmt.Fprintf(&text, " minDomains %d", *c.MinDomains)
	}
	if c.NodeTaintsPolicy != nil {
		fmt.Fprintf(&text, " taints %s", *c.NodeTaintsPolicy)
	}
	if w.tolerate {
		text.WriteString(" tolerating")
	}
	text.WriteString("; nodes:")
	for i, node := range w.nodes {
		fmt.Fprintf(&text, " %q", node.zone)
		if node.tainted {
			text.WriteString(" tainted")
		}
		for _, on := range w.existing {
			if on == i {
				text.WriteString("+1")
			}
		}
	}
	return text.String()
}

// arm is one of several ways to place the same workload, side by side: same namespace, nodes of its
// own, pods of its own.
type arm struct {
	*stage
	name      string
	scheduler string
	workload  *workload
}

const armLabel = "e2e.evenkeel.io/arm"

var taint = v1.Taint{Key: "e2e.evenkeel.io/keep-off", Value: "true", Effect: v1.TaintEffectNoSchedule}

// Pods of different arms differ in their label app, so no arm's constraint counts another's.
func (a *arm) pod(i int) *v1.Pod {
	c := *a.workload.constraint.DeepCopy()
	c.LabelSelector.MatchLabels["app"] = a.name
	pod := a.newPod(fmt.Sprintf("%s-%d", a.name, i), a.name, a.scheduler, c)
	pod.Spec.NodeSelector[armLabel] = a.name
	if a.workload.tolerate {
		pod.Spec.Tolerations = []v1.Toleration{{Key: taint.Key, Operator: v1.TolerationOpExists}}
	}
	return pod
}

// prepare makes nodes and the pods that are there from the start.
func (a *arm) prepare() {
	a.Helper()
	var names []string
	for i, n := range a.workload.nodes {
		labels := map[string]string{armLabel: a.name}
		if n.zone != "" {
			labels[zoneKey] = n.zone
		}
		var taints []v1.Taint
		if n.tainted {
			taints = append(taints, taint)
		}
		names = append(names, a.node(fmt.Sprintf("%s-n%d", a.name, i), labels, taints...).Name)
	}
	for i, on := range a.workload.existing {
		pod := a.pod(1000 + i)
		pod.Spec.NodeName = names[on]
		pod.Spec.NodeSelector = nil
		a.create(pod)
	}
}
