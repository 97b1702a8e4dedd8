package hub

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// FleetMoment is what the clusters of a set were like from a version on.
type FleetMoment struct {
	At      time.Time
	Version uint64
	Value   map[string]string // of a label, of the clusters that no taint keeps out; "": they lack it
}

// FleetHistory is what ever became of the clusters of a set, from a watch that misses nothing. Versions can be compared
// with those of PlacementDecisions: one etcd counts both.
type FleetHistory struct {
	lock    sync.Mutex
	moments []FleetMoment
	failed  error
	stop    func()
	ended   chan struct{}
}

// WatchFleet begins a history of a set's clusters, by the values of a label; Stop ends it.
func (h *Hub) WatchFleet(ctx context.Context, set, label string) (*FleetHistory, error) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := h.Clusters.ClusterV1().ManagedClusters().Watch(ctx,
		metav1.ListOptions{ResourceVersion: "0", LabelSelector: clusterv1beta2.ClusterSetLabel + "=" + set})
	if err != nil {
		cancel()
		return nil, err
	}
	f := &FleetHistory{moments: []FleetMoment{{}}, stop: cancel, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for event := range events.ResultChan() {
			if ctx.Err() == nil { // what ends the watch is an event, too
				f.take(event, label)
			}
		}
	}()
	return f, nil
}

func (f *FleetHistory) take(event watch.Event, label string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	c, good := event.Object.(*clusterv1.ManagedCluster)
	if !good {
		f.failed = fmt.Errorf("the watch says %v", event.Object)
		return
	}
	value := maps.Clone(f.moments[len(f.moments)-1].Value)
	if value == nil {
		value = map[string]string{}
	}
	if event.Type == watch.Deleted || c.DeletionTimestamp != nil || len(c.Spec.Taints) > 0 {
		delete(value, c.Name)
	} else {
		value[c.Name] = c.Labels[label]
	}
	version, err := strconv.ParseUint(c.ResourceVersion, 10, 64)
	if err != nil {
		f.failed = err
	}
	f.moments = append(f.moments, FleetMoment{At: time.Now(), Version: version, Value: value})
}

// Seen by who wrote something at that version: the fleet as it was then, and as it was so long before.
func (f *FleetHistory) Seen(m Moment, before time.Duration) (seen []FleetMoment, err error) {
	version, err := strconv.ParseUint(m.Version, 10, 64)
	if err != nil {
		return nil, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for i, one := range f.moments {
		over := i+1 < len(f.moments) && f.moments[i+1].At.Before(m.At.Add(-before)) // another one had come by then
		if one.Version <= version && !over {
			seen = append(seen, one)
		}
	}
	return seen, f.failed
}

// Now is the fleet as it was last seen.
func (f *FleetHistory) Now() map[string]string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.moments[len(f.moments)-1].Value)
}

// Stop ends the watch.
func (f *FleetHistory) Stop() {
	f.stop()
	<-f.ended
}
