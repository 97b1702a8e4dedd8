package live

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// waitingPods of a Deployment have found no node for so many minutes each.
func waitingPods(t *testing.T, c *world.ControlPlane, name string, minutes ...int) {
	t.Helper()
	label := map[string]string{"app": name}
	deployments, sets := c.Kube.AppsV1().Deployments("default"), c.Kube.AppsV1().ReplicaSets("default")
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(label)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}}}
	d, err := deployments.Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: label}, Template: template}}, metav1.CreateOptions{})
	must(t, err)
	hashed := d.Spec.Template.DeepCopy()
	hashed.Labels["pod-template-hash"] = "1"
	yes := true
	set, err := sets.Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Labels: hashed.Labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: d.UID, Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: hashed.Labels}, Template: *hashed}}, metav1.CreateOptions{})
	must(t, err)
	for i, since := range minutes {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-1-%d", name, i), Labels: hashed.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set.Name, UID: set.UID, Controller: &yes}}}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Duration(since) * time.Minute))}}
		must(t, c.AddPod(t.Context(), pod, 2))
	}
}

// placed makes a binding as a scheduler has left it, whose replicas are ready but for those that are missing.
func placed(t *testing.T, name string, replicas, missing map[string]int32) {
	t.Helper()
	placement := &policyv1alpha1.Placement{ReplicaScheduling: weighted()}
	applied, err := json.Marshal(placement)
	must(t, err)
	binding := &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"policy.karmada.io/applied-placement": string(applied)}},
		Spec: workv1alpha2.ResourceBindingSpec{SchedulerName: "nobody", Placement: placement,
			Resource: workv1alpha2.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: name}}}
	for cluster, count := range replicas {
		binding.Spec.Replicas += count
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cluster, Replicas: count})
	}
	bindings := karmada.Karmada.WorkV1alpha2().ResourceBindings("default")
	made, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	for cluster, count := range replicas {
		status := fmt.Sprintf(`{"readyReplicas": %d}`, count-missing[cluster])
		made.Status.AggregatedStatus = append(made.Status.AggregatedStatus, workv1alpha2.AggregatedStatusItem{ClusterName: cluster,
			Applied: true, Status: &runtime.RawExtension{Raw: []byte(status)}})
	}
	_, err = bindings.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	must(t, err)
}

// TestDescheduler takes replicas from where they have found no node for longer than five minutes.
func TestDescheduler(t *testing.T) {
	t.Parallel()
	e := startEstimator(t, everyMember()...)
	for _, name := range memberNames {
		must(t, karmada.Point(t.Context(), nameOf(t), name, e.Address))
	}
	waitingPods(t, members[0], "waits", 10, 1, 7, 6)
	waitingPods(t, members[1], "waits", 2)
	placed(t, "waits", map[string]int32{memberNames[0]: 5, memberNames[1]: 3}, map[string]int32{memberNames[0]: 4, memberNames[1]: 1})
	log := filepath.Join(folder(t), "karmada-descheduler.log")
	p, err := world.Run(log, setting(t, "EVENKEEL_E2E_KARMADA_PEER"), "descheduler", "--kubeconfig", karmada.Kubeconfig,
		"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--descheduling-interval=1s",
		"--scheduler-estimator-service-prefix", nameOf(t), "-v=4")
	must(t, err)
	t.Cleanup(func() {
		if p.Ended() || p.LogHas("panic") {
			t.Errorf("karmada-descheduler has ended, or was in a panic: see %s", log)
		}
		p.Kill()
	})
	wanted := map[string]int32{memberNames[0]: 2, memberNames[1]: 3}
	var got map[string]int32
	err = world.Until(t.Context(), "replicas are taken", func(ctx context.Context) (bool, error) {
		b, err := karmada.Karmada.WorkV1alpha2().ResourceBindings("default").Get(ctx, "waits", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		got = map[string]int32{}
		for _, target := range b.Spec.Clusters {
			got[target.Name] = target.Replicas
		}
		return b.Generation > 1, nil
	})
	if err != nil || !maps.Equal(got, wanted) {
		t.Errorf("%v instead of %v: %v", got, wanted, err)
	}
}
