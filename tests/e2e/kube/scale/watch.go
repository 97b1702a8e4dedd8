package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// podWatch notes when pods are first seen on a node. All methods may be called from
// any goroutine.
type podWatch struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	seen    map[string]time.Time // by name, which is unique among what we create
	refused int                  // times that kube-scheduler could not place a pod
	reason  string               // of the last one
	err     error
	wake    chan struct{} // closed and replaced at each event
	onBound func(pod *v1.Pod, at time.Time)
}

// watchPods of all namespaces, from now on. What exists already is not listed.
func watchPods(ctx context.Context, client kubernetes.Interface, which metav1.ListOptions) (*podWatch, error) {
	which.Limit = 1 // only the version is wanted
	list, err := client.CoreV1().Pods("").List(ctx, which)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	which.Limit, which.ResourceVersion = 0, list.ResourceVersion
	events, err := client.CoreV1().Pods("").Watch(ctx, which)
	if err != nil {
		cancel()
		return nil, err
	}
	w := &podWatch{
		cancel: cancel, done: make(chan struct{}), seen: map[string]time.Time{}, wake: make(chan struct{}),
	}
	go w.run(events)
	return w, nil
}

// call makes it call back for every pod when it is first seen on a node, with the watch locked.
func (w *podWatch) call(back func(pod *v1.Pod, at time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onBound = back
}

func (w *podWatch) stop() {
	w.cancel()
	<-w.done
}

func (w *podWatch) run(events watch.Interface) {
	defer close(w.done)
	defer events.Stop()
	for event := range events.ResultChan() {
		at := time.Now()
		pod, ok := event.Object.(*v1.Pod)
		w.mu.Lock()
		if !ok {
			w.err = fmt.Errorf("the watch says %v: %v", event.Type, event.Object)
		} else {
			w.note(event.Type, pod, at)
		}
		w.wakeUp()
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = fmt.Errorf("the watch has ended")
	w.wakeUp()
}

func (w *podWatch) wakeUp() {
	close(w.wake)
	w.wake = make(chan struct{})
}

func (w *podWatch) note(kind watch.EventType, pod *v1.Pod, at time.Time) {
	if kind == watch.Deleted {
		delete(w.seen, pod.Name)
		return
	}
	if pod.Spec.NodeName == "" {
		if reason := refusal(pod); reason != "" {
			w.refused++
			w.reason = pod.Name + ": " + reason
		}
		return
	}
	if _, ok := w.seen[pod.Name]; ok {
		return
	}
	w.seen[pod.Name] = at
	if w.onBound != nil {
		w.onBound(pod, at)
	}
}

// refusal is what kube-scheduler says about a pod that it could not place; "" if it has not tried.
func refusal(pod *v1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// until returns when `enough`, which is called with the watch locked, is true.
func (w *podWatch) until(ctx context.Context, enough func() bool) error {
	for {
		w.mu.Lock()
		ok, err, wake := enough(), w.err, w.wake
		w.mu.Unlock()
		if ok {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// bound waits for the pod's first sight on a node.
func (w *podWatch) bound(ctx context.Context, name string) (at time.Time, err error) {
	err = w.until(ctx, func() bool {
		var ok bool
		at, ok = w.seen[name]
		return ok
	})
	return at, err
}
