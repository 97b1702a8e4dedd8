// Package intree answers Evenkeel's questions with kube-scheduler's own PodTopologySpread plugin,
// on a snapshot that kube-scheduler's own cache made.
//
// It is the oracle of the differential tests and the engine of the peer that benchmarks run beside
// Evenkeel. So it does what the scheduler does and no more: the plugin's methods in the scheduler's
// order, over as many workers, on a snapshot that is built once.
package intree

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	appsv1 "k8s.io/api/apps/v1"
)

// Cluster is a state that questions are asked of. It does not change after NewCluster, so any
// number of goroutines may ask.
type Cluster struct {
	plugin       *podtopologyspread.PodTopologySpread
	snapshot     *schedulercache.Snapshot
	parallelizer fwk.Parallelizer
}

// SystemDefaulting are the plugin's arguments where nothing is configured.
func SystemDefaulting() *config.PodTopologySpreadArgs {
	return &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}
}

// registerMetrics makes the counters that the framework counts in; it would panic without them.
var registerMetrics = sync.OnceFunc(func() { metrics.Register() })

// noClient is what informers are made with that are filled by hand and never started.
var noClient = sync.OnceValue(func() *fake.Clientset { return fake.NewClientset() })

// NewCluster makes a snapshot of the objects, and the plugin with every feature gate at its
// default. The objects are borrowed as long as the cluster lives.
func NewCluster(ctx context.Context, objects *Objects, args *config.PodTopologySpreadArgs) (*Cluster, error) {
	registerMetrics()
	snapshot, err := takeSnapshot(ctx, objects)
	if err != nil {
		return nil, err
	}
	factory, err := informersOf(objects)
	if err != nil {
		return nil, err
	}
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil,
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(factory))
	if err != nil {
		return nil, fmt.Errorf("cannot make a framework: %w", err)
	}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	plugin, err := podtopologyspread.New(ctx, args, handle, gates)
	if err != nil {
		return nil, fmt.Errorf("cannot make the plugin: %w", err)
	}
	return &Cluster{
		plugin:       plugin.(*podtopologyspread.PodTopologySpread),
		snapshot:     snapshot,
		parallelizer: handle.Parallelizer(),
	}, nil
}

// InCache says whether the scheduler's cache would see the pod: its informer leaves out finished
// ones, and its event handlers keep those without a node for the queue.
func InCache(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func takeSnapshot(ctx context.Context, objects *Objects) (*schedulercache.Snapshot, error) {
	logger := klog.FromContext(ctx)
	// The cache is needed only for the snapshot; so its goroutine ends here.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	live := schedulercache.New(ctx, nil, false)
	for _, node := range objects.Nodes {
		live.AddNode(logger, node)
	}
	for _, pod := range objects.Pods {
		if !InCache(pod) {
			continue
		}
		if err := live.AddPod(logger, pod); err != nil {
			return nil, fmt.Errorf("pod '%s/%s': %w", pod.Namespace, pod.Name, err)
		}
	}
	snapshot := schedulercache.NewEmptySnapshot()
	if err := live.UpdateSnapshot(logger, snapshot); err != nil {
		return nil, fmt.Errorf("cannot take a snapshot: %w", err)
	}
	return snapshot, nil
}

// informersOf returns informers that hold the objects without ever having been started.
func informersOf(objects *Objects) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactory(noClient(), 0)
	for _, namespace := range objects.Namespaces {
		if err := factory.Core().V1().Namespaces().Informer().GetIndexer().Add(namespace); err != nil {
			return nil, err
		}
	}
	for _, claim := range objects.Claims {
		if err := factory.Core().V1().PersistentVolumeClaims().Informer().GetIndexer().Add(claim); err != nil {
			return nil, err
		}
	}
	for _, volume := range objects.Volumes {
		if err := factory.Core().V1().PersistentVolumes().Informer().GetIndexer().Add(volume); err != nil {
			return nil, err
		}
	}
	for _, class := range objects.Classes {
		if err := factory.Storage().V1().StorageClasses().Informer().GetIndexer().Add(class); err != nil {
			return nil, err
		}
	}
	for _, owner := range objects.Owners {
		var into cache.SharedIndexInformer
		switch owner.(type) {
		case *corev1.Service:
			into = factory.Core().V1().Services().Informer()
		case *corev1.ReplicationController:
			into = factory.Core().V1().ReplicationControllers().Informer()
		case *appsv1.ReplicaSet:
			into = factory.Apps().V1().ReplicaSets().Informer()
		case *appsv1.StatefulSet:
			into = factory.Apps().V1().StatefulSets().Informer()
		default:
			return nil, fmt.Errorf("%T owns no pods here", owner)
		}
		if err := into.GetIndexer().Add(owner); err != nil {
			return nil, err
		}
	}
	return factory, nil
}
