package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAlerts: alerts that take a cluster to fire, or to be explained, do so by their real faults, with the chart's
// rules in a real Prometheus; and the first command of each one's runbook, typed as it stands there, names the cause.
// The others are in tests/packaging/test_alerts_fire.sh. The steps are one story, as in TestInstalled.
func TestAlerts(t *testing.T) {
	h := newHost(t)
	h.shell(t, h.typed(t, "docs/guides/install.md", "helm install"))
	h.rolledOut(t, "evenkeel-webhook")
	h.shell(t, "kubectl apply -f docs/examples/three-regions/policy.yaml\nkubectl create namespace shop")
	h.untilTrusted(t)
	h.startPrometheus(t)
	h.story(t, []storyStep{
		{"quiet", h.nothingFires},
		{"no-key", h.noKey},
		{"slow", h.slowSender},
		{"no-node", h.noNode},
		{"fail-closed", h.failClosed},
		{"foreign-certificate", h.foreignCertificate},
		{"leader-lost", h.leaderLost},
	})
}

// fires waits until an alert does, and until its runbook's first command says something that matches. What is to
// be done meanwhile again and again is `trouble`, which may be nil.
func (h *host) fires(t *testing.T, alert, labels, pattern string, trouble func(context.Context)) {
	t.Helper()
	h.until(alert+" fires", func(ctx context.Context) (bool, error) {
		if trouble != nil {
			trouble(ctx)
		}
		return h.firing(alert, labels)
	})
	h.explained(t, alert, pattern)
}

// explained waits until the first command of an alert's runbook says something that matches.
func (h *host) explained(t *testing.T, alert, pattern string) {
	t.Helper()
	command, cause := "set +x\n"+h.firstCommand(t, alert), regexp.MustCompile(pattern)
	h.until("the runbook's command names the cause of "+alert, func(context.Context) (bool, error) {
		said, err := h.tryShell(command)
		return err == nil && cause.MatchString(said), fmt.Errorf("%v: %s", err, said)
	})
}

// create tries a user's pod, whatever comes of it.
func (h *host) create(ctx context.Context) { _, _ = h.try(ctx, userPod("fault")) }

// nothingFires: as it is installed, and for longer than the longest wait of an alert, which is 15 s here. A replica
// takes some seconds until it leads.
func (h *host) nothingFires(t *testing.T) {
	h.until("a replica leads, and no alert fires", func(context.Context) (bool, error) {
		leaders, err := h.query(`evenkeel_leader == 1`)
		if err != nil || len(leaders) != 1 {
			return false, fmt.Errorf("%v, %v", leaders, err)
		}
		if scraped, err := h.query(`count_over_time(evenkeel_leader[5m]) > 25`); err != nil || len(scraped) == 0 {
			return false, fmt.Errorf("not enough has been seen: %v", err)
		}
		alerts, err := h.query(`ALERTS{alertname=~"Evenkeel.*",alertstate="firing"}`)
		return err == nil && len(alerts) == 0, fmt.Errorf("%v, %v", alerts, err)
	})
}

// noKey: no node has the label by which a policy spreads. In mode Audit it harms nobody, which is no alert.
func (h *host) noKey(t *testing.T) {
	const alert, policy = "EvenkeelPolicyNotEffective", `kubectl apply -f - <<'EOF'
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: by-rack}
spec:
  mode: %s
  match: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}
  pods: {spread: [{topologyKey: example.com/rack, whenUnsatisfiable: ScheduleAnyway}]}
EOF`
	h.shell(t, fmt.Sprintf(policy, "Audit"))
	h.explained(t, alert, `by-rack +Audit +False +NoNodeHasKey +no node has the label 'example.com/rack'`)
	h.shell(t, fmt.Sprintf(policy, "Enforce"))
	h.fires(t, alert, `reason="NoNodeHasKey"`, `by-rack +Enforce +False +NoNodeHasKey `, nil)
	h.shell(t, fmt.Sprintf(policy, "Audit"))
	h.until(alert+" is over", func(context.Context) (bool, error) {
		alerts, err := h.query(`ALERTS{alertname="` + alert + `"}`)
		return err == nil && len(alerts) == 0, fmt.Errorf("%v, %v", alerts, err)
	})
	h.explained(t, alert, `by-rack +Audit +False +NoNodeHasKey `)
	h.shell(t, "kubectl delete topologypolicy by-rack")
}

// slowSender: reviews arrive in pieces, as over a network that loses packets. The log has the addresses that they come from.
func (h *host) slowSender(t *testing.T) {
	slow := h.webhookService()
	slow.pause = 200 * time.Millisecond
	h.fires(t, "EvenkeelWebhookSlow", `job="evenkeel-webhook"`, `a request was slow.* cause=receiving .*listener=webhook .*peer=\d`,
		func(ctx context.Context) { h.must(slow.send(ctx, false)) })
}

// noNode: all replicas are gone, and no node takes new ones. Pods are created without Evenkeel.
func (h *host) noNode(t *testing.T) {
	h.shell(t, "kubectl cordon -l kubernetes.io/hostname\nkubectl -n evenkeel delete pods -l app.kubernetes.io/component=webhook")
	h.fires(t, "EvenkeelReplicaSilent", `job="evenkeel-webhook"`, `evenkeel-webhook-\S+ +0/1 +Pending`, nil)
	h.fires(t, "EvenkeelWebhookFailOpen", `name="pods.evenkeel.io"`, `endpoints: (null|\[\])|ready: false`, h.create)
}

// failClosed: the same with failurePolicy Fail, and pods of a Deployment are refused.
func (h *host) failClosed(t *testing.T) {
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set webhook.failurePolicy=Fail")
	h.deployUsers(t, "closed", "default-scheduler", 1)
	h.fires(t, "EvenkeelPatchesRefused", `name="pods.evenkeel.io"`, `failed calling webhook "pods.evenkeel.io"`, h.create)
	h.shell(t, "kubectl uncordon -l kubernetes.io/hostname")
	h.rolledOut(t, "evenkeel-webhook")
	h.untilTrusted(t)
}

// foreignCertificate: a Secret that somebody else fills has a certificate that ends in ten days.
func (h *host) foreignCertificate(t *testing.T) {
	h.shell(t, binary+" certs init --dir "+h.dir+"/short --days 10 --host evenkeel-webhook.evenkeel.svc\n"+
		"cd "+h.dir+"/short\n"+
		"kubectl -n evenkeel create secret generic foreign --from-file=ca.crt --from-file=tls.crt --from-file=tls.key")
	h.shell(t, "helm upgrade evenkeel build/chart/evenkeel-0.1.0.tgz --namespace evenkeel --reset-then-reuse-values"+
		" --set webhook.certificates.mode=Secret,webhook.certificates.secretName=foreign")
	h.rolledOut(t, "evenkeel-webhook")
	h.fires(t, "EvenkeelCertificateExpires", `listener="webhook"`, `CertificateExpires +secret/foreign `, nil)
}

// leaderLost: the leader's node loses its power. Nobody leads until the Lease has run out, and the one that it
// names as its holder is gone.
func (h *host) leaderLost(t *testing.T) {
	holder := func() string {
		lease, err := h.Client.CoordinationV1().Leases(release).Get(h.ctx, "evenkeel-webhook-controllers", metav1.GetOptions{})
		h.must(err)
		if lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	node := 0
	h.until("a replica of now leads, and the alert is over", func(context.Context) (bool, error) {
		node = h.nodeOf(t, holder())
		firing, err := h.firing("EvenkeelNoLeader", `job="evenkeel-webhook"`)
		return err == nil && !firing && node > 0, fmt.Errorf("the holder is %q, %v, %v", holder(), firing, err)
	})
	lost := holder()
	h.machine.KillKubelet(node)
	h.until("EvenkeelNoLeader fires", func(context.Context) (bool, error) {
		return h.firing("EvenkeelNoLeader", `name=~".*evenkeel-webhook-controllers"`)
	})
	h.explained(t, "EvenkeelNoLeader", `evenkeel-webhook-controllers +`+regexp.QuoteMeta(lost)+` `)
}

// nodeOf is the number of the node of the replica that a Lease's holder is called after; 0: it is none of them.
func (h *host) nodeOf(t *testing.T, holder string) int {
	t.Helper()
	for _, pod := range h.podsIn(t, release, "app.kubernetes.io/component=webhook") {
		for i := range machines {
			if strings.HasPrefix(holder, pod.Name) && nodeName(i) == pod.Spec.NodeName {
				return i + 1
			}
		}
	}
	return 0
}
