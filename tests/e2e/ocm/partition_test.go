package e2e

import (
	"strings"
	"time"
)

// partitioned: the leader is cut off from the API server in the middle of a move under hard terms, and is not told.
// The next one ends the move; the first comes back, and leaves it alone.
func partitioned(w *world, dir string, arguments ...string) {
	link, err := w.h.Link(w.t.TempDir())
	w.must(err)
	w.t.Cleanup(link.Close)
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1", "b2")
	w.clusters("zone=c", "c0", "c1", "c2")
	byLink := *w.h
	byLink.Kubeconfig = link.Kubeconfig
	behind := startOwner(w.t, &byLink, dir, "behind", arguments...)
	w.place("p", `{"numberOfClusters":8,`+zones(hard)+`}`)
	w.equals("p")
	w.condition("p", "True Even")
	if w.mode == "Scores" { // until then OCM fills up by itself
		w.until("OCM has the gate", func() bool { return strings.Contains(w.spec("p"), ".exists(") })
	}
	w.quiet("p", 500*time.Millisecond)
	if e := w.explain("p", behind); !e.Planner.Leads {
		w.t.Fatal("the one behind the link does not lead")
	}
	direct := startOwner(w.t, w.h, dir, "direct", arguments...)

	since := len(w.history.Of("p"))
	link.Slow(time.Second) // longer than a busy machine takes to see the move begin
	w.patchCluster("b0", taint)
	w.patchCluster("a0", taint)
	w.until("the move has begun", func() bool { return len(w.history.Of("p")) > since })
	link.Cut()
	if rest, err := w.difference(w.t.Context(), "p"); err == nil && rest == "" {
		w.t.Error("the move was over before the leader was cut off")
	}
	w.equals("p")
	if e := w.explain("p", direct); !e.Planner.Leads {
		w.t.Error("the move was ended by somebody who does not lead")
	}
	link.Heal()
	w.quiet("p", 2*time.Second)
	w.equals("p")
	w.condition("p", "True Even")
	w.skewIsNever("p", 1)
	for _, moment := range w.history.Of("p")[since:] {
		if len(moment.Clusters) == 0 {
			w.t.Errorf("nothing was decided at version %s", moment.Version)
		}
	}
	if e := w.explain("p", behind); e.Planner.Leads {
		w.t.Error("the one that was cut off leads still")
	}
}
