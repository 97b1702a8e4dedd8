package differential

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podToAdmit is mostly one that the API server would take. Its parts come from anywhere: templates of
// charts (of that one, else ""), Fluid's users, hand-made ones, clients that know more fields than we do.
func (d dice) podToAdmit() (pod []byte, template string) {
	const tries = 6
	sane := d.chance(75)
	for try := 1; ; try++ {
		pod, template = d.anyPodToAdmit()
		if !sane || try == tries || invalid(pod) == nil {
			return pod, template
		}
	}
}

func (d dice) anyPodToAdmit() (text []byte, template string) {
	var made *corev1.Pod
	if d.chance(25) {
		made, template = d.adaptedTemplate()
	} else {
		made = d.pieces()
	}
	pod, err := treeOf([]byte(toJSON(made)))
	if err != nil {
		panic(err) // only values made here
	}
	d.annotate(child(pod, "metadata"))
	for range pick(d, 0, 0, 1, 1, 2, 4) {
		d.strangeness(pod)
	}
	return []byte(toJSON(pod)), template
}

// pieces are put together as nobody would, with every shape of what Evenkeel looks at.
func (d dice) pieces() *corev1.Pod {
	made := d.incomingPod(nil, pick(d, 0, 0, 0, 1, 1, 2, 3))
	made.Spec.Containers = d.containers("main")
	made.Spec.InitContainers = d.containers("init")[:d.IntN(2)]
	made.Spec.Volumes = d.volumes()
	d.place(made)
	if d.chance(50) { // otherwise the terms are wilder than the API server takes
		made.Spec.Affinity = d.plainAffinity()
	}
	if d.chance(60) {
		made.Spec.Tolerations = nil
	}
	if d.chance(70) {
		made.Namespace = "shop"
	}
	d.label(made)
	return made
}

func (d dice) label(pod *corev1.Pod) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	set := func(percent int, key string, values ...string) {
		if d.chance(percent) {
			pod.Labels[key] = pick(d, values...)
		}
	}
	set(50, "fuse.serverful.fluid.io/inject", "true", "true", "true", "false")
	set(5, "serverless.fluid.io/inject", "true")
	set(10, "Fluid-Injection", "enabled", "disabled", "")
	set(5, "fluid.io/enable-injection", "false", "true")
	set(20, "fluid.io/dataset.images.sched", "required", "preferred")
	set(20, "fluid.io/dataset.words.sched", "required")
	set(10, "statefulset.kubernetes.io/pod-name", "web-0")
	set(10, "apps.kubernetes.io/pod-index", "0")
	set(5, "example.com/"+strings.Repeat("k", 63), strings.Repeat("v", 63))
	set(2, "not a label key", "v")
}

// place some of them where nobody may move them.
func (d dice) place(pod *corev1.Pod) {
	if d.chance(4) {
		pod.Spec.NodeName = nodeName(0)
	}
	if d.chance(4) {
		controller := true
		pod.OwnerReferences = nil
		pod.OwnerReferences = append(pod.OwnerReferences, d.ownerReferences()[:1]...)
		pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = "apps/v1", "DaemonSet"
		pod.OwnerReferences[0].Controller = &controller
	}
	if d.chance(10) {
		pod.Name, pod.GenerateName = "", "web-7d4b9-"
	}
}

var claims = []string{"images", "images", "words", "thin", "loose", "lost", "plain", "nobody-knows"}

func (d dice) volumes() []corev1.Volume {
	volumes := []corev1.Volume{{Name: "empty", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	for _, name := range []string{"data", "more"} {
		one := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
		if d.chance(70) {
			claim := pick(d, "images", "words", pick(d, claims...))
			one.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		}
		volumes = append(volumes, one)
	}
	return volumes
}

func (d dice) containers(name string) []corev1.Container {
	containers := []corev1.Container{}
	for i := range 1 + d.IntN(3) {
		one := corev1.Container{Name: name + "-" + string(rune('a'+i)), Image: "example.com/image",
			ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePolicy: corev1.TerminationMessageReadFile}
		for _, volume := range some(d, 60, "empty", "data", "more") {
			mount := corev1.VolumeMount{Name: volume, MountPath: "/" + volume}
			if d.chance(20) {
				mode := pick(d, corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, "")
				mount.MountPropagation = &mode
			}
			one.VolumeMounts = append(one.VolumeMounts, mount)
		}
		containers = append(containers, one)
	}
	return containers
}

// plainAffinity is of every shape, and of requirements that make sense.
func (d dice) plainAffinity() *corev1.Affinity {
	affinity := &corev1.Affinity{}
	if d.chance(30) {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 10, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostnameKey}}}}
	}
	switch d.IntN(5) {
	case 0:
		return nil
	case 1:
		return affinity
	}
	affinity.NodeAffinity = &corev1.NodeAffinity{}
	for range d.IntN(3) {
		affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 1 + d.Int32N(100), Preference: d.plainTerm()})
	}
	if d.chance(70) {
		required := &corev1.NodeSelector{}
		for range 1 + d.IntN(3) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, d.plainTerm())
		}
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	return affinity
}

func (d dice) plainTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range d.IntN(3) {
		one := corev1.NodeSelectorRequirement{Key: pick(d, "disk", "disk", zoneKey, "fluid.io/s-shop-images"),
			Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)}
		if one.Operator == corev1.NodeSelectorOpIn || one.Operator == corev1.NodeSelectorOpNotIn {
			one.Values = []string{pick(d, "ssd", "hdd", "zone-0", "zone-1", "true")}
		}
		if d.chance(20) {
			one = corev1.NodeSelectorRequirement{Key: "size", Operator: corev1.NodeSelectorOpGt, Values: []string{"1"}}
		}
		term.MatchExpressions = append(term.MatchExpressions, one)
	}
	if d.chance(15) {
		term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{nodeName(d.IntN(3))}}}
	}
	return term
}

// ---- oddities, in the text ----

func (d dice) annotate(metadata tree) {
	annotations := child(metadata, "annotations")
	how := d.IntN(8)
	switch {
	case how == 0 && annotations == nil:
		metadata["annotations"] = nil
	case how == 1 && annotations == nil:
		metadata["annotations"] = tree{}
	case how == 2 || how == 3:
		if annotations == nil {
			annotations = tree{}
		}
		for _, key := range some(d, 40, "a", "example.com/~tilde~1", "kubectl.kubernetes.io/last-applied-configuration", usageKey,
			"sidecar.fluid.io/skip-precheck") {
			annotations[key] = pick(d, "", "true", "images", "zebra, images", "\"quoted\" \\ \u00fc \U0001f600 \u2028", strings.Repeat("x", 5000))
		}
		if d.chance(15) {
			annotations[corev1.MirrorPodAnnotationKey] = "hash"
		}
		metadata["annotations"] = annotations
	}
}

// strangeness is a field that we do not know, or an unusual way to say nothing.
func (d dice) strangeness(pod tree) {
	value := pick[any](d, nil, "text", json.Number("12345678901234567890123"), json.Number("1e-7"), json.Number("1.0"),
		[]any{nil, tree{"a/b~c": json.Number("1")}}, tree{"": ""}, true)
	spec := child(pod, "spec")
	affinity := child(spec, "affinity")
	places := []tree{pod, child(pod, "metadata"), spec, child(pod, "status")}
	for _, one := range append(list(spec, "containers"), list(spec, "volumes")...) {
		places = append(places, one.(tree))
	}
	switch d.IntN(9) {
	case 0, 1, 2:
		pick(d, places...)[pick(d, "unknown", "x/y~z", "Spec", "\u00fc", "quoted \"\\")] = value
	case 3:
		if affinity != nil {
			affinity["unknown"] = value
		}
	case 4:
		if node := child(affinity, "nodeAffinity"); node != nil {
			node["unknown"] = value
		}
	case 5:
		if list(spec, "topologySpreadConstraints") == nil {
			spec["topologySpreadConstraints"] = pick[any](d, nil, []any{})
		}
	case 6:
		if affinity == nil {
			spec["affinity"] = pick[any](d, nil, tree{}, tree{"nodeAffinity": nil}, tree{"nodeAffinity": tree{}})
		}
	case 7:
		spec["ephemeralContainers"] = []any{tree{"name": "debug", "image": "example.com/debug"}}
	case 8:
		child(pod, "metadata")["managedFields"] = []any{tree{"manager": "kubectl", "fieldsV1": tree{"f:metadata": tree{".": tree{}}}}}
	}
}
