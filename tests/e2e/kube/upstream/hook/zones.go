package hook

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Placed says where the pods of a namespace were put. Pods that have gone since are counted.
type Placed struct {
	Namespace string         `json:"namespace"`
	Zones     map[string]int `json:"zones"` // pods
	// Bound are the seconds from the namespace's first pod, in the order in which kube-scheduler's own
	// watch has shown nodes.
	Bound []float64 `json:"bound"`

	first time.Time
}

// zones counts with the informers that kube-scheduler has anyway. Its methods are for any goroutine.
type zones struct {
	nodes  listers.NodeLister
	lock   sync.Mutex
	seen   map[types.UID]bool
	placed []*Placed // in the order of their first pods
}

func countZones(factory informers.SharedInformerFactory) (*zones, error) {
	z := &zones{nodes: factory.Core().V1().Nodes().Lister(), seen: map[types.UID]bool{}}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    z.note,
		UpdateFunc: func(_, pod any) { z.note(pod) },
	})
	return z, err
}

func (z *zones) note(object any) {
	pod, ok := object.(*v1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	now := time.Now()
	z.lock.Lock()
	defer z.lock.Unlock()
	if z.seen[pod.UID] {
		return
	}
	z.seen[pod.UID] = true
	zone := "unknown"
	if node, err := z.nodes.Get(pod.Spec.NodeName); err == nil {
		zone = node.Labels[v1.LabelTopologyZone]
	}
	p := z.of(pod.Namespace, now)
	p.Zones[zone]++
	p.Bound = append(p.Bound, now.Sub(p.first).Seconds())
}

func (z *zones) of(namespace string, now time.Time) *Placed {
	for _, p := range z.placed {
		if p.Namespace == namespace {
			return p
		}
	}
	p := &Placed{Namespace: namespace, Zones: map[string]int{}, first: now}
	z.placed = append(z.placed, p)
	return p
}

// all may be asked once nothing is counted any more.
func (z *zones) all() []*Placed {
	z.lock.Lock()
	defer z.lock.Unlock()
	return z.placed
}
