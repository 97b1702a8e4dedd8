package live

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/util/grpcconnection"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// unknown is the answer that says nothing.
const unknown = client.UnauthenticReplica

// Timeout of karmada-scheduler's, of all calls for a binding together.
const timeout = 3 * time.Second

// asker is Karmada's client of estimators, as its scheduler has one.
type asker struct {
	*client.SchedulerEstimator
}

// newAsker finds estimators as the scheduler does, by Services that it makes.
func newAsker(t *testing.T, address string, config grpcconnection.ClientConfig) *asker {
	t.Helper()
	for _, name := range memberNames {
		must(t, karmada.Point(t.Context(), nameOf(t), name, address))
	}
	return newAskerAgain(t, config)
}

// newAskerAgain is another, for the same Services.
func newAskerAgain(t *testing.T, config grpcconnection.ClientConfig) *asker {
	t.Helper()
	known := client.NewSchedulerEstimatorCache()
	config.TargetPort = 10352
	for _, name := range memberNames {
		must(t, client.EstablishConnection(karmada.Kube, client.SchedulerEstimatorServiceInfo{Name: name, Namespace: world.Namespace,
			NamePrefix: nameOf(t)}, known, &config))
		t.Cleanup(func() { known.DeleteCluster(name) })
	}
	return &asker{client.NewSchedulerEstimator(known, timeout)}
}

// replicas of so many CPUs.
func replicas(cpus int64) *workv1alpha2.ReplicaRequirements {
	return &workv1alpha2.ReplicaRequirements{ResourceRequest: world.Requests(cpus)}
}

// movingNodes are asked for by replicas of one CPU.
func movingNodes() *workv1alpha2.ReplicaRequirements {
	r := replicas(1)
	r.NodeClaim = &workv1alpha2.NodeClaim{NodeSelector: map[string]string{corev1.LabelHostname: "moving"},
		Tolerations: []corev1.Toleration{{Key: "moving", Operator: corev1.TolerationOpExists}}}
	return r
}

// askFor replicas in some members, by their places.
func (a *asker) askFor(requirements *workv1alpha2.ReplicaRequirements, places ...int) (map[int]int32, error) {
	request := client.ReplicaEstimationRequest{ReplicaRequirements: requirements}
	for _, i := range places {
		request.Clusters = append(request.Clusters, &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: memberNames[i]}})
	}
	targets, err := a.MaxAvailableReplicas(context.Background(), request)
	answers := map[int]int32{}
	for i, target := range targets {
		answers[places[i]] = target.Replicas
	}
	return answers, err
}

// room for replicas of so many CPUs in a member.
func room(i int, cpus int64) int32 {
	count := int64(0)
	for _, of := range taken[i] {
		count += (4 - of) / cpus
	}
	return int32(count)
}

// TestThousandCalls asks all of them at the same time.
func TestThousandCalls(t *testing.T) {
	t.Parallel()
	a := newAsker(t, startEstimator(t, everyMember()...).Address, grpcconnection.ClientConfig{})
	var running sync.WaitGroup
	var wrong atomic.Int32
	for i := range 500 {
		running.Go(func() {
			cpus := int64(1 + i%5)
			got, err := a.askFor(replicas(cpus), 0, 1)
			if (err != nil || got[0] != room(0, cpus) || got[1] != room(1, cpus)) && wrong.Add(1) == 1 {
				t.Errorf("%d CPUs: %v (%v) instead of %d and %d", cpus, got, err, room(0, cpus), room(1, cpus))
			}
		})
	}
	running.Wait()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d of 500 pairs of answers are wrong", n)
	}
}
