package hub

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Moment is which clusters a Placement's PlacementDecisions held after one of them had changed.
type Moment struct {
	At       time.Time
	Clusters []string // by name; a cluster in two objects is there once
	Version  string
}

// History is what was ever in the PlacementDecisions of a namespace, from a watch that misses nothing.
type History struct {
	lock    sync.Mutex
	objects map[string]*clusterv1beta1.PlacementDecision
	moments map[string][]Moment // by Placement
	writes  map[string]int      // by Placement: events that are no listing
	failed  error
	stop    func()
	ended   chan struct{}
}

// Watch begins a history of a namespace; Stop ends it.
func (h *Hub) Watch(ctx context.Context, namespace string) (*History, error) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := h.Clusters.ClusterV1beta1().PlacementDecisions(namespace).Watch(ctx,
		metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		cancel()
		return nil, err
	}
	y := &History{objects: map[string]*clusterv1beta1.PlacementDecision{}, moments: map[string][]Moment{},
		writes: map[string]int{}, stop: cancel, ended: make(chan struct{})}
	go func() {
		defer close(y.ended)
		for event := range events.ResultChan() {
			if ctx.Err() == nil { // what ends the watch is an event, too
				y.take(event)
			}
		}
		if ctx.Err() == nil {
			y.lock.Lock()
			y.failed = fmt.Errorf("the watch of %s has ended", namespace)
			y.lock.Unlock()
		}
	}()
	return y, nil
}

func (y *History) take(event watch.Event) {
	object, good := event.Object.(*clusterv1beta1.PlacementDecision)
	y.lock.Lock()
	defer y.lock.Unlock()
	if !good {
		y.failed = fmt.Errorf("the watch says %v", event.Object)
		return
	}
	placement := object.Labels[clusterv1beta1.PlacementLabel]
	if event.Type == watch.Deleted {
		delete(y.objects, object.Name)
	} else {
		y.objects[object.Name] = object
	}
	y.writes[placement]++
	seen := map[string]bool{}
	moment := Moment{At: time.Now(), Version: object.ResourceVersion}
	for _, one := range y.objects {
		if one.Labels[clusterv1beta1.PlacementLabel] != placement {
			continue
		}
		for _, decision := range one.Status.Decisions {
			if !seen[decision.ClusterName] {
				seen[decision.ClusterName] = true
				moment.Clusters = append(moment.Clusters, decision.ClusterName)
			}
		}
	}
	slices.Sort(moment.Clusters)
	y.moments[placement] = append(y.moments[placement], moment)
}

// Of a Placement, what it had after each change.
func (y *History) Of(placement string) []Moment {
	y.lock.Lock()
	defer y.lock.Unlock()
	return slices.Clone(y.moments[placement])
}

// Writes of all PlacementDecisions of a Placement so far.
func (y *History) Writes(placement string) int {
	y.lock.Lock()
	defer y.lock.Unlock()
	return y.writes[placement]
}

// Stop ends the watch, and says whether it missed something.
func (y *History) Stop() error {
	y.stop()
	<-y.ended
	return y.failed
}
