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
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// customKind has the API server serve a kind, with a scale subresource or without one.
func (s *stage) customKind(kind string, scale bool) {
	s.Helper()
	plural := strings.ToLower(kind) + "s"
	subresources := ""
	if scale {
		subresources = `
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas,
      labelSelectorPath: .status.selector}}`
	}
	file := filepath.Join(s.dir, plural+".yaml")
	s.must(os.WriteFile(file, []byte(fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.groups.example.com}
spec:
  group: groups.example.com
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]s, singular: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {replicas: {type: integer}}},
      status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}}}}%[4]s
`, plural, kind, strings.ToLower(kind), subresources)), 0o644))
	s.must(s.createDefinition(file))
}

// customOwner creates an object of such a kind, and returns what its pods refer to it by.
func (s *stage) customOwner(kind, name, selector string) metav1.OwnerReference {
	s.Helper()
	path := fmt.Sprintf("/apis/groups.example.com/v1/namespaces/%s/%ss", s.id, strings.ToLower(kind))
	body := fmt.Sprintf(`{"apiVersion":"groups.example.com/v1","kind":%q,"metadata":{"name":%q},`+
		`"spec":{"replicas":5},"status":{"replicas":5,"selector":%q}}`, kind, name, selector)
	var meta metav1.PartialObjectMetadata
	s.until("the kind "+kind+" is served", func(context.Context) (bool, error) {
		raw, err := s.Client.Discovery().RESTClient().Post().AbsPath(path).
			SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(s.ctx).Raw()
		if err != nil {
			return false, err
		}
		return true, json.Unmarshal(raw, &meta)
	})
	return metav1.OwnerReference{APIVersion: "groups.example.com/v1", Kind: kind, Name: name, UID: meta.UID,
		Controller: ptr.To(true)}
}

// ownedPod is one of several pods of an owner, told from the others by a label that nobody knows.
func (w *webhook) ownedPod(owner metav1.OwnerReference, number int) *v1.Pod {
	pod := w.webPod(fmt.Sprintf("%s-%d", owner.Name, number), "nobody")
	pod.OwnerReferences = []metav1.OwnerReference{owner}
	pod.Labels["groups.example.com/of"] = owner.Name
	pod.Labels["groups.example.com/serial"] = fmt.Sprint(number)
	return pod
}

// counted are the labels by which the first constraint of a pod that is tried selects.
func (w *webhook) counted(pod *v1.Pod) map[string]string {
	w.Helper()
	tried, err := w.try(w.ctx, pod)
	w.must(err)
	if len(tried.Spec.TopologySpreadConstraints) == 0 {
		w.Fatalf("%s is not spread", pod.Name)
	}
	return tried.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels
}

// TestWebhookGroups: of a custom kind with a scale subresource that says whom a constraint counts, the
// first pod's too; of one without, its siblings do once they live.
func TestWebhookGroups(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	w := s.newWebhook()
	s.customKind("Widget", true)
	s.customKind("Thing", false)
	widget := s.customOwner("Widget", "w", "groups.example.com/of=w")
	thing := s.customOwner("Thing", "t", "")
	e, url := w.start(func(o *evenkeel.Options) {
		settings := o.Settings["webhook"].(map[string]any)
		settings["clientCAFile"] = s.CAFile()
		settings["allowedSubjects"] = []string{cluster.WebhookClient}
		settings["fluid"] = map[string]any{"readTimeout": "10s"} // machines of tests are slow
	})
	w.register(s.id, url, nil)
	w.untilPatched()

	if got := w.counted(w.ownedPod(widget, 1)); !maps.Equal(got, map[string]string{"groups.example.com/of": "w"}) {
		t.Errorf("the first pod of a kind with scale counts %v", got)
	}
	if got := w.counted(w.ownedPod(thing, 1)); got["groups.example.com/serial"] != "1" {
		t.Errorf("the first pod of a kind without scale counts %v, of which nobody can know", got)
	}
	for number := range 2 {
		pod := w.ownedPod(thing, 2+number)
		pod.Spec.NodeName = "anywhere"
		s.create(pod)
	}
	w.until("siblings are known", func(context.Context) (bool, error) {
		got := w.counted(w.ownedPod(thing, 1))
		_, serial := got["groups.example.com/serial"]
		return !serial && got["groups.example.com/of"] == "t" && got["app"] == "web", fmt.Errorf("%v", got)
	})
	metrics, err := e.Metrics(w.ctx)
	s.must(err)
	if found, none := metrics[`evenkeel_owner_reads_total{result="found"}`], metrics[`evenkeel_owner_reads_total{result="none"}`]; found != 1 || none != 1 {
		t.Errorf("%v controllers were read and found, %v in vain, %v failed; want one each of the former", found, none, metrics[`evenkeel_owner_reads_total{result="failed"}`])
	}
}

// TestWebhookRelabelled: a webhook that comes later changes a label that ours selects by. Ours is asked
// again and follows; what the user has written stays.
func TestWebhookRelabelled(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	_, url := w.start(nil)
	other := w.relabels("version", "1.2.3")
	w.register(s.id+"-a", url, nil)
	w.register(s.id+"-z", other.URL()+"/webhooks/v1/labels", nil)
	labelled := func(own ...v1.TopologySpreadConstraint) *v1.Pod {
		pod := w.webPod("web", "nobody")
		pod.Labels["version"] = "unset"
		pod.Spec.TopologySpreadConstraints = own
		return pod
	}
	w.until("pods are patched by both", func(ctx context.Context) (bool, error) {
		pod, err := w.try(ctx, labelled())
		return err == nil && patched(pod) && pod.Labels["version"] == "1.2.3", err
	})
	pod, err := w.try(s.ctx, labelled())
	s.must(err)
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if got := c.LabelSelector.MatchLabels["version"]; got != "1.2.3" {
			t.Errorf("the constraint on %s counts version %q", c.TopologyKey, got)
		}
	}
	own := pod.Spec.TopologySpreadConstraints[1] // all but its selector as ours
	own.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "version": "unset"}}
	pod, err = w.try(s.ctx, labelled(own))
	s.must(err)
	if got := pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels["version"]; got != "unset" {
		t.Errorf("the user's own constraint counts version %q now", got)
	}
}

// relabels is a webhook that sets a label of every pod.
func (w *webhook) relabels(key, value string) *proxy.Proxy {
	w.Helper()
	pair, err := w.authority.Server("127.0.0.1")
	w.must(err)
	p, err := proxy.Start(proxy.Options{Target: "https://127.0.0.1:1", Serving: pair}) // asks nobody
	w.must(err)
	w.Cleanup(p.Close)
	p.Inject(proxy.Fault{Match: proxy.Any, Answer: func(s *proxy.Stream) {
		answer, err := relabel(s.Request.Body, key, value)
		if err != nil {
			w.Errorf("the other webhook: %v", err)
		}
		proxy.Text(http.StatusOK, "application/json", string(answer))(s)
	}})
	return p
}

func relabel(body io.Reader, key, value string) ([]byte, error) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(body).Decode(&review); err != nil {
		return nil, err
	}
	kind := admissionv1.PatchTypeJSONPatch
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, PatchType: &kind,
		Patch: []byte(fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/%s","value":%q}]`, key, value))}
	review.Request = nil
	return json.Marshal(review)
}
