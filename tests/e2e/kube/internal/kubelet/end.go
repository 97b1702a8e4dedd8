package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// end is what becomes of a pod that is deleted: preStop, SIGTERM, and SIGKILL when its grace period is over.
// Readiness is probed and reported meanwhile.
func (p *podRunner) end(ctx context.Context) {
	pod := p.pod()
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 30)) * time.Second
	if ctx.Err() != nil {
		grace = 0
	}
	p.log.say("pod %s/%s ends within %v", pod.Namespace, pod.Name, grace)
	deadline := time.Now().Add(grace)
	for _, r := range p.runs {
		if r.now.running() {
			go func() {
				p.preStop(ctx, r.now, deadline)
				r.now.stop(time.Until(deadline))
			}()
		}
	}
	p.report()
	for p.anyRunning() {
		select {
		case <-p.changed:
		case v := <-p.verdicts:
			if !v.liveness { // who is to end is not ended for it
				p.judge(v)
			}
		case c := <-p.exits:
			p.exited(ctx, c)
		case <-ctx.Done():
			for _, r := range p.runs {
				if r.now.running() {
					r.now.stop(0)
				}
			}
		}
	}
	for _, r := range p.runs {
		if r.stopProbes != nil {
			r.stopProbes()
		}
		r.ready = false
	}
	p.report()
}

func (p *podRunner) anyRunning() bool {
	for _, r := range p.runs {
		if r.now.running() {
			return true
		}
	}
	return false
}

// preStop runs the hook, if there is one, as long as the grace period lasts.
func (p *podRunner) preStop(ctx context.Context, c *container, deadline time.Time) {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var err error
	switch hook := c.Lifecycle.PreStop; {
	case hook.Sleep != nil:
		pause(ctx, time.Duration(hook.Sleep.Seconds)*time.Second)
	case hook.HTTPGet != nil:
		err = httpGet(ctx, c.Container, p.sandbox.address.String(), hook.HTTPGet, "kube-lifecycle/1.36")
	case hook.Exec != nil:
		err = p.preStopExec(ctx, c, hook.Exec.Command)
	}
	if err != nil {
		p.log.say("pod %s, container %s: preStop: %v", p.pod().Name, c.Name, err)
	}
}

func (p *podRunner) preStopExec(ctx context.Context, c *container, command []string) error {
	cmd := c.exec(command)
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	return cmd.Wait()
}

// forget removes all that there is of the pod, here and at the API server.
func (p *podRunner) forget(ctx context.Context) {
	pod := p.pod()
	if p.sandbox != nil {
		p.remove(p.sandbox)
	}
	p.keepLogs()
	_ = os.RemoveAll(p.dir) // a folder that stays is in nobody's way
	if ctx.Err() == nil {
		err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			p.log.say("pod %s cannot be deleted: %v", pod.Name, err)
		}
	}
	p.log.say("pod %s/%s is gone", pod.Namespace, pod.Name)
	p.kubelet.pods.mu.Lock()
	defer p.kubelet.pods.mu.Unlock()
	delete(p.kubelet.pods.all, pod.UID)
}

// keepLogs moves what containers have printed to where tests find it: logs/NAMESPACE_POD_CONTAINER-RUN.log.
func (p *podRunner) keepLogs() {
	pod := p.pod()
	logs, _ := filepath.Glob(filepath.Join(p.dir, "*.log"))
	for _, log := range logs {
		name := fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, filepath.Base(log))
		if err := os.Rename(log, filepath.Join(p.kubelet.dir, "logs", name)); err != nil {
			p.log.say("the log %s: %v", log, err)
		}
	}
}

// phase of a pod.
func (p *podRunner) phase() v1.PodPhase {
	running, failed, waiting := 0, 0, 0
	for _, r := range p.runs {
		switch {
		case r.waiting != "":
			waiting++
		case r.now.running():
			running++
		case r.now.code != 0:
			failed++
		}
	}
	switch {
	case running == 0 && waiting == 0 && failed > 0:
		return v1.PodFailed
	case running == 0 && waiting == 0:
		return v1.PodSucceeded
	case waiting == len(p.runs) && p.runs[0].last == nil:
		return v1.PodPending
	}
	return v1.PodRunning
}
