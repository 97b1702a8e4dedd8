package main

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/estimator/service"
)

const timeout = 30 * time.Second

// accurate is what is asked of an estimator that knows a member's nodes and pods, and of another.
type accurate struct {
	Peer     string                              `json:"peer"`
	Name     string                              `json:"name"`
	Nodes    []*corev1.Node                      `json:"nodes"`
	Pods     []*corev1.Pod                       `json:"pods"`
	Replicas []*workv1alpha2.ReplicaRequirements `json:"replicas"`
	Sets     [][]workv1alpha2.Component          `json:"sets"`
}

// answersOf an estimator.
func (a *accurate) answersOf(address string) ([]int32, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	known := client.NewSchedulerEstimatorCache()
	known.AddCluster(a.Name, connection, service.NewEstimatorClient(connection))
	defer known.DeleteCluster(a.Name)
	estimator := client.NewSchedulerEstimator(known, timeout)
	clusters := []*clusterv1alpha1.Cluster{{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}}
	answers := []int32{}
	for _, requirements := range a.Replicas {
		got, err := estimator.MaxAvailableReplicas(context.Background(), clusters, requirements)
		if err != nil {
			return nil, err
		}
		answers = append(answers, got[0].Replicas)
	}
	for _, components := range a.Sets {
		got, err := estimator.MaxAvailableComponentSets(context.Background(),
			client.ComponentSetEstimationRequest{Clusters: clusters, Components: components, Namespace: "d"})
		if err != nil {
			return nil, err
		}
		answers = append(answers, got[0].Sets)
	}
	return answers, nil
}

func (a *accurate) ask(given string) (any, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	peer := a.Peer
	var err error
	if peer == "" {
		if peer, err = a.serve(ctx); err != nil {
			return nil, err
		}
	}
	answers := map[string][]int32{}
	for name, address := range map[string]string{"given": given, "peer": peer} {
		if answers[name], err = a.answersOf(address); err != nil {
			return nil, err
		}
	}
	return answers, nil
}
