package differential

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// placer is kube-scheduler's own code with its default plugins, from its cache to the chosen node. It is
// told what it would learn from informers. It is for one goroutine.
type placer struct {
	scheduler *scheduler.Scheduler
	profile   framework.Framework
	snapshot  *schedulercache.Snapshot
	informers informers.SharedInformerFactory
}

// newPlacer makes one that asks these extenders, with or without its own plugin for spreading.
func newPlacer(t testing.TB, ownSpreading bool, extenders ...fwk.Extender) *placer {
	t.Helper()
	defaults, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	enabled := &defaults.Profiles[0].Plugins.MultiPoint.Enabled
	if !ownSpreading {
		*enabled = slices.DeleteFunc(*enabled, func(p config.Plugin) bool { return p.Name == names.PodTopologySpread })
	}
	client := fake.NewClientset()
	p := &placer{informers: informers.NewSharedInformerFactory(client, 0)}
	noEvents := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	p.scheduler, err = scheduler.New(t.Context(), client, p.informers, nil, noEvents,
		scheduler.WithProfiles(defaults.Profiles...), scheduler.WithParallelism(1))
	if err != nil {
		t.Fatal(err)
	}
	p.scheduler.Extenders = extenders
	p.profile = p.scheduler.Profiles[corev1.DefaultSchedulerName]
	p.snapshot = p.profile.SnapshotSharedLister().(*schedulercache.Snapshot)
	return p
}

// services are those that default constraints take their selectors from.
func (p *placer) services() cache.Indexer {
	return p.informers.Core().V1().Services().Informer().GetIndexer()
}

// place returns the chosen node, "" where none fits.
func (p *placer) place(ctx context.Context, pod *corev1.Pod) (string, error) {
	if err := p.scheduler.Cache.UpdateSnapshot(klog.FromContext(ctx), p.snapshot); err != nil {
		return "", err
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", err
	}
	queued := &framework.QueuedPodInfo{PodInfo: info}
	result, err := p.scheduler.SchedulePod(ctx, p.profile, framework.NewCycleState(), queued)
	if unfit := (*framework.FitError)(nil); errors.As(err, &unfit) {
		return "", nil
	}
	return result.SuggestedHost, err
}
