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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// TestPlacement goes through every cluster of up to three zones, each of one or two nodes with up to
// two pods of the group: a pod that the webhook has patched is let by kube-scheduler's own plugins onto
// exactly the nodes that its policy allows, by a model that has nothing in common with either. There
// are 1,884 clusters whatever the number of cases.
func TestPlacement(t *testing.T) {
	w := startWebhook(t)
	var judged, refused int
	for _, kind := range placedKinds {
		pod := w.placed(t, kind)
		for number, c := range everySmallCluster() {
			allowed, err := c.judge(pod)
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
}

// See admissionPolicies and admissionState.
var placedKinds = []placedKind{
	{name: "front", tier: "front", zoneSkew: 1, zones: 3},
	{name: "back", tier: "back", hostSkew: 1},
	{name: "rest", tier: "none"},
	{name: "front with data", tier: "front", claim: "images", zoneSkew: 1, zones: 3, firstOnly: true},
	{name: "back with data", tier: "back", claim: "images", hostSkew: 1, firstOnly: true},
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
	text := []byte(toJSON(pod))
	answer, err := w.ask(text)
	if err != nil || answer.Patch == nil {
		t.Fatalf("%s: %v, %v", kind.name, answer, err)
	}
	if text, err = apply(text, answer.Patch); err != nil {
		t.Fatal(err)
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

// judge asks kube-scheduler's plugins for spreading and node affinity about every node. The pods that
// are there have all labels of the pod.
func (c smallCluster) judge(pod *corev1.Pod) (map[string]bool, error) {
	var objects intree.Objects
	for zone, counts := range c {
		for i, count := range counts {
			name := smallNode(zone, i)
			labels := map[string]string{zoneKey: fmt.Sprint("zone-", zone), hostnameKey: name, rackKey: "rack"}
			labels["disk"] = []string{"ssd", "hdd"}[i]
			objects.Nodes = append(objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
			for k := range count {
				one := groupPod(pod.Labels["tier"], fmt.Sprint(name, "-", k), name)
				one.Labels = pod.Labels
				objects.Pods = append(objects.Pods, one)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := intree.NewCluster(ctx, &objects, intree.SystemDefaulting())
	if err != nil {
		return nil, err
	}
	names := cluster.AllNodes()
	codes, err := cluster.Filter(ctx, pod, names)
	if err != nil {
		return nil, err
	}
	allowed := map[string]bool{}
	for i, name := range names {
		at := slices.IndexFunc(objects.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(objects.Nodes[at])
		if err != nil {
			return nil, err
		}
		allowed[name] = matches && codes[i] == fwk.Success
	}
	return allowed, nil
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
			allowed[smallNode(zone, i)] = kind.usable(i) &&
				(kind.zoneSkew == 0 || inZone[zone]+1-fewestInZone <= kind.zoneSkew) &&
				(kind.hostSkew == 0 || count+1-fewestOnNode <= kind.hostSkew)
		}
	}
	return allowed
}

func (k *placedKind) usable(i int) bool {
	return i == 0 || !k.firstOnly
}
