package kubelet

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// report writes the pod's status if it has changed. An error is retried: nobody else would say it.
func (p *podRunner) report() {
	status := p.status()
	if p.reported != nil && equality.Semantic.DeepEqual(p.reported, status) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		pod := p.pod().DeepCopy()
		pod.ResourceVersion = "" // the status is ours, whatever others have changed meanwhile
		pod.Status = *status
		_, err := p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		if err == nil {
			p.reported = status
			return
		}
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || !pause(ctx, 200*time.Millisecond) {
			p.log.say("the status of pod %s: %v", pod.Name, err)
			return
		}
	}
}

func (p *podRunner) status() *v1.PodStatus {
	s := p.pod().Status.DeepCopy()
	s.Phase, s.HostIP, s.HostIPs = p.phase(), p.address, []v1.HostIP{{IP: p.address}}
	s.StartTime = &p.begun
	if p.sandbox != nil {
		s.PodIP = p.sandbox.address.String()
		s.PodIPs = []v1.PodIP{{IP: s.PodIP}}
	}
	s.ContainerStatuses = nil
	ready := true
	for _, r := range p.runs {
		ready = ready && r.ready
		s.ContainerStatuses = append(s.ContainerStatuses, r.status())
	}
	p.condition(s, v1.PodReadyToStartContainers, p.sandbox != nil, "")
	p.condition(s, v1.PodInitialized, true, "")
	p.condition(s, v1.ContainersReady, ready, "ContainersNotReady")
	p.condition(s, v1.PodReady, ready, "ContainersNotReady")
	return s
}

// condition sets one; its time is that of its last change.
func (p *podRunner) condition(s *v1.PodStatus, kind v1.PodConditionType, good bool, otherwise string) {
	c := v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: metav1.Now().Rfc3339Copy()}
	if !good {
		c.Status, c.Reason = v1.ConditionFalse, otherwise
	}
	for _, before := range []*v1.PodStatus{p.reported, s} {
		if before == nil {
			continue
		}
		for _, old := range before.Conditions {
			if old.Type == kind && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

func (r *runs) status() v1.ContainerStatus {
	s := v1.ContainerStatus{Name: r.now.Name, Image: r.now.Image, Ready: r.ready, RestartCount: r.restarts, Started: ptr.To(r.now.running())}
	if r.image != nil {
		s.ImageID = r.image.digest
	}
	switch {
	case r.waiting != "":
		s.State.Waiting = &v1.ContainerStateWaiting{Reason: r.waiting, Message: r.message}
	case r.now.running():
		s.State.Running = &v1.ContainerStateRunning{StartedAt: metav1.NewTime(r.now.started)}
	default:
		s.State.Terminated = r.now.terminated()
	}
	if r.last != nil {
		s.LastTerminationState.Terminated = r.last.terminated()
	}
	return s
}

func (c *container) terminated() *v1.ContainerStateTerminated {
	reason := "Completed"
	if c.code != 0 {
		reason = "Error"
	}
	return &v1.ContainerStateTerminated{ExitCode: int32(c.code), Signal: int32(c.signal), Reason: reason,
		StartedAt: metav1.NewTime(c.started), FinishedAt: metav1.NewTime(c.ended)}
}
