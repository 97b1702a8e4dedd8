package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
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

	text, err := os.ReadFile(filepath.Join(h.top, "docs/guides/kube-scheduler.md"))
	h.must(err)
	_, block, ok := strings.Cut(string(text), "```yaml\napiVersion: kubescheduler.config.k8s.io/v1")
	block, _, _ = strings.Cut(block, "```")
	if !ok {
		t.Fatal("the guide has no KubeSchedulerConfiguration")
	}
	file := func(name string) string { return filepath.Join(files, "evenkeel", name) }
	config := "apiVersion: kubescheduler.config.k8s.io/v1" +
		here.Replace(strings.Replace(block, "https://evenkeel.example.com:8443", "https://10.96.0.77", 1)) +
		"leaderElection: {leaderElect: false}\n"
	h.must(os.WriteFile(file("scheduler.yaml"), []byte(config), 0o600))
	h.startScheduler(file("scheduler.yaml"))

	h.deployUsers(t, "static", "default-scheduler", 6)
	h.evenAndAsked(t, "static")
}

// secondDoor: the chart's own kube-scheduler. Its image is ours with Kubernetes' own kube-scheduler, of the module
// that go.mod pins, laid over it: no registry with Kubernetes' images is asked.
func (h *host) secondDoor(t *testing.T) {
	self, err := os.Executable()
	h.must(err)
	variable := component.Variable(component.Scheduler)
	image := "registry.example.com/kube-scheduler:" + version.Get().GitVersion
	h.shell(t, "mkdir -p "+h.dir+"/layer/usr/bin && cp "+self+" "+h.dir+"/layer/usr/bin/kube-scheduler\n"+
		"tar -C "+h.dir+"/layer -cf "+h.dir+"/layer.tar . && rm -r "+h.dir+"/layer\n"+
		"crane append --base registry.example.com/evenkeel:0.1.0 --new_layer "+h.dir+"/layer.tar --new_tag "+image+"\n"+
		"crane mutate "+image+" --env "+variable+" --tag "+image)
	h.shell(t, h.typed(t, "docs/guides/install.md", "scheduler.enabled=true"))
	h.rolledOut(t, "evenkeel-scheduler")
	h.deployUsers(t, "second", "evenkeel", 6)
	h.evenAndAsked(t, "second")

	// A kube-scheduler that ends at once takes no other's place.
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set scheduler.image.repository=registry.example.com/evenkeel,scheduler.image.tag=0.1.0")
	if _, err := h.tryShell("kubectl -n evenkeel rollout status deployment/evenkeel-scheduler --timeout=20s"); err == nil {
		t.Errorf("the rollout of a kube-scheduler that does not run is over: %s", h.state())
	}
	d, err := h.Client.AppsV1().Deployments(release).Get(h.ctx, "evenkeel-scheduler", metav1.GetOptions{})
	h.must(err)
	if d.Status.AvailableReplicas < *d.Spec.Replicas {
		t.Errorf("%d of %d replicas are available", d.Status.AvailableReplicas, *d.Spec.Replicas)
	}
}

// evenAndAsked: six pods of a user run, two in each zone, and Evenkeel was asked where to put them.
func (h *host) evenAndAsked(t *testing.T, name string) {
	t.Helper()
	counts := h.zonesOf(t, name, 6)
	for i := range machines {
		if n := counts[nodeName(i)]; n != 2 && name != "second" { // whose pods no policy is for
			t.Errorf("%s has %d of 6 pods", nodeName(i), n)
		}
	}
	for _, pod := range h.podsIn(t, "shop", "app="+name) {
		said := h.shell(t, "set +x; PATH=$PATH:"+h.dir+"; kubectl evenkeel explain pod "+pod.Name+" -n shop --install-namespace evenkeel -o json 2>/dev/null")
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
