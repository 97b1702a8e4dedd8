package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
)

const (
	repository = "../../.." // its top
	machines   = 3          // nodes, each in a zone of its own
	release    = "evenkeel" // what the guides call it, and its namespace
)

// host is a machine with a cluster of its own, and what a user types on it.
type host struct {
	*stage
	machine *cluster.Machine
	top     string // of the repository
	tools   string // folder that is first in PATH
	doors   string // options of Helm that turn them on; "": the chart's own
}

// newHost starts one that is as empty as a new cluster. It has a kube-scheduler, as a user's has.
func newHost(t *testing.T) *host {
	t.Helper()
	top, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(dir, slug(t.Name()))
	tools := filepath.Join(top, "build/tools")
	for _, tool := range []string{"crane", "helm"} {
		if _, err := os.Stat(filepath.Join(tools, tool)); err != nil {
			t.Fatalf("%v: run tests/tools/build.sh crane helm", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := cluster.StartMachine(context.Background(), dir, machines, filepath.Join(tools, "crane"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
	})
	h := &host{stage: &stage{T: t, Cluster: m.Cluster, ctx: context.Background(), dir: dir, id: release, patience: 2 * patience},
		machine: m, top: top, tools: tools}
	h.startScheduler("")
	h.until("nodes are ready, and have lost their taints", func(ctx context.Context) (bool, error) {
		nodes, err := h.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil || len(nodes.Items) != machines {
			return false, err
		}
		for _, node := range nodes.Items {
			if len(node.Spec.Taints) > 0 {
				return false, fmt.Errorf("%s has %v", node.Name, node.Spec.Taints)
			}
		}
		return true, nil
	})
	return h
}

// storyStep needs those before it.
type storyStep struct {
	name string
	run  func(*testing.T)
}

// story runs steps one after the other, until one fails.
func (h *host) story(t *testing.T, steps []storyStep) {
	defer func() { h.T = t }()
	for _, s := range steps {
		good := t.Run(s.name, func(t *testing.T) {
			h.T = t
			s.run(t)
		})
		if !good {
			h.T = t
			t.Log(h.state())
			return
		}
	}
}

// shell types lines on the host, in the repository's folder, as an administrator of the cluster. It fails the
// test when one of them fails, and returns what they print.
func (h *host) shell(t *testing.T, lines string) string {
	t.Helper()
	output, err := h.tryShell(lines)
	if err != nil {
		t.Fatalf("%s\n%v\n%s", lines, err, output)
	}
	return output
}

func (h *host) tryShell(lines string) (string, error) {
	kubeconfig, err := h.Kubeconfig(cluster.Admin())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(h.ctx, 5*time.Minute)
	defer cancel()
	words := append(h.machine.Wrap(), "bash", "-euxc", lines)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir = h.top
	command.Env = append(os.Environ(), "PATH="+h.tools+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig,
		"SSL_CERT_FILE="+h.CAFile(), "DOCKER_CONFIG="+h.dir, "HOME="+h.dir,
		"HELM_CACHE_HOME="+h.dir, "HELM_CONFIG_HOME="+h.dir, "HELM_DATA_HOME="+h.dir)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err = command.Run()
	return output.String(), err
}

// typed is the shell block of a document that has a line with `mark`.
func (h *host) typed(t *testing.T, document, mark string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.top, document))
	h.must(err)
	for i, block := range strings.Split(string(text), "```") {
		if lines, ok := strings.CutPrefix(strings.ReplaceAll(block, "\n   ", "\n"), "sh\n"); i%2 == 1 && ok && strings.Contains(lines, mark) {
			return lines
		}
	}
	t.Fatalf("%s has no block of shell with %q", document, mark)
	return ""
}

// startScheduler is the cluster's own, as a static pod of kubeadm would be: on the host's network. With a
// configuration file, that is its --config.
func (h *host) startScheduler(config string) {
	h.Helper()
	kubeconfig, err := h.Kubeconfig(cluster.SchedulerIdentity())
	h.must(err)
	h.must(h.machine.StartScheduler(kubeconfig, config))
}

// rolledOut waits until a Deployment's pods are all of its last revision and ready.
func (h *host) rolledOut(t *testing.T, name string) {
	t.Helper()
	output, err := h.tryShell("kubectl -n " + release + " rollout status deployment/" + name + " --timeout=120s")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, h.state())
	}
}

// state is what a user would look at when something does not come up.
func (h *host) state() string {
	output, _ := h.tryShell("kubectl get pods -A -o wide; kubectl get events -A --sort-by=.lastTimestamp | tail -n 20;" +
		" for p in $(kubectl -n " + release + " get pods -o name); do kubectl -n " + release + " logs $p --all-containers --tail=20 || true; done")
	return output
}

// deployUsers makes a Deployment of a user's pods in the namespace shop. They run our image, for there is no
// other: an Evenkeel of nothing.
func (h *host) deployUsers(t *testing.T, name, scheduler string, replicas int32) {
	t.Helper()
	labels := map[string]string{"app": name, "tier": "web"}
	files := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name},
		Data: map[string]string{"empty.json": `{"apiVersion": "v1", "kind": "List", "items": []}`}}
	_, err := h.Client.CoreV1().ConfigMaps("shop").Create(h.ctx, files, metav1.CreateOptions{})
	h.must(err)
	_, err = h.Client.AppsV1().Deployments("shop").Create(h.ctx, &apps.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: apps.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{
				SchedulerName: scheduler, TerminationGracePeriodSeconds: ptr.To(int64(1)),
				Containers: []v1.Container{{
					Name: "web", Image: "registry.example.com/evenkeel:0.1.0",
					Args:         []string{"serve", "--state", "/state/empty.json", "--extender-listen", "127.0.0.1:8443", "--insecure-extender"},
					VolumeMounts: []v1.VolumeMount{{Name: "state", MountPath: "/state"}},
				}},
				Volumes: []v1.Volume{{Name: "state", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{
					LocalObjectReference: v1.LocalObjectReference{Name: name}}}}},
			}},
		},
	}, metav1.CreateOptions{})
	h.must(err)
}

// zonesOf counts a user's running pods by node, and so by zone, when there are so many; all must have the
// constraint of the example's policy.
func (h *host) zonesOf(t *testing.T, name string, replicas int) map[string]int {
	t.Helper()
	var counts map[string]int
	h.until("the pods of "+name+" run", func(ctx context.Context) (bool, error) {
		pods, err := h.Client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil {
			return false, err
		}
		counts = map[string]int{}
		running := 0
		for _, pod := range pods.Items {
			if pod.Status.Phase == v1.PodRunning && podReady(&pod) {
				running++
				counts[pod.Spec.NodeName]++
			}
		}
		if running != replicas {
			return false, fmt.Errorf("%d of %d run", running, replicas)
		}
		return true, nil
	})
	return counts
}

func podReady(pod *v1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// logs are all that containers of the release have printed, those that are gone too.
func (h *host) logs(t *testing.T) map[string]string {
	t.Helper()
	logs := map[string]string{}
	for i := range machines {
		for _, pattern := range []string{"logs/*.log", "pods/*/*.log"} {
			found, err := filepath.Glob(filepath.Join(h.machine.NodeDir(i+1), pattern))
			h.must(err)
			for _, file := range found {
				text, err := os.ReadFile(file)
				if err != nil && !errors.Is(err, os.ErrNotExist) { // it may just be moved
					t.Fatal(err)
				}
				logs[file] = string(text)
			}
		}
	}
	return logs
}

// noneRefused fails the test when the API server has refused a call to one of the release's pods.
func (h *host) noneRefused(t *testing.T) {
	t.Helper()
	seen := 0
	for file, text := range h.logs(t) {
		for line := range strings.SplitSeq(text, "\n") {
			seen++
			if strings.Contains(line, "status=403") || strings.Contains(strings.ToLower(line), "forbidden") {
				t.Errorf("%s: a call was refused: %s", filepath.Base(file), line)
			}
		}
	}
	if seen == 0 {
		t.Error("there are no logs")
	}
}

func nodeName(i int) string { return cluster.NodeName(i + 1) }

func (h *host) podsIn(t *testing.T, namespace, selector string) []v1.Pod {
	t.Helper()
	pods, err := h.Client.CoreV1().Pods(namespace).List(h.ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("pods of %s with %s: %d, %v", namespace, selector, len(pods.Items), err)
	}
	return pods.Items
}

// userPod is one of the policy "web", to be tried.
func userPod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"app": "web", "tier": "web"}},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "registry.example.com/evenkeel:0.1.0"}}}}
}

// spreadByPolicy says whether a pod has what only the policy "web" gives.
func spreadByPolicy(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
		return c.TopologyKey == zoneKey && c.WhenUnsatisfiable == v1.DoNotSchedule && c.MinDomains != nil && *c.MinDomains == 3
	})
}

// untilTrusted waits until the API server's calls arrive, and each replica knows the policies and namespaces: one may
// hear of them later than another.
func (h *host) untilTrusted(t *testing.T) {
	t.Helper()
	h.until("pods are patched", func(ctx context.Context) (bool, error) {
		pod, err := h.try(ctx, userPod("probe"))
		if err != nil {
			return false, err
		}
		return spreadByPolicy(pod), fmt.Errorf("constraints %+v", pod.Spec.TopologySpreadConstraints)
	})
	for _, replica := range h.webhookPods() {
		service := h.webhookAt(replica.Status.PodIP + ":9443")
		h.until("pods are patched by "+replica.Name, func(ctx context.Context) (bool, error) {
			err := service.send(ctx, true)
			return err == nil, err
		})
	}
}
