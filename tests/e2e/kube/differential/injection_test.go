package differential

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestInjection has kube-scheduler's plugins place workloads with and without what the webhook adds.
// In every state that comes about, no node is allowed with it that is refused without. Replicas that
// are Pending with it only are so by what docs/guides/pods.md states under "What is not seen", or
// because minDomains asks for it: without that they are placed. See reliefs.
func TestInjection(t *testing.T) {
	binary := evenkeelBinary(t)
	counts := injectionCounts{of: map[string]int{}}
	forEachOf(t, (caseCount()+3)/4, goruntime.GOMAXPROCS(0), func(_, number int) bool {
		c := diceFor(number).injectionCase()
		err := c.check(binary, t.TempDir(), &counts)
		if err != nil {
			t.Errorf("seed %d, case %d: %v\nnodes: %s\npods: %s\npolicy: %s\npod: %s", seed(), number, err,
				toJSON(c.cluster.Nodes), toJSON(c.cluster.Pods), toJSON(c.policy), toJSON(c.replicas[0]))
		}
		return err == nil
	})
	if !t.Failed() {
		counts.report(t)
	}
}

type injectionCounts struct {
	mutex sync.Mutex
	of    map[string]int // guarded by mutex
}

func (c *injectionCounts) add(what string, yes bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if yes {
		c.of[what]++
	}
}

// Each of them in one of a hundred workloads at least.
var injectionKinds = []string{"workloads", "patched", "with a hard constraint added", "softened or left out",
	"with a hard constraint of their own", "beside volumes", "with a replica refused without"}

func (c *injectionCounts) report(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(c.of)) {
		t.Logf("%6d %s", c.of[what], what)
	}
	for _, what := range injectionKinds {
		if c.of["workloads"] >= ablateMin && c.of[what]*100 < c.of["workloads"] {
			t.Errorf("hardly any %s: the cases are too dull", what)
		}
	}
}

// ---- one workload ----

func (c *injectionCase) check(binary, folder string, counts *injectionCounts) error {
	patched, warnings, err := c.admitAll(binary, folder)
	if err != nil {
		return err
	}
	without, err := c.place(c.replicas, nil)
	if err != nil {
		return err
	}
	with, err := c.place(patched, c.replicas)
	if err != nil {
		return err
	}
	own, all := hardOf(c.replicas[0]), hardOf(patched[0])
	counts.add("workloads", true)
	counts.add("patched", len(constraintsOf(patched[0])) > len(constraintsOf(c.replicas[0])))
	counts.add("with a hard constraint added", len(all) > len(own))
	counts.add("softened or left out", warnings > 0)
	counts.add("with a hard constraint of their own", len(own) > 0)
	counts.add("beside volumes", len(c.cluster.Claims) > 0)
	counts.add("with a replica refused without", without < len(c.replicas))
	counts.add("with fewer Pending than without", with > without)
	if with >= without {
		return nil
	}
	why, err := c.relievedBy(patched)
	if err == nil && why == "" {
		err = fmt.Errorf("%d replicas are placed without, %d with %s", without, with, toJSON(constraintsOf(patched[0])))
	}
	counts.add("Pending, but not with "+why, true)
	return err
}

func constraintsOf(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	return pod.Spec.TopologySpreadConstraints
}

func hardOf(pod *corev1.Pod) (hard []corev1.TopologySpreadConstraint) {
	for _, one := range constraintsOf(pod) {
		if one.WhenUnsatisfiable == corev1.DoNotSchedule {
			hard = append(hard, one)
		}
	}
	return hard
}

// admitAll is what the webhook makes of each replica in the cluster as it is at first. Replicas that
// mount the same are equal.
func (c *injectionCase) admitAll(binary, folder string) (patched []*corev1.Pod, warnings int, err error) {
	s := newSimulation(binary, folder)
	s.arguments = []string{"simulate", "--admit", "-o", "json", "--state", s.path("state.json"), "--policy", s.path("policy.json"),
		"--pod", s.path("pod.json")}
	list := tree{"apiVersion": "v1", "kind": "List", "items": c.everything()}
	if err := errors.Join(s.write("state.json", []byte(toJSON(list))), s.write("policy.json", []byte(toJSON(c.policy)))); err != nil {
		return nil, 0, err
	}
	for i, replica := range c.replicas {
		if i > 0 && toJSON(replica.Spec) == toJSON(c.replicas[i-1].Spec) {
			again := patched[i-1].DeepCopy()
			again.ObjectMeta = replica.ObjectMeta
			patched = append(patched, again)
			continue
		}
		if err := s.write("pod.json", []byte(toJSON(replica))); err != nil {
			return nil, 0, err
		}
		output, err := exec.Command(s.binary, s.arguments...).Output()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.command(), err)
		}
		var answer struct {
			Warnings []string
			Pod      *corev1.Pod
		}
		if err := json.Unmarshal(output, &answer); err != nil || answer.Pod == nil {
			return nil, 0, fmt.Errorf("%s: %w: %s", s.command(), err, output)
		}
		warnings += len(answer.Warnings)
		patched = append(patched, answer.Pod)
	}
	return patched, warnings, nil
}

// everything is the cluster as a state file has it.
func (c *injectionCase) everything() []any {
	var items []any
	for _, one := range c.cluster.Namespaces {
		items = append(items, one)
	}
	for _, one := range c.cluster.Nodes {
		items = append(items, one)
	}
	for _, one := range c.cluster.Pods {
		items = append(items, one)
	}
	for _, one := range c.cluster.Claims {
		items = append(items, one)
	}
	for _, one := range c.cluster.Volumes {
		items = append(items, one)
	}
	return items
}
