package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rolling: with failurePolicy Fail every replica is replaced again and again, and then one is deleted, while pods
// are created and the webhook is called straight. No call fails, and none comes without its constraints.
//
// All calls go through a kube-proxy with Kubernetes' own defaults. It changes its rules once a second at most
// (minSyncPeriod, pkg/proxy/apis/config/v1alpha1/defaults.go), and a rollout ends an old pod just after the rules
// were changed for the new one: so for most of a second new connections still go to a pod that was told to end.
// That is what shutdown.delay is for, and without it calls must fail here: otherwise nothing is shown.
func (h *host) rolling(t *testing.T) {
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set webhook.failurePolicy=Fail")
	h.rolledOut(t, "evenkeel-webhook")
	h.untilTrusted(t)
	rollouts := number(t, "EVENKEEL_E2E_INSTALLED_ROLLOUTS", 2)
	c := h.startTraffic()
	for range rollouts {
		h.shell(t, "kubectl -n evenkeel rollout restart deployment/evenkeel-webhook")
		h.rolledOut(t, "evenkeel-webhook")
	}
	h.shell(t, "kubectl -n evenkeel delete pod --wait=false "+h.webhookPods()[0].Name)
	h.rolledOut(t, "evenkeel-webhook")
	c.more(1000)
	h.delay(t, "0s")
	if failed := c.end(); len(failed) > 0 {
		t.Error(failures(failed))
	}
	t.Logf("e2e: %v during %d rollouts and the deletion of a replica", c, rollouts+1)

	c = h.startTraffic()
	h.delay(t, "null")
	c.more(100)
	failed := c.end()
	if len(failed) == 0 {
		t.Errorf("replicas without a shutdown.delay were replaced during %v, and no call failed", c)
	}
	t.Logf("e2e: without shutdown.delay, of %v: %s", c, failures(failed))
	h.endedWell(t)
	h.noneRefused(t)
}

// delay rolls the replicas out anew with another shutdown.delay. It is those that go which have the one before.
func (h *host) delay(t *testing.T, delay string) {
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set config.shutdown.delay="+delay)
	h.rolledOut(t, "evenkeel-webhook")
}

// endedWell fails the test when a replica that was told to end did not do so by itself.
func (h *host) endedWell(t *testing.T) {
	t.Helper()
	ended := 0
	for i := range machines {
		log, err := os.ReadFile(h.LogFile(nodeName(i)))
		h.must(err)
		for line := range strings.SplitSeq(string(log), "\n") {
			if !strings.Contains(line, " evenkeel-webhook-") || !strings.Contains(line, " ended: ") {
				continue
			}
			if ended++; !strings.HasSuffix(line, " ended: 0") {
				t.Errorf("%s: %s", nodeName(i), line)
			}
		}
	}
	if ended == 0 {
		t.Error("no replica has ended")
	}
}

// killed: with failurePolicy Fail one of two replicas is killed outright, as the kernel does it for want of memory.
// API servers repeat no call. So those fail that it was answering, and those that come for it before the kubelet
// has noticed, which looks once a second, and kube-proxy has heard of it. Nothing else does: not one that goes to
// the other replica, and none that is begun once nobody is sent there. The container is started again, and serves.
func (h *host) killed(t *testing.T) {
	h.until("two replicas are all there is", func(context.Context) (bool, error) {
		pods, err := h.Client.CoreV1().Pods(release).List(h.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=webhook"})
		return err == nil && len(pods.Items) == 2, err
	})
	pod := h.webhookPods()[0]
	c := h.startTraffic()
	c.more(500)
	killed := time.Now()
	h.must(syscall.Kill(h.processOf(&pod, "evenkeel"), syscall.SIGKILL))
	h.until("nobody is sent to the replica", func(context.Context) (bool, error) { return !h.isSentTo(&pod), nil })
	left := time.Now()
	h.until("the container runs again and is ready", func(ctx context.Context) (bool, error) {
		now, err := h.Client.CoreV1().Pods(release).Get(ctx, pod.Name, metav1.GetOptions{})
		return err == nil && podReady(now) && now.Status.ContainerStatuses[0].RestartCount == pod.Status.ContainerStatuses[0].RestartCount+1, err
	})
	h.until("others are sent to it", func(context.Context) (bool, error) { return h.isSentTo(&pod), nil })
	h.must(h.webhookAt(pod.Status.PodIP+":9443").send(h.ctx, true))
	c.more(1000)
	failed := c.end()
	var pods, underWay, refused int
	for _, f := range failed {
		if !f.straight {
			pods++
		}
		switch text := f.err.Error(); {
		case f.begun.After(left):
			t.Errorf("begun %v after nobody was sent there: %v", f.begun.Sub(left), f.err)
		case strings.Contains(text, "connection refused"):
			refused++
		case f.begun.After(killed) && slices.ContainsFunc(cut, func(how string) bool { return strings.Contains(text, how) }):
			refused++ // its connection waited to be accepted while the kernel ended the process
		case slices.ContainsFunc(cut, func(how string) bool { return strings.Contains(text, how) }):
			underWay++
		default:
			t.Errorf("a call failed: %v", f.err)
		}
	}
	t.Logf("e2e: %v, a replica killed: %d were under way and %d were refused within %v, %d of them pods; %s", c, underWay,
		refused, left.Sub(killed).Round(time.Millisecond), pods, failures(failed))
	if underWay > creators+senders {
		t.Errorf("%d calls of %d at a time were under way", underWay, creators+senders)
	}
	h.noneRefused(t)
}

// cut is what a client says when its connection ends in the middle of a call, or as the call takes one that was kept.
var cut = []string{"EOF", "connection reset by peer", "broken pipe", "server closed idle connection", "transport connection broken"}

// processOf a container that runs.
func (h *host) processOf(pod *v1.Pod, container string) int {
	h.Helper()
	for i := range machines {
		if pod.Spec.NodeName != nodeName(i) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(h.machine.NodeDir(i+1), "pods", string(pod.UID), container+".pid"))
		h.must(err)
		number, err := strconv.Atoi(string(text))
		h.must(err)
		return number
	}
	h.Fatalf("%s is on no node", pod.Name)
	return 0
}

// isSentTo says whether kube-proxy's rules have a pod's address.
func (h *host) isSentTo(pod *v1.Pod) bool {
	h.Helper()
	rules, err := h.tryShell("nft list table ip kube-proxy")
	h.must(err)
	return strings.Contains(rules, " : "+pod.Status.PodIP+" . ") // ... dnat ip to numgen random mod 2 map { 0 : IP . PORT, ...
}
