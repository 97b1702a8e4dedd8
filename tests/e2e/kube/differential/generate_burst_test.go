package differential

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// burst is a cluster and what happens in it: pods that come, bindings that fail, pods that are deleted.
// All times are milliseconds.
type burst struct {
	nodes     []*corev1.Node
	services  []*corev1.Service
	running   []*corev1.Pod
	workloads []*workload
	arrivals  []arrival // in order of time
	deletions []deletion

	lag     int // from something that happens in the API server to everyone's seeing it
	cycle   int // a scheduling cycle
	binding int // from the end of the cycle to the binding
	refused int // of a hundred bindings, so many fail
	seed    uint64
}

// workload is a group of equal pods that are spread over these keys.
type workload struct {
	name string
	keys []string
	spec corev1.PodSpec
}

type arrival struct {
	at       int
	name     string
	workload *workload
}

// deletion is of a pod that came with the burst, if it is bound by then. Its controller sees it later,
// and makes another one.
type deletion struct {
	at          int
	victim      string
	replacement arrival
}

const (
	poolKey      = "example.com/pool"
	bindAttempts = 3
)

func (w *workload) pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID(name),
			Labels: map[string]string{"app": w.name}},
		Spec:   *w.spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// refuses says whether a binding of the pod fails, and how long it stays away then.
func (b *burst) refuses(pod string, attempt int) (refused bool, backoff int) {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", pod, attempt)
	d := dice{rand.New(rand.NewPCG(b.seed, hash.Sum64()))}
	return d.chance(b.refused) && attempt < bindAttempts, 20 + d.IntN(400)
}

// ---- random bursts ----

func (d dice) burst() *burst {
	b := &burst{
		lag:   pick(d, 0, 1+d.IntN(50), 51+d.IntN(150), 201+d.IntN(300)),
		cycle: pick(d, 1, 5, 5, 5, 10), binding: pick(d, 0, 2, 5, 20),
		refused: pick(d, 0, 0, 5, 20), seed: d.Uint64(),
	}
	d.addNodes(b)
	for range pick(d, 1, 1, 2, 3) {
		d.addWorkload(b)
	}
	d.addFillers(b)
	d.addArrivals(b)
	return b
}

func (d dice) addNodes(b *burst) {
	nodes, zones := d.logUniform(3, 60), 2+d.IntN(4)
	even, usual := d.chance(50), pick[int64](d, 2, 4, 8)
	tainted := pick(d, 0, 0, 3, 3, 20)
	for i := range nodes {
		zone := i % zones
		if i >= zones && !even { // the first zones have more
			zone = min(d.IntN(zones), d.IntN(zones))
		}
		size := usual
		if d.chance(30) {
			size = pick[int64](d, 1, 2, 16)
		}
		node := d.sizedNode(i, zone, size)
		if d.chance(tainted) {
			node.Spec.Taints = []corev1.Taint{{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}}
		}
		b.nodes = append(b.nodes, node)
	}
}

func (d dice) sizedNode(number, zone int, size int64) *corev1.Node {
	name := fmt.Sprintf("node-%d", number)
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
			hostnameKey: name, zoneKey: fmt.Sprintf("zone-%d", zone), rackKey: fmt.Sprintf("rack-%d", d.IntN(4)),
			poolKey: pick(d, "spot", "on-demand")}},
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(size, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(size*pick[int64](d, 2, 4, 4)<<30, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
	}
	return node
}

func requests(milliCPU, mebibytes int64) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(mebibytes<<20, resource.BinarySI),
	}}
}

// addWorkload is one with constraints of its own, or of a Service, for which there are the system's
// defaults.
func (d dice) addWorkload(b *burst) {
	w := &workload{name: fmt.Sprintf("app-%d", len(b.workloads))}
	b.workloads = append(b.workloads, w)
	w.spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/" + w.name}}
	if d.chance(85) {
		w.spec.Containers[0].Resources = requests(pick[int64](d, 50, 100, 250, 500), pick[int64](d, 64, 128, 512))
	}
	w.keys = pick(d, []string{zoneKey}, []string{zoneKey}, []string{hostnameKey}, []string{rackKey},
		[]string{zoneKey, hostnameKey}, []string{zoneKey, hostnameKey}, []string{rackKey, hostnameKey}, []string{zoneKey, rackKey})
	if slices.Equal(w.keys, []string{zoneKey, hostnameKey}) && d.chance(50) {
		b.services = append(b.services, &corev1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: "shop", UID: types.UID("service-" + w.name)},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": w.name}},
		})
	} else {
		for _, key := range w.keys {
			w.spec.TopologySpreadConstraints = append(w.spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: pick[int32](d, 1, 1, 1, 2, 3), TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.name}}})
		}
	}
	for i := range pick(d, 0, 0, 0, 3, 10, 20) { // not evenly
		b.run(w.pod(fmt.Sprintf("%s-running-%d", w.name, i)), b.nodes[min(d.IntN(len(b.nodes)), d.IntN(len(b.nodes)))])
	}
}

func (b *burst) run(pod *corev1.Pod, node *corev1.Node) {
	pod.Spec.NodeName, pod.Status.Phase = node.Name, corev1.PodRunning
	b.running = append(b.running, pod)
}

// addFillers has other pods take room, so that nodes differ, and some are full.
func (d dice) addFillers(b *burst) {
	filler := &workload{name: "filler"}
	busy := pick(d, 0, 20, 60)
	for i, node := range b.nodes {
		if d.chance(busy) {
			room := node.Status.Allocatable.Cpu().MilliValue()
			filler.spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/filler",
				Resources: requests(room*int64(d.IntN(101))/100, int64(d.IntN(2048)))}}
			b.run(filler.pod(fmt.Sprintf("filler-%d", i)), node)
		}
	}
}

func (d dice) addArrivals(b *burst) {
	count, apart, at := d.logUniform(1, 60), pick(d, 0, 0, 0, b.cycle, 20), 0
	for i := range count {
		b.arrivals = append(b.arrivals, arrival{at, fmt.Sprintf("pod-%d", i), pick(d, b.workloads...)})
		at += d.IntN(apart + 1)
	}
	for i := range pick(d, 0, 0, 0, 1, 1+count/10, 1+count/4) {
		victim := pick(d, b.arrivals...)
		when := d.IntN(at + count*b.cycle + 1)
		b.deletions = append(b.deletions, deletion{at: when, victim: victim.name,
			replacement: arrival{when + b.lag + 5, fmt.Sprintf("replacement-%d", i), victim.workload}})
	}
}
