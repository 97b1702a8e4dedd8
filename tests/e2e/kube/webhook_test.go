package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// TestWebhookDeployments: the pods of Deployments, made by Kubernetes' own controllers, get what the
// policy says, and kube-scheduler alone, without an extender, spreads them by it.
func TestWebhookDeployments(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	for zone := range 3 {
		for i := range 2 {
			s.node(fmt.Sprintf("z%d-n%d", zone, i), map[string]string{
				zoneKey: fmt.Sprintf("zone-%d", zone), regionKey: fmt.Sprintf("region-%d", zone/2)})
		}
	}
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.untilPatched()
	s.scheduler(s.id, nil)
	s.controllers()
	r := s.record()

	s.deploy(6, w.webPod("", s.id))
	s.deploy(6, s.newPod("", "other", s.id))
	s.waitBound(r, 12)
	for _, pod := range s.podsOf("web") {
		if !patched(&pod) || !countsRevision(&pod) {
			t.Errorf("pod %s has %v", pod.Name, pod.Spec.TopologySpreadConstraints)
		}
	}
	for _, pod := range s.podsOf("other") { // its policy is "rest"
		c := pod.Spec.TopologySpreadConstraints
		if len(c) != 1 || c[0].TopologyKey != hostKey || c[0].MaxSkew != 3 || c[0].WhenUnsatisfiable != v1.ScheduleAnyway {
			t.Errorf("pod %s has %v", pod.Name, c)
		}
	}
	s.even("web", 2)
	s.scale("web", 9)
	s.waitBound(r, 15)
	s.even("web", 3)
	s.rollOut("web", "second") // spread as if those of the first revision were not there
	s.until("all pods are of the second revision", func(context.Context) (bool, error) {
		pods := s.podsOf("web")
		return len(pods) == 9 && !slices.ContainsFunc(pods, func(pod v1.Pod) bool {
			return pod.Annotations["revision"] != "second" || pod.Spec.NodeName == ""
		}), nil
	})
	s.even("web", 3)
}

// countsRevision: pods of one ReplicaSet are spread by themselves.
func countsRevision(pod *v1.Pod) bool {
	return !slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
		_, selected := c.LabelSelector.MatchLabels["pod-template-hash"]
		return selected || !slices.Equal(c.MatchLabelKeys, []string{"pod-template-hash"})
	})
}

// even: so many pods in each of three zones.
func (s *stage) even(app string, want int) {
	s.Helper()
	if counts := slices.Sorted(maps.Values(s.perDomain(zoneKey, app))); !slices.Equal(counts, []int{want, want, want}) {
		s.Errorf("pods of %s per zone: %v, want %d each", app, counts, want)
	}
}

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

// TestWebhookCreation: ways in which pods are created.
func TestWebhookCreation(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.untilPatched()
	pods := s.Client.CoreV1().Pods(s.id)

	t.Run("dry-run", func(t *testing.T) {
		pod, err := s.try(s.ctx, w.webPod("dry", "nobody"))
		if err != nil || !patched(pod) {
			t.Errorf("%v, %v", pod, err)
		}
		if _, err := pods.Get(s.ctx, "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("it was created: %v", err)
		}
	})
	t.Run("generated-name", func(t *testing.T) {
		pod := w.webPod("", "nobody")
		pod.GenerateName = "web-"
		pod, err := pods.Create(s.ctx, pod, metav1.CreateOptions{})
		if err != nil || !patched(pod) || !strings.HasPrefix(pod.Name, "web-") {
			t.Errorf("%v, %v", pod, err)
		}
	})
	t.Run("own-constraint", func(t *testing.T) {
		pod := w.webPod("own", "nobody")
		own := constraint(zoneKey, 5, v1.ScheduleAnyway, "mine")
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{own}
		pod, err := s.try(s.ctx, pod)
		s.must(err)
		c := pod.Spec.TopologySpreadConstraints
		if len(c) != 2 || c[0].MaxSkew != 5 || c[0].WhenUnsatisfiable != v1.ScheduleAnyway || c[1].TopologyKey != regionKey {
			t.Errorf("it has %v", c)
		}
	})
	t.Run("mirror", func(t *testing.T) {
		node := s.node("kubelet", nil)
		pod := w.webPod("mirror", "")
		pod.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "hash"}
		pod.Spec.NodeName = node.Name
		pod, err := s.try(s.ctx, pod)
		if err != nil || len(pod.Spec.TopologySpreadConstraints) != 0 {
			t.Errorf("%v, %v", pod, err)
		}
	})
	t.Run("refused-by-the-API-server", func(t *testing.T) {
		pod := w.webPod("bad", "nobody")
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: zoneKey, MaxSkew: -1,
			WhenUnsatisfiable: "Perhaps"}}
		_, err := s.try(s.ctx, pod)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.topologySpreadConstraints[0].maxSkew") {
			t.Errorf("the API server's own reason is not what is seen: %v", err)
		}
	})
}

// TestWebhookReinvocation: another webhook edits pods, before ours or after, so that the API server
// asks one of them once more. The result has everything once.
func TestWebhookReinvocation(t *testing.T) {
	for _, c := range []struct {
		ours, other string // names, in whose order webhooks are asked
		asked       int    // how often ours is
	}{{"a", "z", 2}, {"z", "a", 1}} {
		t.Run("ours-is-"+c.ours, func(t *testing.T) {
			s := newStage(t)
			w := s.newWebhook()
			e, _ := w.start(nil)
			p := w.proxyFor(e)
			other := w.sidecarWebhook()
			w.register(s.id+"-"+c.ours, p.URL()+"/webhooks/v1/pods", nil)
			w.register(s.id+"-"+c.other, other.URL()+"/webhooks/v1/sidecars", nil)
			w.tryUntil("patched by both", func(pod *v1.Pod, err error) bool {
				return err == nil && patched(pod) && len(pod.Spec.Containers) == 2
			})

			before := len(p.Requests(proxy.Any))
			pod := s.create(w.webPod("web", "nobody"))
			if asked := len(p.Requests(proxy.Any)) - before; asked != c.asked {
				t.Errorf("Evenkeel was asked %d times, want %d", asked, c.asked)
			}
			if !patched(pod) || len(pod.Spec.Containers) != 2 || pod.Labels["sidecar"] != "yes" {
				t.Errorf("constraints %v, containers %v", pod.Spec.TopologySpreadConstraints, pod.Spec.Containers)
			}
		})
	}
}

// proxyFor stands between the API server and an Evenkeel, with a certificate of the same CA.
func (w *webhook) proxyFor(e *evenkeel.Evenkeel) *proxy.Proxy {
	w.Helper()
	address := e.Settings["webhook"].(map[string]any)["listen"].(string)
	pair, err := w.authority.Server("127.0.0.1")
	w.must(err)
	p, err := proxy.Start(proxy.Options{Target: "https://" + address, TargetCA: w.authority.Cert, Serving: pair})
	w.must(err)
	w.Cleanup(p.Close)
	return p
}

// sidecarWebhook gives every pod a second container and a label, once.
func (w *webhook) sidecarWebhook() *proxy.Proxy {
	w.Helper()
	pair, err := w.authority.Server("127.0.0.1")
	w.must(err)
	p, err := proxy.Start(proxy.Options{Target: "https://127.0.0.1:1", Serving: pair}) // asks nobody
	w.must(err)
	w.Cleanup(p.Close)
	p.Inject(proxy.Fault{Match: proxy.Any, Answer: func(s *proxy.Stream) {
		answer, err := addSidecar(s.Request.Body)
		if err != nil {
			w.Errorf("the other webhook: %v", err)
		}
		proxy.Text(http.StatusOK, "application/json", string(answer))(s)
	}})
	return p
}

func addSidecar(body io.Reader) ([]byte, error) {
	var review admissionv1.AdmissionReview
	var pod v1.Pod
	if err := json.NewDecoder(body).Decode(&review); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(review.Request.Object.Raw, &pod); err != nil {
		return nil, err
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	if pod.Labels["sidecar"] == "" {
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType = &kind
		review.Response.Patch = []byte(`[{"op":"add","path":"/metadata/labels/sidecar","value":"yes"},` +
			`{"op":"add","path":"/spec/containers/-","value":{"name":"sidecar","image":"example.com/sidecar"}}]`)
	}
	return json.Marshal(review)
}

// TestWebhookKind: the API server takes the shipped kind, its rules included, and the shipped
// policies are of it; what the rules forbid is refused.
func TestWebhookKind(t *testing.T) {
	s := newStage(t)
	s.must(s.createDefinition("../../../docs/examples/kubernetes/crd-topologypolicy.yaml"))
	text, err := os.ReadFile(examplePolicies)
	s.must(err)
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if err := s.tryPolicy(document); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
	}
	for _, spec := range []string{
		"spread: []",
		"spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
		"spread: [{topologyKey: zone, whenUnsatisfiable: Perhaps}]",
		"spread: [{topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
		"{targets: [Node], spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
	} {
		spec = "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: bad}\nspec:\n  " + spec
		if err := s.tryPolicy(spec); !apierrors.IsInvalid(err) {
			t.Errorf("not refused as invalid (%v):\n%s", err, spec)
		}
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// createDefinition has the API server serve a kind of its own, until the test ends.
func (s *stage) createDefinition(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &meta); err != nil {
		return err
	}
	client := s.Client.Discovery().RESTClient()
	err = client.Post().AbsPath(definitions).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").Body(body).Do(s.ctx).Error()
	if err != nil {
		return err
	}
	s.Cleanup(func() {
		if err := client.Delete().AbsPath(definitions, meta.Name).Do(s.ctx).Error(); err != nil {
			s.Error(err)
		}
	})
	return nil
}

// tryPolicy creates one without storing it. The API server serves a new kind after a moment.
func (s *stage) tryPolicy(text string) error {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	ctx, cancel := s.limit()
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		err := s.Client.Discovery().RESTClient().Post().AbsPath("/apis/evenkeel.io/v1alpha1/topologypolicies").
			Param("fieldValidation", "Strict").Param("dryRun", metav1.DryRunAll).
			SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
		if !apierrors.IsNotFound(err) || ctx.Err() != nil {
			return err
		}
	}
}
