package differential

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/scheduler/core/spreadconstraint"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

const wrapped = "Clusters available replicas -" // a negative sum follows

// TestAssign divides replicas, in every strategy and mode.
func TestAssign(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return assignCase, nil }, append([]string{
		"divided anew", "more replicas than before", "fewer replicas than before", "as many replicas as before", "clusters that are gone",
		"overflow", "overflow into a second tier", "more than 12 clusters", "many that tie", "not a workload", "several components",
		"UnschedulableError", "error", deviatesWrap}, strategies...)...)
}

// division is a case that is being made.
type division struct {
	dice
	candidates []spreadconstraint.ClusterDetailInfo
	spec       *workv1alpha2.ResourceBindingSpec
	status     *workv1alpha2.ResourceBindingStatus
	overflow   bool
	used       map[string]bool // traits
}

func assignCase(d dice) ([]pair, error) {
	v := &division{dice: d, spec: &workv1alpha2.ResourceBindingSpec{}, status: &workv1alpha2.ResourceBindingStatus{}, used: map[string]bool{}}
	v.makeCandidates()
	v.makeBinding()
	answer := peer.Assign(v.candidates, v.spec, v.status)
	question := v.question()
	if strings.Contains(answer.Error, wrapped) { // as it was before, but not anew
		v.used[deviatesWrap] = true
		v.spec.RescheduleTriggeredAt = nil
		answer = peer.Assign(v.candidates, v.spec, v.status)
	}
	if answer.ErrorKind != "" {
		v.used[answer.ErrorKind] = true
	}
	v.used["overflow into a second tier"] = v.overflow && answer.Error == "" && v.tiers(answer) > 1
	return []pair{{question, object{"clusters": answer.Clusters, "error": answer.Error}, traitsOf(v.used)}}, nil
}

func (v *division) makeCandidates() {
	size, most := v.between(1, 12), pick(v.dice, 1, 3, 20, 20, 1000, 3000000)
	if v.chance(35) {
		size = v.between(13, 80)
	}
	if v.chance(1) {
		size = 0
	}
	v.used["more than 12 clusters"] = size > 12
	v.used["many that tie"] = size > 24 && most <= 3
	for i := range size {
		c := v.place(i + 1)
		one := spreadconstraint.ClusterDetailInfo{Name: c.Name, Cluster: c, AllocatableReplicas: int32(v.between(0, most))}
		one.AvailableReplicas = int64(one.AllocatableReplicas)
		if v.chance(30) {
			had := int32(v.between(0, min(most, 20)))
			one.AvailableReplicas += int64(had)
			v.spec.Clusters = append(v.spec.Clusters, workv1alpha2.TargetCluster{Name: c.Name, Replicas: had})
		}
		v.candidates = append(v.candidates, one)
	}
	if v.chance(15) {
		v.used["clusters that are gone"] = true
		v.spec.Clusters = append(v.spec.Clusters, workv1alpha2.TargetCluster{Name: "gone", Replicas: int32(v.between(0, 9))})
	}
	v.arrange()
	v.Shuffle(len(v.spec.Clusters), func(i, j int) { v.spec.Clusters[i], v.spec.Clusters[j] = v.spec.Clusters[j], v.spec.Clusters[i] })
}

// arrange orders candidates in one of the ways that lead Go's sort, which is not stable, elsewhere.
func (v *division) arrange() {
	c := v.candidates
	v.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
	byRoom := func(a, b spreadconstraint.ClusterDetailInfo) int {
		return int(b.AllocatableReplicas - a.AllocatableReplicas)
	}
	switch v.IntN(8) {
	case 0:
		slices.SortStableFunc(c, byRoom)
	case 1:
		slices.SortStableFunc(c, func(a, b spreadconstraint.ClusterDetailInfo) int { return byRoom(b, a) })
	case 2: // up, and down again
		slices.SortStableFunc(c[:len(c)/2], byRoom)
		slices.SortStableFunc(c[len(c)/2:], func(a, b spreadconstraint.ClusterDetailInfo) int { return byRoom(b, a) })
	case 3: // in order, but for a few
		slices.SortStableFunc(c, byRoom)
		for range min(len(c), 4) {
			i, j := v.IntN(len(c)), v.IntN(len(c))
			c[i], c[j] = c[j], c[i]
		}
	}
}

func (v *division) clusters() []*clusterv1alpha1.Cluster {
	var all []*clusterv1alpha1.Cluster
	for _, one := range v.candidates {
		all = append(all, one.Cluster)
	}
	return all
}

func (v *division) makeBinding() {
	var before, room int64
	for _, target := range v.spec.Clusters {
		if target.Name != "gone" {
			before += int64(target.Replicas)
		}
	}
	for _, one := range v.candidates {
		room += one.AvailableReplicas
	}
	v.spec.Replicas = int32(v.Int64N(min(room+room/8+2, 4000)))
	if v.chance(8) {
		v.spec.Replicas = int32(before)
	}
	if v.chance(4) {
		v.makeNothing()
	}
	if v.spec.Replicas > 0 || v.chance(80) {
		v.spec.ReplicaRequirements = &workv1alpha2.ReplicaRequirements{}
	}
	if v.chance(60) {
		v.spec.Resource.UID = types.UID(pick(v.dice, "a", "b", "1", "2", "6f48f89e-uid", "d43fdeeb-d750-4e2b-bee3-64eb94534f4c"))
	}
	if v.chance(3) {
		v.spec.Components = []workv1alpha2.Component{{Name: "c1"}, {Name: "c2"}}[:v.between(1, 2)]
	}
	name := pick(v.dice, strategies...)
	if len(v.candidates) > 12 && v.chance(40) {
		name = aggregated // the only one in which the order of equals matters
	}
	v.spec.Placement = &policyv1alpha1.Placement{ReplicaScheduling: strategy(name, v.rules(names(v.clusters())))}
	fresh := v.times(v.spec, v.status)
	v.makeOverflow()
	divided := name != duplicated && name != absent && len(v.candidates) > 0
	v.used[name], v.used["divided anew"] = true, fresh && divided
	v.used["more replicas than before"] = divided && !fresh && before > 0 && int64(v.spec.Replicas) > before
	v.used["fewer replicas than before"] = divided && !fresh && int64(v.spec.Replicas) < before
	v.used["as many replicas as before"] = divided && !fresh && before > 0 && int64(v.spec.Replicas) == before
	v.used["not a workload"] = v.spec.Replicas == 0 && v.spec.ReplicaRequirements == nil
	v.used["several components"] = len(v.spec.Components) > 1
}

// makeNothing asks for no replicas; then nobody counts how many would fit.
func (v *division) makeNothing() {
	v.spec.Replicas = 0
	for i := range v.candidates {
		one := &v.candidates[i]
		one.AvailableReplicas += int64(1<<31-1) - int64(one.AllocatableReplicas)
		one.AllocatableReplicas = 1<<31 - 1
	}
}

// makeOverflow puts candidates into tiers, sometimes.
func (v *division) makeOverflow() {
	if !v.chance(20) {
		return
	}
	v.overflow, v.used["overflow"] = true, true
	v.spec.Placement.ClusterAffinities = []policyv1alpha1.ClusterAffinityTerm{{AffinityName: "a1",
		OverflowAffinities: make([]policyv1alpha1.OverflowClusterAffinity, 3)}}
	v.status.SchedulerObservedAffinityName = "a1"
	for i := range v.candidates {
		v.candidates[i].OverflowOrder = int32(v.between(0, 3))
	}
}

func (v *division) tiers(answer peer.Decision) int {
	tiers := map[int32]bool{}
	for _, one := range v.candidates {
		if answer.Clusters[one.Name] > 0 {
			tiers[one.OverflowOrder] = true
		}
	}
	return len(tiers)
}

func (v *division) question() object {
	candidates := []object{}
	for _, one := range v.candidates {
		c := one.Cluster
		candidate := object{"name": c.Name, "provider": c.Spec.Provider, "region": c.Spec.Region,
			"zones": append([]string{}, c.Spec.Zones...), "labels": c.Labels,
			"available": one.AvailableReplicas, "allocatable": one.AllocatableReplicas}
		if v.overflow {
			candidate["overflowOrder"] = one.OverflowOrder
		}
		candidates = append(candidates, candidate)
	}
	return object{"step": "assign", "candidates": candidates, "spec": v.spec.DeepCopy(), "status": v.status, "overflow": v.overflow}
}
