package peer

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/karmada-io/karmada/cmd/scheduler-estimator/app/options"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/estimator/pb"
	"github.com/karmada-io/karmada/pkg/estimator/server"
	"github.com/karmada-io/karmada/pkg/estimator/server/framework"
	"github.com/karmada-io/karmada/pkg/estimator/server/framework/plugins"
	"github.com/karmada-io/karmada/pkg/estimator/server/framework/runtime"
	"github.com/karmada-io/karmada/pkg/estimator/service"
	"github.com/karmada-io/karmada/pkg/features"
	nodecache "github.com/karmada-io/karmada/pkg/util/lifted/scheduler/cache"
)

// General is the estimator that reads a cluster's summary and its resource models: replicas and sets.
func General(cluster *clusterv1alpha1.Cluster, requirements *workv1alpha2.ReplicaRequirements,
	components []workv1alpha2.Component) (replicas, sets int32, err error) {
	general, clusters := client.NewGeneralEstimator(), []*clusterv1alpha1.Cluster{cluster}
	of, err := general.MaxAvailableReplicas(context.Background(),
		client.ReplicaEstimationRequest{Clusters: clusters, ReplicaRequirements: requirements})
	if err != nil {
		return 0, 0, err
	}
	ofSets, err := general.MaxAvailableComponentSets(context.Background(),
		client.ComponentSetEstimationRequest{Clusters: clusters, Components: components})
	if err != nil {
		return 0, 0, err
	}
	return of[0].Replicas, ofSets[0].Sets, nil
}

// Member is the accurate estimator of a member cluster. Nothing of it runs: its cache is filled by hand.
type Member struct {
	estimator *server.AccurateSchedulerEstimatorServer
	stop      context.CancelFunc
}

var nowhere = &rest.Config{Host: "http://127.0.0.1:1"} // nobody is asked

// Counted says whether the estimator's informer would have shown it a pod, and it would have counted it.
func counted(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func fill(cache nodecache.Cache, nodes []*corev1.Node, pods []*corev1.Pod) error {
	for _, node := range nodes {
		cache.AddNode(node)
	}
	for _, pod := range pods {
		if counted(pod) {
			if err := cache.AddPod(pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// NewMember must be closed.
func NewMember(name string, nodes []*corev1.Node, pods []*corev1.Pod) (*Member, error) {
	ctx, stop := context.WithCancel(context.Background())
	m := &Member{stop: stop}
	var err error
	m.estimator, err = server.NewEstimatorServer(ctx, kubernetes.NewForConfigOrDie(nowhere), dynamic.NewForConfigOrDie(nowhere),
		discovery.NewDiscoveryClientForConfigOrDie(nowhere), &options.Options{ClusterName: name, Parallelism: 1})
	if err == nil {
		err = fill(m.estimator.Cache, nodes, pods)
	}
	if err != nil {
		stop()
	}
	return m, err
}

func (m *Member) Close() { m.stop() }

// Serve has it answer over gRPC until it is stopped.
func (m *Member) Serve() (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	running := grpc.NewServer()
	service.RegisterEstimatorServer(running, m.estimator)
	go func() { _ = running.Serve(listener) }() // its end is wanted
	return listener.Addr().String(), running.Stop, nil
}

// Replicas is the method MaxAvailableReplicas.
func (m *Member) Replicas(request *pb.MaxAvailableReplicasRequest) (*pb.MaxAvailableReplicasResponse, error) {
	return m.estimator.MaxAvailableReplicas(context.Background(), request)
}

// Sets is the method MaxAvailableComponentSets.
func (m *Member) Sets(request *pb.MaxAvailableComponentSetsRequest) (*pb.MaxAvailableComponentSetsResponse, error) {
	return m.estimator.MaxAvailableComponentSets(context.Background(), request)
}

// Quotas are the plugins of the accurate estimator with that of ResourceQuotas switched on. The server
// reads quotas from informers that it keeps to itself; so its framework is asked, as the server does.
type Quotas struct {
	plugins  framework.Framework
	snapshot *nodecache.Snapshot
	stop     context.CancelFunc
}

var gate sync.Mutex // features.FeatureGate is read when plugins are made

func newQuotaPlugins(factory informers.SharedInformerFactory) (framework.Framework, error) {
	gate.Lock()
	defer gate.Unlock()
	name := string(features.ResourceQuotaEstimate)
	if err := features.FeatureGate.Set(name + "=true"); err != nil {
		return nil, err
	}
	made, err := runtime.NewFramework(plugins.NewInTreeRegistry(), runtime.WithInformerFactory(factory), runtime.WithParallelism(1))
	if off := features.FeatureGate.Set(name + "=false"); off != nil {
		return nil, off
	}
	return made, err
}

// NewQuotas must be closed.
func NewQuotas(nodes []*corev1.Node, pods []*corev1.Pod, quotas []*corev1.ResourceQuota) (*Quotas, error) {
	ctx, stop := context.WithCancel(context.Background())
	q, err := newQuotas(ctx, nodes, pods, quotas)
	if err != nil {
		stop()
		return nil, err
	}
	q.stop = stop
	return q, nil
}

func newQuotas(ctx context.Context, nodes []*corev1.Node, pods []*corev1.Pod, quotas []*corev1.ResourceQuota) (*Quotas, error) {
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(nowhere), 0)
	store := factory.Core().V1().ResourceQuotas().Informer().GetStore()
	for _, quota := range quotas {
		if err := store.Add(quota); err != nil {
			return nil, err
		}
	}
	cache, q := nodecache.New(0, ctx.Done()), &Quotas{snapshot: nodecache.NewEmptySnapshot()}
	if err := fill(cache, nodes, pods); err != nil {
		return nil, err
	}
	if err := cache.UpdateSnapshot(q.snapshot); err != nil {
		return nil, err
	}
	var err error
	q.plugins, err = newQuotaPlugins(factory)
	return q, err
}

func (q *Quotas) Close() { q.stop() }

// outcome is what the server makes of a result.
func outcome(count int32, result *framework.Result) (int32, error) {
	switch {
	case result.IsUnschedulable():
		return 0, nil
	case result.IsSuccess(), result.IsNoOperation():
		return count, nil
	}
	return 0, result.AsError()
}

// Replicas are 0 where a plugin finds no room.
func (q *Quotas) Replicas(requirements *pb.ReplicaRequirements) (int32, error) {
	replicas, result := q.plugins.RunEstimateReplicasPlugins(context.Background(),
		framework.ReplicaEstimationContext{Snapshot: q.snapshot, ReplicaRequirements: requirements})
	return outcome(replicas, result)
}

// Sets are 0 where a plugin finds no room.
func (q *Quotas) Sets(namespace string, components []*pb.Component) (int32, error) {
	sets, result := q.plugins.RunEstimateComponentsPlugins(context.Background(),
		framework.ComponentEstimationContext{Snapshot: q.snapshot, Components: components, Namespace: namespace})
	return outcome(sets, result)
}
