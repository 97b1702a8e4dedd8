package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
