package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Policies, by the label tier. Each left pods Pending that run without it.
const harmfulPolicies = `
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: misspelt}, spec: {
  match: {objectSelector: {matchLabels: {tier: misspelt}}},
  pods: {schedulerNames: [SCHEDULER], spread: [{topologyKey: topology.kubernetes.io/zones, whenUnsatisfiable: DoNotSchedule}]}}}
---
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: three}, spec: {
  match: {objectSelector: {matchLabels: {tier: three}}},
  pods: {schedulerNames: [SCHEDULER], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}]}}}
---
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: zones}, spec: {
  match: {objectSelector: {matchLabels: {tier: zones}}},
  pods: {schedulerNames: [SCHEDULER], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}}}
---
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: ignore}, spec: {
  match: {objectSelector: {matchLabels: {tier: ignore}}},
  pods: {schedulerNames: [SCHEDULER], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore}]}}}
---
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: halls}, spec: {
  match: {objectSelector: {matchLabels: {tier: halls}}},
  pods: {schedulerNames: [SCHEDULER], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule},
    {topologyKey: example.com/hall, whenUnsatisfiable: DoNotSchedule}]}}}
`

// TestWebhookHarm: pods whose own terms contradict their policy run, on a real kube-scheduler without
// an extender, as they would without Evenkeel; and where the policy can hold, it holds.
func TestWebhookHarm(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	for zone := range 4 {
		for i := range 2 {
			var taints []v1.Taint
			if zone == 3 { // a zone that none of the pods may use
				taints = append(taints, v1.Taint{Key: "gpu", Value: "yes", Effect: v1.TaintEffectNoSchedule})
			}
			s.node(fmt.Sprintf("z%d-n%d", zone, i), map[string]string{zoneKey: fmt.Sprintf("zone-%d", zone),
				regionKey: fmt.Sprintf("region-%d", zone/2)}, taints...)
		}
	}
	s.node("hall", map[string]string{"example.com/hall": "north"}) // without a zone
	for i := range 3 {
		s.zonalVolume(fmt.Sprintf("data-%d", i), "zone-0")
	}
	s.must(os.WriteFile(w.policies, []byte(strings.ReplaceAll(harmfulPolicies, "SCHEDULER", s.id)), 0o644))
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	tiers := []struct {
		app, tier string
		count     int
		change    func(pod *v1.Pod)
		zones     []int // pods a zone, sorted
	}{
		{"misspelt", "misspelt", 4, func(*v1.Pod) {}, nil},
		{"pinned", "three", 3, func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }, []int{3}},
		{"together", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, zoneKey) }, []int{3}},
		{"one-node", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, hostKey) }, []int{3}},
		{"one-region", "zones", 4, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, regionKey) }, nil},
		{"apart", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = oneEach(pod, zoneKey) }, []int{1, 1, 1}},
		// db stands in zone-0, and web beside it
		{"db", "none", 1, func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }, []int{1}},
		{"web", "zones", 3, func(pod *v1.Pod) {
			pod.Spec.Affinity = together(pod, zoneKey)
			pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels["app"] = "db"
		}, []int{3}},
		{"volumes", "zones", 3, func(pod *v1.Pod) {
			pod.Spec.Volumes = mounts("data" + strings.TrimPrefix(pod.Name, "volumes"))
		}, []int{3}},
		{"ignore", "ignore", 3, func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }, []int{3}},
		{"halls", "halls", 3, func(*v1.Pod) {}, []int{1, 1, 1}}, // spread over zones, which come first
		{"plain", "zones", 6, func(*v1.Pod) {}, []int{2, 2, 2}}, // although a fourth zone is tainted
	}
	w.until("pods are patched, and volumes are known", func(ctx context.Context) (bool, error) {
		probe := s.newPod("probe", "probe", s.id)
		probe.Labels["tier"] = "zones"
		probe.Spec.Volumes = mounts("data-0")
		pod, err := w.try(ctx, probe)
		return err == nil && len(pod.Spec.TopologySpreadConstraints) > 0 &&
			pod.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable == v1.ScheduleAnyway, err
	})
	s.scheduler(s.id, nil)
	r := s.record()
	total := 0
	for _, tier := range tiers {
		for i := range tier.count {
			pod := s.newPod(fmt.Sprintf("%s-%d", tier.app, i), tier.app, s.id)
			pod.Labels["tier"] = tier.tier
			tier.change(pod)
			s.create(pod)
		}
		total += tier.count
	}
	s.waitBound(r, total)
	for _, tier := range tiers {
		counts := make([]int, 0, 4)
		for _, count := range s.perDomain(zoneKey, tier.app) {
			if count > 0 {
				counts = append(counts, count)
			}
		}
		slices.Sort(counts)
		if tier.zones != nil && !slices.Equal(counts, tier.zones) {
			t.Errorf("%s: %v pods a zone, not %v", tier.app, counts, tier.zones)
		}
	}
}

func mounts(claim string) []v1.Volume {
	return []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
}

// zonalVolume is a claim that is bound to a volume of one zone, as a StatefulSet's is when its pod comes again.
func (s *stage) zonalVolume(name, zone string) {
	s.Helper()
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	none, volume := "", s.id+"-"+name
	_, err := s.Client.CoreV1().PersistentVolumes().Create(s.ctx, &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: v1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, StorageClassName: none,
			ClaimRef:               &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: s.id, Name: name},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: "example.com", VolumeHandle: volume}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: zoneKey, Operator: v1.NodeSelectorOpIn, Values: []string{zone}}}}}}},
		}}, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() {
		_ = s.Client.CoreV1().PersistentVolumes().Delete(context.Background(), volume, metav1.DeleteOptions{})
	})
	_, err = s.Client.CoreV1().PersistentVolumeClaims(s.id).Create(s.ctx, &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.id,
			Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: modes, VolumeName: volume, StorageClassName: &none,
			Resources: v1.VolumeResourceRequirements{Requests: size}},
	}, metav1.CreateOptions{})
	s.must(err)
}

func ownTerm(pod *v1.Pod, key string) []v1.PodAffinityTerm {
	return []v1.PodAffinityTerm{{TopologyKey: key,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}}}
}

// together: all pods of the group in one domain, as LeaderWorkerSet and JobSet do with exclusive topology.
func together(pod *v1.Pod, key string) *v1.Affinity {
	return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: ownTerm(pod, key)}}
}

func oneEach(pod *v1.Pod, key string) *v1.Affinity {
	return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: ownTerm(pod, key)}}
}
