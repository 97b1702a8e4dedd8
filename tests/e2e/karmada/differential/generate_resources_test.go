package differential

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// unusual are resources of which some are counted, and some by nobody.
var unusual = []corev1.ResourceName{"hugepages-2Mi", "example.com/foo", "foo", "kubernetes.io/batch", "attachable-volumes-csi", corev1.ResourcePods,
	corev1.ResourceStorage}

// odd are amounts that nobody means, and that are rounded. None is so small that more than 2^31 of it fit.
var odd = map[corev1.ResourceName][]string{
	corev1.ResourceCPU:              {"1n", "1u", "1500u", "0.3", "1e-2"},
	corev1.ResourceMemory:           {"0.5Ki", "734003200001m", "1048576.5", "0.3Gi"},
	corev1.ResourceEphemeralStorage: {"0.5Ki", "1048576.5", "0.001G"},
	gpu:                             {"1500m", "0.3", "1n"},
	corev1.ResourcePods:             {"1500m", "0.3"},
}

// parse makes what an API server hands on: "0.5Ki", which it writes as 512, is computed with otherwise.
func parse(text string) resource.Quantity {
	amount := resource.MustParse(text)
	return resource.MustParse(amount.String())
}

// amount writes so many cores, gibibytes or pieces in one of the ways that people do.
func (d dice) amount(name corev1.ResourceName, least, most int) resource.Quantity {
	if len(odd[name]) > 0 && d.chance(1) {
		return parse(pick(d, odd[name]...))
	}
	whole := d.between(least, most)
	text := fmt.Sprint(whole)
	switch name {
	case corev1.ResourceCPU:
		text = pick(d, text, text, fmt.Sprintf("%dm", whole*1000-d.IntN(min(1000, whole*1000+1))), fmt.Sprintf("%d.5", whole))
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		text = pick(d, fmt.Sprintf("%dGi", whole), fmt.Sprintf("%dMi", whole*1024-d.IntN(min(1024, whole*1024+1))),
			fmt.Sprintf("%dG", whole), fmt.Sprintf("%dM", whole*1000), fmt.Sprint(whole<<30), fmt.Sprintf("%de9", whole))
	}
	return parse(text)
}

// request is what a replica needs.
func (d dice) request() corev1.ResourceList {
	list := corev1.ResourceList{}
	if d.chance(85) {
		list[corev1.ResourceCPU] = pick(d, d.amount(corev1.ResourceCPU, 1, 3), resource.MustParse("500m"), resource.MustParse("250m"))
	}
	if d.chance(75) {
		list[corev1.ResourceMemory] = pick(d, d.amount(corev1.ResourceMemory, 1, 4), resource.MustParse("700Mi"), resource.MustParse("2500M"))
	}
	if d.chance(8) {
		list[gpu] = d.amount(gpu, 0, 2)
	}
	if d.chance(4) {
		list[corev1.ResourceEphemeralStorage] = d.amount(corev1.ResourceEphemeralStorage, 1, 2)
	}
	if d.chance(3) {
		list[pick(d, corev1.ResourceCPU, corev1.ResourceMemory)] = resource.MustParse("0")
	}
	if d.chance(3) {
		name := pick(d, unusual...)
		list[name] = d.amount(name, 0, 2)
	}
	return list
}

// summary is of a cluster with about so many cores.
func (d dice) summary(size int) *clusterv1alpha1.ResourceSummary {
	s := &clusterv1alpha1.ResourceSummary{Allocatable: corev1.ResourceList{}, Allocating: corev1.ResourceList{}, Allocated: corev1.ResourceList{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, gpu, corev1.ResourceEphemeralStorage} {
		share := map[corev1.ResourceName]int{corev1.ResourceCPU: 97, corev1.ResourceMemory: 97, corev1.ResourcePods: 97}[name]
		if share == 0 {
			share = 30
		}
		most := size
		if name == corev1.ResourcePods {
			most = size * 8
		}
		if d.chance(share) {
			s.Allocatable[name] = d.amount(name, 0, most)
		}
		if d.chance(1) && name == corev1.ResourceMemory {
			s.Allocatable[name] = parse(pick(d, "1e12", "900Gi", "123456789012", "1T"))
		}
		if d.chance(70) {
			s.Allocated[name] = d.amount(name, 0, most/2)
		}
		if d.chance(30) {
			s.Allocating[name] = d.amount(name, 0, most/8)
		}
	}
	for _, name := range unusual {
		if d.chance(20) && name != corev1.ResourcePods {
			s.Allocatable[name] = d.amount(name, 0, size)
		}
	}
	return s
}

// model gives a cluster resource models, each with so many nodes at most.
func (d dice) model(c *clusterv1alpha1.Cluster, grades, nodes int) {
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	if d.chance(10) {
		names = append(names, gpu)
	}
	least := make(map[corev1.ResourceName]resource.Quantity)
	for grade := range d.between(1, grades) {
		m := clusterv1alpha1.ResourceModel{Grade: uint(grade)}
		for _, name := range names {
			from, known := least[name]
			if !known {
				from = resource.MustParse("0")
			}
			to := from.DeepCopy()
			to.Add(d.amount(name, 1, 6))
			m.Ranges = append(m.Ranges, clusterv1alpha1.ResourceModelRange{Name: name, Min: from, Max: to})
			least[name] = to
		}
		c.Spec.ResourceModels = append(c.Spec.ResourceModels, m)
		if d.chance(85) {
			c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings,
				clusterv1alpha1.AllocatableModeling{Grade: uint(grade), Count: d.between(0, nodes)})
		}
	}
	if d.chance(5) { // counted for models that nobody has
		c.Spec.ResourceModels = nil
	}
	d.Shuffle(len(c.Spec.ResourceModels), func(i, j int) {
		c.Spec.ResourceModels[i], c.Spec.ResourceModels[j] = c.Spec.ResourceModels[j], c.Spec.ResourceModels[i]
	})
}

// components are of one set.
func (d dice) components() []workv1alpha2.Component {
	number := 0
	return several(d, 1, 3, func() workv1alpha2.Component {
		number++
		one := workv1alpha2.Component{Name: fmt.Sprintf("c%d", number), Replicas: int32(d.between(1, 4))}
		if d.chance(5) {
			one.Replicas = 0
		}
		if d.chance(92) {
			one.ReplicaRequirements = &workv1alpha2.ComponentReplicaRequirements{ResourceRequest: d.request()}
		}
		return one
	})
}
