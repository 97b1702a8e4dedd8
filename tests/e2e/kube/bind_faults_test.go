package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/history"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// unclearFaults last longer than somebody waits: bindings are given up, and some land all the same.
var unclearFaults = []bindFault{
	{name: "500s-for-12s", pods: 60, disturb: forSeconds(12, proxy.Fault{Answer: broken})},
	// Shorter tries, so that many of them end in doubt.
	{name: "500s-impatient", pods: 40, httpTimeout: 2 * time.Second, requestTimeout: 1500 * time.Millisecond,
		disturb: forSeconds(6, proxy.Fault{Answer: broken})},
	{name: "resets", pods: 60, disturb: onBindings(proxy.Fault{Times: 25, Answer: proxy.Reset()})},
	{name: "answers-lost", pods: 60, disturb: onBindings(proxy.Fault{Times: 25, Body: proxy.CutAfter(0)})},
	{name: "forbidden", pods: 60, disturb: onBindings(proxy.Fault{Times: 20, Answer: forbidden})},
	{name: "slow", pods: 12, httpTimeout: 500 * time.Millisecond,
		disturb: onBindings(proxy.Fault{Answer: proxy.Late(1500 * time.Millisecond)})},
	// Evenkeel gives up before it lands.
	{name: "late", pods: 24, httpTimeout: 2 * time.Second, requestTimeout: time.Second,
		disturb: onBindings(proxy.Fault{Times: 8, Answer: proxy.Late(1500 * time.Millisecond)})},
	{name: "watch-late", disturb: func(_ *stage, p *proxy.Proxy, _ *evenkeel.Evenkeel) (*proxy.Injection, func()) {
		fault := p.Inject(proxy.Fault{Match: proxy.Watch("pods"), Body: proxy.Delayed(3 * time.Second)})
		p.ResetAll()
		return fault, nil
	}},
	{name: "killed-often", kills: true, disturb: killedOften(3, proxy.Fault{Answer: proxy.Late(200 * time.Millisecond)})},
}

var forbidden = proxy.Failure(http.StatusForbidden, metav1.StatusReasonForbidden, "no")

// forSeconds takes every binding from the first one on.
func forSeconds(seconds int, f proxy.Fault) func(*stage, *proxy.Proxy, *evenkeel.Evenkeel) (*proxy.Injection, func()) {
	f.Match = proxy.Binding
	return func(_ *stage, p *proxy.Proxy, _ *evenkeel.Evenkeel) (*proxy.Injection, func()) {
		fault := p.Inject(f)
		return fault, func() {
			time.Sleep(time.Duration(seconds) * time.Second)
			fault.Remove()
		}
	}
}

// killedOften kills it with bindings under way, so many times.
func killedOften(times int, f proxy.Fault) func(*stage, *proxy.Proxy, *evenkeel.Evenkeel) (*proxy.Injection, func()) {
	f.Match = proxy.Binding
	return func(s *stage, p *proxy.Proxy, e *evenkeel.Evenkeel) (*proxy.Injection, func()) {
		fault := p.Inject(f)
		return fault, func() {
			for range times {
				s.waitHits(fault, fault.Hits()+1)
				s.must(e.Restart(s.ctx))
			}
			fault.Remove()
		}
	}
}

// TestBindHolds plays every fault under a hard rule that only Evenkeel knows: the in-tree plugin keeps
// a constraint that stands in the pod whatever Evenkeel does. By the API server's history the pods are
// spread evenly at every moment.
func TestBindHolds(t *testing.T) {
	t.Parallel()
	newStage(t).needsWatch()
	runs := number(t, "EVENKEEL_E2E_BIND_RUNS", 1)
	for _, f := range append(append([]bindFault{}, bindFaults...), unclearFaults...) {
		for run := range runs {
			name := f.name
			if runs > 1 {
				name += fmt.Sprintf("-%d", run+1)
			}
			t.Run(name, func(t *testing.T) { newStage(t).holds(f) })
		}
	}
}

func (s *stage) holds(f bindFault) {
	s.patience = 3 * time.Minute
	s.zones(4, 2)
	p := s.upstream()
	e := s.evenkeel(func(o *evenkeel.Options) {
		s.through(p)(o)
		o.Settings["reservations"] = conservative()
		if f.kills {
			o.Settings["reservations"] = map[string]any{"mode": "Conservative"}
		}
		o.Settings["orderedSpread"] = s.zoneRule()
		o.RequestTimeout = f.requestTimeout
	})
	entry := binding(e)
	if f.httpTimeout > 0 {
		entry.HTTPTimeout = metav1.Duration{Duration: f.httpTimeout}
	}
	s.scheduler(s.id, nil, entry)
	r := s.record()
	var fault *proxy.Injection
	var then func()
	if f.disturb != nil {
		fault, then = f.disturb(s, p, e)
	}
	pods := f.pods
	if pods == 0 {
		pods = 32
	}
	began := time.Now()
	for i := range pods {
		s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id))
	}
	if then != nil {
		s.waitHits(fault, 1)
		then()
	}
	events := s.waitBound(r, pods)
	s.must(history.Moved(events))
	violations, worst := s.unevenMoments(events)
	s.Logf("e2e: %d pods in %.1f s, %d bindings; maxSkew 1 was violated by %d pods, by %d at worst",
		pods, time.Since(began).Seconds(), len(p.Requests(proxy.Binding)), violations, worst-1)
	if violations > 0 {
		s.Error("a hard constraint was violated")
	}
	if fault != nil && fault.Hits() == 0 {
		s.Error("the fault was never hit")
	}
}
