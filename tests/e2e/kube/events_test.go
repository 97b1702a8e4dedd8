package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// TestFailedSchedulingEvents: who asks kubectl why a pod is pending reads Evenkeel's own reasons, with
// the number of nodes each is true of.
func TestFailedSchedulingEvents(t *testing.T) {
	s := newStage(t)
	// Two zones, of which one is closed, and a node that is in none.
	s.node("open-0", map[string]string{zoneKey: "open"})
	s.node("open-1", map[string]string{zoneKey: "open"})
	s.node("closed", map[string]string{zoneKey: "closed"}, taint)
	s.node("nowhere", nil)
	e := s.evenkeel(func(o *evenkeel.Options) {
		o.Settings["orderedSpread"] = map[string]any{"rules": []any{map[string]any{
			"name": "ordered", "namespaces": []string{s.id},
			"podSelector": map[string]any{"matchLabels": map[string]string{"app": "ordered"}},
			"terms":       []any{map[string]any{"topologyKey": zoneKey, "whenUnsatisfiable": "DoNotSchedule"}},
		}}}
	})
	s.scheduler(s.id, withoutSpread(), e.Extender())
	for app, reason := range map[string]string{
		"plain":   "2 over maxSkew on " + zoneKey,
		"ordered": "2 over maxSkew on " + zoneKey + " (ordered)",
	} {
		t.Run(app, func(t *testing.T) {
			s.T = t
			var constraints []v1.TopologySpreadConstraint
			if app == "plain" {
				constraints = append(constraints, constraint(zoneKey, 1, v1.DoNotSchedule, app))
			}
			r := s.record()
			for i := range 2 {
				pod := s.create(s.newPod(fmt.Sprintf("%s-%d", app, i), app, s.id, constraints...))
				node := s.waitJudged(r, pod)
				s.caughtUp(e)
				if i == 0 && !strings.Contains(node, "open") {
					t.Fatalf("the first pod is on %q", node)
				}
			}
			note := s.waitEvent(app+"-1", "FailedScheduling")
			for _, want := range []string{"0/", reason, "1 no label " + zoneKey + " to spread over"} {
				if !hasReason(note, want) {
					t.Errorf("the event says %q, without %q", note, want)
				}
			}
		})
	}
}

// A reason ends at a comma or at the sentence's end, so that "over maxSkew on k" is not found in
// "over maxSkew on k (ordered)".
func hasReason(note, want string) bool {
	return strings.Contains(note, want+",") || strings.Contains(note, want+".") ||
		strings.HasSuffix(want, "/") && strings.Contains(note, want)
}

// waitEvent returns what the pod's event with this reason says.
func (s *stage) waitEvent(pod, reason string) string {
	s.Helper()
	return s.waitNote(s.id, pod, reason, "")
}

// waitNote returns what the object's event with this reason says, of several one with this part.
func (s *stage) waitNote(namespace, object, reason, part string) string {
	s.Helper()
	note := ""
	s.until("event "+reason+" of "+object, func(ctx context.Context) (bool, error) {
		events, err := s.Client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, event := range events.Items {
			if event.Regarding.Name == object && event.Reason == reason && strings.Contains(event.Note, part) {
				note = event.Note
			}
		}
		return note != "", nil
	})
	return note
}

// until asks again and again until the answer is yes. The error of the last try is shown.
func (s *stage) until(what string, yes func(context.Context) (bool, error)) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var err error
	for {
		ok, problem := yes(ctx)
		if ok {
			return
		}
		if ctx.Err() == nil { // otherwise that is what it says
			err = problem
		}
		select {
		case <-ctx.Done():
			s.Fatalf("waited %v in vain for: %s (%v)", s.patience, what, err)
		case <-tick.C:
		}
	}
}
