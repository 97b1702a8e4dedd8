package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// TestWebhookData: pods that mount a dataset are spread by the policy and, within a zone, run where
// the data is. Fluid's objects are those of the example of docs/guides/data-locality.md.
func TestWebhookData(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	state := filepath.Join(s.dir, "state.yaml")
	w.writeExample("../../../docs/examples/data-locality/state.yaml", state)
	_, url := w.start(func(o *evenkeel.Options) { o.State = state })
	w.register(s.id, url, nil)
	w.untilPatched()
	s.bindClaim("images")
	holders := map[string]bool{}
	for _, zone := range []string{"zone-a", "zone-b", "zone-c"} {
		labels := map[string]string{zoneKey: zone, regionKey: "region", "disk": "ssd"}
		for i := range 3 {
			s.node(fmt.Sprintf("%s-%d", zone, i), labels)
		}
		if zone != "zone-c" {
			labels["fluid.io/s-"+s.id+"-images"] = "true"
			holders[s.node(zone+"-data", labels).Name] = true
		}
		delete(labels, "disk")
		s.node(zone+"-hdd", labels) // the FUSE client does not run there
	}
	s.scheduler(s.id, nil)
	s.controllers()
	r := s.record()

	s.deploy(6, dataPod(w.webPod("", s.id), "images"))
	s.waitBound(r, 6)
	s.even("web", 2)
	zones := s.domains(zoneKey)
	for _, pod := range s.podsOf("web") {
		checkDataPod(t, &pod, w.id)
		zone := zones[pod.Spec.NodeName]
		if strings.HasSuffix(pod.Spec.NodeName, "-hdd") || zone != "zone-c" && !holders[pod.Spec.NodeName] {
			t.Errorf("pod %s is on %s", pod.Name, pod.Spec.NodeName)
		}
	}
}

// TestWebhookWarning: where the data cannot be found out, whoever creates the pod is told, and the pod is
// created and spread all the same.
func TestWebhookWarning(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	state := filepath.Join(s.dir, "state.yaml")
	w.writeExample("../../../docs/examples/data-locality/state.yaml", state)
	_, url := w.start(func(o *evenkeel.Options) { o.State = state })
	w.register(s.id, url, nil)
	w.untilPatched()
	var heard warnings
	config := rest.CopyConfig(s.Config)
	config.WarningHandler = &heard
	client, err := kubernetes.NewForConfig(config)
	s.must(err)

	pod, err := client.CoreV1().Pods(s.id).Create(s.ctx, dataPod(w.webPod("web", "nobody"), "lost"), metav1.CreateOptions{})
	s.must(err)
	if !patched(pod) || pod.Spec.Affinity != nil {
		t.Errorf("constraints %v, affinity %v", pod.Spec.TopologySpreadConstraints, pod.Spec.Affinity)
	}
	if len(heard) != 1 || !strings.HasPrefix(heard[0], "evenkeel: fluid: ") || !strings.Contains(heard[0], "'lost'") {
		t.Errorf("warnings: %q", heard)
	}
}

// warnings are what a client is told beside the answers, in their order.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

// dataPod mounts the claim and asks for Fluid.
func dataPod(pod *v1.Pod, claim string) *v1.Pod {
	pod.Labels["fuse.serverful.fluid.io/inject"] = "true"
	pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	pod.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data"}}
	return pod
}

func checkDataPod(t *testing.T, pod *v1.Pod, namespace string) {
	t.Helper()
	if !patched(pod) {
		t.Errorf("pod %s has %v", pod.Name, pod.Spec.TopologySpreadConstraints)
	}
	mount := pod.Spec.Containers[0].VolumeMounts[0]
	if mount.MountPropagation == nil || *mount.MountPropagation != v1.MountPropagationHostToContainer {
		t.Errorf("pod %s has mount %v", pod.Name, mount)
	}
	if used := pod.Annotations["fluid.io/datasets-in-use"]; used != "images" {
		t.Errorf("pod %s uses %q", pod.Name, used)
	}
	want := `{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[` +
		`{"key":"disk","operator":"In","values":["ssd"]},` +
		`{"key":"data.fluid.io/storage-scalein-` + namespace + `-images","operator":"NotIn","values":["true"]}]}]}`
	got, err := json.Marshal(pod.Spec.Affinity.NodeAffinity)
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("pod %s has node affinity %s, which does not begin with %s (%v)", pod.Name, got, want, err)
	}
}

// bindClaim makes a claim of the stage that is bound to a volume of its own, as a controller would.
func (s *stage) bindClaim(name string) {
	s.Helper()
	room := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadOnlyMany}
	class := ""
	volume, err := s.Client.CoreV1().PersistentVolumes().Create(s.ctx, &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: s.id + "-" + name},
		Spec: v1.PersistentVolumeSpec{Capacity: room, AccessModes: modes, PersistentVolumeSource: v1.PersistentVolumeSource{
			NFS: &v1.NFSVolumeSource{Server: "example.com", Path: "/"}}},
	}, metav1.CreateOptions{})
	s.must(err)
	claim, err := s.Client.CoreV1().PersistentVolumeClaims(s.id).Create(s.ctx, &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.id,
			Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: volume.Name, AccessModes: modes,
			Resources: v1.VolumeResourceRequirements{Requests: room}},
	}, metav1.CreateOptions{})
	s.must(err)
	volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: s.id, Name: name, UID: claim.UID}
	_, err = s.Client.CoreV1().PersistentVolumes().Update(s.ctx, volume, metav1.UpdateOptions{})
	s.must(err)
}
