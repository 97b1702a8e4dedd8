package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

// TestScores runs Evenkeel in mode Scores: OCM's own controller decides, by scores that Evenkeel publishes. Nothing
// asks a webhook, so Placements are live before they are told to heed them.
func TestScores(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	first := startOwner(t, h, dir, "first", "--ocm-refused-after", "3s", "--ocm-moves-per-minute", "1000")
	run := func(name string, test func(w *world)) {
		t.Run(name, func(t *testing.T) { test(newWorld(t, h, dir, name, "Scores")) })
	}
	run("selection", selection)
	run("worked", workedExample)
	run("claims", byClaims)
	run("moves", scoredMoves)
	run("hard", scoredHardTerms)
	run("life", upsAndDowns)
	run("backup", primaryAndBackup)
	run("refused", refusedByCEL)
	run("leaving", leavingScores)
	run("copied", copiedKey)
	run("deleted", sweptScores)
	run("leaders", func(w *world) { leaders(w, first, dir) })
	run("partitioned", func(w *world) { partitioned(w, dir, "--ocm-refused-after", "3s", "--ocm-moves-per-minute", "1000") })
}

// scoredMoves: clusters come, fall ill, and go.
func scoredMoves(w *world) {
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1")
	w.place("p", `{"numberOfClusters":4,`+zones("")+`}`)
	w.has("p", "a0 a1 b0 b1")
	w.condition("p", "True Even")
	since := len(w.history.Of("p"))
	w.cluster("c0", "zone=c")
	w.has("p", "a0 a1 b0 c0")
	w.equals("p")
	w.patchCluster("c0", taint)
	w.has("p", "a0 a1 b0 b1")
	w.deleteCluster("b0")
	w.has("p", "a0 a1 a2 b1")
	w.equals("p")
	w.stays("p", since, "a0 a1")
	for _, moment := range w.history.Of("p")[since:] {
		if len(moment.Clusters) == 0 {
			w.t.Errorf("nothing was decided at version %s", moment.Version)
		}
	}
	w.patchPlacement("p", `{"spec":{"numberOfClusters":2}}`)
	w.has("p", "a0 b1")
	w.quiet("p", time.Second)
}

// scoredHardTerms hold at every moment once OCM heeds them.
func scoredHardTerms(w *world) {
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1", "b2")
	w.clusters("zone=c", "c0", "c1", "c2")
	w.place("p", `{"numberOfClusters":8,`+zones(hard)+`}`)
	w.equals("p")
	w.condition("p", "True Even")
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

// refusedByCEL: what nobody but OCM evaluates is found out.
func refusedByCEL(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b ok=no", "b0")
	w.clusters("zone=b", "b1")
	w.place("p", `{"numberOfClusters":2,"predicates":[{"requiredClusterSelector":{"celSelector":{"celExpressions":[`+
		`"!(\"ok\" in managedCluster.metadata.labels)"]}}}],`+zones(hard)+`}`)
	w.has("p", "a0 b1")
	w.condition("p", "False RefusedClusters")
	w.patchCluster("b0", `{"metadata":{"labels":{"ok":null}}}`)
	w.condition("p", "True Even")
}

// spec of a Placement as it is.
func (w *world) spec(name string) string {
	w.t.Helper()
	text, err := json.Marshal(w.placement(name).Spec)
	w.must(err)
	return string(text)
}

// leavingScores: the mode goes, and what was added with it; OCM goes on, and moves nothing, for it is steady.
func leavingScores(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.cluster("b0", "zone=b")
	w.placeAs("p", `{"numberOfClusters":2,"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{}}}}],`+
		zones(hard)+`}`, map[string]any{modeAnnotation: "Off"})
	w.has("p", "a0 a1")
	before := w.spec("p")
	w.patchPlacement("p", `{"metadata":{"annotations":{"`+modeAnnotation+`":"Scores"}}}`)
	w.has("p", "a0 b0")
	w.condition("p", "True Even")
	if now := w.spec("p"); !strings.Contains(now, "evenkeel-") || !strings.Contains(now, "managedCluster.scores") {
		w.t.Errorf("nothing is added: %s", now)
	}
	w.patchPlacement("p", `{"metadata":{"annotations":{"`+modeAnnotation+`":"Off"}}}`)
	w.condition("p", "none")
	w.until("what was added is gone", func() bool { return w.spec("p") == before && len(w.placement("p").Annotations) == 1 })
	w.has("p", "a0 b0")
	w.until("no item is left", func() bool { return len(w.items()) == 0 })
}

// copiedKey: a Placement that names another's score gets its own, and takes nothing from the other.
func copiedKey(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	w.place("p", `{"numberOfClusters":2,`+zones(hard)+`}`)
	w.has("p", "a0 b0")
	w.condition("p", "True Even")
	since := len(w.history.Of("p"))
	of := w.placement("p")
	spec := strings.Replace(w.spec("p"), `"numberOfClusters":2`, `"numberOfClusters":4`, 1)
	w.placeAs("thief", spec, map[string]any{modeAnnotation: "Scores", injected: of.Annotations[injected]})
	w.has("thief", "a0 a1 b0 b1")
	w.condition("thief", "True Even")
	if w.placement("thief").Annotations[injected] == of.Annotations[injected] {
		w.t.Error("both have one key")
	}
	w.has("p", "a0 b0")
	for _, moment := range w.history.Of("p")[since:] {
		if !slices.Equal(moment.Clusters, w.full("a0 b0")) {
			w.t.Errorf("it had %v at version %s", moment.Clusters, moment.Version)
		}
	}
}

// items of all scores of Evenkeel's in the world's clusters: CLUSTER/RESOURCE/ITEM.
func (w *world) items() []string {
	w.t.Helper()
	var all []string
	scores, err := w.h.Clusters.ClusterV1alpha1().AddOnPlacementScores("").List(w.t.Context(), metav1.ListOptions{})
	w.must(err)
	for _, s := range scores.Items {
		for _, item := range s.Status.Scores {
			if strings.HasPrefix(s.Namespace, w.name+"-") && strings.HasPrefix(s.Name, "evenkeel-") {
				all = append(all, fmt.Sprintf("%s/%s/%s", s.Namespace, s.Name, item.Name))
			}
		}
	}
	return all
}

func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	w.must(hub.Until(w.t.Context(), what, func(context.Context) (bool, error) { return is(), nil }))
}

// sweptScores: what belongs to no Placement any more goes, and the rest stays.
func sweptScores(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.cluster("b0", "zone=b")
	for _, name := range []string{"p", "q"} {
		w.place(name, `{`+inOrder+`"numberOfClusters":2,`+zones("")+`}`)
		w.has(name, "a0 b0")
		w.condition(name, "True Even")
	}
	w.until("both have their items", func() bool { return len(w.items()) == 4 })
	w.must(w.h.Clusters.ClusterV1beta1().Placements(w.name).Delete(w.t.Context(), "p", metav1.DeleteOptions{}))
	w.until("its items are gone", func() bool { return len(w.items()) == 2 })
	w.must(w.h.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "AddOnPlacementScore",
		"metadata": map[string]any{"name": "others", "namespace": w.name + "-a0"},
		"status":   map[string]any{"scores": []any{map[string]any{"name": "s", "value": int64(5)}}}}}))
	w.has("q", "a0 b0")
	w.quiet("q", time.Second)
}

// TestScoresFromTheStart: the webhook sees Placements before OCM does. With hard terms nothing is selected until
// scores are there, and then never what breaks a term.
func TestScoresFromTheStart(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	w := newWorld(t, h, dir, reviewed, "Scores")
	certs := t.TempDir()
	output, err := exec.Command(setting(t, "EVENKEEL"), "certs", "init", "--dir", certs).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	authority, err := os.ReadFile(filepath.Join(certs, "ca.crt"))
	w.must(err)
	askAbout(t, h, "https://"+servingWebhook(t, h, certs)+"/webhooks/v1/placements", authority, func() bool {
		probe := placementOf(reviewed, "negative", clusterv1beta1.SpreadPolicy{})
		n := int32(-1)
		probe.Spec.NumberOfClusters = &n
		_, err := h.Clusters.ClusterV1beta1().Placements(reviewed).Create(t.Context(), probe, dryRun)
		return err != nil && strings.Contains(err.Error(), "-1 is negative")
	})
	w.clusters("zone=a", "a0", "a1", "a2")
	w.clusters("zone=b", "b0", "b1", "b2")
	w.clusters("zone=c", "c0", "c1")
	// OCM does not know this prioritizer, and would empty the Placement's decisions
	w.place("p", `{"numberOfClusters":5,"prioritizerPolicy":{"configurations":[{"scoreCoordinate":{"builtIn":"Spread"},"weight":2}]},`+
		zones(hard)+`}`)
	w.has("p", "a0 a1 b0 b1 c0")
	w.condition("p", "True Even")
	w.equals("p")
	// OCM may see the gate before it has seen all scores, and reads these one by one while they come.
	w.skewIsNeverOnce("p", 5, 1)
	// a user's change is reviewed again, and changes nothing of ours
	spec := w.spec("p")
	w.patchPlacement("p", `{"metadata":{"labels":{"a":"b"}}}`)
	if now := w.spec("p"); now != spec {
		t.Errorf("it was\n%s and is\n%s", spec, now)
	}
	w.quiet("p", time.Second)
	w.patchCluster("c0", taint)
	w.has("p", "a0 a1 b0 b1 c1")
	// terms go, with the webhook in the way
	w.patchPlacement("p", `{"spec":{"spreadPolicy":null,"prioritizerPolicy":null}}`)
	w.condition("p", "none")
	w.until("nothing is left of it", func() bool {
		p := w.placement("p")
		return p.Annotations[injected] == "" && len(p.Spec.Predicates) == 0 && len(p.Spec.PrioritizerPolicy.Configurations) == 0
	})
	w.until("no item is left", func() bool { return len(w.items()) == 0 })
	if c := meta.FindStatusCondition(w.placement("p").Status.Conditions, "PlacementMisconfigured"); c == nil || c.Status != "False" {
		t.Errorf("OCM says %+v", c)
	}
	if decided := w.history.Of("p"); len(decided[len(decided)-1].Clusters) != 5 {
		t.Errorf("in the end it has %v", decided[len(decided)-1].Clusters)
	}
}
