package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Three policies, by the label tier. Each left pods Pending that run without it.
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
	s.must(os.WriteFile(w.policies, []byte(strings.ReplaceAll(harmfulPolicies, "SCHEDULER", s.id)), 0o644))
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	tiers := []struct {
		app, tier string
		count     int
		change    func(*v1.Pod)
		zones     []int // pods a zone, sorted
	}{
		{"misspelt", "misspelt", 4, func(*v1.Pod) {}, nil},
		{"pinned", "three", 3, func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }, []int{3}},
		{"together", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, zoneKey) }, []int{3}},
		{"one-node", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, hostKey) }, []int{3}},
		{"one-region", "zones", 4, func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, regionKey) }, nil},
		{"apart", "zones", 3, func(pod *v1.Pod) { pod.Spec.Affinity = oneEach(pod, zoneKey) }, []int{1, 1, 1}},
		{"plain", "zones", 6, func(*v1.Pod) {}, []int{2, 2, 2}}, // although a fourth zone is tainted
	}
	w.tryUntil("patched", func(pod *v1.Pod, err error) bool { return err == nil })
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
