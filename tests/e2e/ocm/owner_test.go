package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

const (
	modeAnnotation     = "placements.evenkeel.io/mode"
	disabledAnnotation = "placements.evenkeel.io/disabled-ocm"
	setLabel           = "cluster.open-cluster-management.io/clusterset"
	settleAfter        = 2 * time.Second
)

// world is a namespace of a hub with a set of clusters of its own, and what was ever decided in it.
type world struct {
	t       *testing.T
	h       *hub.Hub
	name    string
	dir     string
	mode    string // of its Placements
	history *hub.History
}

func newWorld(t *testing.T, h *hub.Hub, dir, name, mode string) *world {
	t.Helper()
	w := newWorldWithoutHistory(t, h, dir, name, mode)
	var err error
	w.history, err = h.Watch(context.Background(), name)
	w.must(err)
	t.Cleanup(func() {
		if err := w.history.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// newWorldWithoutHistory is for so many decisions that nobody can look at each.
func newWorldWithoutHistory(t *testing.T, h *hub.Hub, dir, name, mode string) *world {
	t.Helper()
	w := &world{t: t, h: h, name: name, dir: filepath.Join(dir, name), mode: mode}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.must(h.CreateNamespace(t.Context(), name))
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
	_, err := h.Clusters.ClusterV1beta2().ManagedClusterSets().Create(t.Context(), set, metav1.CreateOptions{})
	w.must(err)
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}}
	binding.Spec.ClusterSet = name
	_, err = h.Clusters.ClusterV1beta2().ManagedClusterSetBindings(name).Create(t.Context(), binding, metav1.CreateOptions{})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// cluster makes one of the world's set. `labels` are such as "region=eu zone=a".
func (w *world) cluster(name, labels string) {
	w.t.Helper()
	all := map[string]string{setLabel: w.name}
	for _, label := range strings.Fields(labels) {
		key, value, _ := strings.Cut(label, "=")
		all[key] = value
	}
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name + "-" + name, Labels: all}}
	c.Spec.HubAcceptsClient = true
	// OCM's registration controller makes the namespace. It is there first here: a cluster whose scores cannot be written
	// is left out for ten seconds or longer, or until it changes.
	if w.mode == "Scores" {
		w.must(w.h.CreateNamespace(w.t.Context(), c.Name))
	}
	_, err := w.h.Clusters.ClusterV1().ManagedClusters().Create(w.t.Context(), c, metav1.CreateOptions{})
	w.must(err)
}

func (w *world) clusters(labels string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.cluster(name, labels)
	}
}

func (w *world) patchCluster(name, patch string) {
	w.t.Helper()
	_, err := w.h.Clusters.ClusterV1().ManagedClusters().Patch(w.t.Context(), w.name+"-"+name, types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{})
	w.must(err)
}

func (w *world) deleteCluster(name string) {
	w.t.Helper()
	w.must(w.h.Clusters.ClusterV1().ManagedClusters().Delete(w.t.Context(), w.name+"-"+name, metav1.DeleteOptions{}))
}

// place creates a Placement of the world's mode whose spec is JSON.
func (w *world) place(name, spec string) {
	w.t.Helper()
	w.placeAs(name, spec, map[string]any{modeAnnotation: w.mode})
}

func (w *world) placeAs(name, spec string, annotations map[string]any) {
	w.t.Helper()
	var content map[string]any
	w.must(json.Unmarshal([]byte(spec), &content))
	w.must(w.h.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": clusterv1beta1.GroupVersion.String(), "kind": "Placement", "spec": content,
		"metadata": map[string]any{"name": name, "namespace": w.name, "annotations": annotations}}}))
}

func (w *world) placement(name string) *clusterv1beta1.Placement {
	w.t.Helper()
	p, err := w.h.Clusters.ClusterV1beta1().Placements(w.name).Get(w.t.Context(), name, metav1.GetOptions{})
	w.must(err)
	return p
}

func (w *world) patchPlacement(name, patch string) {
	w.t.Helper()
	_, err := w.h.Clusters.ClusterV1beta1().Placements(w.name).Patch(w.t.Context(), name, types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{})
	w.must(err)
}

// full names of clusters, by name.
func (w *world) full(names string) []string {
	var all []string
	for _, name := range strings.Fields(names) {
		all = append(all, w.name+"-"+name)
	}
	slices.Sort(all)
	return all
}

// difference between what is on the hub of a Placement and what `evenkeel simulate --placement` makes of
// the same state; "" if there is none.
func (w *world) difference(ctx context.Context, name string) (string, error) {
	state := filepath.Join(w.dir, name+"-state.yaml")
	if err := w.h.SaveState(ctx, state); err != nil {
		return "", err
	}
	return w.differenceIn(ctx, name, state)
}

// differenceIn asks about a state that was saved.
func (w *world) differenceIn(ctx context.Context, name, state string) (string, error) {
	d, a, err := w.simulated(ctx, name, state)
	if err != nil {
		return "", err
	}
	wanted := slices.Sorted(slices.Values(a.Selected))
	if got := d.Clusters(); !slices.Equal(got, wanted) {
		return fmt.Sprintf("decided %v, simulate says %v", got, wanted), nil
	}
	if got := int(d.Placement.Status.NumberOfSelectedClusters); got != len(wanted) {
		return fmt.Sprintf("numberOfSelectedClusters is %d of %d", got, len(wanted)), nil
	}
	if len(d.Placement.Status.DecisionGroups) != len(a.Groups) {
		return fmt.Sprintf("the status has %d groups, simulate %d", len(d.Placement.Status.DecisionGroups), len(a.Groups)), nil
	}
	return differentGroups(d, a.Groups), nil
}

// simulated returns what is decided of a Placement now, and what simulate makes of a state.
func (w *world) simulated(ctx context.Context, name, state string) (*hub.Decision, *answer.Answer, error) {
	d, err := w.h.Read(ctx, w.name, name)
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(map[string]any{"apiVersion": clusterv1beta1.GroupVersion.String(), "kind": "Placement",
		"metadata": map[string]any{"name": name, "namespace": w.name}, "spec": d.Placement.Spec})
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(w.dir, name+".json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, nil, err
	}
	a, err := evenkeel.Run(setting(w.t, "EVENKEEL"), append(evenkeel.Files(file, state), "--now", time.Now().Format(time.RFC3339))...)
	return d, a, err
}

// differentGroups compares clusters and names of groups: a PlacementDecision keeps its number when it
// changes its group, so the objects' names may differ.
func differentGroups(d *hub.Decision, groups []answer.Group) string {
	for i, status := range d.Placement.Status.DecisionGroups {
		var clusters []string
		for _, object := range d.Objects {
			if object.Labels[clusterv1beta1.DecisionGroupIndexLabel] != fmt.Sprint(i) {
				continue
			}
			if object.Labels[clusterv1beta1.DecisionGroupNameLabel] != groups[i].Name || !slices.Contains(status.Decisions, object.Name) {
				return fmt.Sprintf("%s is labelled %v, the status lists %v", object.Name, object.Labels, status.Decisions)
			}
			if len(object.Status.Decisions) > 100 {
				return object.Name + " holds more than 100 clusters"
			}
			for _, one := range object.Status.Decisions {
				clusters = append(clusters, one.ClusterName)
			}
		}
		slices.Sort(clusters)
		if !slices.Equal(clusters, groups[i].Clusters) || int(status.ClustersCount) != len(clusters) ||
			int(status.DecisionGroupIndex) != i || status.DecisionGroupName != groups[i].Name {
			return fmt.Sprintf("group %d has %v, the status %+v, simulate %+v", i, clusters, status, groups[i])
		}
	}
	return ""
}

func (w *world) equals(name string) {
	w.t.Helper()
	var last string
	err := hub.Until(w.t.Context(), name+" is as simulated", func(ctx context.Context) (bool, error) {
		var err error
		last, err = w.difference(ctx, name)
		return last == "", err
	})
	if err != nil {
		w.t.Fatalf("%v; %s", err, last)
	}
}

// has waits until exactly these clusters are decided and the status has their number.
func (w *world) has(name, clusters string) {
	w.t.Helper()
	wanted := w.full(clusters)
	var got []string
	err := hub.Until(w.t.Context(), name+" has "+clusters, func(ctx context.Context) (bool, error) {
		d, err := w.h.Read(ctx, w.name, name)
		if err != nil {
			return false, err
		}
		got = d.Clusters()
		return slices.Equal(got, wanted) && int(d.Placement.Status.NumberOfSelectedClusters) == len(wanted), nil
	})
	if err != nil {
		w.t.Fatalf("%v; it has %v", err, got)
	}
}

func (w *world) condition(name, wanted string) {
	w.t.Helper()
	var got string
	err := hub.Until(w.t.Context(), "SpreadSatisfied of "+name+" is "+wanted, func(ctx context.Context) (bool, error) {
		c := meta.FindStatusCondition(w.placement(name).Status.Conditions, "SpreadSatisfied")
		got = "none"
		if c != nil {
			got = string(c.Status) + " " + c.Reason
		}
		return got == wanted, nil
	})
	if err != nil {
		w.t.Fatalf("%v; it is %s", err, got)
	}
}

// stays checks that these clusters were decided at every moment since the history had so many.
func (w *world) stays(name string, since int, clusters string) {
	w.t.Helper()
	for _, moment := range w.history.Of(name)[since:] {
		for _, cluster := range w.full(clusters) {
			if !slices.Contains(moment.Clusters, cluster) {
				w.t.Errorf("%s: %s was in no PlacementDecision at version %s: %v", name, cluster, moment.Version, moment.Clusters)
			}
		}
	}
}

// quiet waits until nothing has been written about a Placement for a while. What it last did may still be told in
// its status when its clusters are right; what writes again and again is never quiet.
func (w *world) quiet(name string, during time.Duration) {
	w.t.Helper()
	state := func() (int, string) { return w.history.Writes(name), w.placement(name).ResourceVersion }
	writes, version := state()
	since := time.Now()
	err := hub.Until(w.t.Context(), name+" is left alone", func(context.Context) (bool, error) {
		if nowWrites, nowVersion := state(); nowWrites != writes || nowVersion != version {
			writes, version, since = nowWrites, nowVersion, time.Now()
		}
		return time.Since(since) >= during, nil
	})
	if err != nil {
		w.t.Fatalf("%v; %d writes of its decisions by now", err, writes)
	}
}

// untouched checks that nothing is written about a Placement for a while, not even once.
func (w *world) untouched(name string, during time.Duration) {
	w.t.Helper()
	writes, version := w.history.Writes(name), w.placement(name).ResourceVersion
	time.Sleep(during) // that nothing happens takes time
	if now := w.history.Writes(name); now != writes {
		w.t.Errorf("%s: %d writes of decisions that nobody needs", name, now-writes)
	}
	if now := w.placement(name).ResourceVersion; now != version {
		w.t.Errorf("%s: the Placement was written once more", name)
	}
}

func startOwner(t *testing.T, h *hub.Hub, dir, name string, arguments ...string) *evenkeel.Replica {
	t.Helper()
	r, err := evenkeel.StartReplica(setting(t, "EVENKEEL"), filepath.Join(dir, name+".log"),
		append([]string{"--kubeconfig", h.Kubeconfig, "--ocm-settle-after", settleAfter.String(),
			"--leader-election", "--lease-namespace", "default", "--lease-duration", "4s",
			"--shutdown-delay", "0s"}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	return r
}

const (
	byZone = `"spreadPolicy":{"spreadConstraints":[{"topologyKey":"zone","topologyKeyType":"Label"%s}]}`
	hard   = `,"whenUnsatisfiable":"DoNotSchedule"`
)

// inOrder leaves nothing but spread and names to decide by: what other Placements have does not count.
const inOrder = `"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"builtIn":"Steady"},"weight":0}]},`

func zones(rest string) string { return fmt.Sprintf(byZone, rest) }

// TestOwner runs Evenkeel in Owner mode beside OCM's own controller, which leaves what is Evenkeel's alone.
func TestOwner(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	first := startOwner(t, h, dir, "first")
	run := func(name string, test func(w *world)) {
		t.Run(name, func(t *testing.T) { test(newWorld(t, h, dir, name, "Owner")) })
	}
	run("selection", selection)
	run("worked", workedExample)
	run("claims", byClaims)
	run("moves", func(w *world) { moves(w, first) })
	run("hard", hardTerms)
	run("life", upsAndDowns)
	run("backup", primaryAndBackup)
	run("many", manyClusters)
	run("groups", decisionGroups)
	run("others", leftAlone)
	run("leaving", leavingOwner)
	run("leaders", func(w *world) { leaders(w, first, dir) })
	run("partitioned", func(w *world) { partitioned(w, dir) })
}

// selection: use cases 2 to 4 of OCM's enhancement 70, and 7 clusters east, 2 west.
func selection(w *world) {
	w.clusters("uc=2 zone=a", "a0", "a1", "a2")
	w.clusters("uc=2 zone=b", "b0")
	w.clusters("uc=1 zone=a", "x0", "x1", "x2")
	w.clusters("uc=1 zone=b", "y0", "y1", "y2")
	w.clusters("uc=4 region=east zone=1a", "e0", "e1")
	w.clusters("uc=4 region=east zone=1b", "e2", "e3")
	w.clusters("uc=4 region=west zone=1a", "w0", "w1")
	w.clusters("uc=7 zone=east", "s0", "s1", "s2", "s3", "s4", "s5", "s6")
	w.clusters("uc=7 zone=west", "t0", "t1")
	for _, c := range []struct{ name, uc, number, terms, clusters, condition string }{
		{"even", "1", "4", zones(""), "x0 x1 y0 y1", "True Even"},
		{"three-soft", "2", "4", zones(""), "a0 a1 a2 b0", "False Skewed"},
		{"three-hard", "2", "4", zones(hard), "a0 a1 b0", "False Unscheduled"},
		{"three-hard-2", "2", "4", zones(`,"maxSkew":2` + hard), "a0 a1 a2 b0", "True Even"},
		{"joint", "4", "4", `"spreadPolicy":{"spreadConstraints":[{"topologyKey":"region","topologyKeyType":"Label"},` +
			`{"topologyKey":"zone","topologyKeyType":"Label"}]}`, "e0 e2 w0 w1", "True Even"},
		{"nine-soft", "7", "7", zones(""), "s0 s1 s2 s3 s4 t0 t1", "False Skewed"},
		{"nine-hard", "7", "7", zones(hard), "s0 s1 s2 t0 t1", "False Unscheduled"},
		{"nine-hard-2", "7", "7", zones(`,"maxSkew":2` + hard), "s0 s1 s2 s3 t0 t1", "False Unscheduled"},
	} {
		annotations := map[string]any{modeAnnotation: w.mode}
		if w.mode == "Owner" { // or OCM might be first, and its clusters would be kept
			annotations[clusterv1beta1.PlacementDisableAnnotation], annotations[disabledAnnotation] = "true", "true"
		}
		w.placeAs(c.name, fmt.Sprintf(`{`+inOrder+`"numberOfClusters":%s,"predicates":[{"requiredClusterSelector":{"labelSelector":`+
			`{"matchLabels":{"uc":%q}}}}],%s}`, c.number, c.uc, c.terms), annotations)
		// In mode Scores OCM decides first, by name, and what it has taken stays.
		if kept := map[string]string{"three-hard": "a0 a1 a2 b0", "nine-hard": "s0 s1 s2 s3 s4 t0 t1",
			"nine-hard-2": "s0 s1 s2 s3 s4 t0 t1"}[c.name]; kept != "" && w.mode == "Scores" {
			c.clusters, c.condition = kept, "False Skewed"
		}
		w.has(c.name, c.clusters)
		w.condition(c.name, c.condition)
		w.equals(c.name)
		if w.mode == "Scores" {
			continue
		}
		p := w.placement(c.name)
		if p.Annotations[clusterv1beta1.PlacementDisableAnnotation] != "true" || p.Annotations[disabledAnnotation] != "true" {
			w.t.Errorf("%s: annotations are %v", c.name, p.Annotations)
		}
	}
	if w.mode == "Scores" {
		w.quiet("joint", time.Second)
		return
	}
	d, err := w.h.Read(w.t.Context(), w.name, "joint")
	w.must(err)
	object := d.Objects[0]
	owner := metav1.GetControllerOf(object)
	if object.Name != "joint-decision-1" || owner == nil || owner.UID != d.Placement.UID || !*owner.BlockOwnerDeletion ||
		object.Labels[clusterv1beta1.DecisionGroupIndexLabel] != "0" {
		w.t.Errorf("the PlacementDecision is %+v", object.ObjectMeta)
	}
	if reason := object.Status.Decisions[0].Reason; reason != "spread by region=east, zone=1a" {
		w.t.Errorf("the reason is %q", reason)
	}
	w.quiet("joint", time.Second)
}

// workedExample of the enhancement: sums come from scores of an add-on.
func workedExample(w *world) {
	w.clusters("region=us-east zone=us-east-1a", "c1", "c2")
	w.cluster("c3", "region=us-east zone=us-east-1b")
	w.clusters("region=us-west zone=us-west-1a", "c4", "c5")
	for name, value := range map[string]int{"c1": 50, "c2": 50, "c3": 0, "c4": 0, "c5": 50} {
		w.must(w.h.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "AddOnPlacementScore",
			"metadata": map[string]any{"name": "worked", "namespace": w.name + "-" + name},
			"status":   map[string]any{"scores": []any{map[string]any{"name": "s", "value": int64(value)}}}}}))
	}
	spec := `{"numberOfClusters":2,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn",` +
		`"addOn":{"resourceName":"worked","scoreName":"s"}}}%s]},"spreadPolicy":{"spreadConstraints":[` +
		`{"topologyKey":"region","topologyKeyType":"Label"},` +
		`{"topologyKey":"zone","topologyKeyType":"Label","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}]}}`
	w.place("first", fmt.Sprintf(spec, ""))
	w.has("first", "c1 c5")
	w.equals("first")
	// OCM calls a prioritizer Spread a misconfiguration, and never sees this one
	w.place("weight", fmt.Sprintf(spec, `,{"scoreCoordinate":{"builtIn":"Spread"},"weight":2}`))
	w.has("weight", "c1 c5")
	w.equals("weight")
}

// byClaims: use case 1, keys of the user's own, and heartbeats, which change nothing.
func byClaims(w *world) {
	for name, claim := range map[string]string{"p0": "aws", "p1": "aws", "p2": "gcp", "p3": "gcp"} {
		w.cluster(name, "")
		_, err := w.h.Clusters.ClusterV1().ManagedClusters().Patch(w.t.Context(), w.name+"-"+name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"clusterClaims":[{"name":"cloud","value":%q}],"version":{},"conditions":[]}}`, claim),
			metav1.PatchOptions{}, "status")
		w.must(err)
	}
	w.place("clouds", `{"numberOfClusters":2,"spreadPolicy":{"spreadConstraints":[{"topologyKey":"cloud","topologyKeyType":"Claim"}]}}`)
	w.has("clouds", "p0 p2")
	w.equals("clouds")
	before := w.history.Writes("clouds")
	for i := range 10 {
		_, err := w.h.Clusters.ClusterV1().ManagedClusters().Patch(w.t.Context(), w.name+"-p0", types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True","reason":"Beat%d",`+
				`"message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, i), metav1.PatchOptions{}, "status")
		w.must(err)
	}
	w.quiet("clouds", 500*time.Millisecond)
	if w.history.Writes("clouds") != before {
		w.t.Error("heartbeats made writes")
	}
}

const taint = `{"spec":{"taints":[{"key":"sick","effect":"NoSelect"}]}}`

// moves: clusters come, fall ill, and go.
func moves(w *world, replica *evenkeel.Replica) {
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1")
	// OCM never decides it
	w.placeAs("p", `{"numberOfClusters":4,"tolerations":[{"key":"sick","operator":"Exists","tolerationSeconds":3}],`+zones("")+`}`,
		map[string]any{modeAnnotation: "Owner", clusterv1beta1.PlacementDisableAnnotation: "true"})
	w.has("p", "a0 a1 b0 b1")
	w.condition("p", "True Even")
	since := len(w.history.Of("p"))

	// a zone comes: nothing forces a move, so it waits
	begin := time.Now()
	w.cluster("c0", "zone=c")
	w.has("p", "a0 a1 b0 c0")
	if waited := time.Since(begin); waited < settleAfter {
		w.t.Errorf("a move that nothing forces began after %v", waited)
	}
	w.equals("p")

	// a taint is tolerated for three seconds
	begin = time.Now()
	w.patchCluster("c0", fmt.Sprintf(`{"spec":{"taints":[{"key":"sick","effect":"NoSelect","timeAdded":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339)))
	w.has("p", "a0 a1 b0 b1")
	if waited := time.Since(begin); waited < 2*time.Second || waited > 20*time.Second {
		w.t.Errorf("a taint that is tolerated for 3 s was not after %v", waited)
	}

	// a cluster is deleted, and another: at once
	begin = time.Now()
	w.deleteCluster("b0")
	w.has("p", "a0 a1 a2 b1")
	if waited := time.Since(begin); waited > settleAfter {
		w.t.Errorf("a move that must be made took %v", waited)
	}
	w.deleteCluster("b1")
	w.has("p", "a0 a1 a2")
	w.equals("p")
	w.stays("p", since, "a0")
	for _, moment := range w.history.Of("p")[since:] {
		if len(moment.Clusters) == 0 {
			w.t.Errorf("nothing was decided at version %s", moment.Version)
		}
	}

	events, err := w.h.Kube.EventsV1().Events(w.name).List(w.t.Context(), metav1.ListOptions{})
	w.must(err)
	for _, reason := range []string{"Spread", "Moved"} {
		if !slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Reason == reason && e.Regarding.Kind == "Placement" && e.Regarding.Name == "p"
		}) {
			w.t.Errorf("there is no Event %s", reason)
		}
	}

	// the number changes, and the terms
	w.patchPlacement("p", `{"spec":{"numberOfClusters":1}}`)
	w.has("p", "a0")
	w.cluster("d0", "zone=d")
	w.patchPlacement("p", `{"spec":{"numberOfClusters":2}}`)
	w.has("p", "a0 d0")
	w.equals("p")
	w.moved("p", replica, "size Decided +a0 +a1 +b0 +b1", "spread Decided +c0 -b1", "infeasible Decided +b1 -c0",
		"infeasible Skewed +a2 -b0", "infeasible Decided -b1", "size Decided -a1 -a2", "size Decided +d0")
}

// hardTerms are never violated, whatever happens.
func hardTerms(w *world) {
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1", "b2")
	w.clusters("zone=c", "c0", "c1", "c2")
	w.place("p", `{"numberOfClusters":8,`+zones(hard)+`}`)
	w.has("p", "a0 a1 a2 b0 b1 b2 c0 c1")
	w.patchCluster("b0", taint)
	w.equals("p")
	w.deleteCluster("c0")
	w.equals("p")
	w.cluster("c3", "zone=c")
	w.patchCluster("b0", `{"spec":{"taints":null}}`)
	time.Sleep(settleAfter)
	w.equals("p")
	w.skewIsNever("p", 1)
	w.condition("p", "True Even")
}

// skewIsNever above that, over zones a, b and c, at any moment of the Placement's.
func (w *world) skewIsNever(name string, above int) { w.skewIsNeverOnce(name, 0, above) }

// skewIsNeverOnce it has had so many clusters; until then it may be one more.
func (w *world) skewIsNeverOnce(name string, whole, above int) {
	w.t.Helper()
	wasWhole := false
	for _, moment := range w.history.Of(name) {
		wasWhole = wasWhole || len(moment.Clusters) >= whole
		counts := map[byte]int{'a': 0, 'b': 0, 'c': 0}
		for _, cluster := range moment.Clusters {
			counts[cluster[len(w.name)+1]]++
		}
		most, least := max(counts['a'], counts['b'], counts['c']), min(counts['a'], counts['b'], counts['c'])
		if !wasWhole {
			least++
		}
		if len(moment.Clusters) > 0 && most-least > above {
			w.t.Errorf("skew %d at version %s: %v", most-least, moment.Version, moment.Clusters)
		}
	}
}

// manyClusters: three objects, of which clusters at the front go. OCM would move 150 clusters from object
// to object, each of which would be in none for a moment.
func manyClusters(w *world) {
	for i := range 250 {
		w.cluster(fmt.Sprintf("c%03d", i), fmt.Sprintf("zone=%d", i%5))
	}
	w.place("p", `{`+zones("")+`}`)
	w.equals("p")
	since := len(w.history.Of("p"))
	for i := range 10 {
		w.deleteCluster(fmt.Sprintf("c%03d", i))
	}
	w.cluster("b000", "zone=1")
	w.equals("p")
	var stay []string
	for i := 10; i < 250; i++ {
		stay = append(stay, fmt.Sprintf("c%03d", i))
	}
	w.stays("p", since, strings.Join(stay, " "))
	if writes := len(w.history.Of("p")) - since; writes > 22 {
		w.t.Errorf("%d writes of PlacementDecisions for 11 changes", writes)
	}
}

// decisionGroups: clusters change their objects, and are in one of them at every moment.
func decisionGroups(w *world) {
	for i := range 12 {
		w.cluster(fmt.Sprintf("c%02d", i), fmt.Sprintf("zone=%d", i%3))
	}
	w.place("p", `{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":5}},`+zones("")+`}`)
	w.equals("p")
	since := len(w.history.Of("p"))
	w.cluster("b0", "zone=0") // every group but the last gives a cluster to the next
	w.equals("p")
	w.patchPlacement("p", `{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":4,"decisionGroups":[`+
		`{"groupName":"canary","groupClusterSelector":{"labelSelector":{"matchLabels":{"zone":"1"}}}}]}}}}`)
	w.equals("p")
	w.stays("p", since, "c00 c01 c02 c03 c04 c05 c06 c07 c08 c09 c10 c11")
}

// leftAlone: Placements that are not Evenkeel's, and one that it cannot decide.
func leftAlone(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.cluster("b0", "zone=b")
	w.placeAs("off", `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`, map[string]any{modeAnnotation: "Off"})
	w.has("off", "a0 a1")
	w.place("plain", `{`+inOrder+`"numberOfClusters":2}`)
	w.has("plain", "a0 a1")
	w.place("cel", `{`+inOrder+`"numberOfClusters":2,"predicates":[{"requiredClusterSelector":{"celSelector":{"celExpressions":[`+
		`"managedCluster.metadata.labels[\"zone\"] == \"a\""]}}}],`+zones("")+`}`)
	w.has("cel", "a0 a1")
	w.condition("cel", "Unknown CELNotEvaluated")
	for _, name := range []string{"off", "plain", "cel"} {
		if p := w.placement(name); p.Annotations[clusterv1beta1.PlacementDisableAnnotation] != "" {
			w.t.Errorf("%s: OCM is disabled", name)
		}
	}
	w.quiet("cel", time.Second)
}

// leavingOwner: the mode goes, and OCM goes on.
func leavingOwner(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.cluster("b0", "zone=b")
	w.place("p", `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`)
	w.has("p", "a0 b0")
	w.patchPlacement("p", `{"metadata":{"annotations":{"`+modeAnnotation+`":"Off"}}}`)
	w.has("p", "a0 a1") // by name, as OCM does it
	w.condition("p", "none")
	if p := w.placement("p"); len(p.Annotations) != 1 {
		w.t.Errorf("annotations are left: %v", p.Annotations)
	}
	w.patchPlacement("p", `{"metadata":{"annotations":{"`+modeAnnotation+`":"Owner"}}}`)
	w.has("p", "a0 b0")
}

// leaders: one is paused for longer than its Lease, and the next goes on; that one is killed, and the first
// goes on; one that is restarted finds nothing to do.
func leaders(w *world, first *evenkeel.Replica, dir string) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	w.place("p", `{"numberOfClusters":2,`+zones("")+`}`)
	w.has("p", "a0 b0")
	second := startOwner(w.t, w.h, dir, "second")
	since := len(w.history.Of("p"))
	w.must(first.Pause())
	w.deleteCluster("b0")
	w.has("p", "a0 b1")
	w.must(first.Resume())
	w.quiet("p", time.Second)
	w.stays("p", since, "a0")
	w.moved("p", second, "infeasible Decided +b1 -b0")
	if e := w.explain("p", first); e.Planner.Leads || len(e.History) > 0 || len(e.Selected) != 2 {
		w.t.Errorf("the one that does not lead explains %+v", e)
	}
	if e := w.explain("p", first, second); !e.Planner.Leads || len(e.History) != 1 {
		w.t.Errorf("both together explain %+v", e)
	}
	second.Kill()
	w.deleteCluster("a0")
	w.has("p", "a1 b1")
	w.quiet("p", time.Second)
	w.must(first.Stop())
	third := startOwner(w.t, w.h, dir, "third")
	w.untouched("p", 3*time.Second)
	w.cluster("c0", "zone=c")
	w.equals("p")
	w.must(third.Stop())
}
