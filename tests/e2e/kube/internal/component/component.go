// Package component makes this program be a part of a cluster: etcd, kube-apiserver, kube-scheduler,
// kube-controller-manager or kube-proxy, from their own modules, with their own flags, or our small kubelet.
//
// Each runs in a process of its own, which is this very executable started once more. So one build
// has everything, and each part can be killed, frozen and started again like in a real cluster:
// their metrics and feature gates are global and may be registered once per process only.
package component

import (
	"fmt"
	"os"
	"slices"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as in the real binaries
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"evenkeel.io/tests/e2e/kube/internal/etcd"
	"evenkeel.io/tests/e2e/kube/internal/kubelet"
	"evenkeel.io/tests/e2e/kube/internal/netns"
	"evenkeel.io/tests/e2e/kube/internal/process"
	"evenkeel.io/tests/e2e/kube/internal/registry"
)

// Which part a process is.
const (
	Etcd        = "etcd"
	APIServer   = "kube-apiserver"
	Scheduler   = "kube-scheduler"
	Controllers = "kube-controller-manager"
	Proxy       = "kube-proxy"
	Kubelet     = "kubelet"
	Registry    = "registry"
	Relay       = "relay" // of a network namespace
)

const roleVariable = "EVENKEEL_E2E_COMPONENT"

// Variable is the environment that makes this executable be a component.
func Variable(role string) string { return roleVariable + "=" + role }

// RunIfAsked turns this process into a component if it was started as one, and does not return
// then. Programs that call Start must call it first of all.
func RunIfAsked() {
	switch role := os.Getenv(roleVariable); role {
	case "":
		return
	case Etcd:
		os.Exit(etcd.Run(os.Args[1:]))
	case APIServer:
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case Scheduler:
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case Controllers:
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case Proxy:
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case Kubelet:
		os.Exit(kubelet.Run(os.Args[1:]))
	case Registry:
		os.Exit(registry.Run(os.Args[1:]))
	case Relay:
		os.Exit(netns.RunRelay(os.Args[1:]))
	default:
		fmt.Fprintf(os.Stderr, "unknown component %q in $%s\n", role, roleVariable)
		os.Exit(2)
	}
}

// Start runs a component with its flags in a process of its own, output appended to the file `log`.
func Start(role, log string, flags ...string) (*process.Process, error) {
	return StartIn(nil, role, log, flags...)
}

// StartIn is Start behind a command that runs others: its words go in front of the component's own.
func StartIn(wrap []string, role, log string, flags ...string) (*process.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := append(append(slices.Clone(wrap), self), flags...)
	return process.Start(process.Spec{
		Name: role,
		Path: command[0],
		Args: command[1:],
		// Memory is plentiful here, cores are not.
		Env: []string{Variable(role), "GOGC=200"},
		Log: log,
	})
}
