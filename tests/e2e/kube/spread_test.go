package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"evenkeel.io/tests/e2e/kube/internal/history"
)

// TestSpreadLikeInTree places random workloads three times: by kube-scheduler alone, by it and
// Evenkeel together, and by Evenkeel alone, with the in-tree plugin turned off. The number of pods in
// each zone, in order of size, must be the same, and so must the number that stay pending.
func TestSpreadLikeInTree(t *testing.T) {
	setup := newStage(t)
	e := setup.evenkeel(nil)
	arms := []string{"in-tree", "both", "evenkeel"}
	setup.scheduler("in-tree", nil)
	setup.scheduler("both", nil, e.Extender())
	setup.scheduler("evenkeel", withoutSpread(), e.Extender())
	seed := number(t, "EVENKEEL_E2E_SEED", int(time.Now().UnixNano()%1e9))
	t.Logf("e2e: EVENKEEL_E2E_SEED=%d", seed)
	for round := range number(t, "EVENKEEL_E2E_ROUNDS", 12) {
		w := randomWorkload(rand.New(rand.NewPCG(uint64(seed), uint64(round))))
		t.Run(fmt.Sprintf("seed-%d-%d", seed, round), func(t *testing.T) {
			t.Log(&w)
			s := newStage(t)
			var outcomes [][]int
			for _, name := range arms {
				a := &arm{stage: s, name: name, scheduler: name, workload: &w}
				a.prepare()
				s.caughtUp(e)
				outcomes = append(outcomes, a.placeOneByOne(func() { s.caughtUp(e) }))
			}
			for i, outcome := range outcomes {
				if !slices.Equal(outcome, outcomes[0]) {
					t.Errorf("pending, then pods per zone: %s %v, but %s %v", arms[i], outcome, arms[0], outcomes[0])
				}
			}
		})
	}
}

// placeOneByOne creates each pod after the one before has got its node, or a refusal, and everybody
// knows. Returns how many stay pending, and then the pods per zone in order of size.
func (a *arm) placeOneByOne(settle func()) []int {
	a.Helper()
	r := a.record()
	pending := 0
	for i := range a.workload.pods {
		pod := a.create(a.pod(i))
		if a.waitJudged(r, pod) == "" {
			pending++
		}
		settle()
	}
	counts := slices.Sorted(maps.Values(a.perDomain(zoneKey, a.name)))
	return append([]int{pending}, counts...)
}

// waitJudged returns the node that the pod got, or "" if kube-scheduler found none.
func (s *stage) waitJudged(r *history.Recorder, pod *v1.Pod) string {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	node := ""
	err := r.WaitFor(ctx, func(events []history.Event) bool {
		for _, e := range slices.Backward(events) {
			if e.Pod.UID == pod.UID {
				node = e.Pod.Spec.NodeName
				return node != "" || refused(e.Pod)
			}
		}
		return false
	})
	if err != nil {
		s.Fatalf("nobody judges pod %s: %v", pod.Name, err)
	}
	return node
}

func refused(pod *v1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == v1.PodScheduled && condition.Reason == v1.PodReasonUnschedulable {
			return true
		}
	}
	return false
}
