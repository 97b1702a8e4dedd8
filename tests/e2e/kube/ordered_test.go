package e2e

import (
	"fmt"
	"maps"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// rule for the pods with label app=web of the stage: region first, then zone.
func (s *stage) orderedRule(region, zone v1.UnsatisfiableConstraintAction) map[string]any {
	return map[string]any{
		"rules": []any{map[string]any{
			"name": "web", "namespaces": []string{s.id},
			"podSelector": map[string]any{"matchLabels": map[string]string{"app": "web"}},
			"terms": []any{
				map[string]any{"topologyKey": regionKey, "whenUnsatisfiable": region},
				map[string]any{"topologyKey": zoneKey, "whenUnsatisfiable": zone},
			},
		}},
	}
}

// Three zones in the west, one in the east: flat spreading over zones would put three quarters of
// the pods into the west.
func (s *stage) lopsidedRegions() {
	s.Helper()
	for _, place := range []struct{ region, zone string }{
		{"west", "west-1"}, {"west", "west-2"}, {"west", "west-3"}, {"east", "east-1"},
	} {
		for i := range 2 {
			s.node(fmt.Sprintf("%s-n%d", place.zone, i),
				map[string]string{regionKey: place.region, zoneKey: place.zone})
		}
	}
}

// orderedPolicy is a TopologyPolicy that asks for the same.
const orderedPolicy = `{apiVersion: evenkeel.io/v1alpha1, kind: TopologyPolicy, metadata: {name: web}, spec: {
  match: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}, pods: {spread: [
  {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway},
  {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}}}`

// TestOrderedSpread: by a configured rule, hard or soft, and by a policy whose pods have been created
// while no webhook was registered.
func TestOrderedSpread(t *testing.T) {
	for name, start := range map[string]func(*stage) *evenkeel.Evenkeel{
		"hard":   func(s *stage) *evenkeel.Evenkeel { return s.withOrderedRule(v1.DoNotSchedule) },
		"soft":   func(s *stage) *evenkeel.Evenkeel { return s.withOrderedRule(v1.ScheduleAnyway) },
		"policy": (*stage).withOrderedPolicy,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.lopsidedRegions()
			e := start(s)
			s.scheduler(s.id, nil, e.Extender())
			r := s.record()
			const pods = 12
			for i := range pods {
				s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id))
				s.waitBound(r, i+1)
				s.caughtUp(e)
			}
			s.expect(regionKey, "web", map[string]int{"west": 6, "east": 6})
			s.expect(zoneKey, "web", map[string]int{"west-1": 2, "west-2": 2, "west-3": 2, "east-1": 6})
		})
	}
}

func (s *stage) withOrderedRule(when v1.UnsatisfiableConstraintAction) *evenkeel.Evenkeel {
	s.Helper()
	return s.evenkeel(func(o *evenkeel.Options) { o.Settings["orderedSpread"] = s.orderedRule(when, when) })
}

func (s *stage) withOrderedPolicy() *evenkeel.Evenkeel {
	s.Helper()
	w := s.newWebhook()
	s.must(os.WriteFile(w.policies, fmt.Appendf(nil, orderedPolicy, s.id), 0o644))
	e, _ := w.start(nil)
	return e
}

// expect compares the stage's pods per domain.
func (s *stage) expect(key, app string, want map[string]int) {
	s.Helper()
	if got := s.perDomain(key, app); !maps.Equal(got, want) {
		s.Errorf("pods per %s: %v, want %v", key, got, want)
	}
}
