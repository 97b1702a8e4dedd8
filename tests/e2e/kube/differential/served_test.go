package differential

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"evenkeel.io/tests/e2e/kube/differential/served"
	"evenkeel.io/tests/e2e/kube/peer/intree"
)

const podsPerServer = 20

// TestServed asks one daemon about many pods, some twice: what it remembers of one question must
// not show in the next. It asks all verbs as kube-scheduler would, preempt among them. One case is
// a cluster, so there are fewer.
func TestServed(t *testing.T) {
	binary, folders := evenkeelBinary(t), workerFolders(t)
	var tally servedTally
	forEachCase(t, len(folders), func(worker, number int) bool {
		if number%podsPerServer != 0 && *numberFlag < 0 {
			return true
		}
		dice := diceFor(number)
		q := dice.anyQuestion(1)
		err := q.serve(dice, newSimulation(binary, folders[worker]), &tally)
		if err == nil {
			return true
		}
		folder, kept := q.keep(binary, "evenkeel-differential-served")
		t.Errorf("seed %d, case %d (cluster in %s %v): %v", seed(), number, folder, kept, err)
		return false
	})
	tally.report(t)
}

// serve asks about pods of its own; the question gives the cluster and the rules.
func (q *question) serve(d dice, s *simulation, tally *servedTally) error {
	rules, err := q.prepareCluster(s)
	if err != nil {
		return err
	}
	daemon, err := served.Start(s.binary, append(rules, "--state", s.path("state.json"))...)
	if err != nil {
		return err
	}
	defer daemon.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := intree.NewCluster(ctx, &q.cluster, q.args)
	if err != nil {
		return err
	}
	var pods []*corev1.Pod
	for range podsPerServer {
		pod := d.incomingPod(q.cluster.Pods, d.IntN(4))
		pods = append(pods, pod)
		for d.chance(50) {
			pods = append(pods, d.twin(pod))
		}
	}
	for _, pod := range pods {
		q.pod = pod
		c := conversation{ctx: ctx, cluster: cluster, url: daemon.URL, pod: pod, forPlugin: q.podForPlugin(), tally: tally}
		if err := errors.Join(c.filter(), c.prioritize(), c.preempt(d, q.cluster.Pods)); err != nil {
			return fmt.Errorf("pod %s: %w", toJSON(pod), err)
		}
	}
	return nil
}

// twin differs from the pod in a detail or two, or in none: what is remembered under a name that
// leaves the detail out shows.
func (d dice) twin(pod *corev1.Pod) *corev1.Pod {
	twin := pod.DeepCopy()
	other := d.incomingPod([]*corev1.Pod{pod}, len(pod.Spec.TopologySpreadConstraints))
	for i := range twin.Spec.Tolerations {
		one, from := &twin.Spec.Tolerations[i], d.toleration()
		pick(d, func() { one.Key = from.Key }, func() { one.Operator = from.Operator },
			func() { one.Value = from.Value }, func() { one.Effect = from.Effect }, func() {})()
	}
	eachTerm(&question{pod: twin}, func(term *corev1.NodeSelectorTerm) {
		for i := range term.MatchExpressions {
			one, from := &term.MatchExpressions[i], d.nodeRequirement()
			pick(d, func() { one.Operator = from.Operator }, func() { one.Values = from.Values },
				func() { one.Key = from.Key }, func() {})()
		}
	})
	for i := range twin.Spec.TopologySpreadConstraints {
		one, from := &twin.Spec.TopologySpreadConstraints[i], other.Spec.TopologySpreadConstraints[i]
		pick(d, func() { one.TopologyKey = from.TopologyKey }, func() { one.LabelSelector = from.LabelSelector },
			func() { one.MatchLabelKeys = from.MatchLabelKeys }, func() { one.NodeAffinityPolicy = from.NodeAffinityPolicy },
			func() { one.NodeTaintsPolicy = from.NodeTaintsPolicy }, func() {}, func() {})()
	}
	pick(d, func() { twin.Namespace = other.Namespace }, func() { twin.Spec.NodeSelector = other.Spec.NodeSelector },
		func() { twin.Spec.Affinity = other.Spec.Affinity }, func() {}, func() {})()
	return twin
}

// conversation asks both about one pod.
type conversation struct {
	ctx            context.Context
	cluster        *intree.Cluster
	url            string
	pod, forPlugin *corev1.Pod
	tally          *servedTally
}

func (c *conversation) args() (*extenderv1.ExtenderArgs, []string) {
	names := c.cluster.AllNodes()
	return &extenderv1.ExtenderArgs{Pod: c.pod, NodeNames: &names}, names
}

func (c *conversation) filter() error {
	args, names := c.args()
	var ours extenderv1.ExtenderFilterResult
	if err := served.Post(c.url, "filter", args, &ours); err != nil {
		return err
	}
	theirs, err := c.cluster.Filter(c.ctx, c.forPlugin, names)
	if err != nil {
		return err
	}
	if ours.Error != "" || ours.NodeNames == nil {
		return fmt.Errorf("filter answers %s", toJSON(ours))
	}
	for i, name := range names {
		want := [...]bool{theirs[i] == fwk.Success, theirs[i] == fwk.Unschedulable,
			theirs[i] == fwk.UnschedulableAndUnresolvable}
		_, failed := ours.FailedNodes[name]
		_, unresolvable := ours.FailedAndUnresolvableNodes[name]
		got := [...]bool{slices.Contains(*ours.NodeNames, name), failed, unresolvable}
		if got != want {
			return fmt.Errorf("filter of %s: %v, plugin %v", name, got, want)
		}
		c.tally.count("filter: " + theirs[i].String())
	}
	return nil
}

func (c *conversation) prioritize() error {
	args, names := c.args()
	var ours extenderv1.HostPriorityList
	if err := served.Post(c.url, "prioritize", args, &ours); err != nil {
		return err
	}
	scores, err := c.cluster.Score(c.ctx, c.forPlugin, names)
	if err != nil {
		return err
	}
	for _, one := range ours {
		c.tally.count(fmt.Sprintf("prioritize: %d", one.Score))
	}
	if err := prioritiesAgree(ours, names, scores); err != nil {
		return fmt.Errorf("prioritize: %w", err)
	}
	return nil
}

// preempt names some pods of every node as victims. No terminating ones: there the plugin subtracts
// what it never added, and we do not.
func (c *conversation) preempt(d dice, pods []*corev1.Pod) error {
	victims := map[string][]types.UID{}
	args := extenderv1.ExtenderPreemptionArgs{Pod: c.pod, NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	for _, node := range c.cluster.AllNodes() {
		meta := &extenderv1.MetaVictims{}
		victims[node] = nil
		for _, pod := range pods {
			if pod.Spec.NodeName == node && intree.InCache(pod) && pod.DeletionTimestamp == nil && d.chance(50) {
				victims[node] = append(victims[node], pod.UID)
				meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
		}
		args.NodeNameToMetaVictims[node] = meta
	}
	fits, err := c.cluster.Preempt(c.ctx, c.forPlugin, victims)
	if err != nil {
		return err
	}
	want := map[string]*extenderv1.MetaVictims{}
	for node, fit := range fits {
		c.tally.count(fmt.Sprintf("preempt: %v", fit))
		if fit {
			want[node] = args.NodeNameToMetaVictims[node]
		}
	}
	var ours extenderv1.ExtenderPreemptionResult
	if err := served.Post(c.url, "preempt", args, &ours); err != nil {
		return err
	}
	if got := victimsByNode(ours.NodeNameToMetaVictims); !maps.Equal(got, victimsByNode(want)) {
		return fmt.Errorf("preempt of %s: %v, plugin %v", toJSON(args.NodeNameToMetaVictims), got, victimsByNode(want))
	}
	return nil
}

// victimsByNode writes lists of victims so that none is the same as an empty one.
func victimsByNode(byNode map[string]*extenderv1.MetaVictims) map[string]string {
	written := map[string]string{}
	for node, victims := range byNode {
		written[node] = toJSON(append([]*extenderv1.MetaPod{}, victims.Pods...))
	}
	return written
}

// servedTally counts answers by kind.
type servedTally struct {
	mutex  sync.Mutex
	counts map[string]int // guarded by mutex
}

func (t *servedTally) count(what string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[what]++
}

func (t *servedTally) report(tb testing.TB) {
	for _, what := range sortedKeys(t.counts) {
		tb.Logf("%7d %s", t.counts[what], what)
	}
	// three verdicts, priorities 0 to 10, and whether a preemption helps
	if kinds := 3 + 11 + 2; len(t.counts) < kinds && caseCount() >= 5000 && *numberFlag < 0 && !tb.Failed() {
		tb.Errorf("only %d kinds of answers: the cases are too dull", len(t.counts))
	}
}
