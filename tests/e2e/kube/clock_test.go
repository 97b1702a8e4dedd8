package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

const (
	year        = 366 * 24 * time.Hour
	clockMetric = "evenkeel_clock_ahead_seconds"
)

func ownClock(o *evenkeel.Options) { o.OwnClock = true }

// What the log says when a clock is wrong, and when it is right again.
const (
	clockWrong = "this machine's clock differs from the API server's: "
	clockRight = "this machine's clock agrees with the API server's again"
)

// jump sets the wall clock of one process, and waits until that process has seen it and said so.
func (s *stage) jump(e *evenkeel.Evenkeel, ahead time.Duration) {
	s.Helper()
	s.must(e.Jump(ahead))
	s.until("the clock of "+e.Name+" to jump", func(ctx context.Context) (bool, error) {
		metrics, err := e.Metrics(ctx)
		if err != nil {
			return false, err
		}
		said := e.Output()
		wrong := strings.LastIndex(said, clockWrong) > strings.LastIndex(said, clockRight)
		seen := math.Abs(metrics[clockMetric]-ahead.Seconds()) < 60 && wrong == (ahead != 0)
		return seen, fmt.Errorf("%v, said: %v", metrics[clockMetric], wrong)
	})
}

// TestWebhookClockJumps: one of two replicas has a clock that is a year wrong. API servers judge its
// certificate by their own clocks, and so does it: what is good stays, also new ones that somebody else
// makes, what has ended is replaced by one that is good for all, and every pod is created, although the
// webhook fails closed.
func TestWebhookClockJumps(t *testing.T) {
	k := newStage(t).keep("SelfSigned")
	right := k.replica()
	k.announce()
	k.untilPatched()
	wrong := k.replica(ownClock) // it has written nothing yet, so nothing keeps it from writing
	first := k.secret()
	authority := k.authorityOf(first)
	bundle, err := k.trusted()
	k.must(err)
	strangers := k.newConnections(k.url(), k.trusted)
	tried := k.load(2, func() {
		for _, ahead := range []time.Duration{year, -year, 0} {
			k.jump(wrong.Evenkeel, ahead)
			for range 2 { // it has judged the first one when it shows the second
				pair, err := authority.ServerUntil(time.Now().Add(7*24*time.Hour), "127.0.0.1")
				k.must(err)
				k.replacePair(pair)
				k.waitAllServe(pair.Cert, authority.Cert)
				if now := k.secret(); !bytes.Equal(now.Data["tls.crt"], pair.Cert) ||
					!bytes.Equal(now.Data["ca.crt"], first.Data["ca.crt"]) {
					t.Errorf("with a clock %v ahead a good certificate was replaced", ahead)
				}
			}
		}
	})
	t.Logf("e2e: %d pods and %d new connections while a replica's clock jumped by a year, ahead and back",
		tried, strangers())
	if times := strings.Count(wrong.Output(), clockWrong); times != 1 {
		t.Errorf("the log says %d times that the clock is wrong", times)
	}
	k.must(right.Knows(k.ctx, map[string]int{`evenkeel_certificate_writes_total{certificate="webhook",result="success"}`: 1}))
	for _, result := range []string{"success", "conflict", "error"} {
		k.must(wrong.Knows(k.ctx, map[string]int{`evenkeel_certificate_writes_total{certificate="webhook",result="` + result + `"}`: 0}))
	}

	// Alone, it replaces what has ended.
	k.end(right)
	k.ended.Wait()
	k.jump(wrong.Evenkeel, year)
	if said := wrong.Command(k.ctx, "check", "cluster"); !strings.Contains(said, " s ahead of the API server's") {
		t.Errorf("evenkeel check cluster does not tell of the clock: %s", said)
	}
	pair, err := authority.ServerUntil(time.Now().Add(time.Minute), "127.0.0.1")
	k.must(err)
	k.replacePair(pair)
	leaf := k.leafOf(k.waitIssued(pair.Cert).Data["tls.crt"])
	if time.Until(leaf.NotBefore) > 0 || time.Until(leaf.NotAfter) < 24*time.Hour || time.Until(leaf.NotAfter) > year/2 {
		t.Errorf("the new one is good from %v to %v", leaf.NotBefore, leaf.NotAfter)
	}
	k.waitAllServe(k.secret().Data["tls.crt"], authority.Cert)
	k.untilPatched()
	k.waitNote(k.id, secretName, "CertificateIssued", "two thirds of the certificate's time are over")
	if after, err := k.trusted(); err != nil || !bytes.Equal(after, bundle) {
		t.Errorf("the caBundle has changed: %v", err)
	}
}

// TestLeaderClockJumps: clocks that jump by a year, of the leader and of the other one, in both
// directions: nobody else leads because of it, and no data is taken for old.
func TestLeaderClockJumps(t *testing.T) {
	t.Parallel()
	s, leader, other := replicas(t, ownClock)
	lease := func() *coordination.Lease {
		l, err := s.Client.CoordinationV1().Leases(s.id).Get(s.ctx, "evenkeel", metav1.GetOptions{})
		s.must(err)
		return l
	}
	looks := func(r replica) int {
		return len(r.proxy.Requests(func(q *http.Request) bool { return strings.Contains(q.URL.Path, "/leases/") }))
	}
	before := lease()
	for _, ahead := range []time.Duration{year, -year, 0} {
		s.jump(leader.Evenkeel, ahead)
		s.jump(other.Evenkeel, -ahead)
		renewals, seen := looks(leader), looks(other)
		s.until("renewals, and looks of the other", func(context.Context) (bool, error) {
			if !s.leads(leader) || s.leads(other) {
				s.Fatalf("with clocks %v ahead and behind, leadership is not what it was", ahead)
			}
			return looks(leader) > renewals+1 && looks(other) > seen+1, nil // one may have been under way
		})
		for _, r := range []replica{leader, other} {
			metrics, err := r.Metrics(s.ctx)
			s.must(err)
			for name, value := range metrics {
				if strings.HasPrefix(name, "evenkeel_watch_age_seconds") && (value < 0 || value > 120) {
					t.Errorf("with a clock %v ahead, %s is %v", ahead, name, value)
				}
			}
		}
	}
	after := lease()
	if *after.Spec.HolderIdentity != *before.Spec.HolderIdentity || *after.Spec.LeaseTransitions != *before.Spec.LeaseTransitions {
		t.Errorf("the Lease went from %s to %s", *before.Spec.HolderIdentity, *after.Spec.HolderIdentity)
	}
	if after.ResourceVersion == before.ResourceVersion {
		t.Error("the Lease was not renewed")
	}

	// And it changes hands as ever.
	s.jump(other.Evenkeel, -year)
	s.must(leader.Stop())
	began := time.Now()
	s.until("the other to lead", func(context.Context) (bool, error) { return s.leads(other), nil })
	if took := time.Since(began); took > renewDeadline {
		t.Errorf("it leads after %v", took)
	}
}
