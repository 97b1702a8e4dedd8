package differential

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
)

var (
	providers = []string{"P0", "P1", "P2"}
	regions   = []string{"R0", "R1", "R2", "R3", "R4"}
	zones     = []string{"Z0", "Z1", "Z2", "Z3"}
	// 2026-03-01: when something was scheduled last.
	scheduledAt = metav1.Unix(1772366400, 0)
)

// place makes a Cluster with a name and where it is.
func (d dice) place(number int) *clusterv1alpha1.Cluster {
	c := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%02d", number)}}
	c.Spec.SyncMode = clusterv1alpha1.Push
	if d.chance(90) {
		c.Spec.Provider = pick(d, providers...)
	}
	if d.chance(90) {
		c.Spec.Region = pick(d, regions...)
	}
	if d.chance(90) {
		c.Spec.Zones = some(d, 45, zones...)
	}
	if d.chance(70) {
		c.Labels = map[string]string{"env": fmt.Sprintf("e%d", d.IntN(3))}
		if d.chance(50) {
			c.Labels["tier"] = pick(d, "t0", "t1")
		}
	}
	return c
}

func (d dice) labelSelector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if d.chance(60) {
		selector.MatchLabels = map[string]string{"env": fmt.Sprintf("e%d", d.IntN(3))}
	}
	if d.chance(50) {
		one := metav1.LabelSelectorRequirement{Key: pick(d, "env", "tier"), Operator: pick(d, metav1.LabelSelectorOpIn,
			metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
		if one.Operator == metav1.LabelSelectorOpIn || one.Operator == metav1.LabelSelectorOpNotIn {
			one.Values = append(some(d, 40, "e0", "e1", "t0"), "e2")
		}
		selector.MatchExpressions = append(selector.MatchExpressions, one)
	}
	return selector
}

func (d dice) fieldSelector() *policyv1alpha1.FieldSelector {
	return &policyv1alpha1.FieldSelector{MatchExpressions: several(d, 1, 2, func() corev1.NodeSelectorRequirement {
		key := pick(d, "provider", "region", "zone")
		values := map[string][]string{"provider": providers, "region": regions, "zone": zones}[key]
		one := corev1.NodeSelectorRequirement{Key: key, Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)}
		if d.chance(10) {
			one.Operator = pick(d, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)
			return one
		}
		one.Values = append(some(d, 50, values...), pick(d, values...))
		return one
	})}
}

// affinity is of clusters with these names, mostly.
func (d dice) affinity(names []string) policyv1alpha1.ClusterAffinity {
	a := policyv1alpha1.ClusterAffinity{}
	if d.chance(35) {
		a.LabelSelector = d.labelSelector()
	}
	if d.chance(25) {
		a.FieldSelector = d.fieldSelector()
	}
	if d.chance(35) {
		a.ClusterNames = some(d, 60, names...)
	}
	if d.chance(20) {
		a.ExcludeClusters = some(d, 15, names...)
	}
	return a
}

// affinities has some terms, those of `overflow` with overflows.
func (d dice) affinities(names []string, overflow bool) []policyv1alpha1.ClusterAffinityTerm {
	number := 0
	return several(d, 1, 3, func() policyv1alpha1.ClusterAffinityTerm {
		number++
		term := policyv1alpha1.ClusterAffinityTerm{AffinityName: fmt.Sprintf("a%d", number), ClusterAffinity: d.affinity(names)}
		if overflow {
			for i := range d.between(0, 3) {
				term.OverflowAffinities = append(term.OverflowAffinities,
					policyv1alpha1.OverflowClusterAffinity{AffinityName: fmt.Sprintf("o%d", i), ClusterAffinity: d.affinity(names)})
			}
		}
		return term
	})
}

// ---- spread constraints ----

// spread has constraints of some fields, each with limits of a size that fits so many groups.
func (d dice) spread(size int) []policyv1alpha1.SpreadConstraint {
	fields := []policyv1alpha1.SpreadFieldValue{policyv1alpha1.SpreadByFieldCluster}
	switch d.IntN(10) {
	case 0, 1, 2:
	case 3, 4, 5, 6:
		fields = append(fields, policyv1alpha1.SpreadByFieldRegion)
	case 7:
		fields = append(fields, some(d, 50, policyv1alpha1.SpreadByFieldProvider, policyv1alpha1.SpreadByFieldRegion, policyv1alpha1.SpreadByFieldZone)...)
	case 8:
		fields = append(fields, pick(d, policyv1alpha1.SpreadByFieldProvider, policyv1alpha1.SpreadByFieldZone))
	default:
		fields = []policyv1alpha1.SpreadFieldValue{pick(d, policyv1alpha1.SpreadByFieldProvider, policyv1alpha1.SpreadByFieldRegion,
			policyv1alpha1.SpreadByFieldZone)}
	}
	if d.chance(2) { // declared twice
		fields = append(fields, pick(d, fields...))
	}
	var constraints []policyv1alpha1.SpreadConstraint
	for _, field := range fields {
		constraints = append(constraints, d.limits(policyv1alpha1.SpreadConstraint{SpreadByField: field}, size))
	}
	if d.chance(3) {
		constraints = append(constraints, d.limits(policyv1alpha1.SpreadConstraint{SpreadByLabel: "env"}, size))
	}
	d.Shuffle(len(constraints), func(i, j int) { constraints[i], constraints[j] = constraints[j], constraints[i] })
	return constraints
}

func (d dice) limits(c policyv1alpha1.SpreadConstraint, size int) policyv1alpha1.SpreadConstraint {
	high := size
	if c.SpreadByField != policyv1alpha1.SpreadByFieldCluster {
		high = 3
	}
	c.MinGroups = d.between(1, max(1, min(high, 4)))
	if d.chance(5) {
		c.MinGroups = high + 1
	}
	c.MaxGroups = c.MinGroups + d.between(0, 3)
	if d.chance(3) {
		c.MaxGroups = 0
	}
	return c
}

// usual says whether Evenkeel decides by these as Karmada's code does, without being told to: without
// constraints, by clusters alone, and by regions and clusters.
func usual(constraints []policyv1alpha1.SpreadConstraint) bool {
	fields := map[policyv1alpha1.SpreadFieldValue]bool{}
	for _, c := range constraints {
		fields[c.SpreadByField] = true
	}
	cluster, region := fields[policyv1alpha1.SpreadByFieldCluster], fields[policyv1alpha1.SpreadByFieldRegion]
	return len(fields) == 0 || cluster && (len(fields) == 1 || len(fields) == 2 && region)
}

// ---- strategies ----

const (
	duplicated = "Duplicated"
	aggregated = "Aggregated"
	dynamic    = "dynamic weights"
	static     = "static weights"
	unweighted = "no weights"
	empty      = "empty weights"
	both       = "static and dynamic weights"
	absent     = "no strategy"
)

var strategies = []string{duplicated, aggregated, dynamic, static, unweighted, empty, both, absent}

// strategy makes one, with rules for static weights.
func strategy(name string, rules []policyv1alpha1.StaticClusterWeight) *policyv1alpha1.ReplicaSchedulingStrategy {
	s := &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided,
		ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceWeighted}
	switch name {
	case duplicated:
		return &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDuplicated}
	case aggregated:
		s.ReplicaDivisionPreference = policyv1alpha1.ReplicaDivisionPreferenceAggregated
	case dynamic:
		s.WeightPreference = &policyv1alpha1.ClusterPreferences{DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas}
	case static:
		s.WeightPreference = &policyv1alpha1.ClusterPreferences{StaticWeightList: rules}
	case empty:
		s.WeightPreference = &policyv1alpha1.ClusterPreferences{}
	case both:
		s.WeightPreference = &policyv1alpha1.ClusterPreferences{StaticWeightList: rules,
			DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas}
	case absent:
		return nil
	}
	return s
}

// rules are for single clusters, or for those that match an affinity.
func (d dice) rules(names []string) []policyv1alpha1.StaticClusterWeight {
	var rules []policyv1alpha1.StaticClusterWeight
	highest := pick(d, int64(1), 3, 9, 1000, 1<<40)
	for _, name := range names {
		if d.chance(70) {
			rules = append(rules, policyv1alpha1.StaticClusterWeight{Weight: 1 + d.Int64N(highest),
				TargetCluster: policyv1alpha1.ClusterAffinity{ClusterNames: []string{name}}})
		}
	}
	for range d.between(0, 2) {
		rules = append(rules, policyv1alpha1.StaticClusterWeight{Weight: 1 + d.Int64N(highest), TargetCluster: d.affinity(names)})
	}
	d.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	return rules
}

// ---- bindings ----

// times sets when a binding was scheduled last, and whether it is to be divided anew since.
func (d dice) times(spec *workv1alpha2.ResourceBindingSpec, status *workv1alpha2.ResourceBindingStatus) (fresh bool) {
	if d.chance(80) {
		status.LastScheduledTime = scheduledAt.DeepCopy()
	}
	if !d.chance(35) {
		return false
	}
	seconds := pick(d, int64(1), 1, 1, 0, -1)
	triggered := metav1.Unix(scheduledAt.Unix()+seconds, 0)
	spec.RescheduleTriggeredAt = &triggered
	return seconds > 0 && status.LastScheduledTime != nil
}

func names(clusters []*clusterv1alpha1.Cluster) []string {
	var all []string
	for _, c := range clusters {
		all = append(all, c.Name)
	}
	return all
}
