package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// The statements of docs/guides/kube-scheduler.md about what kube-scheduler does not do for an extender,
// against kube-scheduler.

// addZoneRule has Evenkeel alone spread the pods with label app=web over zones.
func (s *stage) addZoneRule(o *evenkeel.Options) {
	o.Settings["orderedSpread"] = s.zoneRule()
}

// defaultRule has Evenkeel do so with the pods of each Service, as a default constraint.
func (s *stage) defaultRule(o *evenkeel.Options) {
	o.Settings["spread"] = map[string]any{"defaulting": "List", "defaultConstraints": []any{
		map[string]any{"topologyKey": zoneKey, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
	}}
}

// theSameDefaults is what the guide shows for kube-scheduler's configuration.
var theSameDefaults = config.PluginConfig{Name: "PodTopologySpread", Args: runtime.RawExtension{Raw: []byte(`{
  "defaultingType": "List", "defaultConstraints": [
  {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]}`)}}

// TestLimitPreemption: a pod of higher priority gets the place of another when a constraint that the
// in-tree plugin knows says no, and never when only Evenkeel does.
func TestLimitPreemption(t *testing.T) {
	native := []v1.TopologySpreadConstraint{constraint(zoneKey, 1, v1.DoNotSchedule, "web")}
	for _, c := range []struct {
		name        string
		constraints []v1.TopologySpreadConstraint
		settings    func(*stage, *evenkeel.Options)
		profile     cluster.SchedulerOptions
		evicts      bool
	}{
		{"constraint-of-the-pod", native, nil, cluster.SchedulerOptions{}, true},
		{"without-the-plugin", native, nil, cluster.SchedulerOptions{Plugins: withoutSpread()}, false},
		{"rule", nil, (*stage).addZoneRule, cluster.SchedulerOptions{}, false},
		{"rule-and-its-first-term", native, (*stage).addZoneRule, cluster.SchedulerOptions{}, true},
		{"default", nil, (*stage).defaultRule, cluster.SchedulerOptions{}, false},
		{"default-of-both", nil, (*stage).defaultRule,
			cluster.SchedulerOptions{Arguments: []config.PluginConfig{theSameDefaults}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			// The only open zone has one pod of the group too many, unless that is the victim.
			open := s.node("open", map[string]string{zoneKey: "open"})
			s.node("closed", map[string]string{zoneKey: "closed"}, taint)
			_, err := s.Client.CoreV1().Services(s.id).Create(s.ctx, &v1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec:       v1.ServiceSpec{ClusterIP: v1.ClusterIPNone, Selector: map[string]string{"app": "web"}},
			}, metav1.CreateOptions{})
			s.must(err)
			low, high := s.priorityClass("low", 1), s.priorityClass("high", 2)
			e := s.evenkeel(func(o *evenkeel.Options) {
				if c.settings != nil {
					c.settings(s, o)
				}
			})
			victim := s.newPod("web-0", "web", s.id)
			victim.Spec.PriorityClassName, victim.Spec.NodeName = low, open.Name
			s.create(victim)
			s.caughtUp(e)
			c.profile.Name, c.profile.Extenders = s.id, []config.Extender{e.Extender()}
			p, err := s.StartScheduler(s.ctx, c.profile)
			s.must(err)
			s.Cleanup(p.End)
			r := s.record()
			pod := s.newPod("web-1", "web", s.id, c.constraints...)
			pod.Spec.PriorityClassName = high
			pod = s.create(pod)
			if c.evicts {
				if node := s.waitNode(r, pod); node != open.Name {
					t.Errorf("the pod is on %q, want %q", node, open.Name)
				}
				return
			}
			s.evictsNobody(e)
		})
	}
}

// evictsNobody for pod web-1, and asks nobody whether that would help.
func (s *stage) evictsNobody(e *evenkeel.Evenkeel) {
	s.Helper()
	note := s.waitEvent("web-1", "FailedScheduling")
	for _, part := range []string{
		"1 over maxSkew on " + zoneKey, "preemption: expected at least one victim pod on node",
	} {
		if !strings.Contains(note, part) {
			s.Errorf("the event says %q, without %q", note, part)
		}
	}
	if _, err := s.Client.CoreV1().Pods(s.id).Get(s.ctx, "web-0", metav1.GetOptions{}); err != nil {
		s.Errorf("the pod that was there: %v", err)
	}
	metrics, err := e.Metrics(s.ctx)
	s.must(err)
	if asked := metrics[`evenkeel_http_requests_total{listener="extender",verb="preempt",code="200"}`]; asked != 0 {
		s.Errorf("Evenkeel was asked %v times whether an eviction helps", asked)
	}
}

// TestLimitHang: an extender that answers nothing costs a pod filter's time limit and prioritize's, or
// filter's alone when there is no choice of nodes; binding's is no pod's but its own.
func TestLimitHang(t *testing.T) {
	s := newStage(t)
	s.zones(2, 2)
	e := s.evenkeel(nil)
	p, entry := s.between(e)
	entry.Ignorable = true
	entry.HTTPTimeout = metav1.Duration{Duration: time.Second}
	s.scheduler(s.id, nil, entry)
	r := s.record()
	const pods = 3
	bound := 0
	for _, c := range []struct {
		name  string
		nodes map[string]string
		calls int
	}{
		{"several-nodes", nil, 2},
		{"one-node", map[string]string{hostKey: s.id + "-z0-n0"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.T = t
			fault := p.Inject(proxy.Fault{Match: proxy.Any, Answer: proxy.Silent()})
			defer fault.Remove()
			began := time.Now()
			for i := range pods {
				pod := s.newPod(fmt.Sprintf("%s-%d", c.name, i), c.name, s.id)
				for key, value := range c.nodes {
					pod.Spec.NodeSelector[key] = value
				}
				s.create(pod)
			}
			bound += pods
			s.waitBound(r, bound)
			took, least := time.Since(began), time.Duration(pods*c.calls)*time.Second
			t.Logf("e2e: %d pods in %.1f s", pods, took.Seconds())
			if fault.Hits() != pods*c.calls {
				t.Errorf("%d calls, want %d", fault.Hits(), pods*c.calls)
			}
			if took < least {
				t.Errorf("%v, want at least %v", took, least)
			}
		})
	}
}

// TestLimitRequeue: an event that cannot help has kube-scheduler ask again about every pod that Evenkeel
// refused a node, and about none that the in-tree plugin did. How much that is with many pods is for
// docs/performance.md: EVENKEEL_E2E_PENDING pods, default 30.
func TestLimitRequeue(t *testing.T) {
	pending, err := strconv.Atoi(setting("EVENKEEL_E2E_PENDING", "30"))
	if err != nil {
		t.Fatal(err)
	}
	for _, native := range []bool{false, true} {
		t.Run(map[bool]string{false: "refused-by-evenkeel", true: "refused-by-the-plugin"}[native], func(t *testing.T) {
			s := newStage(t)
			s.patience = 5 * time.Minute
			open := s.node("open", map[string]string{zoneKey: "open"})
			s.node("closed", map[string]string{zoneKey: "closed"}, taint)
			e := s.evenkeel(s.addZoneRule)
			there := s.newPod("web", "web", s.id)
			there.Spec.NodeName = open.Name
			s.create(there)
			s.caughtUp(e)
			s.scheduler(s.id, nil, e.Extender())
			var constraints []v1.TopologySpreadConstraint
			if native {
				constraints = append(constraints, constraint(zoneKey, 1, v1.DoNotSchedule, "web"))
			}
			for i := range pending {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id, constraints...))
			}
			s.waitUnschedulable(pending)
			before := s.quiet(e)
			began := time.Now()
			open.Labels["e2e.evenkeel.io/event"] = "one"
			_, err := s.Client.CoreV1().Nodes().Update(s.ctx, open, metav1.UpdateOptions{})
			s.must(err)
			r := s.record()
			s.waitNode(r, s.create(s.newPod("other", "other", s.id))) // behind those in the queue
			placed := time.Since(began)
			after := s.quiet(e)
			again := int(after.calls-before.calls) - 1 // the other pod's
			t.Logf("e2e: %d pending pods, one event: %d calls within %.2f s; another pod is placed after %.2f s",
				pending, again, after.last.Sub(began).Seconds(), placed.Seconds())
			if native && again != 0 || !native && again < pending {
				t.Errorf("%d calls after the event, for %d pending pods", again, pending)
			}
		})
	}
}

func (s *stage) waitUnschedulable(pods int) {
	s.Helper()
	s.until("pods that cannot be scheduled", func(ctx context.Context) (bool, error) {
		list, err := s.Client.CoreV1().Pods(s.id).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err != nil {
			return false, err
		}
		count := 0
		for _, pod := range list.Items {
			for _, condition := range pod.Status.Conditions {
				if condition.Reason == v1.PodReasonUnschedulable {
					count++
				}
			}
		}
		return count == pods, nil
	})
}

type calls struct {
	calls float64
	last  time.Time // when the last one of them had been counted
}

// quiet returns when filter has not been called for three seconds.
func (s *stage) quiet(e *evenkeel.Evenkeel) calls {
	s.Helper()
	seen := calls{-1, time.Now()}
	s.until("an end of the calls", func(ctx context.Context) (bool, error) {
		metrics, err := e.Metrics(ctx)
		if err != nil {
			return false, err
		}
		now := metrics[`evenkeel_http_requests_total{listener="extender",verb="filter",code="200"}`]
		if now != seen.calls {
			seen = calls{now, time.Now()}
		}
		return time.Since(seen.last) > 3*time.Second, nil
	})
	return seen
}
