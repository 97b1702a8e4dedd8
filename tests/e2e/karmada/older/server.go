//go:build !without_server

package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/karmada-io/karmada/cmd/scheduler-estimator/app/options"
	"github.com/karmada-io/karmada/pkg/estimator/server"
	"github.com/karmada-io/karmada/pkg/estimator/service"
)

var nowhere = &rest.Config{Host: "http://127.0.0.1:1"} // nobody is asked

// serve runs this version's estimator until the context ends. Its cache is filled by hand.
func (a *accurate) serve(ctx context.Context) (address string, err error) {
	estimator, err := server.NewEstimatorServer(ctx, kubernetes.NewForConfigOrDie(nowhere), dynamic.NewForConfigOrDie(nowhere),
		discovery.NewDiscoveryClientForConfigOrDie(nowhere), &options.Options{ClusterName: a.Name, Parallelism: 1})
	if err != nil {
		return "", err
	}
	for _, node := range a.Nodes {
		estimator.Cache.AddNode(node)
	}
	for _, pod := range a.Pods {
		// Its informer shows it no others.
		if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			if err := estimator.Cache.AddPod(pod); err != nil {
				return "", err
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	running := grpc.NewServer()
	service.RegisterEstimatorServer(running, estimator)
	go func() { _ = running.Serve(listener) }() // its end is wanted
	context.AfterFunc(ctx, running.Stop)
	return listener.Addr().String(), nil
}
