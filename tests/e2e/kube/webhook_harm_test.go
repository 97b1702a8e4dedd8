package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"evenkeel.io/tests/e2e/kube/internal/part"
)

// ---- policies ----

const (
	rackKey   = "example.com/rack"             // on the nodes of two zones
	noKey     = "topology.kubernetes.io/zones" // on none: one letter too many
	gpuTaint  = "example.com/gpu"              // on all nodes of zone-4, and on one of zone-0
	noPolicy  = "none"                         // the label tier of pods that no policy is for
	zoneCount = 6
)

// wanted is a constraint of a policy, as its author writes it.
type wanted struct {
	TopologyKey        string `json:"topologyKey"`
	WhenUnsatisfiable  string `json:"whenUnsatisfiable"`
	MaxSkew            int    `json:"maxSkew,omitempty"`
	MinDomains         int    `json:"minDomains,omitempty"`
	NodeAffinityPolicy string `json:"nodeAffinityPolicy,omitempty"`
	NodeTaintsPolicy   string `json:"nodeTaintsPolicy,omitempty"`
}

func required(key string) wanted { return wanted{TopologyKey: key, WhenUnsatisfiable: "DoNotSchedule"} }
func preferred(key string) wanted {
	return wanted{TopologyKey: key, WhenUnsatisfiable: "ScheduleAnyway"}
}

func (w wanted) skew(skew int) wanted       { w.MaxSkew = skew; return w }
func (w wanted) atLeast(domains int) wanted { w.MinDomains = domains; return w }
func (w wanted) ignoringAffinity() wanted   { w.NodeAffinityPolicy = "Ignore"; return w }
func (w wanted) ignoringTaints() wanted     { w.NodeTaintsPolicy = "Ignore"; return w }
func (w wanted) isHard() bool               { return w.WhenUnsatisfiable == "DoNotSchedule" }
func (w wanted) limit() int                 { return max(w.MaxSkew, 1) }

// harmPolicy is for pods with its name as the label tier.
type harmPolicy struct {
	name   string
	spread []wanted
}

var harmPolicies = []harmPolicy{
	{"hard", []wanted{required(zoneKey)}},
	{"wide", []wanted{required(zoneKey).skew(2)}},
	{"min3", []wanted{required(zoneKey).atLeast(3)}},
	{"min5", []wanted{required(zoneKey).atLeast(5)}},
	{"regions", []wanted{required(regionKey), required(zoneKey)}},
	{"hosts", []wanted{required(hostKey)}},
	{"zone-hosts", []wanted{required(zoneKey), required(hostKey)}},
	{"ignore", []wanted{required(zoneKey).ignoringAffinity()}},
	{"taints", []wanted{required(zoneKey).ignoringTaints()}},
	{"misspelt", []wanted{required(noKey), required(zoneKey), preferred(zoneKey)}},
	{"racks", []wanted{required(zoneKey), required(rackKey)}},
	{"example", []wanted{preferred(regionKey), required(zoneKey).atLeast(3)}},
}

// minDomains that it asks for.
func (p *harmPolicy) minDomains() (most int) {
	for _, want := range p.spread {
		most = max(most, want.MinDomains)
	}
	return most
}

// writePolicies writes them into the file that Evenkeel reads.
func (w *webhook) writePolicies(policies []harmPolicy) {
	w.Helper()
	var text strings.Builder
	for _, p := range policies {
		document, err := json.Marshal(map[string]any{
			"kind": "TopologyPolicy", "apiVersion": "evenkeel.io/v1alpha1", "metadata": map[string]any{"name": p.name},
			"spec": map[string]any{
				"match": map[string]any{"objectSelector": map[string]any{"matchLabels": map[string]string{"tier": p.name}}},
				"pods":  map[string]any{"schedulerNames": []string{w.id}, "spread": p.spread},
			},
		})
		w.must(err)
		fmt.Fprintf(&text, "---\n%s\n", document)
	}
	w.must(os.WriteFile(w.policies, []byte(text.String()), 0o644))
}

// ---- the cluster ----

// harmNodes makes four zones for everybody in two regions, and a third region of a zone that is tainted
// and one that is drained. Zones 0 and 1 have racks and a Windows node each, zones 1 and 2 an arm64 node;
// one node has no zone at all.
func (s *stage) harmNodes() {
	s.Helper()
	for zone := range zoneCount {
		labels := map[string]string{zoneKey: fmt.Sprintf("zone-%d", zone), regionKey: fmt.Sprintf("region-%d", zone/2)}
		with := func(more ...string) map[string]string {
			all := maps.Clone(labels)
			all[v1.LabelOSStable], all[v1.LabelArchStable] = "linux", "amd64"
			for i := 0; i < len(more); i += 2 {
				all[more[i]] = more[i+1]
			}
			return all
		}
		for i := range 2 {
			more := []string{"generation", fmt.Sprint(2*zone + i)}
			if zone < 2 {
				more = append(more, rackKey, fmt.Sprintf("rack-%d-%d", zone, i))
			}
			var taints []v1.Taint
			switch zone {
			case 4:
				taints = []v1.Taint{{Key: gpuTaint, Value: "yes", Effect: v1.TaintEffectNoSchedule}}
			case 5:
				taints = []v1.Taint{{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}}
			}
			s.largeNode(fmt.Sprintf("z%d-n%d", zone, i), with(more...), taints...)
		}
		switch zone {
		case 0, 1:
			s.largeNode(fmt.Sprintf("z%d-win", zone), with(v1.LabelOSStable, "windows"),
				v1.Taint{Key: "os", Value: "windows", Effect: v1.TaintEffectNoSchedule})
		}
		switch zone {
		case 1, 2:
			s.largeNode(fmt.Sprintf("z%d-arm", zone), with(v1.LabelArchStable, "arm64"))
		case 0, 3:
			s.largeNode(fmt.Sprintf("z%d-gpu", zone), with("accelerator", "gpu"),
				v1.Taint{Key: gpuTaint, Value: "yes", Effect: v1.TaintEffectNoSchedule})
		}
	}
	s.largeNode("hall", map[string]string{"example.com/hall": "north"})
}

// largeNode has room for whatever the table wants to put on it.
func (s *stage) largeNode(name string, labels map[string]string, taints ...v1.Taint) {
	s.Helper()
	node := s.node(name, labels, taints...)
	node.Status.Allocatable[v1.ResourcePods] = resource.MustParse("10000")
	node.Status.Capacity = node.Status.Allocatable
	node, err := s.Client.CoreV1().Nodes().UpdateStatus(s.ctx, node, metav1.UpdateOptions{})
	s.must(err)
	if slices.ContainsFunc(taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable }) {
		node.Spec.Unschedulable = true
		_, err = s.Client.CoreV1().Nodes().Update(s.ctx, node, metav1.UpdateOptions{})
		s.must(err)
	}
}

// ---- the table ----

// group is the pods of one shape under one policy; nil: under none, as the cluster would place them.
type group struct {
	*stage
	policy *harmPolicy
	shape  *shape
	id     string    // the name of whatever owns the pods
	pods   []*v1.Pod // its own, as they are in the end
	stuck  bool      // a Deployment that has not come to the end of a step
}

func (g *group) String() string { return g.tier() + " x " + g.shape.name }

func (g *group) tier() string {
	if g.policy == nil {
		return noPolicy
	}
	return g.policy.name
}

// pod is the i-th, as its author writes it.
func (g *group) pod(i int) *v1.Pod {
	pod := g.newPod(fmt.Sprintf("%s-%d", g.id, i), g.id, g.stage.id)
	pod.Labels["tier"] = g.tier()
	if g.shape.change != nil {
		g.shape.change(g, i, pod)
	}
	return pod
}

func (g *group) running() (running int) {
	for i := range g.pods {
		if g.pods[i].Spec.NodeName != "" {
			running++
		}
	}
	return running
}

// TestWebhookHarm: every shape under every policy, on a real kube-scheduler without an extender, beside
// the same shape without a policy. No pod is Pending that would run without Evenkeel, unless the policy's
// own words ask for it; and where the policy can hold, it holds. With -short every third policy; with $PART those that it says.
func TestWebhookHarm(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	s.harmNodes()
	s.harmVolumes()
	w.writePolicies(harmPolicies)
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.until("pods are patched, and volumes are known", func(ctx context.Context) (bool, error) {
		probe := s.newPod("probe", "probe", s.id)
		probe.Labels["tier"] = "hard"
		probe.Spec.Volumes = mounts("zone-0")
		pod, err := w.try(ctx, probe)
		return err == nil && len(pod.Spec.TopologySpreadConstraints) > 0 &&
			pod.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable == v1.ScheduleAnyway, err
	})
	s.scheduler(s.id, nil)
	groups, pods := s.harmGroups(), s.watchPods()
	s.placeBySteps(groups, pods)
	s.placeByControllers(groups, pods)
	s.judge(groups, pods)
}

func (s *stage) harmGroups() (groups []*group) {
	policies := []*harmPolicy{nil}
	asked, err := part.FromEnvironment()
	s.must(err)
	for i := range harmPolicies {
		if asked.Has(i) && (!testing.Short() || i%3 == 0) {
			policies = append(policies, &harmPolicies[i])
		}
	}
	for p, policy := range policies {
		for i := range harmShapes {
			groups = append(groups, &group{stage: s, policy: policy, shape: &harmShapes[i],
				id: fmt.Sprintf("p%d-s%d", p, i)})
		}
	}
	s.Logf("e2e: %d shapes x %d policies", len(harmShapes), len(policies)-1)
	return groups
}

// each does something for all groups, several at a time.
func (s *stage) each(groups []*group, do func(g *group) error) {
	s.Helper()
	work := make(chan *group)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for g := range work {
				if err := do(g); err != nil {
					s.Errorf("%v: %v", g, err)
				}
			}
		})
	}
	for _, g := range groups {
		work <- g
	}
	close(work)
	running.Wait()
}

// placeBySteps creates the first pod of each group, and the next when kube-scheduler has found a node for
// all of these or refused them: sibling by sibling.
func (s *stage) placeBySteps(groups []*group, pods cache.SharedIndexInformer) {
	s.Helper()
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g.shape.deployed != nil })
	created := 0
	for i := 0; ; i++ {
		var next []*group
		for _, g := range groups {
			if i < g.shape.pods {
				next = append(next, g)
			}
		}
		if len(next) == 0 {
			return
		}
		s.each(next, func(g *group) error {
			_, err := g.Client.CoreV1().Pods(g.stage.id).Create(g.ctx, g.pod(i), metav1.CreateOptions{})
			return err
		})
		created += len(next)
		s.waitDecided(pods, created)
	}
}

// watchPods follows all pods of the stage. More of them come at once than a plain watch lives through.
func (s *stage) watchPods() cache.SharedIndexInformer {
	s.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithNamespace(s.id))
	pods := factory.Core().V1().Pods().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	s.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	s.until("pods are listed", func(context.Context) (bool, error) { return pods.HasSynced(), nil })
	return pods
}

// waitDecided returns when so many pods have got a node or been refused.
func (s *stage) waitDecided(pods cache.SharedIndexInformer, count int) {
	s.Helper()
	decided := 0
	s.until("kube-scheduler has decided", func(context.Context) (bool, error) {
		decided = 0
		for _, object := range pods.GetStore().List() {
			if pod := object.(*v1.Pod); pod.Spec.NodeName != "" || refused(pod) {
				decided++
			}
		}
		return decided >= count, fmt.Errorf("of %d pods only about %d", count, decided)
	})
}

// list gives each group its pods as they are now.
func (s *stage) list(groups []*group, pods cache.SharedIndexInformer) {
	byID := map[string]*group{}
	for _, g := range groups {
		g.pods = nil
		byID[g.id] = g
	}
	for _, object := range pods.GetStore().List() {
		pod := object.(*v1.Pod)
		if parts := strings.SplitN(pod.Name, "-", 3); len(parts) == 3 && byID[parts[0]+"-"+parts[1]] != nil {
			g := byID[parts[0]+"-"+parts[1]]
			g.pods = append(g.pods, pod)
		}
	}
}

// ---- the judge ----

// judge lists what is wrong. kube-scheduler looks at pods again for a while, so a pod that is Pending gets
// some time before that is held against anybody.
func (s *stage) judge(groups []*group, pods cache.SharedIndexInformer) {
	s.Helper()
	j := s.newJudge()
	var wrong []string
	deadline := time.Now().Add(s.patience)
	for {
		s.list(groups, pods)
		if wrong = j.pending(groups); len(wrong) == 0 || time.Now().After(deadline) {
			break
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(time.Second):
		}
	}
	for _, one := range append(wrong, j.uneven(groups)...) {
		s.Error(one)
	}
	for _, e := range harmExcuses {
		if e.used == 0 && !testing.Short() && os.Getenv("PART") == "" {
			s.Errorf("nobody needs the excuse that %s", e.reason)
		}
	}
}

type judge struct {
	nodes []v1.Node
	of    map[string]*v1.Node
}

func (s *stage) newJudge() *judge {
	nodes, err := s.Client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: poolLabel + "=" + s.id})
	s.must(err)
	j := &judge{nodes: nodes.Items, of: map[string]*v1.Node{}}
	for i := range j.nodes {
		j.of[j.nodes[i].Name] = &j.nodes[i]
	}
	return j
}

// excuse is what a policy's own words ask for: that of a group's pods some are Pending.
type excuse struct {
	reason  string
	excuses func(j *judge, g *group) (atLeast int, ok bool) // so many run all the same
	used    int
}

// pending says which groups have fewer pods running than the same shape has without a policy.
func (j *judge) pending(groups []*group) (wrong []string) {
	stock := map[*shape]int{}
	for i := range harmExcuses {
		harmExcuses[i].used = 0
	}
	for _, g := range groups {
		running := g.running()
		if g.policy == nil {
			stock[g.shape] = running
			if want := g.shape.count(); running != want {
				wrong = append(wrong, fmt.Sprintf("%v: %d pods run, not %d: %s", g, running, want, g.whyPending()))
			}
		} else if running < stock[g.shape] && !j.excused(g, running) {
			wrong = append(wrong, fmt.Sprintf("%v: %d pods run, and %d without Evenkeel: %s", g, running, stock[g.shape], g.whyPending()))
		}
	}
	return wrong
}

func (j *judge) excused(g *group, running int) bool {
	for i := range harmExcuses {
		e := &harmExcuses[i]
		if atLeast, ok := e.excuses(j, g); ok && running >= atLeast {
			e.used++
			return true
		}
	}
	return false
}

func (g *group) whyPending() string {
	for i := range g.pods {
		if g.pods[i].Spec.NodeName != "" {
			continue
		}
		for _, c := range g.pods[i].Status.Conditions {
			if c.Type == v1.PodScheduled {
				return g.pods[i].Name + ": " + c.Message
			}
		}
	}
	return ""
}

// uneven says which groups are not spread as their policy wants it and as they could be.
func (j *judge) uneven(groups []*group) (wrong []string) {
	for _, g := range groups {
		if g.policy == nil {
			continue
		}
		for i := range g.pods {
			if added := g.pods[i].Spec.TopologySpreadConstraints; g.shape.partOf(g.pods[i]) == notSpread && len(added) > 0 {
				wrong = append(wrong, fmt.Sprintf("%v: %s is not to be spread, and has %v", g, g.pods[i].Name, added))
			}
		}
		keys := j.keysOf(g)
		for _, want := range g.policy.spread {
			if !want.isHard() || !slices.Contains(keys, want.TopologyKey) || g.shape.isLoose(want.TopologyKey) || j.ignoresTerms(g, want) {
				continue
			}
			for part, counts := range j.counts(g, want, keys) {
				least, most := slices.Min(slices.Collect(maps.Values(counts))), slices.Max(slices.Collect(maps.Values(counts)))
				if most-least > want.limit() {
					wrong = append(wrong, fmt.Sprintf("%v: pods by %s%s: %v", g, want.TopologyKey, part, counts))
				}
			}
		}
	}
	return wrong
}

// ignoresTerms: with nodeAffinityPolicy or nodeTaintsPolicy Ignore zones count that the pods may not use, so
// nothing can hold.
func (j *judge) ignoresTerms(g *group, want wanted) bool {
	usable := j.zonesOf(g, func(pod *v1.Pod, n *v1.Node) bool { return j.reaches(pod, n, false) })
	counted := usable
	switch {
	case want.NodeAffinityPolicy == "Ignore":
		counted = j.zonesOf(g, func(pod *v1.Pod, n *v1.Node) bool { return j.tolerates(pod, n, false) })
	case want.NodeTaintsPolicy == "Ignore":
		counted = j.zonesOf(g, fits)
	}
	return len(usable) < len(counted)
}

// fits says whether the pod's own terms let it onto the node, whatever its taints are.
func fits(pod *v1.Pod, n *v1.Node) bool {
	good, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n)
	return err == nil && good
}

// keysOf are the keys of hard constraints that some node has together which the group may use: its own, and
// of the policy's the first ones. One that would keep the group out of a domain of those before it is none,
// nor is one that a node lacks which counts for the pods' own.
func (j *judge) keysOf(g *group) (keys []string) {
	own := j.ownKeysOf(g)
	keys = slices.Clone(own)
	for _, want := range g.policy.spread {
		if !want.isHard() {
			continue
		}
		more := append(slices.Clone(keys), want.TopologyKey)
		loses := func(key string) bool {
			return key != hostKey && len(j.domainsOf(g, key, more)) < len(j.domainsOf(g, key, keys))
		}
		if len(j.domainsOf(g, want.TopologyKey, more)) > 0 && !slices.ContainsFunc(keys, loses) &&
			(len(own) == 0 || !j.someLack(g, want.TopologyKey, keys)) {
			keys = more
		}
	}
	return keys
}

func (j *judge) ownKeysOf(g *group) (keys []string) {
	for _, own := range g.pod(g.shape.pods - 1).Spec.TopologySpreadConstraints {
		if own.WhenUnsatisfiable == v1.DoNotSchedule {
			keys = append(keys, own.TopologyKey)
		}
	}
	return keys
}

// someLack the key, of the nodes with other keys that kube-scheduler counts for the group: it ignores taints.
func (j *judge) someLack(g *group, key string, keys []string) bool {
	pod := g.pod(g.shape.pods - 1)
	return slices.ContainsFunc(j.nodes, func(n v1.Node) bool {
		return hasKeys(&n, keys) && n.Labels[key] == "" && fits(pod, &n)
	})
}

// domainsOf a key that the group may use by its own terms, on nodes that have other keys, too.
func (j *judge) domainsOf(g *group, key string, keys []string) map[string]bool {
	domains, pod := map[string]bool{}, g.pod(g.shape.pods-1)
	for i := range j.nodes {
		if value := j.nodes[i].Labels[key]; value != "" && hasKeys(&j.nodes[i], keys) && j.reaches(pod, &j.nodes[i], false) {
			domains[value] = true
		}
	}
	return domains
}

// counts are the pods a domain that the group can be in, by what is spread by itself: "" for the group.
func (j *judge) counts(g *group, want wanted, keys []string) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for i := range g.pods {
		part := g.shape.partOf(g.pods[i])
		if part == notSpread {
			continue
		}
		if counts[part] == nil {
			counts[part] = map[string]int{}
			for n := range j.nodes {
				if hasKeys(&j.nodes[n], keys) && j.reaches(g.pods[i], &j.nodes[n], true) {
					counts[part][j.nodes[n].Labels[want.TopologyKey]] += 0
				}
			}
		}
		if node := j.of[g.pods[i].Spec.NodeName]; node != nil {
			counts[part][node.Labels[want.TopologyKey]]++
		}
	}
	return counts
}

func hasKeys(node *v1.Node, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return node.Labels[key] == "" })
}

// reaches says whether a pod's own terms let it on a node; and `now`, although it may be drained.
func (j *judge) reaches(pod *v1.Pod, node *v1.Node, now bool) bool {
	fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return err == nil && fits && j.tolerates(pod, node, now)
}

func (j *judge) tolerates(pod *v1.Pod, node *v1.Node, now bool) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == v1.TaintNodeUnschedulable && !now {
			continue
		}
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool {
			return (t.Key == "" || t.Key == taint.Key) && (t.Effect == "" || t.Effect == taint.Effect) &&
				(t.Operator == v1.TolerationOpExists || t.Value == taint.Value)
		})
		if !tolerated {
			return false
		}
	}
	return true
}

// zonesOf are the zones that a group may use by its own terms.
func (j *judge) zonesOf(g *group, may func(pod *v1.Pod, node *v1.Node) bool) map[string]bool {
	zones, pod := map[string]bool{}, g.pod(g.shape.pods-1)
	for i := range j.nodes {
		if zone := j.nodes[i].Labels[zoneKey]; zone != "" && may(pod, &j.nodes[i]) {
			zones[zone] = true
		}
	}
	return zones
}

// ---- what policies ask for in their own words ----

var harmExcuses = []excuse{
	{reason: "of the zones that the pods may use, as many as minDomains asks for, one is drained: its author wants pods to wait",
		excuses: func(j *judge, g *group) (int, bool) {
			later := j.zonesOf(g, func(pod *v1.Pod, n *v1.Node) bool { return j.reaches(pod, n, false) })
			now := j.zonesOf(g, func(pod *v1.Pod, n *v1.Node) bool { return j.reaches(pod, n, true) })
			return min(g.shape.count(), len(now)), len(later) >= g.policy.minDomains() && len(now) < g.policy.minDomains()
		}},
	{reason: "nodeTaintsPolicy Ignore has zones count whose nodes are all tainted: they hold the fewest pods for ever",
		excuses: func(j *judge, g *group) (int, bool) {
			counted := j.zonesOf(g, fits)
			usable := j.zonesOf(g, func(pod *v1.Pod, n *v1.Node) bool { return j.reaches(pod, n, true) })
			return min(g.shape.count(), len(usable)), g.policy.name == "taints" && len(usable) < len(counted)
		}},
	{reason: "zones have room for one pod and for three, and a policy that allows a difference of one says so",
		excuses: func(_ *judge, g *group) (int, bool) {
			return 3, g.shape.name == "one a node, in zones of one and of three nodes" && slices.Contains(
				[]string{"hard", "min3", "min5", "regions", "zone-hosts", "taints", "misspelt", "racks", "example"}, g.policy.name)
		}},
	{reason: "regions and zones that are hard both leave no place where one region has pods that must be in one of its zones",
		excuses: func(_ *judge, g *group) (int, bool) {
			return 5, g.shape.name == "every second one pinned" && g.policy.name == "regions"
		}},
}
