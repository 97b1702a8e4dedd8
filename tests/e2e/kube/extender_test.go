package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/history"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// between puts a proxy between kube-scheduler and Evenkeel, and returns the extender's entry that
// goes through it.
func (s *stage) between(e *evenkeel.Evenkeel) (*proxy.Proxy, config.Extender) {
	s.Helper()
	entry := e.Extender()
	client, ca, err := e.Identity()
	s.must(err)
	serving, err := s.CA.Server("127.0.0.1")
	s.must(err)
	p, err := proxy.Start(proxy.Options{
		Target: e.Address(), TargetCA: ca, TargetCert: &client, Serving: serving, ClientCA: ca,
	})
	s.must(err)
	s.Cleanup(p.Close)
	entry.URLPrefix = p.URL() + "/extender/v1"
	entry.TLSConfig.CAFile, entry.TLSConfig.CAData = "", s.CA.Cert
	return p, entry
}

// trouble is a way in which an extender can be of no use.
type trouble struct {
	name  string
	begin func(*proxy.Proxy) (end func())
}

func answering(answer func(*proxy.Stream)) func(*proxy.Proxy) func() {
	return func(p *proxy.Proxy) func() {
		return p.Inject(proxy.Fault{Match: proxy.Verb("filter"), Answer: answer}).Remove
	}
}

var troubles = []trouble{
	{"refused", func(p *proxy.Proxy) func() {
		p.Refuse(true)
		p.ResetAll()
		return func() { p.Refuse(false) }
	}},
	{"silent", func(p *proxy.Proxy) func() {
		return p.Inject(proxy.Fault{Match: proxy.Any, Answer: proxy.Silent()}).Remove
	}},
	{"status-500", answering(proxy.Text(http.StatusInternalServerError, "text/plain", "broken\n"))},
	{"garbage", answering(proxy.Text(http.StatusOK, "application/json", `{"NodeNames": [`))},
	{"unknown-node", answering(proxy.Text(http.StatusOK, "application/json", `{"NodeNames": ["no-such-node"]}`))},
}

// TestExtenderInTrouble: with `ignorable: true` pods are scheduled without Evenkeel, otherwise they
// wait for it. None is lost either way.
func TestExtenderInTrouble(t *testing.T) {
	for _, ignorable := range []bool{true, false} {
		t.Run(fmt.Sprintf("ignorable-%v", ignorable), func(t *testing.T) {
			s := newStage(t)
			s.zones(3, 2)
			e := s.evenkeel(nil)
			p, entry := s.between(e)
			entry.Ignorable = ignorable
			entry.HTTPTimeout = metav1.Duration{Duration: time.Second}
			s.scheduler(s.id, nil, entry)
			for _, trouble := range troubles {
				t.Run(trouble.name, func(t *testing.T) {
					s.T = t
					s.outlive(p, trouble, ignorable)
				})
			}
		})
	}
}

func (s *stage) outlive(p *proxy.Proxy, trouble trouble, ignorable bool) {
	const pods = 4
	r := s.record()
	end := trouble.begin(p)
	defer end()
	began := time.Now()
	for i := range pods {
		s.create(s.newPod(fmt.Sprintf("%s-%d", trouble.name, i), trouble.name, s.id,
			constraint(zoneKey, 1, v1.DoNotSchedule, trouble.name)))
	}
	before := s.boundOthers(r, trouble.name)
	if ignorable {
		s.waitBound(r, before+pods)
		s.Logf("%d pods placed without Evenkeel in %v", pods, time.Since(began).Round(time.Millisecond))
	} else {
		s.waitErrors(r, trouble.name, pods)
		end()
		s.waitBound(r, before+pods)
	}
	events, err := r.Events()
	s.must(err)
	s.must(history.Moved(events))
	if most := maxOf(s.perDomain(zoneKey, trouble.name)); most > 2 {
		s.Errorf("%d of %d pods are in one of three zones", most, pods)
	}
}

// TestExtenderHangs: what docs/guides/kube-scheduler.md says that an Evenkeel costs which takes calls
// and never answers, with `ignorable: true`. Pods wait one after the other, once for filter and once
// for prioritize; bindings wait beside each other.
func TestExtenderHangs(t *testing.T) {
	const timeout = 2 * time.Second
	for _, c := range []struct {
		name   string
		match  proxy.Match
		calls  int  // that hang for each pod
		inLine bool // and hold up the pods behind it
	}{
		{"filter", proxy.Verb("filter"), 1, true},
		{"prioritize", proxy.Verb("prioritize"), 1, true},
		{"bind", proxy.Verb("bind"), 1, false},
		{"every-verb", proxy.Any, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const pods = 4
			s := newStage(t)
			s.zones(3, 2)
			e := s.evenkeel(nil)
			p, entry := s.between(e)
			entry.Ignorable = true
			entry.HTTPTimeout = metav1.Duration{Duration: timeout}
			times := 0 // for as long as pods are placed
			if !c.inLine {
				// There is no other way to bind, so it must end.
				entry.BindVerb, times = "bind", pods
			}
			s.scheduler(s.id, nil, entry)
			r := s.record()
			hang := p.Inject(proxy.Fault{Match: c.match, Times: times, Answer: proxy.Silent()})
			began := time.Now()
			for i := range pods {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id,
					constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
			}
			s.must(history.Moved(s.waitBound(r, pods)))
			took := time.Since(began)
			t.Logf("e2e: %d pods, %d calls that hung for %v: %.1f s", pods, hang.Hits(), timeout, took.Seconds())
			if hang.Hits() != c.calls*pods {
				t.Errorf("%d calls hung, want %d for each of %d pods", hang.Hits(), c.calls, pods)
			}
			// A pod's wait more is what a busy machine may take; two calls more for each pod is not.
			least, most := time.Duration(c.calls*pods)*timeout, time.Duration((c.calls+1)*pods)*timeout
			if !c.inLine {
				least, most = timeout, pods*timeout
			}
			if took < least || took > most {
				t.Errorf("it took %v, want %v to %v", took, least, most)
			}
		})
	}
	t.Run("preempt", func(t *testing.T) {
		s := newStage(t)
		one := s.node("one", map[string]string{zoneKey: "one"})
		e := s.evenkeel(nil)
		filler := large(s.newPod("filler", "filler", s.id), s.priorityClass("low", 1))
		filler.Spec.NodeName = one.Name
		s.create(filler)
		s.caughtUp(e)
		p, entry := s.between(e)
		entry.Ignorable = true
		entry.HTTPTimeout = metav1.Duration{Duration: timeout}
		s.scheduler(s.id, nil, entry)
		r := s.record()
		hang := p.Inject(proxy.Fault{Match: proxy.Verb("preempt"), Answer: proxy.Silent()})
		began := time.Now()
		pod := s.create(large(s.newPod("web", "web", s.id), s.priorityClass("high", 2)))
		if node := s.waitNode(r, pod); node != one.Name {
			t.Errorf("the pod is on %q, want %q", node, one.Name)
		}
		t.Logf("e2e: %d calls that hung for %v: %.1f s", hang.Hits(), timeout, time.Since(began).Seconds())
		if hang.Hits() != 1 {
			t.Errorf("%d calls hung, want 1", hang.Hits())
		}
	})
}

// boundOthers counts pods of earlier subtests, which are still there.
func (s *stage) boundOthers(r *history.Recorder, app string) int {
	s.Helper()
	events, err := r.Events()
	s.must(err)
	var others []history.Event
	for _, e := range events {
		if e.Pod.Labels["app"] != app {
			others = append(others, e)
		}
	}
	return history.Bound(others)
}

// waitErrors returns when kube-scheduler has given up on each of the pods at least once, as it does
// after an error, and fails if one of them got a node.
func (s *stage) waitErrors(r *history.Recorder, app string, pods int) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	err := r.WaitFor(ctx, func(events []history.Event) bool {
		failed := map[string]bool{}
		for _, e := range events {
			if e.Pod.Labels["app"] != app {
				continue
			}
			if e.Pod.Spec.NodeName != "" {
				s.Fatalf("pod %s was placed without Evenkeel", e.Pod.Name)
			}
			for _, condition := range e.Pod.Status.Conditions {
				if condition.Type == v1.PodScheduled && condition.Reason == v1.PodReasonSchedulerError {
					failed[e.Pod.Name] = true
				}
			}
		}
		return len(failed) == pods
	})
	s.must(err)
}

func maxOf(counts map[string]int) int {
	most := 0
	for _, count := range counts {
		most = max(most, count)
	}
	return most
}

// TestEvenkeelKilled kills Evenkeel while pods are being placed, several times, and starts it again:
// every pod ends up on a node, once, and evenly.
func TestEvenkeelKilled(t *testing.T) {
	for _, ignorable := range []bool{true, false} {
		t.Run(fmt.Sprintf("ignorable-%v", ignorable), func(t *testing.T) {
			s := newStage(t)
			s.zones(3, 3)
			e := s.evenkeel(nil)
			entry := e.Extender()
			entry.Ignorable = ignorable
			s.scheduler(s.id, nil, entry)
			r := s.record()
			s.patience = 3 * time.Minute // see --pod-max-in-unschedulable-pods-duration
			const pods, kills = 60, 3
			for i := range pods {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id,
					constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
				if (i+1)%(pods/kills) == 0 {
					s.waitBound(r, i+1-pods/kills/2)
					s.must(e.Restart(s.ctx))
				}
			}
			events := s.waitBound(r, pods)
			s.must(history.Moved(events))
			s.expect(zoneKey, "web", map[string]int{"zone-0": 20, "zone-1": 20, "zone-2": 20})
		})
	}
}
