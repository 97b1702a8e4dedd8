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

// binding is Evenkeel's entry with all four verbs.
func binding(e *evenkeel.Evenkeel) config.Extender {
	entry := e.Extender()
	entry.BindVerb = "bind"
	entry.HTTPTimeout = metav1.Duration{Duration: 15 * time.Second} // a binding may take several tries
	return entry
}

// bindFault breaks the way to the API server, or Evenkeel itself, while pods are bound.
type bindFault struct {
	name  string
	pods  int // 0: 30
	kills bool
	// How long kube-scheduler waits for an answer, and Evenkeel tries to get one; 0: long enough.
	httpTimeout, requestTimeout time.Duration
	// disturb is called before pods are created, and returns what to do when the fault was hit.
	disturb func(s *stage, p *proxy.Proxy, e *evenkeel.Evenkeel) (fault *proxy.Injection, then func())
}

// bindFaults leave every binding to be done within kube-scheduler's httpTimeout.
var bindFaults = []bindFault{
	{name: "undisturbed"},
	{name: "answer-lost", disturb: onBindings(proxy.Fault{Times: 5, Body: proxy.CutAfter(0)})},
	{name: "answer-cut", disturb: onBindings(proxy.Fault{Times: 5, Body: proxy.CutAfter(20)})},
	{name: "request-lost", disturb: onBindings(proxy.Fault{Times: 5, Answer: proxy.Reset()})},
	{name: "overloaded", disturb: onBindings(proxy.Fault{Times: 5, Answer: proxy.TooMany(time.Second)})},
	{name: "server-error", disturb: onBindings(proxy.Fault{Times: 5, Answer: broken})},
	{name: "killed-before", kills: true, disturb: killedAt(proxy.Fault{Times: 1, Answer: proxy.Silent()})},
	{name: "killed-after", kills: true, disturb: killedAt(proxy.Fault{Times: 1, Body: proxy.HoldAfter(0)})},
}

var broken = proxy.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, "broken")

func onBindings(f proxy.Fault) func(*stage, *proxy.Proxy, *evenkeel.Evenkeel) (*proxy.Injection, func()) {
	f.Match = proxy.Binding
	return func(_ *stage, p *proxy.Proxy, _ *evenkeel.Evenkeel) (*proxy.Injection, func()) {
		return p.Inject(f), nil
	}
}

func killedAt(f proxy.Fault) func(*stage, *proxy.Proxy, *evenkeel.Evenkeel) (*proxy.Injection, func()) {
	f.Match = proxy.Binding
	return func(s *stage, p *proxy.Proxy, e *evenkeel.Evenkeel) (*proxy.Injection, func()) {
		return p.Inject(f), func() { s.must(e.Restart(s.ctx)) }
	}
}

// conservative does not wait for what an earlier process may have sent: there is none.
func conservative() map[string]any { return map[string]any{"mode": "Conservative", "settle": "0s"} }

// TestBind lets Evenkeel bind the pods, and breaks the way to the API server in the middle of it:
// every pod gets one node, once.
func TestBind(t *testing.T) {
	newStage(t).needsWatch()
	for _, c := range bindFaults {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.zones(3, 2)
			p := s.upstream()
			e := s.evenkeel(func(o *evenkeel.Options) {
				s.through(p)(o)
				o.Settings["reservations"] = conservative()
			})
			s.scheduler(s.id, nil, binding(e))
			r := s.record()
			var fault *proxy.Injection
			var then func()
			if c.disturb != nil {
				fault, then = c.disturb(s, p, e)
			}
			const pods = 30
			for i := range pods {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id,
					constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
			}
			if then != nil {
				s.waitHits(fault, 1)
				then()
			}
			events := s.waitBound(r, pods)
			s.must(history.Moved(events))
			s.expect(zoneKey, "web", map[string]int{"zone-0": 10, "zone-1": 10, "zone-2": 10})
			bindings := len(p.Requests(proxy.Binding))
			if fault == nil && bindings != pods {
				t.Errorf("%d bindings for %d pods", bindings, pods)
			}
			if fault != nil && fault.Hits() == 0 {
				t.Error("the fault was never hit")
			}
			if bindings < pods {
				t.Errorf("only %d of %d pods were bound by Evenkeel", bindings, pods)
			}
			t.Logf("%d bindings for %d pods", bindings, pods)
		})
	}
}

// waitHits returns when the fault has taken so many requests.
func (s *stage) waitHits(fault *proxy.Injection, hits int) {
	s.Helper()
	s.until(fmt.Sprintf("%d requests that hit the fault", hits), hit(fault, hits))
}
