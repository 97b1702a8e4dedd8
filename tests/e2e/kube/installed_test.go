package e2e

import (
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestInstalled types what the guides say into a shell, on an empty cluster whose pods run: API
// server, kube-controller-manager, kube-scheduler and kube-proxy are Kubernetes' own, and a small kubelet starts
// the containers of the image that was pushed. So the chart's arguments, files, ports, rights and probes are
// proven together. The steps are one story: each needs those before it. Nothing runs
// beside it, because it counts the calls that fail, and one that waits two seconds for a processor has failed.
func TestInstalled(t *testing.T) {
	h := newHost(t)
	h.story(t, []storyStep{
		{"four-commands", h.fourCommands},
		{"webhook", h.webhookDoor},
		{"rolling", h.rolling},
		{"killed", h.killed},
		{"static-scheduler", h.staticDoor},
		{"second-scheduler", h.secondDoor},
		{"estimator", h.estimatorDoor},
	})
}

// fourCommands: those of the guide of that name, as they stand there and nothing in between, up to the first
// decision that is explained. There are four at most; what a line does by `&&`, `|` or `$(...)` counts, too.
func (h *host) fourCommands(t *testing.T) {
	count, explained := 0, false
	for _, line := range linesOf(h.typed(t, "docs/guides/install.md", "helm install")) {
		count += commandsIn(line)
		said := h.shell(t, line)
		if t.Logf("%s", said); explainedFirst.MatchString(said) {
			explained = true
			break
		}
	}
	if !explained || count > 4 {
		t.Errorf("after %d commands a decision is explained: %t", count, explained)
	}
	// Into a folder of PATH that is the test's.
	asking := strings.ReplaceAll(h.typed(t, "docs/guides/install.md", "kubectl evenkeel topology"), "/usr/local/bin/", h.dir+"/")
	said := h.shell(t, "PATH=$PATH:"+h.dir+"\n"+asking)
	t.Logf("%s", said)
}

// What the example's policy did to its pod; nothing, if a replica was asked about the pod that had not heard of the
// policy yet, which was made just before.
var explainedFirst = regexp.MustCompile(`(?s)pod default/front-0.* admit: (patched,.*by policy first.*"topologyKey":"topology.kubernetes.io/zone"|unchanged,)`)

// linesOf a block, without comments; one that ends in a backslash goes on.
func linesOf(block string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", ""), "\n") {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

var anotherCommand = regexp.MustCompile("[;&|]+|[$<>][(]|`[^`]*`")

func commandsIn(line string) int { return 1 + len(anotherCommand.FindAllString(line, -1)) }

// webhookDoor: pods of a user get the policy's constraints, run, are even, and the decision is explained.
func (h *host) webhookDoor(t *testing.T) {
	h.shell(t, "kubectl apply -f docs/examples/three-regions/policy.yaml")
	_, err := h.Client.CoreV1().Namespaces().Create(h.ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
	h.must(err)
	h.untilTrusted(t)
	h.deployUsers(t, "web", "default-scheduler", 6)
	counts := h.zonesOf(t, "web", 6)
	for i := range machines {
		if n := counts[nodeName(i)]; n != 2 {
			t.Errorf("%s has %d of 6 pods", nodeName(i), n)
		}
	}
	pods := h.podsIn(t, "shop", "app=web")
	for _, pod := range pods {
		if !spreadByPolicy(&pod) {
			t.Errorf("%s has the constraints %v", pod.Name, pod.Spec.TopologySpreadConstraints)
		}
	}
	said := h.shell(t, "PATH=$PATH:"+h.dir+"\nkubectl evenkeel explain pod "+pods[0].Name+" -n shop")
	if !strings.Contains(said, "topology.kubernetes.io/zone") || !strings.Contains(said, "web") {
		t.Errorf("explain says %s", said)
	}
	h.noneRefused(t)
}
