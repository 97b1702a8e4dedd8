package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Room is so many CPUs, as much memory in GiB as four times of them, and so many pods.
func Room(cpus, pods int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(cpus, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(cpus<<32, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(pods, resource.DecimalSI)}
}

// Requests is what a pod or a replica asks for: CPUs, and as many GiB.
func Requests(cpus int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(cpus, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(cpus<<30, resource.BinarySI)}
}

// AddNode of so many CPUs, with room for 110 pods.
func (c *ControlPlane) AddNode(ctx context.Context, name string, cpus int64, taints ...corev1.Taint) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Spec: corev1.NodeSpec{Taints: taints}}
	made, err := c.Kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Capacity, made.Status.Allocatable = Room(cpus, 110), Room(cpus, 110)
	_, err = c.Kube.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// Allow a user everything.
func (c *ControlPlane) Allow(ctx context.Context, user string) error {
	_, err := c.Kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "all-"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}}, metav1.CreateOptions{})
	return err
}

// AddPod that runs on a node, or on none, "", and asks for so many CPUs.
func (c *ControlPlane) AddPod(ctx context.Context, pod *corev1.Pod, cpus int64) error {
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: Requests(cpus)}}}
	status := pod.Status
	made, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil || len(status.Conditions) == 0 {
		return err
	}
	made.Status = status
	_, err = c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// Fill makes a node for each number, that of CPUs that a pod on it has taken of its four.
func (c *ControlPlane) Fill(ctx context.Context, taken ...int64) error {
	for i, cpus := range taken {
		name := fmt.Sprintf("node-%d", i)
		if err := c.AddNode(ctx, name, 4); err != nil {
			return err
		}
		if cpus == 0 {
			continue
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "on-" + name}, Spec: corev1.PodSpec{NodeName: name}}
		if err := c.AddPod(ctx, pod, cpus); err != nil {
			return err
		}
	}
	return nil
}
