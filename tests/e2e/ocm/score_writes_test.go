package e2e

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
)

const (
	writesPerSecond = 50 // ocm.writesPerSecond
	conflictPercent = 2  // of the writes at most
)

// scoreWrites that were good so far, and those that came too late.
func scoreWrites(t *testing.T, r *evenkeel.Replica) (good, conflicts int) {
	t.Helper()
	metrics, err := r.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"addonplacementscores", "placements"} {
		good += int(metrics[fmt.Sprintf(`evenkeel_writes_total{what=%q,result="success"}`, what)])
		conflicts += int(metrics[fmt.Sprintf(`evenkeel_writes_total{what=%q,result="conflict"}`, what)])
	}
	return good, conflicts
}

// checkScoreWrites: few writes come too late, and all together took not much longer than their number alone takes.
func checkScoreWrites(t *testing.T, took time.Duration, good, conflicts int) {
	t.Helper()
	t.Logf("%d writes and %d conflicts in %v", good, conflicts, took)
	if conflicts*100 > good*conflictPercent {
		t.Errorf("%d writes of %d came too late", conflicts, good+conflicts)
	}
	if alone := time.Duration(good) * time.Second / writesPerSecond; took > 2*alone {
		t.Errorf("%d writes took %v, and need %v", good, took, alone)
	}
}

// TestScoreWrites: mode Scores with few clusters and many Placements, whose scores share objects.
func TestScoreWrites(t *testing.T) {
	const clusters, placements = 4, 100
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	w := newWorld(t, h, dir, "shared", "Scores")
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	replica := startOwner(t, h, dir, "evenkeel")
	began := time.Now()
	for i := range placements {
		w.place(fmt.Sprintf("p%03d", i), fmt.Sprintf(`{`+inOrder+`"numberOfClusters":%d,%s}`, clusters, zones("")))
	}
	w.until("all are decided", func() bool {
		list, err := h.Clusters.ClusterV1beta1().Placements(w.name).List(t.Context(), metav1.ListOptions{})
		w.must(err)
		for i := range list.Items {
			if !isEven(&list.Items[i], clusters) {
				return false
			}
		}
		return len(list.Items) == placements
	})
	took := time.Since(began)
	if items := len(w.items()); items != clusters*placements {
		t.Errorf("there are %d items for %d Placements of %d clusters", items, placements, clusters)
	}
	good, conflicts := scoreWrites(t, replica)
	checkScoreWrites(t, took, good, conflicts)
}

func isEven(p *clusterv1beta1.Placement, clusters int) bool {
	c := meta.FindStatusCondition(p.Status.Conditions, "SpreadSatisfied")
	return c != nil && c.Status == metav1.ConditionTrue && int(p.Status.NumberOfSelectedClusters) == clusters
}
