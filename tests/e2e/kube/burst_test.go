package e2e

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/history"
)

// TestBurst creates 200 pods at once under a hard constraint that only Evenkeel knows, and plays the
// API server's history back. With bindings and conservative reservations no moment is uneven. Without
// them kube-scheduler decides faster than its decisions can be seen, and the damage is counted.
func TestBurst(t *testing.T) {
	newStage(t).needsWatch()
	for _, exact := range []bool{true, false} {
		name := map[bool]string{true: "bind-and-conservative", false: "watch-only"}[exact]
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.zones(4, 5)
			e := s.evenkeel(func(o *evenkeel.Options) {
				o.Settings["orderedSpread"] = s.zoneRule()
				if exact {
					o.Settings["reservations"] = conservative()
				}
			})
			entry := e.Extender()
			if exact {
				entry = binding(e)
			}
			s.scheduler(s.id, nil, entry)
			r := s.record()
			const pods = 200
			began := time.Now()
			for i := range pods {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id))
			}
			events := s.waitBound(r, pods)
			took := time.Since(began)
			s.must(history.Moved(events))
			violations, worst := s.unevenMoments(events)
			t.Logf("e2e: %d pods in %.1f s; maxSkew 1 was violated by %d of them, by %d at worst",
				pods, took.Seconds(), violations, worst-1)
			if exact && violations > 0 {
				t.Error("a hard constraint was violated")
			}
			if exact {
				s.expect(zoneKey, "web", map[string]int{"zone-0": 50, "zone-1": 50, "zone-2": 50, "zone-3": 50})
			}
		})
	}
}

// zoneRule is hard, for the pods with label app=web of the stage, and stands in no pod.
func (s *stage) zoneRule() map[string]any {
	return map[string]any{"rules": []any{map[string]any{
		"name": "web", "namespaces": []string{s.id},
		"podSelector": map[string]any{"matchLabels": map[string]string{"app": "web"}},
		"terms":       []any{map[string]any{"topologyKey": zoneKey, "whenUnsatisfiable": "DoNotSchedule"}},
	}}}
}

// unevenMoments plays the history back, and counts the bindings after which the pod's zone had over
// maxSkew 1 more pods than the emptiest; `worst` is the largest difference there was.
func (s *stage) unevenMoments(events []history.Event) (violations, worst int) {
	s.Helper()
	zones := s.domains(zoneKey)
	counts := map[string]int{}
	for _, zone := range zones {
		counts[zone] = 0
	}
	at := map[string]string{} // pod UID to zone
	for _, e := range events {
		uid := string(e.Pod.UID)
		if zone, ok := at[uid]; ok && e.Type == watch.Deleted {
			counts[zone]--
			delete(at, uid)
		}
		if _, ok := at[uid]; ok || e.Type == watch.Deleted || e.Pod.Spec.NodeName == "" {
			continue
		}
		zone := zones[e.Pod.Spec.NodeName]
		at[uid] = zone
		counts[zone]++
		skew := counts[zone] - least(counts)
		worst = max(worst, skew)
		if skew > 1 {
			violations++
			s.Logf("%v after pod %s, version %s", counts, e.Pod.Name, e.Pod.ResourceVersion)
		}
	}
	return violations, worst
}

func least(counts map[string]int) int {
	lowest := -1
	for _, count := range counts {
		if lowest < 0 || count < lowest {
			lowest = count
		}
	}
	return lowest
}

// waitNode returns the node that the pod gets.
func (s *stage) waitNode(r *history.Recorder, pod *v1.Pod) string {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	node := ""
	err := r.WaitFor(ctx, func(events []history.Event) bool {
		for _, e := range events {
			if e.Pod.UID == pod.UID && e.Pod.Spec.NodeName != "" {
				node = e.Pod.Spec.NodeName
			}
		}
		return node != ""
	})
	if err != nil {
		s.Fatalf("pod %s gets no node: %v\n%s", pod.Name, err, s.pending())
	}
	return node
}
