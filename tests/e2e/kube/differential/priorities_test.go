package differential

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

const (
	groupsPerCrowd    = 4
	questionsPerGroup = 3
	casesPerCrowd     = groupsPerCrowd * questionsPerGroup
	podsPerDomain     = 300
	prioritySteps     = int(extenderv1.MaxExtenderPriority) + 1
)

// TestPriorities: what kube-scheduler gets from prioritize, where a domain has one to 300 pods. The best
// nodes are exactly those that the plugin gives its highest score, and no two are in another order.
func TestPriorities(t *testing.T) {
	driver, folders := compileHandlers(t), workerFolders(t)
	askers := make([]*handlers, len(folders))
	for i := range askers {
		askers[i] = startHandlers(t, driver)
	}
	var tally priorityTally
	forEachCase(t, len(folders), func(worker, number int) bool {
		if number%casesPerCrowd != 0 && *numberFlag < 0 {
			return true // asked with the first of its cluster
		}
		c := diceFor(number - number%casesPerCrowd).crowd()
		err := c.compare(askers[worker], filepath.Join(folders[worker], "evenkeel.json"), &tally)
		if err != nil {
			t.Errorf("seed %d, case %d: %v", seed(), number, err)
		}
		return err == nil
	})
	tally.report(t)
}

// ---- clusters ----

// crowd is a cluster full of pods, and pods to ask about.
type crowd struct {
	objects   intree.Objects
	args      *config.PodTopologySpreadArgs
	questions []crowdQuestion
}

type crowdQuestion struct {
	pod        *corev1.Pod
	candidates []string
}

// logUniform prefers small numbers.
func (d dice) logUniform(from, to int) int {
	low, high := math.Log(float64(from)), math.Log(float64(to+1))
	return min(to, int(math.Exp(low+d.Float64()*(high-low))))
}

func (d dice) crowd() *crowd {
	c := &crowd{args: intree.SystemDefaulting()}
	zones := d.logUniform(2, 30)
	nodesOf := make([][]*corev1.Node, zones)
	for zone := range zones {
		for range 1 + d.IntN(3) {
			node := d.crowdNode(len(c.objects.Nodes), zone)
			nodesOf[zone] = append(nodesOf[zone], node)
			c.objects.Nodes = append(c.objects.Nodes, node)
		}
	}
	for group := range groupsPerCrowd {
		d.crowdPods(c, fmt.Sprintf("group-%d", group), nodesOf)
	}
	if d.chance(40) {
		c.args = d.softDefaults()
	}
	for number := range casesPerCrowd {
		c.questions = append(c.questions, d.crowdQuestion(c, fmt.Sprintf("group-%d", number%groupsPerCrowd)))
	}
	return c
}

func (d dice) crowdNode(number, zone int) *corev1.Node {
	name := fmt.Sprintf("node-%d", number)
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
			zoneKey: fmt.Sprintf("zone-%d", zone), hostnameKey: name, rackKey: fmt.Sprintf("rack-%d", d.IntN(12))}},
	}
	if d.chance(3) {
		delete(node.Labels, pick(d, zoneKey, hostnameKey, rackKey))
	}
	if d.chance(5) {
		node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	}
	return node
}

// crowdPods puts the pods of a group into every zone, and mostly makes a Service that selects them.
func (d dice) crowdPods(c *crowd, group string, nodesOf [][]*corev1.Node) {
	usual := d.logUniform(1, podsPerDomain)
	differ := pick(d, 1, 1, 2, 3, usual) // by how much zones do
	for zone, nodes := range nodesOf {
		count := max(1, min(podsPerDomain, usual+d.IntN(differ+1)-differ/2))
		favourite := d.IntN(len(nodes) + 1) // of one of them, or of none
		for i := range count {
			at := i % len(nodes)
			if favourite < len(nodes) && d.chance(10) {
				at = favourite
			}
			name := fmt.Sprintf("%s-%d-%d", group, zone, i)
			pod := &corev1.Pod{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Namespace: "shop",
					Labels: map[string]string{"app": group, "tier": pick(d, "front", "back")}},
				Spec:   corev1.PodSpec{NodeName: nodes[at].Name},
				Status: corev1.PodStatus{Phase: corev1.PodRunning},
			}
			c.objects.Pods = append(c.objects.Pods, pod)
		}
	}
	if d.chance(20) {
		return // defaults do not know what to count
	}
	c.objects.Owners = append(c.objects.Owners, &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: group, Namespace: "shop", UID: types.UID("service-" + group)},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": group}},
	})
}

func (d dice) softConstraints(selector *metav1.LabelSelector) []corev1.TopologySpreadConstraint {
	keys := []string{zoneKey, hostnameKey, rackKey}
	d.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if d.chance(50) && keys[0] == rackKey {
		keys[0], keys[1] = keys[1], keys[0]
	}
	var constraints []corev1.TopologySpreadConstraint
	for _, key := range keys[:pick(d, 1, 1, 2, 2, 3)] {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew: pick[int32](d, 1, 1, 1, 2, 3, 5), TopologyKey: key,
			WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector,
		})
	}
	return constraints
}

func (d dice) softDefaults() *config.PodTopologySpreadArgs {
	return &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting, DefaultConstraints: d.softConstraints(nil)}
}

func (d dice) crowdQuestion(c *crowd, group string) crowdQuestion {
	q := crowdQuestion{pod: &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "incoming", UID: types.UID("incoming-" + group), Namespace: "shop",
			Labels: map[string]string{"app": group, "tier": pick(d, "front", "back")}},
	}}
	if d.chance(75) {
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": group}}
		q.pod.Spec.TopologySpreadConstraints = d.softConstraints(selector)
	}
	for i := range q.pod.Spec.TopologySpreadConstraints {
		one := &q.pod.Spec.TopologySpreadConstraints[i]
		if d.chance(15) {
			one.MatchLabelKeys = []string{"tier"}
		}
		if d.chance(20) {
			honor := corev1.NodeInclusionPolicyHonor
			one.NodeTaintsPolicy = &honor
		}
	}
	most := pick(d, 100, 100, 60)
	for _, node := range c.objects.Nodes {
		if d.chance(most) || q.candidates == nil {
			q.candidates = append(q.candidates, node.Name)
		}
	}
	d.Shuffle(len(q.candidates), func(i, j int) {
		q.candidates[i], q.candidates[j] = q.candidates[j], q.candidates[i]
	})
	return q
}

// ---- asking both ----

// write makes it the driver's cluster.
func (c *crowd) write(ours *handlers, configuration string) error {
	rules := configurationOf(c.args)
	rules["reservations"] = map[string]any{"assume": false}
	if err := os.WriteFile(configuration, []byte(toJSON(rules)), 0o600); err != nil {
		return err
	}
	if _, err := ours.run("open", []byte(configuration)); err != nil {
		return err
	}
	objects := []byte(`{"apiVersion":"v1","kind":"List","items":[`)
	for _, node := range c.objects.Nodes {
		objects = append(append(objects, toJSON(node)...), ',')
	}
	for _, owner := range c.objects.Owners {
		objects = append(append(objects, toJSON(owner)...), ',')
	}
	for _, pod := range c.objects.Pods { // many: toJSON takes longer than all the rest
		objects = fmt.Appendf(objects, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":%q,"uid":%q,`+
			`"labels":{"app":%q,"tier":%q}},"spec":{"nodeName":%q},"status":{"phase":"Running"}},`,
			pod.Name, pod.Namespace, pod.UID, pod.Labels["app"], pod.Labels["tier"], pod.Spec.NodeName)
	}
	_, err := ours.run("apply", append(objects[:len(objects)-1], ']', '}'))
	return err
}

func (c *crowd) compare(ours *handlers, configuration string, tally *priorityTally) error {
	if err := c.write(ours, configuration); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	theirs, err := intree.NewCluster(ctx, &c.objects, c.args)
	if err != nil {
		return err
	}
	for _, q := range c.questions {
		var priorities extenderv1.HostPriorityList
		args := &extenderv1.ExtenderArgs{Pod: q.pod, NodeNames: &q.candidates}
		if err := ours.ask("prioritize", args, &priorities); err != nil {
			return err
		}
		scores, err := theirs.Score(ctx, q.pod, q.candidates)
		if err != nil {
			return err
		}
		if err := prioritiesAgree(priorities, q.candidates, scores); err != nil {
			return fmt.Errorf("%w: %d nodes, pod %s", err, len(c.objects.Nodes), toJSON(q.pod))
		}
		tally.add(scores)
	}
	return nil
}

// prioritiesAgree holds the priorities of the nodes against the plugin's normalised scores; nil are those
// of a plugin that has no opinion.
func prioritiesAgree(ours extenderv1.HostPriorityList, names []string, scores *intree.Scores) error {
	if scores == nil {
		if len(ours) > 0 {
			return fmt.Errorf("%v, where the plugin has no opinion", ours)
		}
		return nil
	}
	if len(ours) != len(names) {
		return fmt.Errorf("%d priorities for %d nodes", len(ours), len(names))
	}
	priorityOf := map[int64]int64{} // of a score
	for i, name := range names {
		score, priority := scores.Normalized[i], ours[i].Score
		known, seen := priorityOf[score]
		switch {
		case ours[i].Host != name:
			return fmt.Errorf("priority %d is of node %s instead of %s", i, ours[i].Host, name)
		case priority < 0 || priority > extenderv1.MaxExtenderPriority:
			return fmt.Errorf("priority %d of node %s", priority, name)
		case seen && known != priority:
			return fmt.Errorf("score %d has priorities %d and %d", score, known, priority)
		}
		priorityOf[score] = priority
	}
	return keepsOrder(priorityOf)
}

func keepsOrder(priorityOf map[int64]int64) error {
	scores := make([]int64, 0, len(priorityOf))
	for score := range priorityOf {
		scores = append(scores, score)
	}
	slices.Sort(scores)
	best := scores[len(scores)-1]
	if best > 0 && priorityOf[best] != extenderv1.MaxExtenderPriority {
		return fmt.Errorf("the best score, %d, has priority %d", best, priorityOf[best])
	}
	for i, score := range scores[1:] {
		below := scores[i]
		low, high := priorityOf[below], priorityOf[score]
		if low > high || low == high && (score == best || len(scores) <= prioritySteps) {
			return fmt.Errorf("scores %d and %d of %v have priorities %d and %d", below, score, scores, low, high)
		}
	}
	return nil
}

// priorityTally counts what the cases were like.
type priorityTally struct {
	mutex  sync.Mutex
	counts map[string]int // guarded by mutex
}

func (t *priorityTally) add(scores *intree.Scores) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts["cases"]++
	if scores == nil {
		t.counts["no opinion"]++
		return
	}
	different := slices.Compact(slices.Sorted(slices.Values(scores.Normalized)))
	switch n := len(different); {
	case n == 1:
		t.counts["all equal"]++
	case n <= prioritySteps:
		t.counts["2 to 11 scores"]++
	default:
		t.counts["more than 11 scores"]++
	}
	if n := len(different); n > 1 && different[n-1]-different[n-2] < 5 {
		t.counts["second best less than 5 points below"]++
	}
}

func (t *priorityTally) report(tb testing.TB) {
	for _, what := range []string{"cases", "no opinion", "all equal", "2 to 11 scores", "more than 11 scores",
		"second best less than 5 points below"} {
		tb.Logf("%7d %s", t.counts[what], what)
		if t.counts[what] == 0 && t.counts["cases"] >= 1000 {
			tb.Errorf("no %s: the cases are too dull", what)
		}
	}
}
