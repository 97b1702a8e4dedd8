package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-io/karmada/pkg/estimator/pb"
	"github.com/karmada-io/karmada/pkg/estimator/service"
)

// calling is what a process of callers is to do: it has a core and a memory of its own, as karmada-scheduler has.
type calling struct {
	Address, Member, Certs string // Certs: a folder, for mutual TLS; "": plaintext
	Sets                   bool   // component sets, one question; otherwise all questions of replicas, in turn
	Callers, Connections   int
	Beside                 int // callers who ask for component sets meanwhile, all on one more connection
	Seconds                float64
	Expected               []int32 // answers; empty: any, which are returned
}

type called struct {
	Answers                        []int32
	Calls                          int
	Late                           int // took longer than karmada-scheduler waits
	PerSecond, P50Ms, P99Ms, MaxMs float64
	Failed                         string
}

const schedulerWaits = 3 * time.Second // karmada-scheduler's --scheduler-estimator-timeout

func claims() []*pb.NodeClaim {
	affine, tolerant := &pb.NodeClaim{}, &pb.NodeClaim{}
	affine.MustSetNodeAffinity(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: "topology.kubernetes.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-1", "zone-2", "zone-7"}},
		{Key: "example.com/pool", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"pool-4"}}}}}})
	tolerant.MustSetTolerations([]corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "gpu", Effect: corev1.TaintEffectNoSchedule}})
	return []*pb.NodeClaim{nil, {NodeSelector: map[string]string{"topology.kubernetes.io/region": "region-2"}}, affine, tolerant}
}

// questions are 16: four sizes, and four sorts of nodes for each.
func questions(member string) []*pb.MaxAvailableReplicasRequest {
	gpu := list("8", "32Gi")
	gpu["nvidia.com/gpu"] = resource.MustParse("1")
	var made []*pb.MaxAvailableReplicasRequest
	for _, wanted := range []corev1.ResourceList{list("500m", "1Gi"), list("1", "2Gi"),
		list("4", "16Gi"), gpu} {
		for _, claim := range claims() {
			requirements := &pb.ReplicaRequirements{NodeClaim: claim, Namespace: "shop"}
			requirements.MustSetResourceRequest(wanted)
			made = append(made, &pb.MaxAvailableReplicasRequest{Cluster: member, ReplicaRequirements: requirements})
		}
	}
	return made
}

// flink is a JobManager and three TaskManagers.
func flink(member string) *pb.MaxAvailableComponentSetsRequest {
	component := func(name string, replicas int32, wanted corev1.ResourceList) *pb.Component {
		requirements := &pb.ComponentReplicaRequirements{}
		requirements.MustSetResourceRequest(wanted)
		return &pb.Component{Name: name, Replicas: replicas, ReplicaRequirements: requirements}
	}
	return &pb.MaxAvailableComponentSetsRequest{Cluster: member, Namespace: "shop", Components: []*pb.Component{
		component("jm", 1, list("1", "2Gi")), component("tm", 3, list("3", "10Gi"))}}
}

func (c *calling) credentials() (grpc.DialOption, error) {
	if c.Certs == "" {
		return grpc.WithTransportCredentials(insecure.NewCredentials()), nil
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(c.Certs, "client.crt"), filepath.Join(c.Certs, "client.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(filepath.Join(c.Certs, "ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{own}, RootCAs: roots})), nil
}

// ask returns a function that asks a question, and how many questions there are.
func (c *calling) ask() (func(context.Context, service.EstimatorClient, int) (int32, error), int) {
	if c.Sets {
		request := flink(c.Member)
		return func(ctx context.Context, client service.EstimatorClient, _ int) (int32, error) {
			response, err := client.MaxAvailableComponentSets(ctx, request)
			return response.GetMaxSets(), err
		}, 1
	}
	requests := questions(c.Member)
	return func(ctx context.Context, client service.EstimatorClient, i int) (int32, error) {
		response, err := client.MaxAvailableReplicas(ctx, requests[i])
		return response.GetMaxReplicas(), err
	}, len(requests)
}

type tally struct {
	mutex  sync.Mutex
	took   []time.Duration
	failed error
}

// run asks until the time is over; calls that are on their way then do not count.
func (c *calling) run() (*called, error) {
	option, err := c.credentials()
	if err != nil {
		return nil, err
	}
	clients := make([]service.EstimatorClient, c.Connections)
	for i := range clients {
		connection, err := grpc.NewClient(c.Address, option)
		if err != nil {
			return nil, err
		}
		defer connection.Close()
		clients[i] = service.NewEstimatorClient(connection)
	}
	ask, count := c.ask()
	if len(c.Expected) == 0 {
		return c.answers(clients[0], ask, count)
	}
	var all tally
	var running sync.WaitGroup
	crowd, err := grpc.NewClient(c.Address, option)
	if err != nil {
		return nil, err
	}
	defer crowd.Close()
	limit := time.Duration(c.Seconds * float64(time.Second))
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	for range c.Beside {
		running.Go(func() {
			for client := service.NewEstimatorClient(crowd); ctx.Err() == nil; {
				_, _ = client.MaxAvailableComponentSets(ctx, flink(c.Member)) // they are there to be in the way
			}
		})
	}
	began := time.Now()
	for caller := range c.Callers {
		running.Go(func() {
			var took []time.Duration
			var failed error
			for i := caller; failed == nil; i++ {
				start := time.Now()
				answer, err := ask(ctx, clients[caller%len(clients)], i%count)
				if ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded {
					break // its deadline is the end
				}
				took = append(took, time.Since(start))
				if failed = err; err == nil && answer != c.Expected[i%count] {
					failed = fmt.Errorf("question %d: %d instead of %d", i%count, answer, c.Expected[i%count])
				}
			}
			all.mutex.Lock()
			defer all.mutex.Unlock()
			all.took = append(all.took, took...)
			if failed != nil {
				all.failed = failed
			}
		})
	}
	running.Wait()
	return all.sum(min(time.Since(began), limit))
}

func (all *tally) sum(lasted time.Duration) (*called, error) {
	if all.failed != nil {
		return nil, all.failed
	}
	if len(all.took) == 0 {
		return &called{}, nil
	}
	slices.Sort(all.took)
	rank := func(part float64) float64 { return milliseconds(all.took[int(part*float64(len(all.took)-1))]) }
	result := &called{Calls: len(all.took), PerSecond: float64(len(all.took)) / lasted.Seconds(), P50Ms: rank(0.5), P99Ms: rank(0.99), MaxMs: rank(1)}
	for _, took := range all.took {
		if took > schedulerWaits {
			result.Late++
		}
	}
	return result, nil
}

// answers asks each question once.
func (c *calling) answers(client service.EstimatorClient, ask func(context.Context, service.EstimatorClient, int) (int32, error), count int) (*called, error) {
	result := &called{Calls: count}
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(c.Seconds*float64(time.Second)))
	defer stop()
	for i := range count {
		answer, err := ask(ctx, client, i)
		if err != nil {
			return nil, err
		}
		result.Answers = append(result.Answers, answer)
	}
	return result, nil
}

// serveCalls reads what is to be asked, a JSON object a line, asks it, and prints how it went.
func serveCalls() error {
	lines, results := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.More() {
		var c calling
		if err := lines.Decode(&c); err != nil {
			return err
		}
		result, err := c.run()
		if err != nil {
			result = &called{Failed: err.Error()}
		}
		if err := results.Encode(result); err != nil {
			return err
		}
	}
	return nil
}
