package differential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/storage/volume"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// place has kube-scheduler's plugins place the replicas one after the other, each on the node with the
// best scores, and those that are left again until nothing more comes of it. Returns how many were
// placed. `without` are the same replicas less what the webhook added; nil: nothing is compared.
func (c *injectionCase) place(replicas, without []*corev1.Pod) (placed int, err error) {
	objects := c.cluster
	objects.Pods = slices.Clone(objects.Pods)
	pending := make([]int, len(replicas))
	for i := range pending {
		pending[i] = i
	}
	for progress := true; progress; {
		progress = false
		var left []int
		for _, i := range pending {
			var plain *corev1.Pod
			if without != nil {
				plain = without[i]
			}
			node, err := chooseNode(&objects, replicas[i], plain)
			if err != nil {
				return 0, err
			}
			if node == "" {
				left = append(left, i)
				continue
			}
			there := replicas[i].DeepCopy()
			there.Spec.NodeName = node
			objects.Pods = append(objects.Pods, there)
			progress = true
			placed++
		}
		pending = left
	}
	return placed, nil
}

// chooseNode returns "" where no node is good. It is an error if one is that is not for `plain`.
func chooseNode(objects *intree.Objects, pod, plain *corev1.Pod) (string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	filters, err := intree.NewFilters(ctx, objects, nil, names.VolumeZone)
	if err != nil {
		return "", err
	}
	totals, err := goodNodes(ctx, filters, objects, pod)
	if err != nil || len(totals) == 0 {
		return "", err
	}
	if plain != nil {
		allowed, err := goodNodes(ctx, filters, objects, plain)
		if err != nil {
			return "", err
		}
		for node := range totals {
			if _, ok := allowed[node]; !ok {
				return "", fmt.Errorf("%s may go to %s, which is refused without %s", pod.Name, node, toJSON(constraintsOf(pod)))
			}
		}
	}
	best := ""
	for _, node := range slices.Sorted(maps.Keys(totals)) {
		if best == "" || totals[node] > totals[best] {
			best = node
		}
	}
	return best, nil
}

// goodNodes are those that all filters pass, with the sum of their scores. Of the plugin VolumeBinding
// it is asked what it asks of claims that are bound.
func goodNodes(ctx context.Context, filters *intree.Filters, objects *intree.Objects, pod *corev1.Pod) (map[string]int64, error) {
	verdicts, err := filters.Filter(ctx, pod)
	if err != nil {
		return nil, err
	}
	totals := map[string]int64{}
	for _, node := range objects.Nodes {
		verdict := verdicts[node.Name]
		if verdict.Code != fwk.Success || !reachesVolumes(objects, pod, node) {
			continue
		}
		totals[node.Name] = 0
		for plugin, score := range verdict.Scores {
			totals[node.Name] += score * int64(intree.ScorePlugins[plugin])
		}
	}
	return totals, nil
}

func reachesVolumes(objects *intree.Objects, pod *corev1.Pod, node *corev1.Node) bool {
	for _, mounted := range pod.Spec.Volumes {
		for _, one := range objects.Volumes {
			if one.Name == "pv-"+mounted.PersistentVolumeClaim.ClaimName && volume.CheckNodeAffinity(one, node.Labels) != nil {
				return false
			}
		}
	}
	return true
}

// ---- what is stated ----

// reliefs are what docs/guides/pods.md says may leave replicas Pending, each taken away.
var reliefs = []struct {
	name string
	take func(c *injectionCase, pod *corev1.Pod)
}{
	{"less minDomains", func(c *injectionCase, pod *corev1.Pod) {
		own := len(constraintsOf(c.replicas[0]))
		for i := range constraintsOf(pod) {
			if i >= own {
				pod.Spec.TopologySpreadConstraints[i].MinDomains = nil
			}
		}
	}},
	{"more room", func(*injectionCase, *corev1.Pod) {}}, // see relieved
	{"pods that share a node", func(_ *injectionCase, pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = nil
		if apart := pod.Spec.Affinity.PodAntiAffinity; apart != nil && apart.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels["app"] == workloadApp {
			pod.Spec.Affinity.PodAntiAffinity = nil
		}
	}},
	{"less preference", func(c *injectionCase, pod *corev1.Pod) {
		own := len(constraintsOf(c.replicas[0]))
		kept := slices.Clone(constraintsOf(pod)[:own])
		for _, one := range constraintsOf(pod)[own:] {
			if one.WhenUnsatisfiable == corev1.DoNotSchedule {
				kept = append(kept, one)
			}
		}
		pod.Spec.TopologySpreadConstraints = kept
	}},
}

const roomRelief, oneKey = 1, "one hard key at a time"

// relievedBy returns the fewest reliefs with which nothing more is Pending, "" if all are not enough.
func (c *injectionCase) relievedBy(patched []*corev1.Pod) (string, error) {
	added := len(hardOf(patched[0])) - len(hardOf(c.replicas[0]))
	for size := range len(reliefs) + 2 {
		for chosen := range 1 << (len(reliefs) + 1) {
			var words []string
			for i, relief := range reliefs {
				if chosen&(1<<i) != 0 {
					words = append(words, relief.name)
				}
			}
			alone := chosen&(1<<len(reliefs)) != 0
			if alone {
				words = append(words, oneKey)
			}
			if len(words) != size || size == 0 || (alone && len(hardOf(patched[0])) < 2) {
				continue
			}
			harmless, err := c.harmlessWith(chosen, alone, added, patched)
			if err != nil {
				return "", err
			}
			if harmless {
				return strings.Join(words, " and "), nil
			}
		}
	}
	return "", nil
}

func (c *injectionCase) harmlessWith(chosen int, alone bool, added int, patched []*corev1.Pod) (bool, error) {
	keys := []int{-1}
	if alone {
		keys = nil
		for k := range added {
			keys = append(keys, k)
		}
	}
	for _, key := range keys {
		relieved, with := c.relieved(chosen, key, patched)
		without, err := relieved.place(relieved.replicas, nil)
		if err != nil {
			return false, err
		}
		placed, err := relieved.place(with, nil)
		if err != nil || placed < without {
			return false, err
		}
	}
	return true, nil
}

// relieved is the case with these reliefs, and of the hard constraints only the added one with this
// number; -1: with all.
func (c *injectionCase) relieved(chosen, key int, patched []*corev1.Pod) (*injectionCase, []*corev1.Pod) {
	easier := &injectionCase{cluster: c.cluster, policy: c.policy}
	if chosen&(1<<roomRelief) != 0 {
		easier.cluster.Nodes = nil
		for _, node := range c.cluster.Nodes {
			easier.cluster.Nodes = append(easier.cluster.Nodes, roomy(node))
		}
	}
	var with []*corev1.Pod
	for i := range c.replicas {
		plain, other := c.replicas[i].DeepCopy(), patched[i].DeepCopy()
		for bit, relief := range reliefs {
			if chosen&(1<<bit) != 0 {
				relief.take(c, plain)
				relief.take(c, other)
			}
		}
		if key >= 0 {
			own := len(constraintsOf(plain))
			other.Spec.TopologySpreadConstraints = onlyHard(constraintsOf(other), own, key)
			plain.Spec.TopologySpreadConstraints = onlyHard(constraintsOf(plain), own, key)
		}
		easier.replicas = append(easier.replicas, plain)
		with = append(with, other)
	}
	return easier, with
}

// onlyHard leaves of the hard constraints the one with this number behind the first `own` constraints.
func onlyHard(from []corev1.TopologySpreadConstraint, own, key int) (kept []corev1.TopologySpreadConstraint) {
	seen := 0
	for i, one := range from {
		hard := one.WhenUnsatisfiable == corev1.DoNotSchedule
		if !hard || (i >= own && seen == key) {
			kept = append(kept, one)
		}
		if hard && i >= own {
			seen++
		}
	}
	return kept
}

func roomy(node *corev1.Node) *corev1.Node {
	easier := node.DeepCopy()
	easier.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1000")
	easier.Spec.Unschedulable = false
	easier.Spec.Taints = slices.DeleteFunc(easier.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	return easier
}
