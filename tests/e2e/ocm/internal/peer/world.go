// Package peer asks OCM's own placement controller, without a server: one reconcile of a Placement
// over listers that hold what a test put there and a fake client that keeps what is written.
package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"open-cluster-management.io/ocm/pkg/placement/controllers/framework"
	"open-cluster-management.io/ocm/pkg/placement/controllers/metrics"
	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"
	"open-cluster-management.io/ocm/pkg/placement/plugins"
	"open-cluster-management.io/ocm/pkg/placement/plugins/addon"
	"open-cluster-management.io/ocm/pkg/placement/plugins/tainttoleration"
	"open-cluster-management.io/sdk-go/pkg/basecontroller/factory"

	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	"open-cluster-management.io/api/client/cluster/clientset/versioned/fake"
	informers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/state"
)

// SetClock has OCM's plugins believe in another time. Theirs is one for the whole process, so it is
// set before there are goroutines that ask.
func SetClock(c clock.Clock) {
	addon.AddOnClock = c
	tainttoleration.TolerationClock = c
}

// World is a hub that OCM's controller takes for real. It is for one goroutine.
type World struct {
	client     *switchable
	handle     plugins.Handle
	recorder   *recorder
	controller factory.Controller

	clusters, sets, bindings, placements, decisions, scores cache.Store
}

// switchable is the client of a controller that lives for many cases, each with objects of its own.
type switchable struct{ clusterclient.Interface }

// NewWorld makes one; its queues end with ctx.
func NewWorld(ctx context.Context) *World {
	w := &World{client: &switchable{fake.NewSimpleClientset()}}
	all := informers.NewSharedInformerFactory(w.client, 0).Cluster()
	w.clusters = all.V1().ManagedClusters().Informer().GetStore()
	w.sets = all.V1beta2().ManagedClusterSets().Informer().GetStore()
	w.bindings = all.V1beta2().ManagedClusterSetBindings().Informer().GetStore()
	w.placements = all.V1beta1().Placements().Informer().GetStore()
	w.decisions = all.V1beta1().PlacementDecisions().Informer().GetStore()
	w.scores = all.V1alpha1().AddOnPlacementScores().Informer().GetStore()

	nobody := &events.FakeRecorder{}
	durations := metrics.NewScheduleMetrics(clock.RealClock{})
	w.handle = scheduling.NewSchedulerHandler(w.client, all.V1beta1().PlacementDecisions().Lister(),
		all.V1alpha1().AddOnPlacementScores().Lister(), all.V1().ManagedClusters().Lister(), nobody, durations)
	w.recorder = &recorder{scheduler: scheduling.NewPluginScheduler(w.handle)}
	w.controller = scheduling.NewSchedulingController(ctx, w.client, all.V1().ManagedClusters(),
		all.V1beta2().ManagedClusterSets(), all.V1beta2().ManagedClusterSetBindings(), all.V1beta1().Placements(),
		all.V1beta1().PlacementDecisions(), all.V1alpha1().AddOnPlacementScores(), w.recorder, nobody, durations)
	context.AfterFunc(ctx, w.controller.SyncContext().Queue().ShutDown)
	return w
}

// recorder stands between the controller and OCM's scheduler and keeps what went through.
type recorder struct {
	scheduler scheduling.Scheduler
	called    bool
	clusters  []*clusterv1.ManagedCluster
	result    scheduling.ScheduleResult
	status    *framework.Status
}

// Schedule asks once; a second reconcile is given the same result.
func (r *recorder) Schedule(ctx context.Context, placement *clusterv1beta1.Placement,
	clusters []*clusterv1.ManagedCluster) (scheduling.ScheduleResult, *framework.Status) {
	if !r.called {
		r.called = true
		r.clusters = append([]*clusterv1.ManagedCluster{}, clusters...) // sorted in place by what is called
		r.result, r.status = r.scheduler.Schedule(ctx, placement, clusters)
	}
	return r.result, r.status
}

// fill puts a state in the place of the last one.
func (w *World) fill(s *state.State) error {
	objects := []runtime.Object{s.Placement}
	for _, decision := range s.Decisions {
		objects = append(objects, decision)
	}
	w.client.Interface = fake.NewSimpleClientset(objects...)
	*w.recorder = recorder{scheduler: w.recorder.scheduler}
	for _, err := range []error{
		replace(w.clusters, s.Clusters), replace(w.sets, s.Sets), replace(w.bindings, s.Bindings),
		replace(w.placements, []*clusterv1beta1.Placement{s.Placement}),
		replace(w.decisions, s.Decisions), replace(w.scores, s.Scores),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func replace[T any](store cache.Store, objects []T) error {
	list := make([]any, len(objects))
	for i, object := range objects {
		list[i] = object
	}
	return store.Replace(list, "")
}

// ---- asking ----

// Decide reconciles the Placement of the state. What OCM logs meanwhile is thrown away: a line for
// every score that is not there.
func (w *World) Decide(ctx context.Context, s *state.State) (*Decision, error) {
	ctx = klog.NewContext(ctx, logr.Discard())
	if err := w.fill(s); err != nil {
		return nil, err
	}
	key := s.Placement.Namespace + "/" + s.Placement.Name
	d := &Decision{}
	if err := w.controller.Sync(ctx, nil, key); err != nil {
		d.Error = err.Error()
	}
	written, err := w.readWritten(ctx, s.Placement, d)
	if err != nil {
		return nil, err
	}
	if len(d.Status.Conditions) == 0 {
		d.Failed = true
		return d, nil
	}
	w.describe(ctx, s.Placement, d)
	if len(s.Decisions) == 0 {
		return d, nil
	}
	return d, w.settle(ctx, key, s.Placement, d, written)
}

// Scheduling puts the state in place and returns what OCM's Schedule alone does with a Placement and all
// clusters of the state.
func (w *World) Scheduling(s *state.State) (func(context.Context, []*clusterv1.ManagedCluster) (scheduling.ScheduleResult, *framework.Status), error) {
	if err := w.fill(s); err != nil {
		return nil, err
	}
	return func(ctx context.Context, clusters []*clusterv1.ManagedCluster) (scheduling.ScheduleResult, *framework.Status) {
		return w.recorder.scheduler.Schedule(ctx, s.Placement, clusters)
	}, nil
}

// settle reconciles once more, with the same result of scheduling: a reconcile that writes an object's
// status leaves its labels to the next.
func (w *World) settle(ctx context.Context, key string, placement *clusterv1beta1.Placement, d *Decision,
	written []*clusterv1beta1.PlacementDecision) error {
	if err := replace(w.decisions, written); err != nil {
		return err
	}
	if err := w.controller.Sync(ctx, nil, key); (err == nil) != (d.Error == "") {
		return fmt.Errorf("a second reconcile of %s ended otherwise: %v, before %q", key, err, d.Error)
	}
	_, err := w.readWritten(ctx, placement, d)
	return err
}

// expired asks an AddOn prioritizer of its own which objects it takes for expired.
func (w *World) expired(ctx context.Context, placement *clusterv1beta1.Placement, resource, score string,
	clusters []*clusterv1.ManagedCluster) []string {
	var names []string
	prioritizer := addon.NewAddOnPrioritizerBuilder(w.handle).WithResourceName(resource).WithScoreName(score).Build()
	for _, cluster := range clusters {
		_, status := prioritizer.Score(ctx, placement, []*clusterv1.ManagedCluster{cluster})
		if status.Code() == framework.Warning {
			names = append(names, cluster.Name+"/"+resource)
		}
	}
	return names
}

// requeueAt asks the one filter that has an opinion. The duration that Schedule returns counts from
// the real time, which the plugins' clock is not.
func (w *World) requeueAt(ctx context.Context, placement *clusterv1beta1.Placement) *time.Time {
	result, _ := tainttoleration.New(w.handle).RequeueAfter(ctx, placement)
	return result.RequeueTime
}
