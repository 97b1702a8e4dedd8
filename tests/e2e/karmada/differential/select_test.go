package differential

import (
	"slices"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/scheduler/framework"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// Errors of selection, as Karmada words them.
const (
	tooFewClusters   = "the number of feasible clusters is less than spreadConstraint.MinGroups"
	tooFewRegions    = "the number of feasible region is less than spreadConstraint.MinGroups"
	tooFewInRegions  = "the number of clusters is less than the cluster spreadConstraint.MinGroups"
	neitherIsThere   = "just support cluster and region spread constraint"
	tooFewBeginsWith = "no enough resource when selecting "
)

// TestSelect scores groups and selects clusters.
func TestSelect(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return selectCase, nil }, append([]string{
		"all selected", "some selected", "by regions", "by clusters", "by other levels as v1.18.1 does", "overflows",
		tooFewClusters, tooFewRegions, tooFewInRegions, neitherIsThere, tooFewBeginsWith,
		deviatesLeastZero}, strategies...)...)
}

func selectCase(d dice) ([]pair, error) {
	size := d.between(1, 12)
	if d.chance(5) {
		size = d.between(13, 40)
	}
	var scores framework.ClusterScoreList
	var clusters []*clusterv1alpha1.Cluster
	spec, status := &workv1alpha2.ResourceBindingSpec{}, &workv1alpha2.ResourceBindingStatus{}
	allocatable, most := map[string]int32{}, pick(d, 3, 10, 40)
	for i := range size {
		cluster := d.place(i + 1)
		score := pick(d, int64(0), 0, 100)
		if d.chance(10) {
			score = int64(d.between(0, 100))
		}
		clusters = append(clusters, cluster)
		scores = append(scores, framework.ClusterScore{Cluster: cluster, Score: score})
		allocatable[cluster.Name] = int32(d.between(0, most))
		if d.chance(30) {
			spec.Clusters = append(spec.Clusters, workv1alpha2.TargetCluster{Name: cluster.Name, Replicas: int32(d.between(0, 9))})
		}
	}
	name := pick(d, strategies...)
	spec.Replicas = int32(d.between(0, most*min(size, 6)))
	spec.Placement = &policyv1alpha1.Placement{ReplicaScheduling: strategy(name, d.rules(names(clusters)))}
	if d.chance(95) {
		spec.Placement.SpreadConstraints = d.spread(size)
	}
	overflow := d.chance(15)
	if overflow {
		spec.Placement.ClusterAffinities = d.affinities(names(clusters), true)
		status.SchedulerObservedAffinityName = "a1"
	}
	question, leastZero := d.selectQuestion(scores, allocatable, spec)
	s := peer.Select(scores, allocatable, spec, status)
	for i, candidate := range question["candidates"].([]object) {
		for _, c := range s.Groups.Clusters {
			if c.Name == scores[i].Cluster.Name && overflow {
				candidate["overflowOrder"] = c.OverflowOrder
			}
		}
	}
	return []pair{{question, object{"clusters": s.Clusters, "error": s.Error, "scores": s.Scores()},
		selectTraits(s, spec, name, overflow, leastZero)}}, nil
}

// selectQuestion may ask with limits of 0, which Evenkeel takes as 1; Karmada's code is asked with 1.
func (d dice) selectQuestion(scores framework.ClusterScoreList, allocatable map[string]int32,
	spec *workv1alpha2.ResourceBindingSpec) (question object, leastZero bool) {
	candidates := []object{}
	for _, one := range scores {
		c := one.Cluster
		candidates = append(candidates, object{"name": c.Name, "provider": c.Spec.Provider, "region": c.Spec.Region,
			"zones": append([]string{}, c.Spec.Zones...), "labels": c.Labels, "score": one.Score,
			"allocatable": allocatable[c.Name], "previous": spec.AssignedReplicasForCluster(c.Name)})
	}
	placement := spec.Placement.DeepCopy()
	leastZero = d.leastZero(placement)
	question = object{"step": "select", "candidates": candidates, "replicas": spec.Replicas, "placement": placement}
	if !usual(placement.SpreadConstraints) || d.chance(50) {
		question["options"] = object{"compat": "v1.18.1"}
	}
	return question, leastZero
}

func selectTraits(s peer.Selection, spec *workv1alpha2.ResourceBindingSpec, name string, overflow, leastZero bool) []string {
	constraints := spec.Placement.SpreadConstraints
	byRegions := slices.ContainsFunc(constraints, func(c policyv1alpha1.SpreadConstraint) bool {
		return c.SpreadByField == policyv1alpha1.SpreadByFieldRegion
	})
	spread := len(constraints) > 0 && name != static && name != unweighted && s.Error == ""
	traits := traitsOf(map[string]bool{
		name: true, deviatesLeastZero: leastZero, "overflows": overflow && spread,
		"all selected":  s.Error == "" && len(s.Clusters) == len(s.Groups.Clusters),
		"some selected": len(s.Clusters) > 0 && len(s.Clusters) < len(s.Groups.Clusters),
		"by regions":    spread && byRegions, "by clusters": spread && !byRegions && usual(constraints),
		"by other levels as v1.18.1 does": spread && !usual(constraints),
	})
	if len(s.Error) > len(tooFewBeginsWith) && s.Error[:len(tooFewBeginsWith)] == tooFewBeginsWith {
		return append(traits, tooFewBeginsWith)
	}
	if s.Error != "" {
		traits = append(traits, s.Error)
	}
	return traits
}
