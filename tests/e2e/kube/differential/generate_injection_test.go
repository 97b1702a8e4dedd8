package differential

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

const (
	regionKey   = corev1.LabelTopologyRegion
	workloadApp = "web" // of the workload that is placed; running pods are others'
)

// injectionCase is a cluster, a policy in the form that files have it, and a workload's replicas.
type injectionCase struct {
	cluster  intree.Objects
	policy   tree
	replicas []*corev1.Pod // as their author wrote them
}

func (d dice) injectionCase() *injectionCase {
	c := &injectionCase{policy: d.injectionPolicy()}
	c.cluster.Namespaces = []*corev1.Namespace{{TypeMeta: typeOf("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "shop",
		Labels: map[string]string{corev1.LabelMetadataName: "shop"}}}}
	d.injectionNodes(c)
	d.runningOthers(c)
	d.workload(c)
	return c
}

func typeOf(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// ---- the policy ----

func (d dice) injectionPolicy() tree {
	keys := []string{zoneKey, zoneKey, hostnameKey, regionKey, rackKey}
	spread, used := []any{}, map[string]bool{}
	for range pick(d, 1, 1, 1, 2, 2, 3) {
		key := pick(d, keys...)
		if used[key] {
			continue
		}
		used[key] = true
		one := tree{"topologyKey": key, "maxSkew": pick(d, 1, 1, 1, 2), "whenUnsatisfiable": "ScheduleAnyway"}
		if d.chance(75) {
			one["whenUnsatisfiable"] = "DoNotSchedule"
			if d.chance(15) {
				one["minDomains"] = 2 + d.IntN(2)
			}
		}
		for _, policy := range some(d, 12, "nodeAffinityPolicy", "nodeTaintsPolicy") {
			one[policy] = "Ignore"
		}
		spread = append(spread, one)
	}
	return tree{"apiVersion": "evenkeel.io/v1alpha1", "kind": "TopologyPolicy", "metadata": tree{"name": "all"},
		"spec": tree{"pods": tree{"spread": spread}}}
}

// ---- the cluster ----

// injectionNodes have the labels of zones, regions and racks all, or some of them.
func (d dice) injectionNodes(c *injectionCase) {
	zones, everywhere := 1+d.IntN(3), d.chance(60)
	for i := range 2 + d.IntN(6) {
		zone, name := d.IntN(zones), fmt.Sprint("n", i)
		labels := map[string]string{hostnameKey: name, "disk": pick(d, "ssd", "hdd")}
		if everywhere || d.chance(60) {
			labels[zoneKey] = fmt.Sprint("z", zone)
		}
		if everywhere || d.chance(60) {
			labels[regionKey] = fmt.Sprint("r", zone/2)
		}
		if d.chance(50) {
			labels[rackKey] = fmt.Sprint("rack", d.IntN(3))
		}
		node := &corev1.Node{TypeMeta: typeOf("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110"),
			corev1.ResourceCPU: resource.MustParse(pick(d, "2", "4", "8", "32"))}
		if d.chance(15) {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule})
		}
		if d.chance(8) {
			node.Spec.Unschedulable = true
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		c.cluster.Nodes = append(c.cluster.Nodes, node)
	}
}

func (d dice) runningOthers(c *injectionCase) {
	for i, app := range some(d, 35, "cache", "cache", "db", "db", "loner") {
		pod := simplePod(app, fmt.Sprint(app, "-", i))
		pod.Spec.NodeName = pick(d, c.cluster.Nodes...).Name
		if app == "loner" { // wants none of the workload near
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: termsOn(pick(d, hostnameKey, zoneKey), workloadApp)}}
		}
		c.cluster.Pods = append(c.cluster.Pods, pod)
	}
}

func simplePod(app, name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: typeOf("v1", "Pod"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID(name),
			Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{Name: "main", Image: "example.com/image",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
	}
}

func selecting(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func termsOn(key, app string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: selecting(app)}}
}

// ---- the workload ----

func (d dice) workload(c *injectionCase) {
	template := simplePod(workloadApp, "")
	d.ownTerms(&template.Spec)
	count, claims := 2+d.IntN(6), d.IntN(100)
	for i := range count {
		pod := template.DeepCopy()
		pod.Name = fmt.Sprint(workloadApp, "-", i)
		pod.UID = types.UID(pod.Name)
		switch {
		case claims < 12: // a volume for each
			d.mountClaim(c, pod, fmt.Sprint("data-", i), true)
		case claims < 18: // one for all
			d.mountClaim(c, pod, "data", i == 0)
		}
		c.replicas = append(c.replicas, pod)
	}
}

func (d dice) ownTerms(spec *corev1.PodSpec) {
	affinity := &corev1.Affinity{}
	spec.Affinity = affinity
	if d.chance(20) {
		spec.NodeSelector = map[string]string{}
		for _, key := range some(d, 50, "disk", zoneKey) {
			spec.NodeSelector[key] = map[string]string{"disk": "ssd", zoneKey: "z0"}[key]
		}
	}
	if d.chance(30) {
		spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	if d.chance(15) {
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: termsOn(
			pick(d, hostnameKey, zoneKey, regionKey), pick(d, "cache", "cache", workloadApp))}
	}
	if d.chance(15) {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: termsOn(
			pick(d, hostnameKey, hostnameKey, zoneKey, rackKey), pick(d, "db", "db", workloadApp))}
	}
	if d.chance(5) {
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	if d.chance(35) {
		used := map[string]bool{}
		for range pick(d, 1, 1, 2) {
			key := pick(d, hostnameKey, hostnameKey, zoneKey, rackKey)
			if !used[key] {
				spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, d.ownConstraint(key))
			}
			used[key] = true
		}
	}
}

func (d dice) ownConstraint(key string) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: pick[int32](d, 1, 1, 2),
		WhenUnsatisfiable: pick(d, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: selecting(workloadApp)}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && d.chance(10) {
		two := int32(2)
		c.MinDomains = &two
	}
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	if d.chance(30) {
		c.NodeTaintsPolicy = &honor
	}
	if d.chance(10) {
		c.NodeAffinityPolicy = &ignore
	}
	return c
}

// mountClaim has the pod mount a claim, which is made if it is a new one, bound to a volume that is
// anywhere or where a label or node affinity says.
func (d dice) mountClaim(c *injectionCase, pod *corev1.Pod, name string, isNew bool) {
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	if !isNew {
		return
	}
	claim := &corev1.PersistentVolumeClaim{TypeMeta: typeOf("v1", "PersistentVolumeClaim"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("claim-" + name)},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name}}
	volume := &corev1.PersistentVolume{TypeMeta: typeOf("v1", "PersistentVolume"),
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, Labels: map[string]string{}}}
	node := pick(d, c.cluster.Nodes...)
	required := func(key, value string) {
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}}}}
	}
	switch d.IntN(7) {
	case 0, 1:
		volume.Labels[zoneKey] = pick(d, "z0", "z1", "z0__z1")
	case 2:
		volume.Labels[corev1.LabelFailureDomainBetaZone] = pick(d, "z0", "z1")
	case 3:
		volume.Labels[regionKey] = pick(d, "r0", "r1")
	case 4:
		required(zoneKey, pick(d, "z0", "z1"))
	case 5:
		required(hostnameKey, node.Name)
	}
	c.cluster.Claims = append(c.cluster.Claims, claim)
	c.cluster.Volumes = append(c.cluster.Volumes, volume)
}
