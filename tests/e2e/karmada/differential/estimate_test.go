package differential

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestGeneralEstimator estimates by a cluster's summary and its models: replicas and sets of components.
func TestGeneralEstimator(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return generalCase, nil },
		"no summary", "by the summary", "by models", "counts without models", "no requirements", "no components", "replicas fit", "sets fit")
}

// modelled makes a Cluster, with models where that is said.
func (d dice) modelled(models bool) *clusterv1alpha1.Cluster {
	c := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	c.Spec.SyncMode = clusterv1alpha1.Push
	c.Status.ResourceSummary = d.summary(pick(d, 10, 60, 200))
	if models {
		d.model(c, 6, 6)
	}
	return c
}

func generalCase(d dice) ([]pair, error) {
	cluster := d.modelled(d.chance(50))
	if d.chance(2) {
		cluster.Status.ResourceSummary = nil
	}
	var requirements *workv1alpha2.ReplicaRequirements
	if d.chance(93) {
		requirements = &workv1alpha2.ReplicaRequirements{ResourceRequest: d.request()}
	}
	var components []workv1alpha2.Component
	if d.chance(90) {
		components = d.components()
	}
	replicas, sets, err := peer.General(cluster, requirements, components)
	question := object{"step": "estimate", "cluster": cluster}
	if requirements != nil {
		question["requirements"] = requirements
	}
	if components != nil {
		question["components"] = components
	}
	summary := cluster.Status.ResourceSummary
	counts := summary != nil && len(summary.AllocatableModelings) > 0
	return []pair{{question, object{"replicas": replicas, "sets": sets}, traitsOf(map[string]bool{
		"no summary": summary == nil, "by the summary": summary != nil && !counts,
		"by models":             counts && len(cluster.Spec.ResourceModels) > 0,
		"counts without models": counts && len(cluster.Spec.ResourceModels) == 0,
		"no requirements":       requirements == nil, "no components": components == nil,
		"replicas fit": replicas > 0 && requirements != nil, "sets fit": sets > 0 && components != nil,
	})}}, err
}
