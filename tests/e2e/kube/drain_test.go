package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The states that README shows, and the policy of the second.
const exampleDrain = "../../../docs/examples/drain/"

// TestDrain: six pods stand 3:3 in two zones of two nodes. A node of zone-a is drained and comes back;
// the other node of that zone has no room. kube-scheduler alone ends with 1:5, and with a hard policy
// two pods wait for the node, and it ends with 3:3. README shows both ends, from the files in docs/examples/drain.
// The states of this run are written beside the test's logs in the form of these files.
func TestDrain(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	s.controllers()
	s.scheduler(s.id, nil)
	for _, name := range []string{"a-1", "a-2", "b-1", "b-2"} {
		s.smallNode(name, "zone-"+name[:1])
	}
	s.create(s.filler("a-2"))

	s.placeAndDrain("kube-scheduler.yaml", 6, map[string]int{"zone-a": 1, "zone-b": 5})

	w.writeDrainPolicy()
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.until("pods are patched", func(ctx context.Context) (bool, error) {
		pod, err := w.try(ctx, w.newPod("probe", "probe", w.id))
		return err == nil && len(pod.Spec.TopologySpreadConstraints) > 0, err
	})
	s.placeAndDrain("evenkeel.yaml", 4, map[string]int{"zone-a": 3, "zone-b": 3})
}

// smallNode has 4 CPUs.
func (s *stage) smallNode(name, zone string) {
	s.Helper()
	node := s.node(name, map[string]string{zoneKey: zone})
	node.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("4")
	node.Status.Capacity = node.Status.Allocatable
	_, err := s.Client.CoreV1().Nodes().UpdateStatus(s.ctx, node, metav1.UpdateOptions{})
	s.must(err)
}

// filler leaves room for one pod of web on a node.
func (s *stage) filler(node string) *v1.Pod {
	pod := s.newPod("db-0", "db", s.id)
	pod.Spec.NodeName = s.id + "-" + node
	pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("3")}
	return pod
}

// writeDrainPolicy: the example's, for pods of the stage.
func (w *webhook) writeDrainPolicy() {
	w.Helper()
	text, err := os.ReadFile(exampleDrain + "policy.yaml")
	w.must(err)
	copied := strings.NewReplacer("shop", w.id, "\n  pods:\n", "\n  pods:\n    schedulerNames: ["+w.id+"]\n")
	w.must(os.WriteFile(w.policies, []byte(copied.Replace(string(text))), 0o644))
}

// placeAndDrain deploys web, drains a-1, of whose pods so many run meanwhile, and takes the node back.
func (s *stage) placeAndDrain(example string, meanwhile int, end map[string]int) {
	s.Helper()
	web := s.newPod("", "web", s.id)
	web.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
	s.deploy(6, web)
	s.waitZones("placed", map[string]int{"zone-a": 3, "zone-b": 3})

	s.cordon("a-1", true)
	s.deletePods(metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "spec.nodeName=" + s.id + "-a-1"})
	s.waitDrained(meanwhile)
	s.cordon("a-1", false)
	s.waitZones("back", end)

	objects := s.exampleObjects()
	s.must(os.WriteFile(filepath.Join(s.dir, example), objects, 0o644))
	if shown := s.shownZones(exampleDrain + example); !maps.Equal(shown, end) {
		s.Errorf("%s shows %v, and kube-scheduler ended with %v", example, shown, end)
	}
	s.must(s.Client.AppsV1().Deployments(s.id).Delete(s.ctx, "web", metav1.DeleteOptions{}))
	s.must(s.Client.AppsV1().ReplicaSets(s.id).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	s.until("web is gone", func(context.Context) (bool, error) {
		s.deletePods(metav1.ListOptions{LabelSelector: "app=web"})
		return len(s.podsOf("web")) == 0, nil
	})
}

func (s *stage) cordon(name string, cordoned bool) {
	s.Helper()
	nodes := s.Client.CoreV1().Nodes()
	node, err := nodes.Get(s.ctx, s.id+"-"+name, metav1.GetOptions{})
	s.must(err)
	node.Spec.Unschedulable = cordoned
	_, err = nodes.Update(s.ctx, node, metav1.UpdateOptions{})
	s.must(err)
}

// waitZones returns when all six pods stand so.
func (s *stage) waitZones(what string, want map[string]int) {
	s.Helper()
	var have map[string]int
	s.until("pods are "+what, func(context.Context) (bool, error) {
		have = s.perDomain(zoneKey, "web")
		return have["zone-a"]+have["zone-b"] == 6, nil
	})
	if !maps.Equal(have, want) {
		s.Fatalf("%s: %v, not %v", what, have, want)
	}
}

// waitDrained returns when kube-scheduler has decided on all six, none of them on a-1.
func (s *stage) waitDrained(running int) {
	s.Helper()
	bound, refused := 0, 0
	s.until("kube-scheduler has decided", func(context.Context) (bool, error) {
		bound, refused = 0, 0
		for _, pod := range s.podsOf("web") {
			if pod.Spec.NodeName != "" {
				bound++
			} else if slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
				return c.Type == v1.PodScheduled && c.Reason == v1.PodReasonUnschedulable
			}) {
				refused++
			}
		}
		return bound+refused == 6, nil
	})
	if bound != running {
		s.Fatalf("while a node is drained %d of 6 pods have a node, not %d\n%s", bound, running, s.pending())
	}
}

// exampleObjects are the stage's nodes, namespace, ReplicaSet and pods, less what their places do not depend
// on, as they would be called in a namespace shop.
func (s *stage) exampleObjects() []byte {
	s.Helper()
	var text bytes.Buffer
	add := func(object map[string]any) {
		line, err := json.Marshal(object)
		s.must(err)
		text.WriteString("---\n" + strings.ReplaceAll(strings.ReplaceAll(string(line), s.id+"-", ""), s.id, "shop") + "\n")
	}
	nodes, err := s.Client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: poolLabel + "=" + s.id})
	s.must(err)
	for _, node := range nodes.Items {
		add(map[string]any{"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": node.Name, "labels": map[string]string{hostKey: node.Name, zoneKey: node.Labels[zoneKey]}},
			"status":   map[string]any{"allocatable": node.Status.Allocatable}})
	}
	add(map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "shop", "labels": map[string]string{v1.LabelMetadataName: "shop"}}})
	sets, err := s.Client.AppsV1().ReplicaSets(s.id).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	for _, set := range sets.Items {
		add(map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet",
			"metadata": map[string]any{"namespace": "shop", "name": set.Name, "uid": set.UID},
			"spec":     map[string]any{"selector": set.Spec.Selector}})
	}
	pods, err := s.Client.CoreV1().Pods(s.id).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	for _, pod := range pods.Items {
		spec := map[string]any{"nodeName": pod.Spec.NodeName,
			"containers": []any{map[string]any{"name": "main", "resources": pod.Spec.Containers[0].Resources}}}
		if len(pod.Spec.TopologySpreadConstraints) > 0 {
			spec["topologySpreadConstraints"] = pod.Spec.TopologySpreadConstraints
		}
		delete(pod.Labels, zoneKey) // the API server's, from the node
		metadata := map[string]any{"namespace": "shop", "name": pod.Name, "labels": pod.Labels}
		if len(pod.OwnerReferences) > 0 {
			owner := pod.OwnerReferences[0]
			metadata["ownerReferences"] = []any{map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind,
				"name": owner.Name, "uid": owner.UID, "controller": true}}
		}
		add(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
	}
	return text.Bytes()
}

// shownZones are the pods of web by zone, as `evenkeel topology` counts them in a file.
func (s *stage) shownZones(state string) map[string]int {
	s.Helper()
	output, err := exec.Command(binary, "topology", "shop/web", "--state", state, "-o", "json").Output()
	if err != nil {
		s.Errorf("topology of %s: %v", state, err)
		return nil
	}
	var report struct {
		Workloads []struct{ Domains map[string]int }
	}
	s.must(json.Unmarshal(output, &report))
	if len(report.Workloads) != 1 {
		s.Fatalf("%s has %d workloads shop/web", state, len(report.Workloads))
	}
	return report.Workloads[0].Domains
}
