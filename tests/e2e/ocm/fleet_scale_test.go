package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

const (
	fleetZones  = 12 // a third of them is lost
	fleetSlices = 10 // each Placement picks among the clusters of one
	fleetCalls  = 16 // at the same time
	fleetShards = 4  // ocm.shards
	// Nothing is written for so long: longer than a move that nothing forces waits.
	fleetStill = 2*settleAfter + time.Second
)

// size of a fleet, as EVENKEEL_E2E_FLEET has it: "clusters=5000 placements=1000 heartbeats=10m mode=Scores". The
// last of several counts.
type size struct {
	mode                               string
	clusters, placements, number, hard int // hard: so many Placements have a hard term
	heartbeats, limit                  time.Duration
}

func sizeOf(t *testing.T) size {
	t.Helper()
	s := size{mode: "Owner", clusters: 1000, placements: 100, number: 50, hard: 20, heartbeats: 10 * time.Second, limit: 2 * time.Minute}
	for _, setting := range strings.Fields(os.Getenv("EVENKEEL_E2E_FLEET")) {
		name, value, _ := strings.Cut(setting, "=")
		var err error
		switch name {
		case "mode":
			s.mode = value
		case "clusters":
			s.clusters, err = strconv.Atoi(value)
		case "placements":
			s.placements, err = strconv.Atoi(value)
		case "number":
			s.number, err = strconv.Atoi(value)
		case "hard":
			s.hard, err = strconv.Atoi(value)
		case "heartbeats":
			s.heartbeats, err = time.ParseDuration(value)
		case "limit":
			s.limit, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("there is no such setting")
		}
		if err != nil {
			t.Fatalf("EVENKEEL_E2E_FLEET: %s: %v", setting, err)
		}
	}
	return s
}

// fleet is a large one, with what it should be like.
type fleet struct {
	*world
	size
	replica *evenkeel.Replica
	lost    map[string]bool
	failed  int // writes
}

// each calls something for 0 to n-1, several at a time.
func (f *fleet) each(n int, call func(i int) error) {
	f.t.Helper()
	var group sync.WaitGroup
	numbers, failed := make(chan int), make(chan error, fleetCalls)
	for range fleetCalls {
		group.Go(func() {
			for i := range numbers {
				if err := call(i); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	select {
	case err := <-failed:
		f.t.Fatal(err)
	default:
	}
}

func (f *fleet) clusterName(i int) string { return fmt.Sprintf("%s-%04d", f.name, i) }
func zoneOf(i int) int                    { return i / fleetSlices % fleetZones }

func (f *fleet) makeClusters() {
	f.t.Helper()
	f.each(f.size.clusters, func(i int) error {
		c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.clusterName(i), Labels: map[string]string{
			setLabel: f.name, "slice": fmt.Sprint(i % fleetSlices), "zone": fmt.Sprintf("z%02d", zoneOf(i))}}}
		c.Spec.HubAcceptsClient = true
		if f.size.mode == "Scores" { // as OCM's registration controller does
			if err := f.h.CreateNamespace(f.t.Context(), c.Name); err != nil {
				return err
			}
		}
		_, err := f.h.Clusters.ClusterV1().ManagedClusters().Create(f.t.Context(), c, metav1.CreateOptions{})
		return err
	})
}

func (f *fleet) placementName(i int) string { return fmt.Sprintf("p%04d", i) }

// makePlacements; in mode Owner as the webhook would, so that OCM's controller never decides them.
func (f *fleet) makePlacements() {
	f.t.Helper()
	annotations := map[string]any{modeAnnotation: f.size.mode}
	if f.size.mode == "Owner" {
		annotations[clusterv1beta1.PlacementDisableAnnotation] = "true"
		annotations[disabledAnnotation] = "true"
	}
	f.each(f.placements, func(i int) error {
		rest := ""
		if i < f.hard {
			rest = hard
		}
		var spec map[string]any
		err := json.Unmarshal(fmt.Appendf(nil, `{%s"numberOfClusters":%d,"predicates":[{"requiredClusterSelector":{"labelSelector":`+
			`{"matchLabels":{"slice":"%d"}}}}],%s}`, inOrder, f.number, i%fleetSlices, zones(rest)), &spec)
		if err != nil {
			return err
		}
		return f.h.Create(f.t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": clusterv1beta1.GroupVersion.String(), "kind": "Placement", "spec": spec,
			"metadata": map[string]any{"name": f.placementName(i), "namespace": f.name, "annotations": maps.Clone(annotations)}}})
	})
}

// writes of Evenkeel that were good so far. What an API server that is busy does not answer is written again.
func (f *fleet) writes() int {
	f.t.Helper()
	metrics, err := f.replica.Metrics()
	f.must(err)
	kinds := []string{"placementdecisions"} // and whatever is written for these
	if f.size.mode == "Scores" {
		kinds = []string{"addonplacementscores", "placements"}
	}
	good := 0
	f.failed = 0
	for _, kind := range kinds {
		good += int(metrics[fmt.Sprintf(`evenkeel_writes_total{what=%q,result="success"}`, kind)])
		f.failed += int(metrics[fmt.Sprintf(`evenkeel_writes_total{what=%q,result="error"}`, kind)])
	}
	return good
}

// differences between what is on the hub and what should be; "" if there is none.
func (f *fleet) difference(ctx context.Context) (string, error) {
	api := f.h.Clusters.ClusterV1beta1()
	placements, err := api.Placements(f.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	decisions, err := api.PlacementDecisions(f.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	held := map[string][]string{}
	for _, d := range decisions.Items {
		for _, one := range d.Status.Decisions {
			placement := d.Labels[clusterv1beta1.PlacementLabel]
			held[placement] = append(held[placement], one.ClusterName)
		}
	}
	for i := range placements.Items {
		p := &placements.Items[i]
		if text := f.differenceOf(p, held[p.Name]); text != "" {
			return p.Name + ": " + text, nil
		}
	}
	return "", nil
}

// differenceOf a Placement, which has as many clusters as it wants, as evenly as can be.
func (f *fleet) differenceOf(p *clusterv1beta1.Placement, clusters []string) string {
	condition := meta.FindStatusCondition(p.Status.Conditions, "SpreadSatisfied")
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return fmt.Sprintf("its condition is %v", condition)
	}
	if len(clusters) != f.number || int(p.Status.NumberOfSelectedClusters) != f.number {
		return fmt.Sprintf("%d clusters are decided, the status says %d", len(clusters), p.Status.NumberOfSelectedClusters)
	}
	slice := p.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels["slice"]
	seen, count := map[string]bool{}, make([]int, fleetZones)
	for _, name := range clusters {
		i, err := strconv.Atoi(strings.TrimPrefix(name, f.name+"-"))
		if err != nil || fmt.Sprint(i%fleetSlices) != slice || f.lost[name] || seen[name] {
			return "it should not have " + name
		}
		seen[name] = true
		count[zoneOf(i)]++
	}
	count = slices.DeleteFunc(count, func(n int) bool { return n == 0 })
	if slices.Max(count)-slices.Min(count) > 1 {
		return fmt.Sprintf("its zones have %v", count)
	}
	return ""
}

// settle waits until all is as it should be and nothing is written any more. It returns when the last write
// was seen, since the change began, and how many there were.
func (f *fleet) settle(began time.Time, before int) (time.Duration, int) {
	f.t.Helper()
	last, now := began, before
	ctx, cancel := context.WithTimeout(f.t.Context(), f.limit)
	defer cancel()
	text := "nothing was looked at"
	for ctx.Err() == nil {
		if n := f.writes(); n != now {
			now, last = n, time.Now()
		}
		if time.Since(last) > fleetStill {
			var err error
			if text, err = f.difference(ctx); err == nil && text == "" {
				return last.Sub(began), now - before
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Fatalf("after %v: %s", f.limit, text)
	return 0, 0
}

// held counts how many Placements have each cluster.
func (f *fleet) held() map[string]int {
	f.t.Helper()
	decisions, err := f.h.Clusters.ClusterV1beta1().PlacementDecisions(f.name).List(f.t.Context(), metav1.ListOptions{})
	f.must(err)
	held := map[string]int{}
	for _, d := range decisions.Items {
		for _, one := range d.Status.Decisions {
			held[one.ClusterName]++
		}
	}
	return held
}

// affected counts PlacementDecisions that have one of these clusters.
func (f *fleet) affected(lost map[string]bool) int {
	f.t.Helper()
	decisions, err := f.h.Clusters.ClusterV1beta1().PlacementDecisions(f.name).List(f.t.Context(), metav1.ListOptions{})
	f.must(err)
	n := 0
	for _, d := range decisions.Items {
		if slices.ContainsFunc(d.Status.Decisions, func(one clusterv1beta1.ClusterDecision) bool { return lost[one.ClusterName] }) {
			n++
		}
	}
	return n
}

func (f *fleet) report(what string, took time.Duration, writes, most int) {
	f.t.Helper()
	resident, peak, err := f.replica.Memory()
	f.must(err)
	bytes, err := f.h.StoredBytes(f.t.Context())
	f.must(err)
	f.t.Logf("%-18s %7.1f s to settle, %5d writes (%d expected at most), etcd %.1f MB, resident %.1f MiB, peak %.1f MiB",
		what, took.Seconds(), writes, most, float64(bytes)/1e6, float64(resident)/(1<<20), float64(peak)/(1<<20))
	if f.failed > 0 {
		f.t.Logf("%-18s %d writes have failed so far", "", f.failed)
	}
	if writes > most+f.failed { // what was done and not answered may be both
		f.t.Errorf("%s: %d writes, and %d would do", what, writes, most)
	}
}

func (f *fleet) reportObjects() {
	f.t.Helper()
	decisions, err := f.h.Clusters.ClusterV1beta1().PlacementDecisions(f.name).List(f.t.Context(), metav1.ListOptions{})
	f.must(err)
	bytes := 0
	for i := range decisions.Items {
		text, err := json.Marshal(&decisions.Items[i])
		f.must(err)
		bytes += len(text)
	}
	f.t.Logf("%d ManagedClusters, %d Placements of %d clusters (%d hard), %d PlacementDecisions of %d bytes each",
		f.size.clusters, f.placements, f.number, f.hard, len(decisions.Items), bytes/max(len(decisions.Items), 1))
}

// start of all Placements. Mode Owner: an object each, its clusters, and the status. Mode Scores: the objects
// of scores, an item for each cluster, what is added to the Placement, once more with the gate, and the status before and after.
func (f *fleet) start() {
	f.t.Helper()
	began := time.Now()
	f.makePlacements()
	made := time.Since(began)
	took, writes := f.settle(began, 0)
	most := 3 * f.placements
	if f.size.mode == "Scores" {
		most = (f.number+4)*f.placements + fleetShards*f.size.clusters
	}
	f.report("start", took, writes, most)
	if f.size.mode == "Scores" {
		good, conflicts := scoreWrites(f.t, f.replica)
		checkScoreWrites(f.t, took, good, conflicts)
	}
	f.t.Logf("%-18s %7.1f s of it to make them", "", made.Seconds())
	f.reportObjects()
}

// perMove is how many writes a move may take. Mode Scores: an item goes and one comes, and the status says so twice.
func (f *fleet) perMove() int {
	if f.size.mode == "Scores" {
		return 4
	}
	return 2
}

// loseOne that most Placements have.
func (f *fleet) loseOne() {
	f.t.Helper()
	name, most := "", 0
	for cluster, n := range f.held() {
		if n > most || (n == most && cluster < name) {
			name, most = cluster, n
		}
	}
	f.lost[name] = true
	before, began := f.writes(), time.Now()
	f.must(f.h.Clusters.ClusterV1().ManagedClusters().Delete(f.t.Context(), name, metav1.DeleteOptions{}))
	took, writes := f.settle(began, before)
	f.report("one cluster lost", took, writes, f.perMove()*most)
}

// loseThird of all, with their zones. While that is going on Placements are decided again and again, so a bound
// is only what one move after the other takes.
func (f *fleet) loseThird() {
	f.t.Helper()
	var gone []string
	lost := map[string]bool{}
	for i := range f.size.clusters {
		if name := f.clusterName(i); zoneOf(i) < fleetZones/3 && !f.lost[name] {
			gone = append(gone, name)
			lost[name] = true
		}
	}
	moves := 0
	for name, n := range f.held() {
		if lost[name] {
			moves += n
		}
	}
	f.t.Logf("%-18s %d clusters, in %d PlacementDecisions, %d times", "", len(gone), f.affected(lost), moves)
	before, began := f.writes(), time.Now()
	f.each(len(gone), func(i int) error {
		_, err := f.h.Clusters.ClusterV1().ManagedClusters().Patch(f.t.Context(), gone[i], types.MergePatchType,
			[]byte(`{"spec":{"taints":[{"key":"gone","effect":"NoSelect"}]}}`), metav1.PatchOptions{})
		return err
	})
	for name := range lost {
		f.lost[name] = true
	}
	made := time.Since(began)
	took, writes := f.settle(began, before)
	f.report("a third lost", took, writes, f.perMove()*moves)
	f.t.Logf("%-18s %7.1f s of it to taint them", "", made.Seconds())
}

// beat has each cluster say once a minute that it is there: nothing is written for that.
func (f *fleet) beat() {
	f.t.Helper()
	before, until := f.writes(), time.Now().Add(f.heartbeats)
	beats, tick := 0, time.NewTicker(time.Minute/time.Duration(f.size.clusters))
	defer tick.Stop()
	for time.Now().Before(until) {
		<-tick.C
		name := f.clusterName(beats % f.size.clusters)
		beats++
		if f.lost[name] {
			continue
		}
		_, err := f.h.Clusters.ClusterV1().ManagedClusters().Patch(f.t.Context(), name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True","reason":"Up",`+
				`"message":"beat %d","lastTransitionTime":%q}]}}`, beats, time.Now().UTC().Format(time.RFC3339)),
			metav1.PatchOptions{}, "status")
		f.must(err)
	}
	f.report(fmt.Sprintf("%d heartbeats", beats), 0, f.writes()-before, 0)
}

// TestFleetScale decides many Placements of a large fleet: start, one cluster lost, a third lost, heartbeats.
// EVENKEEL_E2E_FLEET says how large it is.
func TestFleetScale(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	size := sizeOf(t)
	f := &fleet{world: newWorldWithoutHistory(t, h, dir, "scale", size.mode), size: size, lost: map[string]bool{}}
	began := time.Now()
	f.makeClusters()
	bytes, err := h.StoredBytes(t.Context())
	f.must(err)
	t.Logf("%d clusters are made in %.1f s, etcd %.1f MB", f.size.clusters, time.Since(began).Seconds(), float64(bytes)/1e6)
	// The Lease's defaults: the machine is busy.
	f.replica = startOwner(t, h, dir, "evenkeel", "--lease-duration", "15s")
	f.must(hub.Until(t.Context(), "it serves metrics", func(context.Context) (bool, error) {
		_, err := f.replica.Metrics()
		return err == nil, err
	}))
	f.start()
	f.loseOne()
	f.loseThird()
	f.beat()
}
