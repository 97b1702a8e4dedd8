package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

var stepsFlag = flag.Int("steps", 25, "how many steps TestRandomStory takes in each mode")

const (
	storyClusters   = 24 // at most
	storyPlacements = 5  // at most
	storyLease      = 4 * time.Second
	// A look at the hub is of several requests.
	storyLook = 200 * time.Millisecond
)

// look is what the hub had at a moment.
type look struct {
	clusters   map[string]*clusterv1.ManagedCluster
	placements map[string]*clusterv1beta1.Placement
	decided    map[string][]clusterv1beta1.ClusterDecision // by Placement
}

func (w *world) look(ctx context.Context) (*look, error) {
	l := &look{clusters: map[string]*clusterv1.ManagedCluster{}, placements: map[string]*clusterv1beta1.Placement{},
		decided: map[string][]clusterv1beta1.ClusterDecision{}}
	clusters, err := w.h.Clusters.ClusterV1().ManagedClusters().List(ctx, metav1.ListOptions{LabelSelector: setLabel + "=" + w.name})
	if err != nil {
		return nil, err
	}
	decisions, err := w.h.Clusters.ClusterV1beta1().PlacementDecisions(w.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	placements, err := w.h.Clusters.ClusterV1beta1().Placements(w.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range clusters.Items {
		l.clusters[clusters.Items[i].Name] = &clusters.Items[i]
	}
	for i := range placements.Items {
		l.placements[placements.Items[i].Name] = &placements.Items[i]
	}
	for _, d := range decisions.Items {
		name := d.Labels[clusterv1beta1.PlacementLabel]
		l.decided[name] = append(l.decided[name], d.Status.Decisions...)
	}
	return l, nil
}

// fits are the clusters that pass OCM's filters: no taint, and the tier that is asked for.
func (l *look) fits(p *clusterv1beta1.Placement) (names []string) {
	tier := ""
	if len(p.Spec.Predicates) > 0 {
		tier = p.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels["tier"]
	}
	for name, c := range l.clusters {
		if len(c.Spec.Taints) == 0 && (tier == "" || c.Labels["tier"] == tier) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// inputs of what the condition of a Placement is about, as a text: which clusters fit, where, which are decided.
func (l *look) inputs(p *clusterv1beta1.Placement) string {
	var all strings.Builder
	for _, name := range l.fits(p) {
		fmt.Fprintf(&all, "%s %s %s\n", name, l.clusters[name].Labels["region"], l.clusters[name].Labels["rack"])
	}
	for _, d := range l.decided[p.Name] {
		fmt.Fprintf(&all, "%s\n", d.ClusterName)
	}
	fmt.Fprintf(&all, "%v %+v", p.Spec.NumberOfClusters, p.Spec.SpreadPolicy)
	return all.String()
}

// unknown are the keys of terms that no cluster has that fits.
func (l *look) unknown(p *clusterv1beta1.Placement) (keys []string) {
	fits := l.fits(p)
	for _, term := range p.Spec.SpreadPolicy.SpreadConstraints {
		has := func(name string) bool { return l.clusters[name].Labels[term.TopologyKey] != "" }
		if len(fits) > 0 && !slices.ContainsFunc(fits, has) {
			keys = append(keys, term.TopologyKey)
		}
	}
	return keys
}

func (l *look) names(placement string) (names []string) {
	for _, d := range l.decided[placement] {
		names = append(names, d.ClusterName)
	}
	return names
}

// skews of the terms with these clusters, as contract 2 step 7 has them.
func (l *look) skews(p *clusterv1beta1.Placement, decided []string) (skews []int) {
	terms := p.Spec.SpreadPolicy.SpreadConstraints
	fits := l.fits(p)
	counted := slices.DeleteFunc(slices.Clone(fits), func(name string) bool {
		return slices.ContainsFunc(terms, func(term clusterv1beta1.SpreadConstraintsTerm) bool {
			return term.WhenUnsatisfiable == clusterv1beta1.DoNotSchedule && l.clusters[name].Labels[term.TopologyKey] == ""
		})
	})
	for i := range terms {
		siblings := map[string]map[string]int{} // by parent
		for _, name := range counted {
			parent := ""
			for _, above := range terms[:i] {
				parent += l.clusters[name].Labels[above.TopologyKey] + "/"
			}
			if siblings[parent] == nil {
				siblings[parent] = map[string]int{}
			}
			n := 0
			if slices.Contains(decided, name) {
				n = 1
			}
			siblings[parent][l.clusters[name].Labels[terms[i].TopologyKey]] += n
		}
		skew := 0
		for _, counts := range siblings {
			most, least := 0, storyClusters
			for _, n := range counts {
				most, least = max(most, n), min(least, n)
			}
			skew = max(skew, most-least)
		}
		skews = append(skews, skew)
	}
	return skews
}

// mayNotBe says whether the plan breaks a hard term, because of the clusters that it keeps: no write adds a cluster where that
// is so, though the plan would have it in place of another one, or beside them.
func (l *look) mayNotBe(p *clusterv1beta1.Placement, plan []string) bool {
	skews := l.skews(p, plan)
	for i, term := range p.Spec.SpreadPolicy.SpreadConstraints {
		if term.WhenUnsatisfiable == clusterv1beta1.DoNotSchedule && skews[i] > max(int(term.MaxSkew), 1) {
			return true
		}
	}
	return false
}

// lie says what is not true of a Placement's condition; "": nothing.
func (l *look) lie(p *clusterv1beta1.Placement) string {
	c := meta.FindStatusCondition(p.Status.Conditions, "SpreadSatisfied")
	if c == nil {
		return "there is no condition"
	}
	skews, unknown := l.skews(p, l.names(p.Name)), l.unknown(p)
	skewed := false
	for i, term := range p.Spec.SpreadPolicy.SpreadConstraints {
		skewed = skewed || skews[i] > max(int(term.MaxSkew), 1)
	}
	fits, decided := len(l.fits(p)), len(l.decided[p.Name])
	wanted := fits
	if n := p.Spec.NumberOfClusters; n != nil {
		wanted = int(*n)
	}
	isTrue, known := false, true
	switch said := string(c.Status) + " " + c.Reason; said {
	case "True Even":
		isTrue = !skewed && decided > 0 && len(unknown) == 0
	case "False Skewed":
		isTrue = skewed
	case "False Unscheduled":
		isTrue = decided < wanted && !skewed
	case "False NoClusters":
		isTrue = decided == 0
	case "False KeyUnknown":
		isTrue = len(unknown) > 0
	default:
		known = false
	}
	if isTrue {
		return ""
	}
	return fmt.Sprintf("%s %s (%s), known: %v; %d of %d are decided, %d fit, skews are %v, nobody has %v", c.Status, c.Reason, c.Message,
		known, decided, wanted, fits, skews, unknown)
}

// wrongReason of a decision of Evenkeel's: the domain that it names is where the cluster is. Where nobody has a key,
// decisions are left as they were.
func (l *look) wrongReason(p *clusterv1beta1.Placement) string {
	if len(l.unknown(p)) > 0 {
		return ""
	}
	for _, d := range l.decided[p.Name] {
		var parts []string
		for _, term := range p.Spec.SpreadPolicy.SpreadConstraints {
			parts = append(parts, term.TopologyKey+"="+l.clusters[d.ClusterName].Labels[term.TopologyKey])
		}
		if right := "spread by " + strings.Join(parts, ", "); d.Reason != right && !strings.HasPrefix(d.Reason, "kept: ") {
			return fmt.Sprintf("the reason of %s is %q, and should be %q", d.ClusterName, d.Reason, right)
		}
	}
	return ""
}

// watcher looks at the hub all the time: each condition is true at the latest two seconds after what it is about has changed.
type watcher struct {
	w        *world
	inputs   map[string]string
	since    map[string]time.Time
	reported map[string]string
	excused  time.Time // nobody leads until then
	slowest  time.Duration
	longest  time.Duration // that a condition was not true
}

func (o *watcher) watch() {
	o.w.t.Helper()
	began := time.Now()
	l, err := o.w.look(o.w.t.Context())
	o.w.must(err)
	now := time.Now()
	took := now.Sub(began)
	o.slowest = max(o.slowest, took)
	for name, p := range l.placements {
		if inputs := l.inputs(p); inputs != o.inputs[name] {
			o.inputs[name], o.since[name] = inputs, now
		}
		lie := l.lie(p)
		if lie == "" {
			continue
		}
		since := o.since[name]
		if since.Before(o.excused) {
			since = o.excused
		}
		wrongFor := began.Sub(since)
		o.longest = max(o.longest, wrongFor)
		if wrongFor > soon+storyLook+took && o.reported[name] != o.inputs[name] {
			o.reported[name] = o.inputs[name]
			o.w.t.Errorf("%s for %v: %s", name, wrongFor, lie)
		}
	}
}

func (o *watcher) watchFor(during time.Duration) {
	o.w.t.Helper()
	for until := time.Now().Add(during); ; time.Sleep(50 * time.Millisecond) {
		o.watch()
		if time.Now().After(until) {
			return
		}
	}
}

// story is a world to which things happen at random.
type story struct {
	*world
	*watcher
	dice  *rand.Rand
	names []string // of clusters
	made  int
	// Times that a plan could not be reached, for no write adds above a hard term.
	unreachable int
	placed      []string
	replicas    []*evenkeel.Replica
	start       func() *evenkeel.Replica
}

func (s *story) oneOf(all ...string) string { return all[s.dice.IntN(len(all))] }

func (s *story) join() {
	name := fmt.Sprintf("c%03d", s.made)
	s.made++
	region := s.oneOf("r1", "r1", "r2", "r3")
	labels := "tier=" + s.oneOf("gold", "gold", "iron")
	if s.dice.IntN(10) > 0 {
		labels += " region=" + region
	}
	if s.dice.IntN(10) > 0 {
		labels += " rack=" + region + s.oneOf("x", "y")
	}
	s.cluster(name, labels)
	s.names = append(s.names, name)
}

func (s *story) term(key string) string {
	rest := ""
	if s.dice.IntN(2) == 0 {
		rest = hard
	}
	return fmt.Sprintf(`{"topologyKey":%q,"topologyKeyType":"Label","maxSkew":%d%s}`, key, 1+s.dice.IntN(2), rest)
}

func (s *story) terms() string {
	terms := s.term(s.oneOf("region", "region", "region", "region", "regoin", "rack"))
	if s.dice.IntN(3) == 0 {
		terms = s.term("region") + "," + s.term("rack")
	}
	return `"spreadPolicy":{"spreadConstraints":[` + terms + `]}`
}

func (s *story) placeOne() {
	name := fmt.Sprintf("p%d", s.made)
	s.made++
	spec := `{` + inOrder
	if s.dice.IntN(4) > 0 {
		spec += fmt.Sprintf(`"numberOfClusters":%d,`, 1+s.dice.IntN(9))
	}
	if s.dice.IntN(3) == 0 {
		spec += `"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"tier":"gold"}}}}],`
	}
	s.place(name, spec+s.terms()+`}`)
	s.placed = append(s.placed, name)
}

// happen does one thing, and says which.
func (s *story) happen() string {
	at := s.dice.IntN(len(s.names))
	cluster := s.names[at]
	placement := s.oneOf(s.placed...)
	switch n := s.dice.IntN(20); {
	case n < 5:
		value := s.oneOf(`"r1"`, `"r2"`, `"r3"`, `"r4"`, `null`)
		s.patchCluster(cluster, `{"metadata":{"labels":{"region":`+value+`}}}`)
		return "region of " + cluster + " " + value
	case n < 6:
		s.patchCluster(cluster, `{"metadata":{"labels":{"tier":"`+s.oneOf("gold", "iron")+`"}}}`)
		return "tier of " + cluster
	case n < 9:
		s.patchCluster(cluster, gone)
		return cluster + " is tainted"
	case n < 12:
		s.patchCluster(cluster, well)
		return cluster + " is not tainted"
	case n < 14 && len(s.names) < storyClusters:
		s.join()
		return "a cluster joins"
	case n < 15 && len(s.names) > storyClusters/3:
		s.deleteCluster(cluster)
		s.names = slices.Delete(s.names, at, at+1)
		return cluster + " is deleted"
	case n < 17:
		s.patchPlacement(placement, `{"spec":{`+s.terms()+`}}`)
		return "terms of " + placement
	case n < 18:
		s.patchPlacement(placement, fmt.Sprintf(`{"spec":{"numberOfClusters":%d}}`, 1+s.dice.IntN(9)))
		return "number of " + placement
	case n < 19 && len(s.placed) < storyPlacements:
		s.placeOne()
		return "a Placement is made"
	case n < 19:
		s.must(s.h.Clusters.ClusterV1beta1().Placements(s.name).Delete(s.t.Context(), placement, metav1.DeleteOptions{}))
		s.placed = slices.DeleteFunc(s.placed, func(name string) bool { return name == placement })
		return placement + " is deleted"
	}
	return "nothing"
}

// killLeader, and another replica comes.
func (s *story) killLeader() {
	at := slices.IndexFunc(s.replicas, func(r *evenkeel.Replica) bool {
		metrics, err := r.Metrics()
		s.must(err)
		for name, value := range metrics {
			if strings.HasPrefix(name, "evenkeel_leader{") && value == 1 {
				return true
			}
		}
		return false
	})
	if at < 0 {
		return // the last one was killed just now
	}
	s.replicas[at].Kill()
	s.replicas[at] = s.start()
	s.excused = time.Now().Add(2 * storyLease)
}

// isPlanned says whether a Placement is as simulated, or else what differs. Where nobody has a key only what must move does.
func (s *story) isPlanned(ctx context.Context, l *look, name, state string) (string, error) {
	text, err := s.differenceIn(ctx, name, state)
	if text == "" || err != nil {
		return "", err
	}
	p := l.placements[name]
	if len(l.unknown(p)) > 0 {
		return "", nil
	}
	d, a, err := s.simulated(ctx, name, state)
	if err != nil {
		return "", err
	}
	fits := l.fits(p)
	lost := slices.ContainsFunc(d.Clusters(), func(name string) bool { return !slices.Contains(fits, name) })
	if !lost && l.mayNotBe(p, a.Selected) {
		s.unreachable++
		return "", nil
	}
	return name + ": " + text, nil
}

// quietMoment waits until all is as simulated; then all conditions and reasons are true.
func (s *story) quietMoment() {
	s.t.Helper()
	state := filepath.Join(s.dir, "state.yaml")
	last := ""
	err := hub.Until(s.t.Context(), "all is as simulated", func(ctx context.Context) (bool, error) {
		s.watch()
		if err := s.h.SaveState(ctx, state); err != nil {
			return false, err
		}
		l, err := s.look(ctx)
		for i := 0; i < len(s.placed) && err == nil; i++ {
			if last, err = s.isPlanned(ctx, l, s.placed[i], state); last != "" {
				return false, err
			}
		}
		return err == nil, err
	})
	if err != nil {
		s.t.Fatalf("%v; %s", err, last)
	}
	err = hub.Until(s.t.Context(), "all conditions and reasons are true", func(ctx context.Context) (bool, error) {
		s.watch()
		l, err := s.look(ctx)
		if err != nil {
			return false, err
		}
		for _, name := range s.placed {
			p := l.placements[name]
			if last = l.lie(p); last == "" && s.mode == "Owner" {
				last = l.wrongReason(p)
			}
			if last != "" {
				last = name + ": " + last
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		s.t.Fatalf("%v; %s", err, last)
	}
}

func (s *story) play(steps int) {
	for range storyClusters / 2 {
		s.join()
	}
	for range 3 {
		s.placeOne()
	}
	s.quietMoment()
	began, kills := time.Now(), 0
	for step := range steps {
		var events []string
		for range 1 + s.dice.IntN(4) {
			events = append(events, s.happen())
		}
		if step%20 == 10 {
			s.killLeader()
			kills++
			events = append(events, "the leader is killed")
		}
		if s.dice.IntN(3) == 0 || step == steps-1 {
			s.quietMoment()
		} else {
			s.watchFor(time.Duration(s.dice.IntN(1000)) * time.Millisecond)
		}
		if s.t.Failed() {
			s.t.Fatalf("step %d: %s", step, strings.Join(events, ", "))
		}
	}
	s.t.Logf("%s: %d steps and %d leaders killed in %v; a condition was not true for %v at most, a look took %v at most; %d times a plan may not be", s.mode, steps,
		kills, time.Since(began).Round(time.Second), s.longest.Round(time.Millisecond), s.slowest.Round(time.Millisecond), s.unreachable)
}

// TestRandomStory: clusters come and go, fall ill and are called otherwise, Placements are edited, leaders die; conditions and
// reasons are true two seconds later, and all is as simulated whenever it is quiet.
func TestRandomStory(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 100000
	}
	t.Logf("-seed %d -steps %d", seed, *stepsFlag)
	for _, mode := range []string{"Owner", "Scores"} {
		t.Run(strings.ToLower(mode), func(t *testing.T) {
			t.Parallel() // they wait most of the time
			dir := folder(t)
			h := newHub(t, dir, "owner-fleet.yaml")
			w := newWorld(t, h, dir, strings.ToLower(mode), mode)
			s := &story{world: w, dice: rand.New(rand.NewPCG(seed, 0)), watcher: &watcher{w: w, inputs: map[string]string{},
				since: map[string]time.Time{}, reported: map[string]string{}}}
			started := 0
			s.start = func() *evenkeel.Replica {
				started++
				return startOwner(t, h, dir, fmt.Sprintf("evenkeel-%d", started), "--ocm-settle-after", "500ms", "--ocm-moves-per-minute", "1000")
			}
			s.replicas = []*evenkeel.Replica{s.start(), s.start()}
			s.play(*stepsFlag)
		})
	}
}
