package e2e

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	zoneKey   = v1.LabelTopologyZone
	regionKey = v1.LabelTopologyRegion
	hostKey   = v1.LabelHostname
)

// node makes one of the stage's nodes; `labels` are added.
func (s *stage) node(name string, labels map[string]string, taints ...v1.Taint) *v1.Node {
	s.Helper()
	name = s.id + "-" + name
	all := map[string]string{poolLabel: s.id, hostKey: name}
	for key, value := range labels {
		all[key] = value
	}
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("64Gi"),
		v1.ResourcePods: resource.MustParse("250"),
	}
	node, err := s.Client.CoreV1().Nodes().Create(s.ctx, &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all},
		Spec:       v1.NodeSpec{Taints: taints},
		Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
	}, metav1.CreateOptions{})
	s.must(err)
	return node
}

// zones makes `perZone` nodes in each of `count` zones, zone-0 and so on.
func (s *stage) zones(count, perZone int) {
	s.Helper()
	for zone := range count {
		for i := range perZone {
			s.node(fmt.Sprintf("z%d-n%d", zone, i), map[string]string{zoneKey: fmt.Sprintf("zone-%d", zone)})
		}
	}
}

// newPod is a pod of the stage with label app=`app`, on the stage's nodes only. Nothing is created.
func (s *stage) newPod(name, app, scheduler string, constraints ...v1.TopologySpreadConstraint) *v1.Pod {
	none := int64(0)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.id, Labels: map[string]string{"app": app}},
		Spec: v1.PodSpec{
			SchedulerName:                 scheduler,
			NodeSelector:                  map[string]string{poolLabel: s.id},
			TerminationGracePeriodSeconds: &none, // nobody would end it
			TopologySpreadConstraints:     constraints,
			Containers:                    []v1.Container{{Name: "main", Image: "example.com/app"}},
		},
	}
}

func (s *stage) create(pod *v1.Pod) *v1.Pod {
	s.Helper()
	created, err := s.Client.CoreV1().Pods(pod.Namespace).Create(s.ctx, pod, metav1.CreateOptions{})
	s.must(err)
	return created
}

// constraint on the pods with label app=`app`.
func constraint(key string, maxSkew int32, when v1.UnsatisfiableConstraintAction, app string) v1.TopologySpreadConstraint {
	return v1.TopologySpreadConstraint{
		TopologyKey: key, MaxSkew: maxSkew, WhenUnsatisfiable: when,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
	}
}

// perDomain counts the stage's bound pods with label app=`app` by what their nodes say for the key.
func (s *stage) perDomain(key, app string) map[string]int {
	s.Helper()
	counts := map[string]int{}
	domains := s.domains(key)
	for _, domain := range domains {
		counts[domain] = 0
	}
	pods, err := s.Client.CoreV1().Pods(s.id).List(s.ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	s.must(err)
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			counts[domains[pod.Spec.NodeName]]++
		}
	}
	return counts
}

// domains of the stage's nodes, by node name.
func (s *stage) domains(key string) map[string]string {
	s.Helper()
	nodes, err := s.Client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: poolLabel + "=" + s.id})
	s.must(err)
	domains := map[string]string{}
	for _, node := range nodes.Items {
		domains[node.Name] = node.Labels[key]
	}
	return domains
}
