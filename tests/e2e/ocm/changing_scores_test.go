package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

// changeScores has another cluster of these be the best one each second, until it is stopped.
func (w *world) changeScores(names []string) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for i := 0; ; i++ {
			err := w.score(names[i%len(names)], int64(60+i%3))
			if err == nil {
				err = w.score(names[(i+len(names)-1)%len(names)], 0)
			}
			if err != nil {
				w.t.Error(err)
				return
			}
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// movesUnderChangingScores: a zone is lost and comes back, and its best cluster is another one each second.
func movesUnderChangingScores(w *world) {
	of := map[string][]string{}
	for _, zone := range []string{"a", "b", "c"} {
		for i := range 6 {
			name := fmt.Sprintf("%s%d", zone, i)
			of[zone] = append(of[zone], name)
			w.cluster(name, "zone="+zone)
			w.must(w.h.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "AddOnPlacementScore",
				"metadata": map[string]any{"name": "dr", "namespace": w.name + "-" + name},
				"status":   map[string]any{"scores": []any{map[string]any{"name": "s", "value": int64(0)}}}}}))
		}
	}
	const spec = `{"numberOfClusters":6,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn",` +
		`"addOn":{"resourceName":"dr","scoreName":"s"}}},{"scoreCoordinate":{"builtIn":"Steady"},"weight":10}]},%s}`
	names := []string{"soft", "hard"}
	w.place("soft", fmt.Sprintf(spec, zones("")))
	w.place("hard", fmt.Sprintf(spec, zones(hard)))
	for _, name := range names {
		w.has(name, "a0 a1 b0 b1 c0 c1")
		w.condition(name, "True Even")
	}
	for _, name := range of["c"] {
		w.patchCluster(name, gone)
	}
	for _, name := range names {
		w.has(name, "a0 a1 a2 b0 b1 b2")
		w.condition(name, "True Even")
	}

	stop := w.changeScores(of["c"])
	defer stop()
	since := map[string]int{}
	for _, name := range names {
		since[name] = len(w.history.Of(name))
	}
	for _, name := range of["c"] {
		w.patchCluster(name, well)
	}
	back := time.Now()
	ofC := func(clusters []string) int {
		n := 0
		for _, cluster := range clusters {
			if strings.HasPrefix(cluster, w.name+"-c") {
				n++
			}
		}
		return n
	}
	for _, name := range names {
		w.until(name+" has two clusters of the zone again", func() bool {
			all := w.history.Of(name)
			return len(all) > since[name] && ofC(all[len(all)-1].Clusters) == 2 && len(all[len(all)-1].Clusters) == 6
		})
		all := w.history.Of(name)[since[name]:]
		first := slices.IndexFunc(all, func(m hub.Moment) bool { return ofC(m.Clusters) > 0 })
		if began := all[first].At.Sub(back); began > settleAfter+2*time.Second {
			w.t.Errorf("%s: the first move began after %v", name, began)
		}
		w.condition(name, "True Even")
	}
}

// TestMovesUnderChangingScores: what evenness needs does not wait until scores stand still.
func TestMovesUnderChangingScores(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	startOwner(t, h, dir, "evenkeel", "--ocm-moves-per-minute", "1000")
	for name, mode := range map[string]string{"owner": "Owner", "scores": "Scores"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			movesUnderChangingScores(newWorld(t, h, dir, name, mode))
		})
	}
}
