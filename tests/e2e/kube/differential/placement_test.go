package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// TestPlacement goes through every cluster of up to three zones, each of one or two nodes with up to
// two pods of the group: a pod that the webhook has patched is let by kube-scheduler's own plugins onto
// exactly the nodes that its policy and its own terms allow, by a model that has nothing in common with
// either. There are 1,884 clusters whatever the number of cases; pods with own terms are shown each of
// them in one order of its zones, which are 454.
func TestPlacement(t *testing.T) {
	w := startWebhook(t)
	var judged, refused int
	for _, kind := range placedKinds {
		pod := w.placed(t, kind)
		for number, c := range everySmallCluster() {
			if (kind.own != nil || kind.tainted) && !slices.IsSortedFunc(c, slices.Compare) {
				continue
			}
			allowed, err := c.judge(pod, kind)
			if err != nil {
				t.Fatal(err)
			}
			want := c.model(kind)
			if !maps.Equal(allowed, want) {
				t.Fatalf("%s in cluster %d %v: the plugins say %v, the policy %v", kind.name, number, c, allowed, want)
			}
			for _, may := range want {
				judged++
				if !may {
					refused++
				}
			}
		}
	}
	t.Logf("%d verdicts, %d of them no", judged, refused)
	if refused*10 < judged || refused*10 > judged*9 {
		t.Error("hardly any choice: the cases are too dull")
	}
}

// placedKind is a pod and what its policy asks for, in our own words.
type placedKind struct {
	name, tier string
	claim      string // a dataset's
	// How many more pods than the emptiest domain one may have; 0: no limit.
	zoneSkew, hostSkew int
	zones              int  // there must be so many, or the emptiest counts as empty
	firstOnly          bool // of the nodes of a zone, only the first may have the pod at all

	// What the pod says itself. The nodes that are not the first of their zone may be tainted.
	own             func(spec *corev1.PodSpec)
	tainted         bool
	together, apart string // the key by which the group is kept in one domain, or one pod a domain
}

// See admissionPolicies and admissionState.
var placedKinds = []placedKind{
	{name: "front", tier: "front", zoneSkew: 1, zones: 3},
	{name: "back", tier: "back", hostSkew: 1},
	{name: "rest", tier: "none"},
	{name: "front with data", tier: "front", claim: "images", zoneSkew: 1, zones: 3, firstOnly: true},
	{name: "back with data", tier: "back", claim: "images", hostSkew: 1, firstOnly: true},
	{name: "front by nodeSelector", tier: "front", zoneSkew: 1, zones: 3, firstOnly: true, own: func(spec *corev1.PodSpec) {
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	}},
	{name: "back by node affinity", tier: "back", hostSkew: 1, firstOnly: true, own: func(spec *corev1.PodSpec) {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"hdd"}}}}}}}}
	}},
	{name: "front beside taints", tier: "front", zoneSkew: 1, zones: 3, firstOnly: true, tainted: true},
	{name: "back beside taints", tier: "back", hostSkew: 1, firstOnly: true, tainted: true},
	{name: "front tolerating taints", tier: "front", zoneSkew: 1, zones: 3, tainted: true, own: func(spec *corev1.PodSpec) {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}},
	// Constraints that the pod's own terms contradict, or make needless, are left out.
	{name: "front together in a zone", tier: "front", together: zoneKey, own: beside(zoneKey)},
	{name: "back together on a node", tier: "back", together: hostnameKey, own: beside(hostnameKey)},
	{name: "front, one a zone", tier: "front", apart: zoneKey, own: apart(zoneKey)},
	{name: "front, one a node", tier: "front", zoneSkew: 1, zones: 3, apart: hostnameKey, own: apart(hostnameKey)},
	{name: "back, one a zone", tier: "back", hostSkew: 1, apart: zoneKey, own: apart(zoneKey)},
}

func groupTerm(key string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{TopologyKey: key,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}

func beside(key string) func(spec *corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: groupTerm(key)}}
	}
}

func apart(key string) func(spec *corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: groupTerm(key)}}
	}
}

// placed is the pod as the webhook makes it. It counts pods of all revisions.
func (w *webhook) placed(t *testing.T, kind placedKind) *corev1.Pod {
	t.Helper()
	pod := groupPod(kind.tier, "incoming", "")
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/image"}}
	if kind.claim != "" {
		pod.Labels["fuse.serverful.fluid.io/inject"] = "true"
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: kind.claim}}}}
	}
	if kind.own != nil {
		kind.own(&pod.Spec)
	}
	text := []byte(toJSON(pod))
	answer, err := w.ask(text)
	if err != nil {
		t.Fatalf("%s: %v", kind.name, err)
	}
	if answer.Patch != nil {
		if text, err = apply(text, answer.Patch); err != nil {
			t.Fatal(err)
		}
	}
	patched := &corev1.Pod{}
	if err := json.Unmarshal(text, patched); err != nil {
		t.Fatal(err)
	}
	return patched
}

func groupPod(tier, name, node string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID(name),
			Labels: map[string]string{"app": "web", "tier": tier}},
		Spec: corev1.PodSpec{NodeName: node},
	}
}

// smallCluster has how many pods are on each node of each zone. The first node of a zone has what
// the datasets' FUSE client needs.
type smallCluster [][]int

// everySmallCluster lists them.
func everySmallCluster() []smallCluster {
	var zones [][]int // every zone
	for a := range 3 {
		zones = append(zones, []int{a})
		for b := range 3 {
			zones = append(zones, []int{a, b})
		}
	}
	all := []smallCluster{}
	larger := []smallCluster{{}}
	for range 3 {
		var next []smallCluster
		for _, c := range larger {
			for _, zone := range zones {
				next = append(next, append(slices.Clone(c), zone))
			}
		}
		all, larger = append(all, next...), next
	}
	return all
}

func smallNode(zone, i int) string { return fmt.Sprintf("node-%d-%d", zone, i) }

// judge asks kube-scheduler's filters, but those of volumes and devices, about every node. The pods that
// are there have all labels of the pod.
func (c smallCluster) judge(pod *corev1.Pod, kind placedKind) (map[string]bool, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	filters, err := intree.NewFilters(ctx, c.objects(pod, kind), nil)
	if err != nil {
		return nil, err
	}
	verdicts, err := filters.Filter(ctx, pod)
	allowed := map[string]bool{}
	for name, verdict := range verdicts {
		allowed[name] = verdict.Code == fwk.Success
	}
	return allowed, err
}

func (c smallCluster) objects(pod *corev1.Pod, kind placedKind) *intree.Objects {
	var objects intree.Objects
	for zone, counts := range c {
		for i, count := range counts {
			name := smallNode(zone, i)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				zoneKey: fmt.Sprint("zone-", zone), hostnameKey: name, rackKey: "rack", "disk": []string{"ssd", "hdd"}[i]}}}
			node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
			if kind.tainted && i > 0 {
				node.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
			}
			objects.Nodes = append(objects.Nodes, node)
			for k := range count {
				one := groupPod(pod.Labels["tier"], fmt.Sprint(name, "-", k), name)
				one.Labels = pod.Labels
				objects.Pods = append(objects.Pods, one)
			}
		}
	}
	return &objects
}

// model is what the policy means: nowhere are there more pods than skew says beyond the domain that has
// fewest, of those domains where the pod could be at all.
func (c smallCluster) model(kind placedKind) map[string]bool {
	fewestOnNode, fewestInZone, zones := math.MaxInt, math.MaxInt, 0
	inZone := make([]int, len(c))
	for zone, counts := range c {
		usable := false
		for i, count := range counts {
			if kind.usable(i) {
				usable = true
				inZone[zone] += count
				fewestOnNode = min(fewestOnNode, count)
			}
		}
		if usable {
			zones++
			fewestInZone = min(fewestInZone, inZone[zone])
		}
	}
	if zones < kind.zones {
		fewestInZone = 0
	}
	allowed := map[string]bool{}
	for zone, counts := range c {
		for i, count := range counts {
			allowed[smallNode(zone, i)] = kind.usable(i) && c.bearable(kind, zone, count) &&
				(kind.zoneSkew == 0 || inZone[zone]+1-fewestInZone <= kind.zoneSkew) &&
				(kind.hostSkew == 0 || count+1-fewestOnNode <= kind.hostSkew)
		}
	}
	return allowed
}

// bearable says whether the pod's terms on its own group let it into this zone, on a node with so many of
// them. The first of a group that is kept together may go anywhere.
func (c smallCluster) bearable(kind placedKind, zone, onNode int) bool {
	inZone, all := 0, 0
	for other, counts := range c {
		for _, count := range counts {
			all += count
			if other == zone {
				inZone += count
			}
		}
	}
	there := map[string]int{zoneKey: inZone, hostnameKey: onNode}
	return (kind.together == "" || all == 0 || there[kind.together] > 0) && (kind.apart == "" || there[kind.apart] == 0)
}

func (k *placedKind) usable(i int) bool {
	return i == 0 || !k.firstOnly
}
