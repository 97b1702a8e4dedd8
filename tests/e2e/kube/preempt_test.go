package e2e

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// priorityClass makes one of the value, named like the stage, and waits until the API server admits pods of it: its
// admission plugin watches classes, and hears of a new one a moment later.
func (s *stage) priorityClass(name string, value int32) string {
	s.Helper()
	class := &scheduling.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: s.id + "-" + name}, Value: value,
	}
	_, err := s.Client.SchedulingV1().PriorityClasses().Create(s.ctx, class, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		s.must(err)
	}
	pod := s.newPod("of-"+name, "of-"+name, s.id)
	pod.Spec.PriorityClassName = class.Name
	s.until("pods of class "+class.Name+" are admitted", func(ctx context.Context) (bool, error) {
		_, err := s.Client.CoreV1().Pods(s.id).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, err
	})
	return class.Name
}

// A node of the stage has 32 CPUs, so two of these do not fit on one.
func large(pod *v1.Pod, class string) *v1.Pod {
	pod.Spec.PriorityClassName = class
	pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("20")}
	return pod
}

// TestPreemption: room is made only where the pod may land afterwards, by a constraint that nobody but
// Evenkeel knows.
func TestPreemption(t *testing.T) {
	t.Run("elsewhere", func(t *testing.T) {
		s := newStage(t)
		// Every node is full. The cheaper victim is in the zone that has a web pod already.
		one := s.node("one", map[string]string{zoneKey: "one"})
		two := s.node("two", map[string]string{zoneKey: "two"})
		e := s.evenkeel(nil)
		cheap, dear, high := s.priorityClass("cheap", 1), s.priorityClass("dear", 2), s.priorityClass("high", 3)
		web := s.newPod("web-0", "web", s.id)
		web.Spec.NodeName = one.Name
		s.create(web)
		for class, node := range map[string]string{cheap: one.Name, dear: two.Name} {
			filler := large(s.newPod("filler-"+class, "filler", s.id), class)
			filler.Spec.NodeName = node
			s.create(filler)
		}
		s.caughtUp(e)
		s.scheduler(s.id, withoutSpread(), e.Extender())
		r := s.record()
		pod := s.create(large(s.newPod("web-1", "web", s.id, constraint(zoneKey, 1, v1.DoNotSchedule, "web")), high))
		if node := s.waitNode(r, pod); node != two.Name {
			t.Errorf("the pod is on %q, want %q", node, two.Name)
		}
		if _, err := s.Client.CoreV1().Pods(s.id).Get(s.ctx, "filler-"+cheap, metav1.GetOptions{}); err != nil {
			t.Errorf("the victim in the wrong zone: %v", err)
		}
	})
	t.Run("victims-no-longer-count", func(t *testing.T) {
		s := newStage(t)
		// The only open zone has a pod of the group too many, unless that pod is the victim.
		open := s.node("open", map[string]string{zoneKey: "open"})
		s.node("closed", map[string]string{zoneKey: "closed"}, taint)
		e := s.evenkeel(nil)
		low, high := s.priorityClass("low", 1), s.priorityClass("high", 2)
		victim := large(s.newPod("web-0", "web", s.id), low)
		victim.Spec.NodeName = open.Name
		s.create(victim)
		s.caughtUp(e)
		s.scheduler(s.id, withoutSpread(), e.Extender())
		r := s.record()
		pod := s.create(large(s.newPod("web-1", "web", s.id, constraint(zoneKey, 1, v1.DoNotSchedule, "web")), high))
		if node := s.waitNode(r, pod); node != open.Name {
			t.Errorf("the pod is on %q, want %q", node, open.Name)
		}
	})
}
