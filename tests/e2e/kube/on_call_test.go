package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// Faults of a person on call (docs/testing.md, "Faults on call"): one command, and the cause in its first line. A leader
// that is cut off is TestLeaderCutOff's.

// TestOnCallWrongExtender: kube-scheduler's configuration has a port where nobody listens. The event of kube-scheduler
// has no more than this, and explain's first line has the URL.
func TestOnCallWrongExtender(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	s.zones(3, 1)
	e := s.evenkeel(nil)
	s.caughtUp(e)
	entry := e.Extender()
	entry.URLPrefix, entry.EnableHTTPS, entry.TLSConfig = "http://127.0.0.1:1/extender/v1", false, nil
	scheduler, err := s.StartScheduler(s.ctx, cluster.SchedulerOptions{Name: s.id, Extenders: []config.Extender{entry}})
	s.must(err)
	s.Cleanup(scheduler.End)
	s.create(s.newPod("web", "web", s.id))
	s.expectFirstLine(e, "web", "Pending: kube-scheduler's last attempt failed: ", "127.0.0.1:1", "connection refused")
}

// TestOnCallLostZone: the claim's volume is in a zone with no nodes any more. This Evenkeel has no webhook and knows no
// volumes: it must not say that the cluster has changed.
func TestOnCallLostZone(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	s.zones(2, 2)
	lost := s.node("lost", map[string]string{zoneKey: "lost"})
	s.zonalVolume("d0", "lost")
	e := s.evenkeel(nil)
	s.must(s.Client.CoreV1().Nodes().Delete(s.ctx, lost.Name, metav1.DeleteOptions{}))
	s.caughtUp(e)
	s.scheduler(s.id, nil, e.Extender())
	pod := s.newPod("db", "db", s.id)
	pod.Spec.Volumes = mounts("d0")
	s.create(pod)
	s.expectFirstLine(e, "db", "Pending: ", "4 out of reach of the pod's PersistentVolume", "its claims: d0; judged now without its claims")
}

// TestOnCallForeignCertificate: somebody puts a certificate of another authority into the webhook's Secret. Evenkeel
// replaces it, and an Event says so.
func TestOnCallForeignCertificate(t *testing.T) {
	k := newStage(t).keep("SelfSigned")
	k.replica()
	k.announce()
	k.untilPatched()
	foreign, err := pki.NewAuthority("foreign")
	k.must(err)
	pair, err := foreign.Server("127.0.0.1")
	k.must(err)
	began := time.Now()
	k.replacePair(pair)
	k.replica() // a replica that has written within the last minute leaves it to this one
	secret := k.waitIssued(pair.Cert)
	k.waitAllServe(secret.Data["tls.crt"], secret.Data["ca.crt"])
	note := k.waitNote(k.id, secretName, "CertificateIssued", "the certificate does not lead to the authority")
	t.Logf("e2e: mended after %.1f s: %s", time.Since(began).Seconds(), note)
}

// expectFirstLine waits until the first line has all these words, and logs how long that took.
func (s *stage) expectFirstLine(e *evenkeel.Evenkeel, pod string, words ...string) {
	s.Helper()
	kubeconfig, err := s.Kubeconfig(cluster.Admin())
	s.must(err)
	began, said := time.Now(), ""
	s.until("the cause in the first line about "+pod, func(context.Context) (bool, error) {
		said = s.firstLine(e, kubeconfig, pod)
		for _, word := range words {
			if !strings.Contains(said, word) {
				return false, nil
			}
		}
		return strings.HasPrefix(said, "pod "+s.id+"/"+pod+": "), nil
	})
	s.Logf("e2e: after %.1f s: %s", time.Since(began).Seconds(), said)
}
