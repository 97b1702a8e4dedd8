package differential

import (
	corev1 "k8s.io/api/core/v1"
)

// adaptedTemplate is a pod of a template that somebody has adapted, as the API server hands it on.
// name is the template's.
func (d dice) adaptedTemplate() (pod *corev1.Pod, name string) {
	one := pick(d, templates()...)
	adapted := one.pod.DeepCopy()
	if d.chance(70) {
		adapted.Namespace = "shop"
	}
	for key, value := range d.labels(podLabels, 40) {
		if _, own := adapted.Labels[key]; !own && adapted.Labels != nil {
			adapted.Labels[key] = value
		}
	}
	for range pick(d, 0, 0, 0, 1, 1, 2) {
		adapted.Spec.TopologySpreadConstraints = append(adapted.Spec.TopologySpreadConstraints, d.constraint())
	}
	d.adaptAffinity(&adapted.Spec)
	d.adaptVolumes(&adapted.Spec)
	d.label(adapted)
	d.place(adapted)
	attributes, err := theAPIServer().handOn(adapted)
	if err != nil {
		panic(err) // what dice do is nothing to the plugins
	}
	return attributes.VersionedObject.(*corev1.Pod), one.name
}

// adaptAffinity keeps what the template says of other pods, and mostly what it says of nodes.
func (d dice) adaptAffinity(spec *corev1.PodSpec) {
	var other *corev1.Affinity
	switch d.IntN(10) {
	case 0, 1, 2:
		other = d.plainAffinity()
	case 3:
		other = d.affinity()
	}
	if other != nil && spec.Affinity != nil {
		spec.Affinity.NodeAffinity = other.NodeAffinity
	} else if other != nil {
		spec.Affinity = other
	}
	if d.chance(15) {
		spec.NodeSelector = d.labels(nodeLabels, 50)
	}
	if d.chance(20) {
		spec.Tolerations = append(spec.Tolerations, d.toleration())
	}
}

// adaptVolumes has the template's claims name datasets, and mounts one more.
func (d dice) adaptVolumes(spec *corev1.PodSpec) {
	for i := range spec.Volumes {
		if claim := spec.Volumes[i].PersistentVolumeClaim; claim != nil && d.chance(60) {
			claim.ClaimName = pick(d, "images", "words", pick(d, claims...))
		}
	}
	if d.chance(50) {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "dataset", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pick(d, claims...)}}})
	for i := range spec.Containers {
		if d.chance(70) {
			spec.Containers[i].VolumeMounts = append(spec.Containers[i].VolumeMounts,
				corev1.VolumeMount{Name: "dataset", MountPath: "/dataset"})
		}
	}
}
