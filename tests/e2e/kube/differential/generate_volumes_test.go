package differential

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// volumesCase is a cluster with volumes, and a pod with claims. A state has at least one claim, volume
// and class: where it has none of a kind, Evenkeel does not judge claims, and says so.
type volumesCase struct {
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	claims  []*corev1.PersistentVolumeClaim
	volumes []*corev1.PersistentVolume
	classes []*storagev1.StorageClass
	pod     *corev1.Pod
}

func (c *volumesCase) items() []any {
	var items []any
	for _, node := range c.nodes {
		items = append(items, node)
	}
	for _, class := range c.classes {
		items = append(items, class)
	}
	for _, volume := range c.volumes {
		items = append(items, volume)
	}
	for _, claim := range c.claims {
		items = append(items, claim)
	}
	for _, pod := range c.pods {
		items = append(items, pod)
	}
	return items
}

var (
	volumeZones   = []string{"z0", "z1", "z2"}
	volumeClasses = []string{"immediate", "waits", "local", "silent", "here"}
)

func (d dice) volumesCase() *volumesCase {
	c := &volumesCase{}
	d.volumeNodes(c)
	d.storageClasses(c)
	c.pod = simplePod("web", "web-0")
	for i := range pick(d, 0, 0, 1, 1, 2, 3, 4) {
		d.looseVolume(c, i)
	}
	for i := range pick(d, 1, 1, 1, 2, 2, 3) {
		name := fmt.Sprint("data-", i)
		if d.chance(4) && i > 0 {
			name = "data-0" // mounted twice
		} else if d.chance(97) {
			d.volumeClaim(c, name)
		}
		c.pod.Spec.Volumes = append(c.pod.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i),
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	c.claims = append(c.claims, &corev1.PersistentVolumeClaim{TypeMeta: typeOf("v1", "PersistentVolumeClaim"),
		ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "shop"}})
	c.volumes = append(c.volumes, &corev1.PersistentVolume{TypeMeta: typeOf("v1", "PersistentVolume"),
		ObjectMeta: metav1.ObjectMeta{Name: "pv-other"}})
	d.volumeRest(c)
	return c
}

// volumeRest are what the other filters judge.
func (d dice) volumeRest(c *volumesCase) {
	if d.chance(30) {
		c.pod.Spec.TopologySpreadConstraints = append(c.pod.Spec.TopologySpreadConstraints, d.ownConstraint(zoneKey))
	}
	if d.chance(15) {
		c.pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if d.chance(6) {
		c.pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name",
				Operator: corev1.NodeSelectorOpIn, Values: []string{pick(d, "n0", "n1", "n9")}}}}}}}}
	}
	for i := range d.IntN(3) {
		pod := simplePod("web", fmt.Sprint("web-", i+1))
		pod.Spec.NodeName = pick(d, c.nodes...).Name
		c.pods = append(c.pods, pod)
	}
}

func (d dice) volumeNodes(c *volumesCase) {
	for i := range 1 + d.IntN(6) {
		name := fmt.Sprint("n", i)
		labels := map[string]string{hostnameKey: name, "disk": pick(d, "ssd", "hdd")}
		if d.chance(80) {
			labels[zoneKey] = pick(d, volumeZones...)
		}
		if d.chance(30) {
			labels[regionKey] = pick(d, "r0", "r1")
		}
		for _, old := range some(d, 15, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion) {
			labels[old] = pick(d, "z0", "z1", "r0")
		}
		node := &corev1.Node{TypeMeta: typeOf("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110"),
			corev1.ResourceCPU: resource.MustParse("8")}
		c.nodes = append(c.nodes, node)
	}
}

// storageClasses: one that does not wait, three that do, and sometimes not all of them. Of those that
// wait, "local" makes no volumes, and "here" makes them in some places.
func (d dice) storageClasses(c *volumesCase) {
	waits, immediate := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	for i, name := range volumeClasses {
		if i > 0 && d.chance(5) {
			continue
		}
		class := &storagev1.StorageClass{TypeMeta: typeOf("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: name},
			Provisioner: "example.com/disks", VolumeBindingMode: &waits}
		switch name {
		case "immediate":
			class.VolumeBindingMode = &immediate
		case "local":
			class.Provisioner = storagehelpers.NotSupportedProvisioner
		case "silent":
			class.Provisioner = ""
		case "here":
			for range d.IntN(3) {
				class.AllowedTopologies = append(class.AllowedTopologies, d.topologyTerm())
			}
		}
		c.classes = append(c.classes, class)
	}
}

func (d dice) topologyTerm() corev1.TopologySelectorTerm {
	var term corev1.TopologySelectorTerm
	for range pick(d, 0, 1, 1, 1, 2) {
		term.MatchLabelExpressions = append(term.MatchLabelExpressions, corev1.TopologySelectorLabelRequirement{
			Key: pick(d, zoneKey, zoneKey, "disk", regionKey), Values: some(d, 60, "z0", "z1", "ssd", "r0")})
	}
	return term
}

// placed gives the volume a place: by node affinity, by labels, both or none.
func (d dice) placed(volume *corev1.PersistentVolume, c *volumesCase) {
	if d.chance(30) {
		for _, key := range some(d, 50, zoneKey, corev1.LabelFailureDomainBetaZone) {
			volume.Labels[key] = pick(d, "z0", "z1", "z0__z1", "z2__z0", "", "z0__")
		}
		if d.chance(20) {
			volume.Labels[pick(d, regionKey, corev1.LabelFailureDomainBetaRegion)] = pick(d, "r0", "r1")
		}
	}
	if d.chance(25) {
		return
	}
	var terms []corev1.NodeSelectorTerm
	for range pick(d, 0, 1, 1, 1, 1, 1, 2) {
		var term corev1.NodeSelectorTerm
		for range pick(d, 0, 1, 1, 1, 1, 2) {
			term.MatchExpressions = append(term.MatchExpressions, d.volumeRequirement(c))
		}
		if d.chance(4) {
			term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name",
				Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{"n0"}}}
		}
		terms = append(terms, term)
	}
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	if d.chance(3) {
		volume.Spec.NodeAffinity.Required = nil
	}
}

func (d dice) volumeRequirement(c *volumesCase) corev1.NodeSelectorRequirement {
	switch d.IntN(5) {
	case 0, 1:
		return corev1.NodeSelectorRequirement{Key: zoneKey, Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn,
			corev1.NodeSelectorOpNotIn), Values: some(d, 60, volumeZones...)}
	case 2, 3:
		return corev1.NodeSelectorRequirement{Key: hostnameKey, Operator: corev1.NodeSelectorOpIn, Values: []string{pick(d, c.nodes...).Name}}
	}
	return corev1.NodeSelectorRequirement{Key: pick(d, "disk", regionKey), Operator: pick(d, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist)}
}

// sizes differ from volume to volume: between equal ones kube-scheduler chooses by chance.
func gibibytes(n int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(n)<<30, resource.BinarySI)}
}

// looseVolume may be bound to a claim that waits.
func (d dice) looseVolume(c *volumesCase, i int) {
	volume := d.volume(c, fmt.Sprint("loose-", i))
	volume.Spec.Capacity = gibibytes(1 + 4*d.IntN(4) + i)
	volume.Spec.StorageClassName = pick(d, "waits", "local", "local", "local", "here", "")
	volume.Status.Phase = pick(d, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeAvailable,
		corev1.VolumeAvailable, corev1.VolumePending, corev1.VolumeReleased)
	if d.chance(15) { // one each: between two volumes of one claim kube-scheduler chooses by chance
		volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: pick(d, "shop", "shop", "shop", "other"), Name: fmt.Sprint("data-", i),
			UID: types.UID(pick(d, "", fmt.Sprint("uid-data-", i), fmt.Sprint("uid-data-", i), "uid-of-another"))}
	}
	c.volumes = append(c.volumes, volume)
}

func (d dice) volume(c *volumesCase, name string) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{TypeMeta: typeOf("v1", "PersistentVolume"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": pick(d, "fast", "slow")}}}
	volume.Spec.AccessModes = pick(d, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}, nil)
	volume.Spec.VolumeMode = d.volumeMode()
	if d.chance(5) {
		gold := "gold"
		volume.Spec.VolumeAttributesClassName = &gold
	}
	if d.chance(4) {
		volume.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		volume.Finalizers = []string{"kubernetes.io/pv-protection"}
	}
	d.placed(volume, c)
	return volume
}

func (d dice) volumeMode() *corev1.PersistentVolumeMode {
	block, filesystem := corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem
	return pick(d, nil, nil, nil, &filesystem, &filesystem, &filesystem, &block)
}

// volumeClaim is bound, or waits, or should have been bound, or is lost.
func (d dice) volumeClaim(c *volumesCase, name string) {
	claim := &corev1.PersistentVolumeClaim{TypeMeta: typeOf("v1", "PersistentVolumeClaim"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("uid-" + name), Annotations: map[string]string{}},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}
	claim.Spec.Resources.Requests = gibibytes(pick(d, 1, 1, 2, 3, 6, 9))
	claim.Spec.AccessModes = pick(d, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, nil)
	claim.Spec.VolumeMode = d.volumeMode()
	class := pick(d, "waits", "local", "local", "local", "here", "here", "waits", "silent")
	if d.chance(4) {
		class = pick(d, "immediate", "unknown", "")
	}
	if d.chance(98) {
		claim.Spec.StorageClassName = &class
	}
	if d.chance(3) {
		claim.Annotations[corev1.BetaStorageClassAnnotation] = pick(d, volumeClasses...)
	}
	switch d.IntN(10) {
	case 0, 1, 2, 3, 4:
		d.bindClaim(c, claim)
	case 5:
		if d.chance(40) {
			claim.Annotations[storagehelpers.AnnSelectedNode] = pick(d, "n0", "n1", "n8")
		}
	}
	if d.chance(10) {
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(d, "fast", "slow")}}
	}
	if d.chance(4) {
		gold := "gold"
		claim.Spec.VolumeAttributesClassName = &gold
	}
	if d.chance(3) {
		claim.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
	}
	c.claims = append(c.claims, claim)
}

func (d dice) bindClaim(c *volumesCase, claim *corev1.PersistentVolumeClaim) {
	claim.Spec.VolumeName = "pv-" + claim.Name
	switch {
	case d.chance(3): // is not complete
		return
	case d.chance(3):
		claim.Status.Phase = corev1.ClaimLost
	default:
		claim.Status.Phase = corev1.ClaimBound
	}
	claim.Annotations[storagehelpers.AnnBindCompleted] = "yes"
	if d.chance(3) { // the volume is gone
		return
	}
	volume := d.volume(c, claim.Spec.VolumeName)
	volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: claim.Name, UID: claim.UID}
	volume.Status.Phase = corev1.VolumeBound
	c.volumes = append(c.volumes, volume)
}
