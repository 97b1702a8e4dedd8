// Package kubelet is a small kubelet with its own container runtime: enough to run the pods of the chart as a
// node would, so that their arguments, files, ports, rights, probes and ends are tried and not only rendered.
//
// It runs as a process of its own, as root, in the network namespace of the machine that it is a node of
// (package machine). It registers its Node, pulls images from registries, gives each pod a network namespace
// with an address, mounts ConfigMaps, Secrets, projected tokens and emptyDirs, and starts each container's
// command in a root of its own, as its user, without capabilities. It probes, restarts, reports status, runs
// preStop, keeps to grace periods, and serves logs and exec to the API server. That a container has ended it
// notices as late as a kubelet, which looks once a second. To the API server it is a node: NodeRestriction and the
// Node authorizer are in force.
//
// What it cannot do is a pod that fails, with a message: host namespaces, init containers, resources with
// claims, probes other than HTTP, other volumes. What it does not do and keeps silent about: limits of CPU and
// memory, seccomp profiles, eviction.
package kubelet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// settings are its flags.
type settings struct {
	kubeconfig, node, address, podRange, dir, labels string
	registryCA                                       string
	certFile, keyFile, clientCAFile                  string
}

// kubelet is what its parts share.
type kubelet struct {
	settings
	client kubernetes.Interface
	images *images
	slots  *addresses
	pods   *runners
	log    *logger
	began  time.Time
}

// Run is the process, until SIGTERM: then its containers are killed.
func Run(args []string) int {
	if len(args) == 2 && args[0] == containerRole {
		return runContainer(args[1])
	}
	var s settings
	flags := flag.NewFlagSet("kubelet", flag.ExitOnError)
	for name, into := range map[string]*string{
		"kubeconfig": &s.kubeconfig, "node": &s.node, "address": &s.address, "pod-range": &s.podRange,
		"dir": &s.dir, "labels": &s.labels, "registry-ca": &s.registryCA, "cert": &s.certFile,
		"key": &s.keyFile, "client-ca": &s.clientCAFile,
	} {
		flags.StringVar(into, name, "", "see machine.StartNode")
	}
	_ = flags.Parse(args) // ends the process on errors
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(ctx context.Context, s settings) error {
	k := &kubelet{settings: s, log: &logger{}, pods: &runners{all: map[types.UID]*podRunner{}}, began: time.Now()}
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 400
	if k.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if k.images, err = newImages(filepath.Join(s.dir, "images"), s.registryCA); err != nil {
		return err
	}
	if k.slots, err = newAddresses(s.podRange); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "logs"), 0o755); err != nil {
		return err
	}
	server, err := k.listen()
	if err != nil {
		return err
	}
	defer server.Close()
	if err := k.register(ctx); err != nil {
		return err
	}
	go k.heartbeat(ctx)
	k.watch(ctx)
	return nil
}

// labelMap of "key=value,key=value".
func labelMap(text string) map[string]string {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			labels[key] = value
		}
	}
	return labels
}
