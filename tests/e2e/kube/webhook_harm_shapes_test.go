package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape is a way in which a group of pods is written.
type shape struct {
	name   string
	pods   int                                // created one after the other; of a Deployment the last replicas
	beside int                                // so many of them, the first, are another group's
	change func(g *group, i int, pod *v1.Pod) // of the i-th, from 0 on

	// Keys by which the pods' own terms on other pods, or their volumes, leave nothing to spread: one letter
	// each, z(one) r(egion) h(ost) k (rack).
	loose string
	// part is what is spread by itself within the group; nil: all pods together, by revision.
	part func(pod *v1.Pod) string
	// deployed are the steps of a Deployment's life; nil: the pods are created one by one.
	deployed []step
}

// notSpread is the part of pods that no policy is meant to spread: those that follow the first of a unit.
const notSpread = "-"

const everything = "zrhk"

func (s *shape) count() int { return s.pods - s.beside }

func (s *shape) isLoose(key string) bool {
	letter := map[string]string{zoneKey: "z", regionKey: "r", hostKey: "h", rackKey: "k"}[key]
	return letter != "" && strings.Contains(s.loose, letter)
}

func (s *shape) partOf(pod *v1.Pod) string {
	if s.part != nil {
		return s.part(pod)
	}
	return pod.Labels["pod-template-hash"]
}

var harmShapes = slices.Concat(plainShapes, pinnedShapes, exclusiveShapes, taintedShapes, volumeShapes,
	ownConstraintShapes, deployedShapes, operatorShapes())

var plainShapes = []shape{
	{name: "one pod", pods: 1},
	{name: "three pods", pods: 3},
	{name: "six pods", pods: 6},
	{name: "nine pods", pods: 9},
	{name: "one a node, for its port", pods: 6, change: func(g *group, _ int, pod *v1.Pod) {
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: g.port()}}
	}},
	{name: "one a node, in zones of one and of three nodes", pods: 4, change: func(g *group, i int, pod *v1.Pod) {
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: g.port()}}
		require(pod, hostKey, g.names("z0-n0", "z1-n0", "z1-n1", "z1-arm")...)
	}},
}

var pinnedShapes = []shape{
	{name: "pinned to a zone", pods: 4, change: selects(zoneKey, "zone-0")},
	{name: "pinned to two zones", pods: 5, change: requires(zoneKey, "zone-0", "zone-2")},
	{name: "pinned to two zones of a region", pods: 5, change: requires(zoneKey, "zone-0", "zone-1")},
	{name: "pinned to a region", pods: 5, change: selects(regionKey, "region-1")},
	{name: "pinned to a node", pods: 3, change: func(g *group, _ int, pod *v1.Pod) {
		pod.Spec.NodeSelector[hostKey] = g.names("z0-n0")[0]
	}},
	{name: "pinned to a node by its name", pods: 3, change: func(g *group, _ int, pod *v1.Pod) { pinName(pod, g.names("z1-n0")[0]) }},
	{name: "each pinned to a node of its own", pods: 4, loose: everything, change: func(g *group, i int, pod *v1.Pod) {
		pinName(pod, g.names("z0-n0", "z0-n1", "z1-n0", "z2-n0")[i])
	}},
	{name: "kept from a zone", pods: 5, change: func(_ *group, _ int, pod *v1.Pod) {
		terms(pod, v1.NodeSelectorRequirement{Key: zoneKey, Operator: v1.NodeSelectorOpNotIn, Values: []string{"zone-0"}})
	}},
	{name: "pinned to a node in each zone", pods: 6, change: func(g *group, _ int, pod *v1.Pod) {
		require(pod, hostKey, g.names("z0-n0", "z1-n0", "z2-n0", "z3-n0")...)
	}},
	{name: "either a zone or an architecture", pods: 5, change: func(_ *group, _ int, pod *v1.Pod) {
		terms(pod, v1.NodeSelectorRequirement{Key: zoneKey, Operator: v1.NodeSelectorOpIn, Values: []string{"zone-0"}})
		terms(pod, v1.NodeSelectorRequirement{Key: v1.LabelArchStable, Operator: v1.NodeSelectorOpIn, Values: []string{"arm64"}})
	}},
	{name: "arm64", pods: 4, change: selects(v1.LabelArchStable, "arm64")},
	{name: "late generations", pods: 5, change: func(_ *group, _ int, pod *v1.Pod) {
		terms(pod, v1.NodeSelectorRequirement{Key: "generation", Operator: v1.NodeSelectorOpGt, Values: []string{"3"}})
	}},
	{name: "only nodes without a zone", pods: 3, change: selects("example.com/hall", "north")},
	{name: "only nodes with a zone", pods: 5, change: func(_ *group, _ int, pod *v1.Pod) {
		terms(pod, v1.NodeSelectorRequirement{Key: zoneKey, Operator: v1.NodeSelectorOpExists})
	}},
	{name: "prefers a zone", pods: 6, change: func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{Weight: 100,
				Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{
					{Key: zoneKey, Operator: v1.NodeSelectorOpIn, Values: []string{"zone-0"}}}}}}}}
	}},
	{name: "every second one pinned", pods: 6, loose: everything, change: func(_ *group, i int, pod *v1.Pod) {
		if i%2 == 0 {
			pod.Spec.NodeSelector[zoneKey] = "zone-0"
		}
	}},
	{name: "two halves of zones that overlap", pods: 6, loose: everything, change: func(_ *group, i int, pod *v1.Pod) {
		require(pod, zoneKey, "zone-1", []string{"zone-0", "zone-2"}[i/3])
	}},
}

var exclusiveShapes = []shape{
	{name: "together in a zone", pods: 3, loose: everything, change: withOwn(zoneKey, "")},
	{name: "together on a node", pods: 3, loose: everything, change: withOwn(hostKey, "")},
	{name: "together in a region", pods: 4, loose: everything, change: withOwn(regionKey, "")},
	{name: "together in a region that they are pinned to", pods: 4, loose: "h", change: func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.NodeSelector[regionKey] = "region-0"
		pod.Spec.Affinity = together(pod, regionKey)
	}},
	{name: "together in a zone, apart by node", pods: 2, loose: everything, change: withOwn(zoneKey, hostKey)},
	{name: "one a zone", pods: 4, change: withOwn("", zoneKey)},
	{name: "one a node", pods: 7, change: withOwn("", hostKey)},
	{name: "one a region", pods: 2, change: withOwn("", regionKey)},
	{name: "beside others in a zone", pods: 5, beside: 1, loose: everything, change: besideOthers(selects(zoneKey, "zone-0"),
		func(g *group, pod *v1.Pod) {
			pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.othersTerm(zoneKey)}}
		})},
	{name: "beside others on their node", pods: 4, beside: 1, loose: everything, change: besideOthers(nil,
		func(g *group, pod *v1.Pod) {
			pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.othersTerm(hostKey)}}
		})},
	{name: "away from others' zone", pods: 11, beside: 1, loose: everything, change: besideOthers(selects(zoneKey, "zone-0"), away(zoneKey))},
	{name: "away from others' region", pods: 8, beside: 1, loose: everything, change: besideOthers(selects(regionKey, "region-0"), away(regionKey))},
	{name: "away from others' node", pods: 7, beside: 1, loose: "hk", change: besideOthers(selects("generation", "0"), away(hostKey))},
	{name: "away from others on all nodes of a zone", pods: 9, beside: 2, loose: everything, change: besideOthers(
		func(_ *group, i int, pod *v1.Pod) { pod.Spec.NodeSelector["generation"] = fmt.Sprint(i) }, away(hostKey))},
	{name: "kept away by others in a zone", pods: 7, beside: 1, loose: everything, change: besideOthers(keepingAway("zone-0", zoneKey), nil)},
	{name: "kept away by others in a region", pods: 7, beside: 1, loose: everything, change: besideOthers(keepingAway("zone-0", regionKey), nil)},
	{name: "kept away by others on a node", pods: 7, beside: 1, loose: everything, change: besideOthers(keepingAway("zone-0", hostKey), nil)},
	{name: "would rather be beside others", pods: 7, beside: 1, change: besideOthers(selects(zoneKey, "zone-0"), func(g *group, pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: g.othersTerm(zoneKey)[0]}}}}
	})},
	{name: "together in a zone, across namespaces", pods: 3, loose: everything, change: func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.Affinity = together(pod, zoneKey)
		pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{}
	}},
}

var taintedShapes = []shape{
	{name: "tolerates a zone's taint", pods: 6, change: tolerates(gpuTaint)},
	{name: "tolerates every taint", pods: 6, change: func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	}},
	{name: "only the tainted zone", pods: 3, change: func(g *group, i int, pod *v1.Pod) {
		tolerates(gpuTaint)(g, i, pod)
		pod.Spec.NodeSelector[zoneKey] = "zone-4"
	}},
	{name: "the tainted zone and another one", pods: 4, change: func(g *group, i int, pod *v1.Pod) {
		tolerates(gpuTaint)(g, i, pod)
		require(pod, zoneKey, "zone-4", "zone-0")
	}},
	{name: "GPUs in two zones", pods: 4, change: func(g *group, i int, pod *v1.Pod) {
		tolerates(gpuTaint)(g, i, pod)
		pod.Spec.NodeSelector["accelerator"] = "gpu"
	}},
	{name: "Windows", pods: 4, change: func(g *group, i int, pod *v1.Pod) {
		tolerates("os")(g, i, pod)
		pod.Spec.NodeSelector[v1.LabelOSStable] = "windows"
		pod.Spec.OS = &v1.PodOS{Name: v1.Windows}
	}},
	{name: "Linux", pods: 6, change: selects(v1.LabelOSStable, "linux")},
}

var volumeShapes = []shape{
	{name: "volumes of one zone", pods: 4, loose: everything, change: mountsOf(func(int) string { return "zone-0" })},
	{name: "a volume in every zone", pods: 6, loose: everything, change: mountsOf(func(i int) string { return fmt.Sprintf("zone-%d", i%4) })},
	{name: "a volume of the zone that they are pinned to", pods: 3, loose: "h", change: func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.NodeSelector[zoneKey] = "zone-1"
		pod.Spec.Volumes = mounts("zone-1")
	}},
	{name: "volumes of a node", pods: 3, loose: everything, change: mountsOf(func(int) string { return "host" })},
	{name: "volumes of a region", pods: 5, loose: everything, change: mountsOf(func(int) string { return "region" })},
	{name: "a volume of the first", pods: 6, change: mountsOf(func(i int) string { return []string{"zone-0", "", "", "", "", ""}[i] })},
	{name: "a volume of the last", pods: 6, loose: everything, change: mountsOf(func(i int) string { return []string{"", "", "", "", "", "zone-0"}[i] })},
	{name: "volumes of two zones, one of which is drained", pods: 4, loose: everything, change: mountsOf(func(i int) string { return "zones" })},
}

var ownConstraintShapes = []shape{
	{name: "a preference of its own on zones", pods: 6, loose: "z", change: own(zoneKey, v1.ScheduleAnyway)},
	{name: "a constraint of its own on nodes", pods: 7, loose: "h", change: own(hostKey, v1.DoNotSchedule)},
	{name: "a constraint of its own on racks", pods: 4, change: own(rackKey, v1.DoNotSchedule), loose: "k"},
}

// ---- writing them ----

type change = func(g *group, i int, pod *v1.Pod)

// names of nodes in the API.
func (g *group) names(short ...string) []string {
	for i := range short {
		short[i] = g.stage.id + "-" + short[i]
	}
	return short
}

// port that no other group asks for.
func (g *group) port() int32 {
	var policy, shape int32
	_, _ = fmt.Sscanf(g.id, "p%d-s%d", &policy, &shape) // that is how it is made
	return 20000 + policy*200 + shape
}

// terms adds one of which one must be true; together with those in nodeSelector.
func terms(pod *v1.Pod, requirements ...v1.NodeSelectorRequirement) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{}}}
	}
	selector := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, v1.NodeSelectorTerm{MatchExpressions: requirements})
}

func require(pod *v1.Pod, key string, values ...string) {
	terms(pod, v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: values})
}

func requires(key string, values ...string) change {
	return func(_ *group, _ int, pod *v1.Pod) { require(pod, key, values...) }
}

func selects(key, value string) change {
	return func(_ *group, _ int, pod *v1.Pod) { pod.Spec.NodeSelector[key] = value }
}

func pinName(pod *v1.Pod, node string) {
	terms(pod)
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields =
		[]v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}
}

func tolerates(taint string) change {
	return func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: taint, Operator: v1.TolerationOpExists})
	}
}

func mountsOf(claim func(i int) string) change {
	return func(_ *group, i int, pod *v1.Pod) {
		if name := claim(i); name != "" {
			pod.Spec.Volumes = mounts(name)
		}
	}
}

func own(key string, when v1.UnsatisfiableConstraintAction) change {
	return func(g *group, _ int, pod *v1.Pod) {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(key, 1, when, g.id)}
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

// withOwn: pods that must be in one domain of a key, and in different ones of another; "": neither.
func withOwn(inOne, apart string) change {
	return func(_ *group, _ int, pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{}
		if inOne != "" {
			pod.Spec.Affinity.PodAffinity = together(pod, inOne).PodAffinity
		}
		if apart != "" {
			pod.Spec.Affinity.PodAntiAffinity = oneEach(pod, apart).PodAntiAffinity
		}
	}
}

// othersTerm means the pods beside the group.
func (g *group) othersTerm(key string) []v1.PodAffinityTerm {
	return []v1.PodAffinityTerm{{TopologyKey: key,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db-" + g.id}}}}
}

// besideOthers: the first pods are others', whom no policy is for.
func besideOthers(others change, ours func(g *group, pod *v1.Pod)) change {
	return func(g *group, i int, pod *v1.Pod) {
		if i >= g.shape.beside {
			if ours != nil {
				ours(g, pod)
			}
			return
		}
		pod.Name = "db-" + pod.Name
		pod.Labels = map[string]string{"app": "db-" + g.id, "tier": noPolicy}
		if others != nil {
			others(g, i, pod)
		}
	}
}

func away(key string) func(g *group, pod *v1.Pod) {
	return func(g *group, pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.othersTerm(key)}}
	}
}

// keepingAway: a pod in a zone that wants none of the group in its domain.
func keepingAway(zone, key string) change {
	return func(g *group, _ int, pod *v1.Pod) {
		pod.Spec.NodeSelector[zoneKey] = zone
		pod.Spec.Affinity = oneEach(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": g.id}}}, key)
	}
}

// ---- volumes ----

func mounts(claim string) []v1.Volume {
	return []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
}

// harmVolumes makes a claim for every zone, "zone-0" and so on, and of a region, of a node, and of two zones.
func (s *stage) harmVolumes() {
	s.Helper()
	for zone := range 4 {
		name := fmt.Sprintf("zone-%d", zone)
		s.zonalVolume(name, name)
	}
	s.boundClaim("region", regionKey, "region-0")
	s.boundClaim("host", hostKey, s.id+"-z2-n0")
	s.boundClaim("zones", zoneKey, "zone-1", "zone-5")
}

// zonalVolume is a claim that is bound to a volume of one zone.
func (s *stage) zonalVolume(name, zone string) {
	s.Helper()
	s.boundClaim(name, zoneKey, zone)
}

// boundClaim is bound to a volume of some domains, as a StatefulSet's is when its pod comes again.
func (s *stage) boundClaim(name, key string, domains ...string) {
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
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: domains}}}}}},
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
