package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

const leavingManager = "evenkeel-leaving-nodes"

// mayPatchNodes binds what an administrator would bind to Evenkeel's ServiceAccount.
func (s *stage) mayPatchNodes() {
	s.Helper()
	text, err := os.ReadFile("../../../docs/examples/kubernetes/rbac-leaving-nodes.yaml")
	s.must(err)
	role, binding := &rbac.ClusterRole{}, &rbac.ClusterRoleBinding{}
	parts := bytes.Split(text, []byte("\n---\n"))
	if len(parts) != 2 {
		s.Fatalf("rbac-leaving-nodes.yaml has %d objects, not a ClusterRole and a ClusterRoleBinding", len(parts))
	}
	s.must(yaml.UnmarshalStrict(parts[0], role))
	s.must(yaml.UnmarshalStrict(parts[1], binding))
	binding.Subjects = []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: cluster.EvenkeelUser}}
	roles := s.Client.RbacV1()
	_, err = roles.ClusterRoles().Create(s.ctx, role, metav1.CreateOptions{})
	s.must(err)
	_, err = roles.ClusterRoleBindings().Create(s.ctx, binding, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() {
		s.must(roles.ClusterRoleBindings().Delete(context.Background(), binding.Name, metav1.DeleteOptions{}))
		s.must(roles.ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{}))
	})
}

// untilLabelled waits until the node has the label, or has it not, and returns the node.
func (s *stage) untilLabelled(node, key string, labelled bool) (n *v1.Node) {
	s.Helper()
	s.until(fmt.Sprintf("node %s with label %s: %v", node, key, labelled), func(ctx context.Context) (ok bool, err error) {
		if n, err = s.Client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); err != nil {
			return false, err
		}
		value, found := n.Labels[key]
		return found == labelled && (!found || value == "true"), fmt.Errorf("it has %v", n.Labels)
	})
	return n
}

// datasetWorker creates a worker of dataset "ds", as its StatefulSet would and with a finalizer, so that it stays
// while it is being deleted.
func (l *live) datasetWorker(number int, node string) *v1.Pod {
	l.Helper()
	pod := l.newPod(fmt.Sprintf("ds-worker-%d", number), "ds-worker", "nobody")
	pod.Labels["fluid.io/dataset"] = l.id + "-ds"
	pod.Finalizers = []string{"example.com/slow"}
	pod.Spec.NodeName = node
	pod = l.create(pod)
	l.Cleanup(func() {
		_, err := l.Client.CoreV1().Pods(l.id).Patch(context.Background(), pod.Name, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		l.must(err)
	})
	return pod
}

// TestLeavingNodes: a node is labelled while a worker of a dataset is leaving it, so that a kube-scheduler that knows
// nothing of Evenkeel keeps pods with the injected term off; what is ours is taken away, also after a restart and when
// the dataset has gone, and what is somebody else's stays.
func TestLeavingNodes(t *testing.T) {
	l := newLive(t, func(o *evenkeel.Options) { o.Settings["data"] = map[string]any{"labelLeavingNodes": true} })
	l.mayPatchNodes()
	l.fluid("Dataset")
	l.fluid("AlluxioRuntime")
	fluidPath := "/apis/data.fluid.io/v1alpha1/namespaces/" + l.id
	meta := map[string]any{"name": "ds", "namespace": l.id}
	l.post(fluidPath+"/datasets", map[string]any{"apiVersion": "data.fluid.io/v1alpha1", "kind": "Dataset",
		"metadata": meta, "status": map[string]any{"phase": "Bound", "runtimes": []any{map[string]any{"type": "alluxio"}}}})
	l.post(fluidPath+"/alluxioruntimes", map[string]any{"apiVersion": "data.fluid.io/v1alpha1",
		"kind": "AlluxioRuntime", "metadata": meta, "spec": map[string]any{"replicas": 2}})
	scale := func(replicas int) {
		t.Helper()
		l.must(l.Client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(fluidPath + "/alluxioruntimes/ds").
			Body(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)).Do(l.ctx).Error())
	}
	key, foreign := "data.fluid.io/storage-scalein-"+l.id+"-ds", "data.fluid.io/storage-scalein-"+l.id+"-other"
	a, b := l.node("a", nil).Name, l.node("b", nil).Name
	c := l.node("c", map[string]string{foreign: "true"}).Name
	l.datasetWorker(0, a)
	second := l.datasetWorker(1, b)
	l.must(l.e.Restart(l.ctx)) // otherwise it looks for the kinds once or twice a minute

	scale(1)
	n := l.untilLabelled(b, key, true)
	owned := false
	for _, entry := range n.ManagedFields {
		owned = owned || entry.Manager == leavingManager && entry.Operation == metav1.ManagedFieldsOperationApply
	}
	if !owned {
		t.Errorf("nobody called %s applied the label: %v", leavingManager, n.ManagedFields)
	}
	l.scheduler(l.id, nil)
	for i := range 4 {
		pod := l.newPod(fmt.Sprintf("train-%d", i), "train", l.id)
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpNotIn, Values: []string{"true"}},
					{Key: hostKey, Operator: v1.NodeSelectorOpIn, Values: []string{a, b}}}}}}}}
		l.create(pod)
	}
	// The workers have their nodes, so that it is not enough to count pods that have one.
	l.until("all four pods have their node", func(context.Context) (bool, error) {
		for _, pod := range l.podsOf("train") {
			if pod.Spec.NodeName == "" {
				return false, fmt.Errorf("%s has none", pod.Name)
			}
			if pod.Spec.NodeName != a {
				t.Errorf("pod %s is on %s", pod.Name, pod.Spec.NodeName)
			}
		}
		return true, nil
	})

	// Nobody is there while the runtime is scaled out again.
	l.must(l.e.Stop())
	scale(2)
	l.must(l.e.Launch())
	l.untilLabelled(b, key, false)

	l.must(l.Client.CoreV1().Pods(l.id).Delete(l.ctx, second.Name, metav1.DeleteOptions{}))
	l.untilLabelled(b, key, true)
	_, err := l.raw("DELETE", fluidPath+"/datasets/ds", struct{}{})
	l.must(err)
	l.untilLabelled(b, key, false)
	for _, node := range []string{a, c} {
		if n := l.untilLabelled(node, foreign, node == c); n.Labels[key] != "" {
			t.Errorf("node %s has label %s", node, key)
		}
	}
}
