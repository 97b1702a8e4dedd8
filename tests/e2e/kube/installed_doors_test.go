package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
)

// staticDoor: the extender as the guides install it, behind the cluster's own kube-scheduler on the host's
// network: it calls a fixed address of the Service range with the certificate that was copied to the machine.
func (h *host) staticDoor(t *testing.T) {
	h.shell(t, h.typed(t, "docs/guides/install.md", "extender.service.clusterIP"))
	h.rolledOut(t, "evenkeel-extender")
	h.shell(t, h.typed(t, "docs/guides/kube-scheduler.md", "create role kube-scheduler-certificate"))
	kubeconfig, err := h.Kubeconfig(cluster.SchedulerIdentity())
	h.must(err)
	files := filepath.Join(h.dir, "kubernetes")
	h.must(os.MkdirAll(filepath.Join(files, "evenkeel"), 0o700))
	here := strings.NewReplacer("/etc/kubernetes/scheduler.conf", kubeconfig, "/etc/kubernetes", files)
	h.until("kube-scheduler's certificate can be copied", func(context.Context) (bool, error) {
		_, err := h.tryShell(here.Replace(h.typed(t, "docs/guides/kube-scheduler.md", "umask 077")))
		return err == nil, err
	})

	text, err := os.ReadFile(filepath.Join(h.top, "README.md"))
	h.must(err)
	_, block, ok := strings.Cut(string(text), "```yaml\napiVersion: kubescheduler.config.k8s.io/v1")
	block, _, _ = strings.Cut(block, "```")
	if !ok {
		t.Fatal("README has no KubeSchedulerConfiguration")
	}
	file := func(name string) string { return filepath.Join(files, "evenkeel", name) }
	config := "apiVersion: kubescheduler.config.k8s.io/v1" + strings.NewReplacer("https://evenkeel.example.com:8443", "https://10.96.0.77",
		"caFile: ca.crt", "caFile: "+file("ca.crt"), "client.crt", file("tls.crt"), "client.key", file("tls.key")).Replace(block) +
		"clientConnection: {kubeconfig: " + kubeconfig + "}\nleaderElection: {leaderElect: false}\n"
	h.must(os.WriteFile(file("scheduler.yaml"), []byte(config), 0o600))
	h.startScheduler(file("scheduler.yaml"))

	h.deployUsers(t, "static", "default-scheduler", 6)
	h.evenAndAsked(t, "static")
}

// evenAndAsked: six pods of a user run, two in each zone, and Evenkeel was asked where to put them.
func (h *host) evenAndAsked(t *testing.T, name string) {
	t.Helper()
	counts := h.zonesOf(t, name, 6)
	for i := range machines {
		if n := counts[nodeName(i)]; n != 2 {
			t.Errorf("%s has %d of 6 pods", nodeName(i), n)
		}
	}
	for _, pod := range h.podsIn(t, "shop", "app="+name) {
		said := h.shell(t, "set +x; PATH=$PATH:"+h.dir+"; kubectl evenkeel explain pod "+pod.Name+" -n shop -o json 2>/dev/null")
		var told struct{ Decisions []struct{ Verb string } }
		_, text, _ := strings.Cut(said, "\n{")
		if err := json.Unmarshal([]byte("{"+text), &told); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		asked := false
		for _, d := range told.Decisions {
			asked = asked || d.Verb == "filter"
		}
		if !asked {
			t.Errorf("about %s nobody was asked: %s", pod.Name, said)
		}
	}
	h.noneRefused(t)
}

// rolling: with failurePolicy Fail every replica is replaced again and again while pods are created, and then
// one is deleted. Nobody's pod is refused, and none comes without its constraints.
func (h *host) rolling(t *testing.T) {
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set webhook.failurePolicy=Fail")
	h.rolledOut(t, "evenkeel-webhook")
	h.untilTrusted(t)
	rollouts := number(t, "EVENKEEL_E2E_INSTALLED_ROLLOUTS", 20)
	tried := h.load(t, 4, func() {
		for range rollouts {
			h.shell(t, "kubectl -n evenkeel rollout restart deployment/evenkeel-webhook\n"+
				"kubectl -n evenkeel rollout status deployment/evenkeel-webhook --timeout=120s")
		}
		h.shell(t, "kubectl -n evenkeel delete \"$(kubectl -n evenkeel get pods -l app.kubernetes.io/component=webhook -o name | head -n 1)\"")
		h.rolledOut(t, "evenkeel-webhook")
	})
	t.Logf("e2e: %d pods during %d rollouts and the deletion of a replica", tried, rollouts)
	h.noneRefused(t)
}

// load tries a user's pods until `during` is over, and counts them.
func (h *host) load(t *testing.T, workers int, during func()) int64 {
	ctx, cancel := context.WithCancel(h.ctx)
	var tried atomic.Int64
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for range workers {
		running.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				pod, err := h.try(ctx, userPod("load"))
				if errors.Is(err, context.Canceled) {
					return
				}
				if tried.Add(1); err != nil {
					t.Errorf("pod %d: %v", tried.Load(), err)
				} else if !spreadByPolicy(pod) {
					t.Errorf("pod %d was not patched", tried.Load())
				}
			}
		})
	}
	during()
	return tried.Load()
}
