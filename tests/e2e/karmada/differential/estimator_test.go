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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/estimator/pb"
	"github.com/karmada-io/karmada/pkg/estimator/service"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
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

// stateFile has a member's nodes and pods, the nodes in the order of Karmada's estimator.
func stateFile(t *testing.T, m *member) string {
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
