package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	soon = 2 * time.Second // within which a condition follows a change
	// With TestConditions' replica moves that nothing forces wait for longer than that.
	longSettle = 8 * time.Second
)

// conditionSoon waits for a condition, which is to come within 2 s, and returns its message.
func (w *world) conditionSoon(name, wanted string) string {
	w.t.Helper()
	began := time.Now()
	w.condition(name, wanted)
	if took := time.Since(began); took > soon {
		w.t.Errorf("%s is %s after %v", name, wanted, took)
	}
	return meta.FindStatusCondition(w.placement(name).Status.Conditions, "SpreadSatisfied").Message
}

// whileMovesWait: the condition is of what is decided, not of what is planned.
func whileMovesWait(w *world) {
	for _, zone := range []string{"a", "b", "c"} {
		w.clusters("zone="+zone, zone+"0", zone+"1", zone+"2")
	}
	w.place("p", `{`+inOrder+`"numberOfClusters":6,`+zones("")+`}`)
	w.has("p", "a0 a1 b0 b1 c0 c1")
	w.conditionSoon("p", "True Even")
	lost := []string{"c0", "c1", "c2"}
	for _, name := range lost {
		w.patchCluster(name, gone)
	}
	w.has("p", "a0 a1 a2 b0 b1 b2")
	w.conditionSoon("p", "True Even")
	for _, name := range lost {
		w.patchCluster(name, well)
	}
	message := w.conditionSoon("p", "False Skewed")
	if !strings.Contains(message, "wait") {
		w.t.Errorf("it does not say that moves wait: %s", message)
	}
	w.has("p", "a0 a1 a2 b0 b1 b2")
	w.has("p", "a0 a1 b0 b1 c0 c1")
	if message := w.conditionSoon("p", "True Even"); strings.Contains(message, "wait") {
		w.t.Errorf("nothing waits any more: %s", message)
	}
}

// placeKnowing who decides a Placement first: Evenkeel in mode Owner, and in mode Scores OCM, which takes these.
func (w *world) placeKnowing(name, spec, ocms string) {
	w.t.Helper()
	if w.mode == "Owner" {
		w.placeAs(name, spec, map[string]any{modeAnnotation: w.mode, disabledAnnotation: "true",
			clusterv1beta1.PlacementDisableAnnotation: "true"})
		return
	}
	w.placeAs(name, spec, map[string]any{modeAnnotation: "Off"})
	w.has(name, ocms)
	w.patchPlacement(name, `{"metadata":{"annotations":{"`+modeAnnotation+`":"`+w.mode+`"}}}`)
}

// ofNothing it is never even.
func ofNothing(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	for _, name := range []string{"a0", "a1", "b0", "b1"} {
		_, err := w.h.Clusters.ClusterV1().ManagedClusters().Patch(w.t.Context(), w.name+"-"+name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"clusterClaims":[{"name":"rack","value":%q}],"version":{},"conditions":[]}}`, name),
			metav1.PatchOptions{}, "status")
		w.must(err)
	}
	const term = `"spreadPolicy":{"spreadConstraints":[{"topologyKey":%q,"topologyKeyType":%q%s}]}`
	const all = "a0 a1 b0 b1"
	for _, c := range []struct{ name, spec, clusters, ocms, condition string }{
		{"unbound", `"clusterSets":["elsewhere"],` + zones(hard), "", "", "False NoClusters"},
		{"nobodys", fmt.Sprintf(term, "data-center", "Claim", hard), "", all, "False KeyUnknown"},
		{"nobodys-soft", fmt.Sprintf(term, "data-center", "Claim", ""), all, all, "False KeyUnknown"},
		{"a-claim", fmt.Sprintf(term, "rack", "Label", hard), "", all, "False KeyUnknown"},
	} {
		w.placeKnowing(c.name, `{`+inOrder+`"numberOfClusters":4,`+c.spec+`}`, c.ocms)
		w.conditionSoon(c.name, c.condition)
		if w.mode == "Owner" {
			w.has(c.name, c.clusters)
		} else {
			w.has(c.name, c.ocms) // which are members by then, and stay
		}
		w.quiet(c.name, time.Second)
	}
}

// misspeltKey of a hard term: what is decided stays, and an Event warns.
func misspeltKey(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	w.place("p", `{`+inOrder+`"numberOfClusters":2,`+zones(hard)+`}`)
	w.has("p", "a0 b0")
	w.conditionSoon("p", "True Even")
	since := len(w.history.Of("p"))
	w.patchPlacement("p", `{"spec":{`+strings.Replace(zones(hard), `"zone"`, `"zoen"`, 1)+`}}`)
	if message := w.conditionSoon("p", "False KeyUnknown"); !strings.Contains(message, "4 of 4") || !strings.Contains(message, "'zoen'") {
		w.t.Errorf("it does not say which key how many clusters lack: %s", message)
	}
	w.quiet("p", 2*time.Second)
	w.until("an Event warns", func() bool {
		events, err := w.h.Kube.EventsV1().Events(w.name).List(w.t.Context(), metav1.ListOptions{})
		w.must(err)
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Type == "Warning" && e.Reason == "KeyUnknown" && e.Regarding.Name == "p"
		})
	})
	w.patchPlacement("p", `{"spec":{`+zones(hard)+`}}`)
	w.conditionSoon("p", "True Even")
	for _, moment := range w.history.Of("p")[since:] {
		if !slices.Equal(moment.Clusters, w.full("a0 b0")) {
			w.t.Errorf("it had %v at version %s", moment.Clusters, moment.Version)
		}
	}
}

// wrongWords that are typed have words of their own.
func wrongWords(w *world) {
	w.cluster("a0", "zone=a") // what OCM decides by itself is even, too
	w.cluster("b0", "zone=b")
	w.placeAs("group", `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`,
		map[string]any{modeAnnotation: w.mode, "placements.evenkeel.io/spread-group": "a in (b"})
	w.conditionSoon("group", "False SpreadGroupInvalid")
	long := strings.Repeat("long-", 14)[:69]
	w.place(long, `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`)
	w.conditionSoon(long, "Unknown NameTooLong")
}

// reasonsFollow labels: no cluster moves, and the object is written once.
func reasonsFollow(w *world) {
	w.cluster("a0", "zone=a")
	w.cluster("b0", "zone=b")
	w.place("p", `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`)
	w.has("p", "a0 b0")
	w.conditionSoon("p", "True Even")
	writes := w.history.Writes("p")
	w.patchCluster("b0", `{"metadata":{"labels":{"zone":"c"}}}`)
	w.until("the reason has the new zone", func() bool {
		d, err := w.h.Read(w.t.Context(), w.name, "p")
		w.must(err)
		return d.Objects[0].Status.Decisions[1].Reason == "spread by zone=c"
	})
	w.quiet("p", time.Second)
	if now := w.history.Writes("p"); now != writes+1 {
		w.t.Errorf("%d writes for one reason", now-writes)
	}
}

// TestConditions: SpreadSatisfied says what the hub has, in both modes, and says it soon.
func TestConditions(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	startOwner(t, h, dir, "evenkeel", "--ocm-settle-after", longSettle.String(), "--ocm-moves-per-minute", "1000")
	run := func(name, mode string, test func(w *world)) {
		name = strings.ToLower(mode) + "-" + name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newWorld(t, h, dir, name, mode))
		})
	}
	for _, mode := range []string{"Owner", "Scores"} {
		run("waits", mode, whileMovesWait)
		run("nothing", mode, ofNothing)
		run("key", mode, misspeltKey)
		run("words", mode, wrongWords)
	}
	run("reasons", "Owner", reasonsFollow)
}
