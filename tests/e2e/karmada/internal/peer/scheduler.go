// Package peer asks Karmada's own code: its scheduler, step by step and whole, and its estimators.
package peer

import (
	"context"
	"errors"

	"k8s.io/client-go/tools/cache"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	clusterlister "github.com/karmada-io/karmada/pkg/generated/listers/cluster/v1alpha1"
	schedulercache "github.com/karmada-io/karmada/pkg/scheduler/cache"
	"github.com/karmada-io/karmada/pkg/scheduler/core"
	"github.com/karmada-io/karmada/pkg/scheduler/core/spreadconstraint"
	"github.com/karmada-io/karmada/pkg/scheduler/framework"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins"
)

// Scheduler is Karmada's, with every plugin that is on by default, and the general estimator alone.
// It is one goroutine's.
type Scheduler struct {
	clusters  cache.Indexer
	algorithm core.ScheduleAlgorithm
}

func NewScheduler() (*Scheduler, error) {
	clusters := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	bindings := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	algorithm, err := core.NewGenericScheduler(
		schedulercache.NewCache(clusterlister.NewClusterLister(clusters), bindings, 0), plugins.NewInTreeRegistry())
	return &Scheduler{clusters, algorithm}, err
}

// Decision is how many replicas each cluster gets, or why there is none.
type Decision struct {
	Clusters  map[string]int32
	ErrorKind string // "", FitError, UnschedulableError, error
	Error     string
}

func decisionOf(targets []workv1alpha2.TargetCluster, err error) Decision {
	d := Decision{Clusters: map[string]int32{}}
	if err != nil {
		d.Error, d.ErrorKind = err.Error(), "error"
		if errors.As(err, new(*framework.FitError)) {
			d.ErrorKind = "FitError"
		} else if errors.As(err, new(*framework.UnschedulableError)) {
			d.ErrorKind = "UnschedulableError"
		}
		return d
	}
	for _, target := range targets {
		d.Clusters[target.Name] = target.Replicas
	}
	return d
}

// Know makes these the clusters that there are.
func (s *Scheduler) Know(clusters []*clusterv1alpha1.Cluster) error {
	list := make([]any, 0, len(clusters))
	for _, cluster := range clusters {
		list = append(list, cluster)
	}
	return s.clusters.Replace(list, "")
}

// Decide runs the algorithm whole.
func (s *Scheduler) Decide(spec *workv1alpha2.ResourceBindingSpec, status *workv1alpha2.ResourceBindingStatus,
	emptyPropagation bool) Decision {
	result, err := s.algorithm.Schedule(context.Background(), spec, status,
		&core.ScheduleAlgorithmOption{EnableEmptyWorkloadPropagation: emptyPropagation})
	return decisionOf(result.SuggestedClusters, err)
}

// Schedule is both.
func (s *Scheduler) Schedule(clusters []*clusterv1alpha1.Cluster, spec *workv1alpha2.ResourceBindingSpec,
	status *workv1alpha2.ResourceBindingStatus, emptyPropagation bool) (Decision, error) {
	if err := s.Know(clusters); err != nil {
		return Decision{}, err
	}
	return s.Decide(spec, status, emptyPropagation), nil
}

// Assign divides replicas among candidates.
func Assign(candidates []spreadconstraint.ClusterDetailInfo, spec *workv1alpha2.ResourceBindingSpec,
	status *workv1alpha2.ResourceBindingStatus) Decision {
	return decisionOf(core.AssignReplicas(candidates, spec, status))
}

// Selection is which clusters are chosen, in order, and what groups they were in.
type Selection struct {
	Clusters []string
	Error    string
	Groups   *spreadconstraint.GroupClustersInfo
}

// Scores are of groups of a level, by name.
func (s Selection) Scores() map[string]map[string]int64 {
	all := map[string]map[string]int64{"provider": {}, "region": {}, "zone": {}}
	for name, group := range s.Groups.Providers {
		all["provider"][name] = group.Score
	}
	for name, group := range s.Groups.Regions {
		all["region"][name] = group.Score
	}
	for name, group := range s.Groups.Zones {
		all["zone"][name] = group.Score
	}
	return all
}

// Select groups clusters and selects of them. allocatable has how many replicas fit, by cluster.
func Select(scores framework.ClusterScoreList, allocatable map[string]int32, spec *workv1alpha2.ResourceBindingSpec,
	status *workv1alpha2.ResourceBindingStatus) Selection {
	estimate := func(clusters []*clusterv1alpha1.Cluster, _ *workv1alpha2.ResourceBindingSpec) []workv1alpha2.TargetCluster {
		targets := make([]workv1alpha2.TargetCluster, 0, len(clusters))
		for _, cluster := range clusters {
			targets = append(targets, workv1alpha2.TargetCluster{Name: cluster.Name, Replicas: allocatable[cluster.Name]})
		}
		return targets
	}
	groups := spreadconstraint.GroupClustersWithScore(scores, spec.Placement, spec, status, estimate)
	chosen, err := spreadconstraint.SelectBestClusters(spec.Placement, groups, spec.Replicas)
	s := Selection{Groups: groups}
	if err != nil {
		s.Error = err.Error()
		return s
	}
	for _, cluster := range chosen {
		s.Clusters = append(s.Clusters, cluster.Name)
	}
	return s
}

// Item is a group of so many clusters.
type Item struct {
	Name          string
	Value, Weight int64
}

// Choose is the search for the best combination of groups. It is reached by way of regions, of each of
// which the first cluster is selected, in the order of the combination.
func Choose(items []Item, least, most, target int) []string {
	info := &spreadconstraint.GroupClustersInfo{Regions: map[string]spreadconstraint.RegionInfo{}}
	for _, item := range items {
		clusters := make([]spreadconstraint.ClusterDetailInfo, item.Value)
		for i := range clusters {
			clusters[i].Name = item.Name
		}
		info.Regions[item.Name] = spreadconstraint.RegionInfo{Name: item.Name, Score: item.Weight, Clusters: clusters}
	}
	placement := &policyv1alpha1.Placement{SpreadConstraints: []policyv1alpha1.SpreadConstraint{
		{SpreadByField: policyv1alpha1.SpreadByFieldRegion, MinGroups: least, MaxGroups: most},
		{SpreadByField: policyv1alpha1.SpreadByFieldCluster, MinGroups: target},
	}}
	chosen, err := spreadconstraint.SelectBestClusters(placement, info, 0)
	names := []string{}
	if err != nil {
		return names
	}
	for _, cluster := range chosen {
		names = append(names, cluster.Name)
	}
	return names
}
