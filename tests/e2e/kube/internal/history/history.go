// Package history records what an API server says happened to pods, and plays it back.
package history

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// Event is one change, in the order of resource versions.
type Event struct {
	Type watch.EventType
	Pod  *v1.Pod
}

// Recorder watches the pods of a namespace from the moment it was made.
type Recorder struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	events []Event
	err    error
	wake   chan struct{} // closed and replaced at each event
}

// Record starts to watch. Nothing that happens after it has returned is missed.
func Record(ctx context.Context, client kubernetes.Interface, namespace string) (*Recorder, error) {
	pods := client.CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		cancel()
		return nil, err
	}
	r := &Recorder{cancel: cancel, done: make(chan struct{}), wake: make(chan struct{})}
	for i := range list.Items {
		r.events = append(r.events, Event{watch.Added, &list.Items[i]})
	}
	go r.run(ctx, w)
	return r, nil
}

func (r *Recorder) run(ctx context.Context, w watch.Interface) {
	defer close(r.done)
	defer w.Stop()
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*v1.Pod)
		r.mu.Lock()
		if ok {
			r.events = append(r.events, Event{event.Type, pod})
		} else {
			r.err = fmt.Errorf("the watch says %v: %v", event.Type, event.Object)
		}
		close(r.wake)
		r.wake = make(chan struct{})
		r.mu.Unlock()
	}
	if ctx.Err() == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = fmt.Errorf("the watch ended by itself")
		close(r.wake)
		r.wake = make(chan struct{})
	}
}

// Events so far. An error says that some may be missing.
func (r *Recorder) Events() ([]Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[:len(r.events):len(r.events)], r.err
}

// WaitFor returns when `enough` is true of the events so far.
func (r *Recorder) WaitFor(ctx context.Context, enough func([]Event) bool) error {
	for {
		r.mu.Lock()
		events, err, wake := r.events[:len(r.events):len(r.events)], r.err, r.wake
		r.mu.Unlock()
		if err != nil {
			return err
		}
		if enough(events) {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Stop ends the recording.
func (r *Recorder) Stop() {
	r.cancel()
	<-r.done
}

// Bound is how many of the pods that exist after the events have a node.
func Bound(events []Event) int {
	nodes := map[string]string{}
	for _, e := range events {
		if e.Type == watch.Deleted {
			delete(nodes, string(e.Pod.UID))
		} else {
			nodes[string(e.Pod.UID)] = e.Pod.Spec.NodeName
		}
	}
	count := 0
	for _, node := range nodes {
		if node != "" {
			count++
		}
	}
	return count
}

// Moved is an error if a pod was ever seen on one node and later on another, or on none.
func Moved(events []Event) error {
	nodes := map[string]string{}
	for _, e := range events {
		uid, now := string(e.Pod.UID), e.Pod.Spec.NodeName
		if before := nodes[uid]; before != "" && before != now {
			return fmt.Errorf("pod %s was on node %q and then on %q", e.Pod.Name, before, now)
		}
		nodes[uid] = now
	}
	return nil
}
