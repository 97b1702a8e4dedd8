// Package component makes this program be a part of the control plane: etcd, kube-apiserver or
// kube-scheduler, from their own modules, with their own flags.
//
// Each runs in a process of its own, which is this very executable started once more. So one build
// has everything, and each part can be killed, frozen and started again like in a real cluster:
// their metrics and feature gates are global and may be registered once per process only.
package component

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as in the real binaries
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"evenkeel.io/tests/e2e/kube/internal/etcd"
	"evenkeel.io/tests/e2e/kube/internal/netns"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Which part a process is.
const (
	Etcd      = "etcd"
	APIServer = "kube-apiserver"
	Scheduler = "kube-scheduler"
	Relay     = "relay" // of a network namespace
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
	case Relay:
		os.Exit(netns.RunRelay(os.Args[1:]))
	default:
		fmt.Fprintf(os.Stderr, "unknown component %q in $%s\n", role, roleVariable)
		os.Exit(2)
	}
}

// Start runs a component with its flags in a process of its own, output appended to the file `log`.
func Start(role, log string, flags ...string) (*process.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process.Start(process.Spec{
		Name: role,
		Path: self,
		Args: flags,
		// Memory is plentiful here, cores are not.
		Env: []string{Variable(role), "GOGC=200"},
		Log: log,
	})
}
