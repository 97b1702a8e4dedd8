package differential

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// Few names and small numbers, so that things meet: nodes share domains, pods match selectors, and
// counts are near the limits.
const (
	zoneKey     = corev1.LabelTopologyZone
	hostnameKey = corev1.LabelHostname
	rackKey     = "example.com/rack"
	hashKey     = "pod-template-hash"
)

var (
	topologyKeys = []string{zoneKey, hostnameKey, corev1.LabelTopologyRegion, rackKey}
	namespaces   = []string{"shop", "other", "default"}
	ownerNames   = []string{"web", "db"}
)

// podLabels are what selectors ask for.
var podLabels = map[string][]string{
	"app":   {"web", "web", "web", "db"},
	"tier":  {"front", "front", "back", ""},
	hashKey: {"1", "1", "2"},
}

// nodeLabels are what affinity asks for; numbers for Gt and Lt, some of which are none.
var nodeLabels = map[string][]string{
	"disk": {"ssd", "ssd", "hdd", ""},
	"size": {"1", "2", "2", "3", "3", "07", "+4", "-5", "9223372036854775807", "9223372036854775808", "many"},
}

func (d dice) labels(from map[string][]string, percent int) map[string]string {
	labels := map[string]string{}
	for _, key := range sortedKeys(from) {
		if d.chance(percent) {
			labels[key] = pick(d, from[key]...)
		}
	}
	if len(labels) == 0 && d.chance(50) {
		return nil
	}
	return labels
}

func (d dice) cluster() intree.Objects {
	var objects intree.Objects
	nodes, pods := pick(d, 1, 2, 3, 4, 4, 5, 6, 8, 12), pick(d, 0, 5, 10, 15, 20, 30, 60)
	if d.chance(1) {
		nodes = 0
	}
	zones, missing := pick(d, 1, 2, 2, 3, 3, 4), pick(d, 0, 0, 0, 5, 15)
	for i := range nodes {
		objects.Nodes = append(objects.Nodes, d.node(i, zones, missing))
	}
	home := pick(d, namespaces...)
	for i := range pods {
		objects.Pods = append(objects.Pods, d.clusterPod(i, nodes, home))
	}
	for i := range d.IntN(7) {
		objects.Owners = append(objects.Owners, d.owner(i, home))
	}
	objects.Owners = distinct(objects.Owners)
	return objects
}

// ---- nodes ----

func nodeName(i int) string {
	return fmt.Sprintf("node-%c", 'a'+i)
}

func (d dice) node(i, zones, missing int) *corev1.Node {
	labels := d.labels(nodeLabels, 80)
	if labels == nil {
		labels = map[string]string{}
	}
	zone := d.IntN(zones)
	values := map[string]string{
		zoneKey:                    fmt.Sprintf("zone-%d", zone),
		corev1.LabelTopologyRegion: fmt.Sprintf("region-%d", zone/2),
		hostnameKey:                nodeName(i),
		rackKey:                    fmt.Sprintf("rack-%d", d.IntN(3)),
	}
	for _, key := range topologyKeys {
		switch {
		case d.chance(missing): // the node lacks the label
		case d.chance(3):
			labels[key] = "" // a domain like any other
		case d.chance(3):
			labels[key] = "shared"
		default:
			labels[key] = values[key]
		}
	}
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: labels, UID: types.UID("node-" + nodeName(i))},
	}
	for range pick(d, 0, 0, 1, 1, 2) {
		node.Spec.Taints = append(node.Spec.Taints, d.taint())
	}
	node.Spec.Unschedulable = d.chance(5) // not looked at without its taint
	return node
}

var (
	taintKeys   = []string{"dedicated", "dedicated", corev1.TaintNodeUnschedulable}
	taintValues = []string{"", "", "", "x", "5"}
	effects     = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute,
		corev1.TaintEffectPreferNoSchedule}
)

func (d dice) taint() corev1.Taint {
	return corev1.Taint{Key: pick(d, taintKeys...), Value: pick(d, taintValues...), Effect: pick(d, effects...)}
}

// ---- pods ----

// nodeFor prefers the first nodes, so that some are fuller than others.
func (d dice) nodeFor(nodes int) string {
	switch {
	case d.chance(5):
		return "" // pending
	case nodes == 0 || d.chance(4):
		return "gone" // the pod outlived its node, or came before it
	}
	return nodeName(min(d.IntN(nodes), d.IntN(nodes), d.IntN(nodes)))
}

func (d dice) clusterPod(i, nodes int, home string) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Namespace: home,
			UID: types.UID(fmt.Sprintf("uid-%d", i)), Labels: d.labels(podLabels, 90)},
		Spec:   corev1.PodSpec{NodeName: d.nodeFor(nodes)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if d.chance(15) {
		pod.Namespace = pick(d, namespaces...)
	}
	if d.chance(15) {
		pod.Status.Phase = pick(d, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown, "")
	}
	if d.chance(12) {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1700000000, 0)}
	}
	return pod
}

// ---- what owns pods ----

func (d dice) owner(i int, home string) runtime.Object {
	meta := metav1.ObjectMeta{Name: pick(d, ownerNames...), Namespace: home, UID: types.UID(fmt.Sprintf("owner-%d", i))}
	if d.chance(10) {
		meta.Namespace = pick(d, namespaces...)
	}
	switch d.IntN(5) {
	case 0:
		return &corev1.ReplicationController{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ReplicationController"},
			ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: d.labels(podLabels, 50)}}
	case 1:
		return &appsv1.ReplicaSet{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
			ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: d.labelSelector()}}
	case 2:
		return &appsv1.StatefulSet{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
			ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: d.labelSelector()}}
	}
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: d.labels(podLabels, 30)}}
}

// distinct drops objects whose kind, namespace and name another has already.
func distinct(objects []runtime.Object) []runtime.Object {
	seen := map[string]bool{}
	var kept []runtime.Object
	for _, object := range objects {
		meta := object.(metav1.Object)
		key := fmt.Sprintf("%T %s %s", object, meta.GetNamespace(), meta.GetName())
		if !seen[key] {
			seen[key] = true
			kept = append(kept, object)
		}
	}
	return kept
}
