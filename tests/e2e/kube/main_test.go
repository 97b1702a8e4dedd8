// Package e2e runs the built Evenkeel against a real control plane: etcd, kube-apiserver and
// kube-scheduler from their own modules. The tests create nodes and pods and look where they land.
//
// One control plane serves all tests; each has a namespace, nodes, a kube-scheduler and an Evenkeel of its
// own (see stage_test.go). They run one after the other, and last those that mostly wait, together.
// Environment:
//
//	EVENKEEL               the binary; default ../../../build/evenkeel
//	EVENKEEL_E2E_DIR       where logs and other files are kept; default: a folder that goes at the end
//	EVENKEEL_E2E_SEED      of random workloads, which is printed; default: the time
//	EVENKEEL_E2E_ROUNDS    how many of them; default 12
//	EVENKEEL_E2E_BIND_RUNS how often each fault of a binding is played; default 1
//	EVENKEEL_E2E_ROLLOUTS  how often the webhook's replicas are replaced; default 20
//	EVENKEEL_E2E_INSTALLED_ROLLOUTS the same of the chart's replicas, in pods; default 2
//	EVENKEEL_E2E_OCM_CONTROLLER the program of tests/e2e/ocm/cmd/controller; default ../../../build/e2e/ocm-controller
//	EVENKEEL_E2E_OCM_API   the folder of OCM's API, with the kinds that it defines: set by run.sh
//	PART                   of TestWebhookHarm's policies: 3/10 takes every tenth, from number 3 on; default: all
//	EVENKEEL_E2E_PENDING   how many pods wait while an event comes; default 30
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
)

// Everything that a test waits for must come within this; so long only on a machine that is busy.
const patience = 60 * time.Second

var (
	binary string
	dir    string

	starting sync.Once
	shared   *cluster.Cluster
	startErr error
)

func TestMain(m *testing.M) {
	component.RunIfAsked()
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// client-go's own log says nothing that a test does not say better.
	klog.LogToStderr(false)
	klog.SetOutput(discard{})

	var err error
	if binary, err = filepath.Abs(setting("EVENKEEL", "../../../build/evenkeel")); err == nil {
		_, err = os.Stat(binary)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "no Evenkeel to test (%v): run make, or set EVENKEEL\n", err)
		return 2
	}
	if dir = os.Getenv("EVENKEEL_E2E_DIR"); dir == "" {
		if dir, err = os.MkdirTemp("", "evenkeel-e2e-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer os.RemoveAll(dir)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-stop
		os.Exit(130) // what we started dies with us
	}()
	code := m.Run()
	if shared != nil {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return code
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func number(t *testing.T, name string, otherwise int) int {
	n, err := strconv.Atoi(setting(name, strconv.Itoa(otherwise)))
	if err != nil {
		t.Fatalf("$%s: %v", name, err)
	}
	return n
}

// ownControlPlane is for a test that spoils it while others run. It ends with the test.
func ownControlPlane(t *testing.T) *cluster.Cluster {
	t.Helper()
	home := filepath.Join(dir, freshID("control-plane-of-"+t.Name()))
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Start(context.Background(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// controlPlane is the one that all tests share; it is started when the first one asks.
func controlPlane(t *testing.T) *cluster.Cluster {
	t.Helper()
	starting.Do(func() {
		home := filepath.Join(dir, "control-plane")
		if startErr = os.MkdirAll(home, 0o755); startErr == nil {
			shared, startErr = cluster.Start(context.Background(), home)
		}
	})
	if startErr != nil {
		t.Fatal(startErr)
	}
	if err := shared.Revive(context.Background()); err != nil {
		t.Fatal(err)
	}
	return shared
}
