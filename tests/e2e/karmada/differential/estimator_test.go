package differential

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/estimator/pb"
	"github.com/karmada-io/karmada/pkg/estimator/service"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestEstimatorOverGRPC has the client of karmada-scheduler ask a running Evenkeel, and Karmada's own estimator the same.
func TestEstimatorOverGRPC(t *testing.T) {
	const members, questions = 6, 40
	fit := 0
	for i := range members {
		d := diceFor(i)
		m, err := newMember(d)
		if err != nil {
			t.Fatal(err)
		}
		fit += askOverGRPC(t, m, questions)
		m.running.Close()
	}
	if fit == 0 {
		t.Error("nothing fitted anywhere: these questions say little")
	}
}

// stateFile has a member's nodes, pods and quotas, the nodes in the order of Karmada's estimator.
func stateFile(t *testing.T, m *member, quotas ...*corev1.ResourceQuota) string {
	t.Helper()
	var items []any
	for _, node := range m.nodes {
		node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		items = append(items, node)
	}
	for _, pod := range m.pods {
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		items = append(items, pod)
	}
	for _, quota := range quotas {
		quota.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}
		items = append(items, quota)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// askOverGRPC returns how many questions had an answer above 0. Karmada's client asks all at the same time.
func askOverGRPC(t *testing.T, m *member, questions int) int {
	t.Helper()
	e, err := evenkeel.StartEstimator(binary(t), memberName, stateFile(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	connection, err := grpc.NewClient(e.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	known := client.NewSchedulerEstimatorCache()
	known.AddCluster(memberName, connection, service.NewEstimatorClient(connection))
	estimator := client.NewSchedulerEstimator(known, 30*time.Second)
	clusters := []*clusterv1alpha1.Cluster{{ObjectMeta: metav1.ObjectMeta{Name: memberName}}}

	var lock sync.Mutex
	var running sync.WaitGroup
	fit := 0
	for range questions {
		requirements := &workv1alpha2.ReplicaRequirements{NodeClaim: m.claim(), ResourceRequest: m.request(), Namespace: "d"}
		if hasEmptySelector(requirements.NodeClaim) {
			continue // which epochs of messages read differently
		}
		received := &pb.MaxAvailableReplicasRequest{}
		if _, err := sent(&pb.MaxAvailableReplicasRequest{Cluster: memberName, ReplicaRequirements: m.epoch.requirements(requirements)}, received); err != nil {
			t.Fatal(err)
		}
		wanted, err := m.running.Replicas(received)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			got, err := estimator.MaxAvailableReplicas(context.Background(), client.ReplicaEstimationRequest{Clusters: clusters, ReplicaRequirements: requirements})
			lock.Lock()
			defer lock.Unlock()
			if err != nil || len(got) != 1 || got[0].Replicas != wanted.MaxReplicas {
				t.Errorf("%+v: Evenkeel answers %v (%v), Karmada %d", requirements, got, err, wanted.MaxReplicas)
			} else if wanted.MaxReplicas > 0 {
				fit++
			}
		})
	}
	running.Wait()
	return fit
}

// TestQuotaOverGRPC has both answer with ResourceQuotas, which a member's state file has beside nodes and pods.
func TestQuotaOverGRPC(t *testing.T) {
	const members, questions = 5, 30
	bounded := 0
	for i := range members {
		d := diceFor(i)
		nodes := d.nodes(1)
		m := &member{dice: d, nodes: nodes, pods: d.pods(nodes), epoch: epoch(d.IntN(3))}
		var quotas []*corev1.ResourceQuota
		for number := range 3 {
			quotas = append(quotas, d.quota(number))
		}
		bounded += askWithQuotas(t, m, quotas, questions)
	}
	if bounded == 0 {
		t.Error("no quota made a difference: these questions say little")
	}
}

// askWithQuotas returns how many answers are other ones than without quotas.
func askWithQuotas(t *testing.T, m *member, quotas []*corev1.ResourceQuota, questions int) (bounded int) {
	t.Helper()
	with, err := peer.NewQuotas(m.nodes, m.pods, quotas)
	if err != nil {
		t.Fatal(err)
	}
	defer with.Close()
	without, err := peer.NewMember(memberName, m.nodes, m.pods)
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	asked := dialEstimator(t, stateFile(t, m, quotas...), "--estimator-resource-quota")
	for range questions {
		requirements := &workv1alpha2.ReplicaRequirements{ResourceRequest: m.request(), Namespace: pick(m.dice, "d", "d", "e", ""),
			PriorityClassName: pick(m.dice, "", "low", "high")}
		received := &pb.MaxAvailableReplicasRequest{}
		if _, err := sent(&pb.MaxAvailableReplicasRequest{Cluster: memberName, ReplicaRequirements: m.epoch.requirements(requirements)}, received); err != nil {
			t.Fatal(err)
		}
		wanted, err := with.Replicas(received.ReplicaRequirements)
		if err != nil {
			t.Fatal(err)
		}
		unbounded, err := without.Replicas(received)
		if err != nil {
			t.Fatal(err)
		}
		got, err := asked.MaxAvailableReplicas(context.Background(), received)
		if err != nil || got.MaxReplicas != max(0, wanted) { // see deviatesExceeded
			t.Errorf("%+v: Evenkeel answers %v (%v), Karmada %d", requirements, got, err, wanted)
		} else if wanted != unbounded.MaxReplicas {
			bounded++
		}
	}
	return bounded
}

// dialEstimator starts an Evenkeel that ends with the test, and connects to it.
func dialEstimator(t *testing.T, state string, arguments ...string) service.EstimatorClient {
	t.Helper()
	e, err := evenkeel.StartEstimator(binary(t), memberName, state, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	connection, err := grpc.NewClient(e.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return service.NewEstimatorClient(connection)
}
