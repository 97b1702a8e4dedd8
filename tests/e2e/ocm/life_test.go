package e2e

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	gone = `{"spec":{"taints":[{"key":"gone","effect":"NoSelect"}]}}`
	well = `{"spec":{"taints":null}}`
)

// ups and downs of clusters, and of what is asked for, the same in both modes.
func upsAndDowns(w *world) {
	w.clusters("zone=a", "a0", "a1")
	w.clusters("zone=b", "b0", "b1")
	w.clusters("zone=c", "c0", "c1")
	w.place("p", `{"numberOfClusters":3,"tolerations":[{"key":"sick","operator":"Exists","tolerationSeconds":3}],`+zones("")+`}`)
	w.has("p", "a0 b0 c0")
	w.condition("p", "True Even")
	since := len(w.history.Of("p"))

	// tolerated for three seconds, and then not; well again, and nothing moves for that
	begin := time.Now()
	w.patchCluster("c0", fmt.Sprintf(`{"spec":{"taints":[{"key":"sick","effect":"NoSelect","timeAdded":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339)))
	w.has("p", "a0 b0 c1")
	if waited := time.Since(begin); waited < 2*time.Second {
		w.t.Errorf("a taint that is tolerated for 3 s was not after %v", waited)
	}
	w.patchCluster("c0", well)
	w.equals("p")

	// deleted, and back
	w.deleteCluster("b0")
	w.has("p", "a0 b1 c1")
	w.cluster("b0", "zone=b")
	w.equals("p")

	// a zone is lost, and back
	w.patchCluster("b0", gone)
	w.patchCluster("b1", gone)
	w.equals("p")
	w.stays("p", since, "a0")
	w.patchCluster("b0", well)
	w.patchCluster("b1", well)
	w.equals("p")
	w.condition("p", "True Even")

	// the terms are edited, and removed: OCM goes on
	w.patchPlacement("p", `{"spec":{"numberOfClusters":5,`+zones(hard)+`}}`)
	w.equals("p")
	w.condition("p", "True Even")
	w.patchPlacement("p", `{"spec":{"numberOfClusters":2,"spreadPolicy":null}}`)
	w.condition("p", "none")
	w.equals("p")
	for _, moment := range w.history.Of("p")[since:] {
		if len(moment.Clusters) == 0 {
			w.t.Errorf("nothing was decided at version %s", moment.Version)
		}
	}
}

func (w *world) score(cluster string, value int64) error {
	api := w.h.Clusters.ClusterV1alpha1().AddOnPlacementScores(w.name + "-" + cluster)
	_, err := api.Patch(w.t.Context(), "dr", types.MergePatchType, fmt.Appendf(nil, `{"status":{"scores":[{"name":"s","value":%d}]}}`, value),
		metav1.PatchOptions{}, "status")
	return err
}

// primaryAndBackup: the primary goes down, the backup takes over, and stays when the primary is back; a score that
// changes moves who asks for the best.
func primaryAndBackup(w *world) {
	w.cluster("x0", "zone=x")
	w.cluster("x1", "zone=y")
	for name, value := range map[string]int64{"x0": 100, "x1": 50} {
		w.must(w.h.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "AddOnPlacementScore",
			"metadata": map[string]any{"name": "dr", "namespace": w.name + "-" + name},
			"status":   map[string]any{"scores": []any{map[string]any{"name": "s", "value": value}}}}}))
	}
	spec := `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn",` +
		`"addOn":{"resourceName":"dr","scoreName":"s"}}}%s]},` + zones("") + `}`
	w.place("dr", fmt.Sprintf(spec, `,{"scoreCoordinate":{"builtIn":"Steady"},"weight":3}`))
	w.place("best", fmt.Sprintf(spec, ""))
	w.has("dr", "x0")
	w.has("best", "x0")
	w.patchCluster("x0", gone)
	w.has("dr", "x1")
	w.has("best", "x1")
	w.patchCluster("x0", well)
	w.has("best", "x0")
	w.equals("dr")
	w.has("dr", "x1")
	w.must(w.score("x0", -100))
	w.has("best", "x1")
	w.equals("best")
}
