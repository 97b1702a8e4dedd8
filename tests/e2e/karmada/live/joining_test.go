package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/estimator/service"
	"github.com/karmada-io/karmada/pkg/util/grpcconnection"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

const clusterNamespace = "karmada-cluster"

// joiner is a Cluster as karmadactl join makes it: with the address of its API server, and a Secret with a token.
type joiner struct {
	name    string
	secret  *corev1.Secret
	cluster *clusterv1alpha1.Cluster
}

// newJoiner has an account in the member.
func newJoiner(t *testing.T, name string, member *world.ControlPlane) *joiner {
	t.Helper()
	accounts := member.Kube.CoreV1().ServiceAccounts("default")
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	must(t, member.Allow(t.Context(), "system:serviceaccount:default:"+name))
	made, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	address, err := member.Address()
	must(t, err)
	config := rest.CopyConfig(member.Config)
	must(t, rest.LoadTLSFiles(config))
	return &joiner{name: name,
		secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: clusterNamespace, Name: name},
			Data: map[string][]byte{"token": []byte(made.Status.Token), "caBundle": config.CAData}},
		cluster: &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: clusterv1alpha1.ClusterSpec{SyncMode: clusterv1alpha1.Push, APIEndpoint: "https://" + address,
				SecretRef: &clusterv1alpha1.LocalSecretReference{Namespace: clusterNamespace, Name: name}}}}
}

func (j *joiner) join(t *testing.T) {
	t.Helper()
	_, err := karmada.Kube.CoreV1().Secrets(clusterNamespace).Create(t.Context(), j.secret, metav1.CreateOptions{})
	must(t, err)
	_, err = karmada.Karmada.ClusterV1alpha1().Clusters().Create(t.Context(), j.cluster, metav1.CreateOptions{})
	must(t, err)
}

func (j *joiner) leave(ctx context.Context) error {
	if err := karmada.Karmada.ClusterV1alpha1().Clusters().Delete(ctx, j.name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return karmada.Kube.CoreV1().Secrets(clusterNamespace).Delete(ctx, j.name, metav1.DeleteOptions{})
}

// awaitService until Evenkeel has made the one of a cluster, or has deleted it.
func awaitService(t *testing.T, name string, there bool) {
	t.Helper()
	must(t, world.Until(t.Context(), "the Service "+name+" comes or goes", func(ctx context.Context) (bool, error) {
		_, err := karmada.Kube.CoreV1().Services(world.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return !there, nil
		}
		return err == nil && there, err
	}))
}

// dialService finds an estimator by the Service that Evenkeel has made.
func dialService(t *testing.T, cluster string) *client.SchedulerEstimator {
	t.Helper()
	known := client.NewSchedulerEstimatorCache()
	must(t, client.EstablishConnection(karmada.Kube, client.SchedulerEstimatorServiceInfo{Name: cluster, Namespace: world.Namespace,
		NamePrefix: nameOf(t)}, known, &grpcconnection.ClientConfig{TargetPort: 10352}))
	t.Cleanup(func() { known.DeleteCluster(cluster) })
	return client.NewSchedulerEstimator(known, timeout)
}

// dialAt connects to an address, whether or not there is a Service.
func dialAt(t *testing.T, cluster, address string) *client.SchedulerEstimator {
	t.Helper()
	connection := dial(t, address)
	known := client.NewSchedulerEstimatorCache()
	known.AddCluster(cluster, connection, service.NewEstimatorClient(connection))
	t.Cleanup(func() { known.DeleteCluster(cluster) })
	return client.NewSchedulerEstimator(known, timeout)
}

func ask(e *client.SchedulerEstimator, cluster string, cpus int64) (int32, error) {
	got, err := e.MaxAvailableReplicas(context.Background(), client.ReplicaEstimationRequest{ReplicaRequirements: replicas(cpus),
		Clusters: []*clusterv1alpha1.Cluster{{ObjectMeta: metav1.ObjectMeta{Name: cluster}}}})
	if len(got) != 1 {
		return unknown, fmt.Errorf("%d answers: %w", len(got), err)
	}
	return got[0].Replicas, err
}

// TestJoining has Clusters join Karmada and leave it while 200 callers ask for one that stays, and for one that does not.
// It runs before the tests that run side by side, whose schedulers would see these Clusters.
func TestJoining(t *testing.T) {
	must(t, karmada.CreateNamespace(t.Context(), clusterNamespace))
	stays, moves := newJoiner(t, "stays", members[0]), newJoiner(t, "moves", members[1])
	stays.join(t)
	t.Cleanup(func() {
		if err := stays.leave(context.Background()); err != nil {
			t.Error(err)
		}
	})
	address := freeAddress(t)
	startOne(t, &estimator{Address: address, flags: []string{"--estimator-from-karmada", "--karmada-kubeconfig", karmada.Kubeconfig,
		"--estimator-services", "--estimator-service-host", strings.Replace(address, "127.0.0.1", "localhost", 1),
		"--karmada-estimators-service-prefix", nameOf(t)}})
	awaitService(t, nameOf(t)+"-stays", true)
	e := dialService(t, "stays") // it answers for all of them
	must(t, world.Until(t.Context(), "the first member is estimated", func(context.Context) (bool, error) {
		got, err := ask(e, "stays", 2)
		return got == fit1, err
	}))

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var answered, wrong atomic.Int64
	for range 200 {
		running.Go(func() {
			for ctx.Err() == nil {
				if got, err := ask(e, "stays", 2); (err != nil || got != fit1) && wrong.Add(1) == 1 {
					t.Errorf("stays: %d (%v) instead of %d", got, err, fit1)
				}
				answered.Add(1)
				time.Sleep(5 * time.Millisecond) // there are 200 of them
			}
		})
	}
	// Whoever is asked for the other one gets its number, that it is not known, or that there is none.
	other := dialAt(t, "moves", address)
	for range 10 {
		running.Go(func() {
			for ctx.Err() == nil {
				got, err := ask(other, "moves", 2)
				if err == nil && got != fit2 && got != unknown && wrong.Add(1) == 1 {
					t.Errorf("moves: %d instead of %d or %d", got, fit2, unknown)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	for range 2 {
		moves.join(t)
		must(t, world.Until(t.Context(), "the other member is estimated", func(context.Context) (bool, error) {
			got, err := ask(other, "moves", 2)
			return got == fit2, err
		}))
		awaitService(t, nameOf(t)+"-moves", true)
		if got, err := ask(dialService(t, "moves"), "moves", 2); err != nil || got != fit2 {
			t.Errorf("by its Service: %d (%v)", got, err)
		}
		must(t, moves.leave(t.Context()))
		must(t, world.Until(t.Context(), "the other member is gone", func(context.Context) (bool, error) {
			_, err := ask(other, "moves", 2)
			return err != nil && strings.Contains(err.Error(), "cluster name does not match"), nil
		}))
		awaitService(t, nameOf(t)+"-moves", false)
	}
	stop()
	running.Wait()
	if wrong.Load() > 0 || answered.Load() < 1000 {
		t.Errorf("%d of %d answers are wrong", wrong.Load(), answered.Load())
	}
	t.Logf("%d answers", answered.Load())
}
