package intree

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// VolumePlugins are those that judge a pod's claims.
var VolumePlugins = []string{names.VolumeBinding, names.VolumeZone}

// FilterPlugins are those of the default profile that need no volumes and no devices.
var FilterPlugins = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity,
	names.NodePorts, names.NodeResourcesFit, names.PodTopologySpread, names.InterPodAffinity}

// ScorePlugins are those of the default profile, with their weights.
var ScorePlugins = map[string]int32{names.TaintToleration: 3, names.NodeAffinity: 2, names.NodeResourcesFit: 1,
	names.PodTopologySpread: 2, names.InterPodAffinity: 2, names.NodeResourcesBalancedAllocation: 1, names.ImageLocality: 1}

// Filters are kube-scheduler's filter plugins in a framework of its own, on a snapshot.
type Filters struct {
	framework framework.Framework
	snapshot  *schedulercache.Snapshot
}

// Verdict is what a node is told: the first plugin that refuses it, with its reasons; or, of one that
// passes, what each plugin scores it that has something to say about the pod, without weights.
type Verdict struct {
	Code    fwk.Code
	Plugin  string
	Reasons []string
	Scores  map[string]int64
}

// NewFilters makes the plugins with their default arguments, but for addedAffinity (nil: none), and
// feature gates; and those that are named, too. The objects are borrowed as long as the filters live.
func NewFilters(ctx context.Context, objects *Objects, added *corev1.NodeAffinity, more ...string) (*Filters, error) {
	registerMetrics()
	snapshot, err := takeSnapshot(ctx, objects)
	if err != nil {
		return nil, err
	}
	factory, err := informersOf(objects)
	if err != nil {
		return nil, err
	}
	profile, err := filterProfile(added, more)
	if err != nil {
		return nil, err
	}
	registry := plugins.NewInTreeRegistry()
	made, err := frameworkruntime.NewFramework(ctx, registry, profile,
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(factory))
	if err != nil {
		return nil, fmt.Errorf("cannot make a framework: %w", err)
	}
	return &Filters{made, snapshot}, nil
}

// filterProfile is the default profile less every plugin that is not asked here.
func filterProfile(added *corev1.NodeAffinity, more []string) (*config.KubeSchedulerProfile, error) {
	profile := &config.KubeSchedulerProfile{SchedulerName: "differential", Plugins: &config.Plugins{
		QueueSort: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}}},
		Bind:      config.PluginSet{Enabled: []config.Plugin{{Name: names.DefaultBinder}}},
	}}
	// the first plugin that refuses a node is the one that is named: those of volumes come before spreading
	filters := slices.Insert(slices.Clone(FilterPlugins), slices.Index(FilterPlugins, names.PodTopologySpread), more...)
	for _, name := range append(filters, names.NodeResourcesBalancedAllocation, names.ImageLocality) {
		profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled,
			config.Plugin{Name: name, Weight: ScorePlugins[name]})
	}
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile.PluginConfig = defaults.Profiles[0].PluginConfig
	for _, one := range profile.PluginConfig {
		if args, ok := one.Args.(*config.NodeAffinityArgs); ok {
			args.AddedAffinity = added
		}
	}
	return profile, nil
}

// Filter judges the pod on every node, as kube-scheduler's findNodesThatFitPod() does.
func (f *Filters) Filter(ctx context.Context, pod *corev1.Pod) (map[string]Verdict, error) {
	state := framework.NewCycleState()
	nodes, err := f.snapshot.List()
	if err != nil {
		return nil, err
	}
	result, status, taking := f.framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() && !status.IsRejected() {
		return nil, status.AsError()
	}
	verdicts := map[string]Verdict{}
	var passed []fwk.NodeInfo
	for _, node := range nodes {
		name := node.Node().Name
		switch {
		case !status.IsSuccess():
			verdicts[name] = verdictOf(status)
		case !result.AllNodes() && !result.NodeNames.Has(name):
			verdicts[name] = Verdict{Code: fwk.UnschedulableAndUnresolvable, Plugin: taking.UnsortedList()[0],
				Reasons: []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", taking.UnsortedList())}}
		default:
			one := f.framework.RunFilterPlugins(ctx, state, pod, node)
			if !one.IsSuccess() && !one.IsRejected() {
				return nil, one.AsError()
			}
			verdicts[name] = verdictOf(one)
			if one.IsSuccess() {
				passed = append(passed, node)
			}
		}
	}
	return verdicts, f.score(ctx, state, pod, passed, verdicts)
}

// score is what kube-scheduler's prioritizeNodes() does without extenders.
func (f *Filters) score(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
	verdicts map[string]Verdict) error {
	if len(nodes) == 0 {
		return nil
	}
	if status := f.framework.RunPreScorePlugins(ctx, state, pod, nodes); !status.IsSuccess() {
		return status.AsError()
	}
	scores, status := f.framework.RunScorePlugins(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return status.AsError()
	}
	for _, one := range scores {
		by := map[string]int64{}
		for _, score := range one.Scores {
			by[score.Name] = score.Score / int64(ScorePlugins[score.Name])
		}
		verdicts[one.Name] = Verdict{Scores: by}
	}
	return nil
}

func verdictOf(status *fwk.Status) Verdict {
	if status.IsSuccess() {
		return Verdict{} // a nil status is success
	}
	return Verdict{Code: status.Code(), Plugin: status.Plugin(), Reasons: status.Reasons()}
}
