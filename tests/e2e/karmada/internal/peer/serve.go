package peer

import (
	"context"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/karmada-io/karmada/cmd/scheduler-estimator/app/options"
	"github.com/karmada-io/karmada/pkg/estimator/server"
)

// Served is karmada-scheduler-estimator with its defaults, of a cluster behind a kubeconfig: the whole server, which
// lists, watches and listens, without its command line and its metrics.
type Served struct {
	Cluster, Kubeconfig string
	Port                int
}

// Serve listens when all is listed, and returns when it can do no more.
func (s *Served) Serve(ctx context.Context) error {
	const queriesASecond, burst = 20, 30 // defaults of its flags
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return err
	}
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(queriesASecond, burst)
	estimator, err := server.NewEstimatorServer(ctx, kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config),
		discovery.NewDiscoveryClientForConfigOrDie(config), &options.Options{ClusterName: s.Cluster, ServerPort: s.Port})
	if err != nil {
		return err
	}
	return estimator.Start(ctx)
}
