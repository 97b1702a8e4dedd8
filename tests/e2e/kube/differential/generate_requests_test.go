package differential

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// What pods request and nodes have: few names, and amounts that often just fit, or just do not.
var (
	resourceNames = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceCPU, corev1.ResourceMemory,
		corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "example.com/gpu", "hugepages-2Mi"}
	// not looked at, or by few
	oddNames = []corev1.ResourceName{corev1.ResourceStorage, corev1.ResourcePods, "example.com/none", "cpus",
		"requests.example.com/gpu", "attachable-volumes-csi", "kubernetes.io/thing", "example.com/"}
	amounts = []string{"0", "1", "1", "1", "2", "2", "3", "500m", "500m", "250m", "100u", "1n", "1e-1", "1.5", "2e0"}
)

func (d dice) resourceList(percent int) corev1.ResourceList {
	if !d.chance(percent) {
		return nil
	}
	list := corev1.ResourceList{}
	for range pick(d, 0, 1, 1, 2, 3) {
		name := pick(d, resourceNames...)
		if d.chance(5) {
			name = pick(d, oddNames...)
		}
		list[name] = resource.MustParse(pick(d, amounts...))
	}
	return list
}

// allocatable is what a node says that it has, all of it or a part.
func (d dice) allocatable() corev1.ResourceList {
	list := corev1.ResourceList{}
	if d.chance(95) {
		list[corev1.ResourceCPU] = resource.MustParse(pick(d, "0", "2", "4", "6", "8500m", "10"))
	}
	for _, name := range some(d, 80, append(resourceNames, oddNames...)...) {
		list[name] = resource.MustParse(pick(d, "0", "1", "2", "4", "6", "10", "12", "2500m"))
	}
	if d.chance(90) {
		list[corev1.ResourcePods] = resource.MustParse(pick(d, "3", "5", "10", "20", "110", "1e2"))
	}
	return list
}

func (d dice) ports() []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for range pick(d, 0, 0, 0, 0, 1, 1, 2) {
		ports = append(ports, corev1.ContainerPort{ContainerPort: 80,
			HostPort: pick[int32](d, 0, 80, 80, 81, 443, 8080, 9000),
			HostIP:   pick(d, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
			Protocol: pick(d, "", corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP)})
	}
	return ports
}

func (d dice) requestingContainer(name string) corev1.Container {
	c := corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: d.resourceList(70)}}
	if d.chance(40) {
		c.Ports = d.ports()
	}
	return c
}

func (d dice) requestsOf(spec *corev1.PodSpec) {
	for i := range pick(d, 1, 1, 1, 2, 3) {
		spec.Containers = append(spec.Containers, d.requestingContainer(string(rune('a'+i))))
	}
	for i := range pick(d, 0, 0, 0, 0, 1, 2, 3) {
		c := d.requestingContainer(string(rune('i' + i)))
		if d.chance(50) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		spec.InitContainers = append(spec.InitContainers, c)
	}
	if d.chance(15) {
		spec.Resources = &corev1.ResourceRequirements{Requests: d.resourceList(90)}
	}
	if d.chance(15) {
		spec.Overhead = d.resourceList(90)
	}
}

// running is what a kubelet reports, in the middle of resizes as well.
func (d dice) running(pod *corev1.Pod) {
	report := func(containers []corev1.Container) (statuses []corev1.ContainerStatus) {
		for _, c := range containers {
			status := corev1.ContainerStatus{Name: c.Name}
			if d.chance(70) {
				status.Resources = &corev1.ResourceRequirements{Requests: c.Resources.Requests}
			}
			status.AllocatedResources = c.Resources.Requests
			if d.chance(30) {
				status.AllocatedResources = d.resourceList(80)
			}
			if status.Resources != nil && d.chance(30) {
				status.Resources.Requests = d.resourceList(80)
			}
			statuses = append(statuses, status)
		}
		if len(statuses) > 1 && d.chance(50) {
			statuses[0], statuses[1] = statuses[1], statuses[0]
		}
		return statuses
	}
	pod.Status.ContainerStatuses = report(pod.Spec.Containers)
	pod.Status.InitContainerStatuses = report(pod.Spec.InitContainers)
	if d.chance(20) {
		pod.Status.Resources = &corev1.ResourceRequirements{Requests: d.resourceList(80)}
		pod.Status.AllocatedResources = d.resourceList(80)
	}
	for range pick(d, 0, 1, 2) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type:   pick(d, corev1.PodReady, corev1.PodResizePending, corev1.PodResizePending),
			Reason: pick(d, "", corev1.PodReasonDeferred, corev1.PodReasonInfeasible)})
	}
}

// silence takes from some nodes what they say, or leaves it to one of them only. Where no node says
// anything, Evenkeel does not judge, and says so.
func (d dice) silence(nodes []*corev1.Node) {
	percent := pick(d, 0, 0, 15, 50, 100)
	for _, node := range nodes {
		if d.chance(percent) {
			node.Status.Allocatable = nil
		}
	}
	says := func(node *corev1.Node) bool { return len(node.Status.Allocatable) > 0 }
	if len(nodes) > 0 && !slices.ContainsFunc(nodes, says) {
		nodes[d.IntN(len(nodes))].Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	}
}

// withRequests adds all of that to a cluster and a pod.
func (d dice) withRequests(objects *intree.Objects, incoming *corev1.Pod) {
	for _, node := range objects.Nodes {
		node.Status.Allocatable = d.allocatable()
		node.Spec.Unschedulable = d.chance(15)
		if d.chance(70) {
			node.Spec.Taints = nil
		}
	}
	d.silence(objects.Nodes)
	for _, pod := range objects.Pods {
		d.requestsOf(&pod.Spec)
		if d.chance(40) {
			d.running(pod)
		}
	}
	d.requestsOf(&incoming.Spec)
	d.withImages(objects, incoming)
	if d.chance(4) {
		incoming.Spec.NodeName = nodeName(d.IntN(4))
	}
	if d.chance(70) {
		incoming.Spec.Affinity = nil
	}
	nameOneNode(incoming.Spec.Affinity)
	d.preferNodes(incoming)
	if d.chance(70) {
		incoming.Spec.NodeSelector = nil
	}
}

// nameOneNode leaves one value to matchFields, as the API server demands. PreFilter of NodeAffinity
// looks at all values of a term that matches nothing for having several; Evenkeel at none.
func nameOneNode(affinity *corev1.Affinity) {
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for i := range term.MatchFields {
			term.MatchFields[i].Values = term.MatchFields[i].Values[:1]
		}
	}
}

// preferNodes gives a pod preferences, all of which parse: with another one, which no API server stores,
// neither side scores anything.
func (d dice) preferNodes(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return
	}
	affinity := pod.Spec.Affinity.NodeAffinity
	affinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	for range pick(d, 0, 1, 2, 3) {
		one := []corev1.PreferredSchedulingTerm{{Weight: pick[int32](d, 0, 1, 1, 10, 100), Preference: d.nodeSelectorTerm()}}
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(one); err == nil {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution =
				append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, one...)
		}
	}
}

// withImages gives nodes images, which are of one size wherever they are, and containers these or others.
func (d dice) withImages(objects *intree.Objects, incoming *corev1.Pod) {
	names := []string{"web", "web:latest", "example.com/db:1", "example.com:80/db", "example.com/big", "none"}
	for _, node := range objects.Nodes {
		for i, name := range names[:5] {
			if d.chance(40) {
				node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
					Names: append([]string{name}, some(d, 50, name+":latest", name)...), SizeBytes: int64(i*i+1) * 150 << 20})
			}
		}
	}
	for i := range incoming.Spec.Containers {
		incoming.Spec.Containers[i].Image = pick(d, names...)
	}
	for i := range incoming.Spec.InitContainers {
		incoming.Spec.InitContainers[i].Image = pick(d, names...)
	}
	if d.chance(20) {
		incoming.Spec.Volumes = append(incoming.Spec.Volumes, corev1.Volume{Name: "image", VolumeSource: corev1.VolumeSource{
			Image: &corev1.ImageVolumeSource{Reference: pick(d, names...)}}})
	}
}

// addedAffinity is one that kube-scheduler starts with: no term is wrong.
func (d dice) addedAffinity() *corev1.NodeAffinity {
	for {
		if affinity := d.affinity(); affinity.NodeAffinity != nil {
			added := affinity.NodeAffinity
			for range pick(d, 0, 0, 1, 2, 3) {
				added.PreferredDuringSchedulingIgnoredDuringExecution = append(added.PreferredDuringSchedulingIgnoredDuringExecution,
					corev1.PreferredSchedulingTerm{Weight: pick[int32](d, 0, 1, 30, 100), Preference: d.nodeSelectorTerm()})
			}
			if required := added.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
				if _, err := nodeaffinity.NewNodeSelector(required); err != nil || len(required.NodeSelectorTerms) == 0 {
					continue
				}
			}
			if _, err := nodeaffinity.NewPreferredSchedulingTerms(added.PreferredDuringSchedulingIgnoredDuringExecution); err == nil {
				return added
			}
		}
	}
}
