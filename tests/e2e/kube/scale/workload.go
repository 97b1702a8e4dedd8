package main

import (
	"fmt"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Workloads are those of tests/bench/cluster_pod.c: 500 of them in 50 namespaces, one in ten a
// StatefulSet, whose pods all differ in their labels; the others are ReplicaSets. Each has a Service.
const (
	namespaces = 50
	workloads  = 500
)

var tiers = []string{"frontend", "backend", "data", "batch"}

func namespaceName(workload int) string { return fmt.Sprintf("team-%d", workload%namespaces) }
func appName(workload int) string       { return fmt.Sprintf("svc-%03d", workload) }
func isStateful(workload int) bool      { return workload%10 == 9 }

func templateHash(workload int) string {
	return fmt.Sprintf("%06x", hash(uint64(workload)+1000)&0xffffff)
}

// ownerName of the pods of a workload.
func ownerName(workload int) string {
	if isStateful(workload) {
		return appName(workload)
	}
	return appName(workload) + "-" + templateHash(workload)
}

func ownerOf(workload int) metav1.OwnerReference {
	kind := "ReplicaSet"
	if isStateful(workload) {
		kind = "StatefulSet"
	}
	return metav1.OwnerReference{
		APIVersion: apps.SchemeGroupVersion.String(), Kind: kind, Name: ownerName(workload),
		UID: uid(workloadIDs + uint64(workload)), Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

// workloadLabels are those that all pods of a workload share.
func workloadLabels(workload int) map[string]string {
	labels := map[string]string{
		"app": appName(workload), "team": namespaceName(workload), "tier": tiers[workload%len(tiers)],
		"version": fmt.Sprintf("v1.%d", workload%17),
	}
	if !isStateful(workload) {
		labels["pod-template-hash"] = templateHash(workload)
	}
	return labels
}

func workloadMeta(workload int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespaceName(workload), Name: name, Labels: workloadLabels(workload)}
}

func template(workload int) v1.PodTemplateSpec {
	return v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: workloadLabels(workload)},
		Spec:       v1.PodSpec{Containers: containers(workload)},
	}
}

func selector(workload int) *metav1.LabelSelector {
	labels := map[string]string{"app": appName(workload)}
	if !isStateful(workload) {
		labels["pod-template-hash"] = templateHash(workload)
	}
	return &metav1.LabelSelector{MatchLabels: labels}
}

func newReplicaSet(workload int) *apps.ReplicaSet {
	return &apps.ReplicaSet{
		ObjectMeta: workloadMeta(workload, ownerName(workload)),
		Spec:       apps.ReplicaSetSpec{Selector: selector(workload), Template: template(workload)},
	}
}

func newStatefulSet(workload int) *apps.StatefulSet {
	return &apps.StatefulSet{
		ObjectMeta: workloadMeta(workload, ownerName(workload)),
		Spec: apps.StatefulSetSpec{
			ServiceName: appName(workload), Selector: selector(workload), Template: template(workload),
		},
	}
}

// newService is headless: there are not enough addresses for all.
func newService(workload int) *v1.Service {
	return &v1.Service{
		ObjectMeta: workloadMeta(workload, appName(workload)),
		Spec: v1.ServiceSpec{
			ClusterIP: v1.ClusterIPNone, Selector: map[string]string{"app": appName(workload)},
			Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
}

func containers(workload int) []v1.Container {
	return []v1.Container{{
		Name:  "main",
		Image: fmt.Sprintf("registry.example.com/%s/%s:v1.%d", namespaceName(workload), appName(workload), workload%17),
		Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("250m"), v1.ResourceMemory: resource.MustParse("256Mi"),
		}},
	}}
}
