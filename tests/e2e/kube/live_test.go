package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admission "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// live is an Evenkeel whose policies and datasets are the API server's, asked as API servers ask.
type live struct {
	*stage
	e   *evenkeel.Evenkeel
	url string
}

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	policiesPath    = "/apis/evenkeel.io/v1alpha1/topologypolicies"
	policyCRD       = "../../../docs/examples/kubernetes/crd-topologypolicy.yaml"
)

func newLive(t *testing.T, changes ...func(*evenkeel.Options)) *live {
	t.Helper()
	s := newStage(t)
	s.needsWatch()
	port, err := process.FreePort()
	s.must(err)
	l := &live{stage: s, url: fmt.Sprintf("https://127.0.0.1:%d/webhooks/v1/pods", port)}
	l.e = s.evenkeel(func(o *evenkeel.Options) {
		certs := filepath.Join(o.Dir, "evenkeel-certs")
		o.Settings["webhook"] = map[string]any{
			"listen":   fmt.Sprintf("127.0.0.1:%d", port),
			"certFile": filepath.Join(certs, "tls.crt"),
			"keyFile":  filepath.Join(certs, "tls.key"),
			// Nothing is read for callers without a certificate.
			"clientCAFile": filepath.Join(certs, "ca.crt"),
			"fluid":        map[string]any{"readTimeout": "10s"}, // machines of tests are slow
		}
		for _, change := range changes {
			change(o)
		}
	})
	return l
}

// raw sends a request to the API server.
func (l *live) raw(verb, path string, object any) ([]byte, error) {
	text, err := json.Marshal(object)
	l.must(err)
	return l.Client.CoreV1().RESTClient().Verb(verb).AbsPath(path).
		SetHeader("Content-Type", "application/json").Body(text).DoRaw(l.ctx)
}

// post creates an object, once its kind is served.
func (l *live) post(path string, object any) {
	l.Helper()
	l.until("created at "+path, func(context.Context) (bool, error) {
		_, err := l.raw("POST", path, object)
		return err == nil, err
	})
}

// define installs a kind, for as long as the test.
func (l *live) define(definition any, name string) {
	l.Helper()
	l.post(definitionsPath, definition)
	l.Cleanup(func() {
		if _, err := l.raw("DELETE", definitionsPath+"/"+name, struct{}{}); err != nil {
			l.Error(err)
		}
	})
}

// fluid installs a kind of Fluid's, without its schema.
func (l *live) fluid(kind string) {
	l.Helper()
	plural := strings.ToLower(kind) + "s"
	l.define(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".data.fluid.io"},
		"spec": map[string]any{
			"group": "data.fluid.io", "scope": "Namespaced",
			"names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}, plural+".data.fluid.io")
}

// review asks about a pod that is being created, and returns the patched paths and the warnings.
func (l *live) review(pod *v1.Pod) (paths, warnings string) {
	l.Helper()
	object, err := json.Marshal(pod)
	l.must(err)
	text, err := json.Marshal(&admission.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admission.AdmissionRequest{UID: types.UID("1"), Operation: admission.Create, Namespace: l.id,
			Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
			Object:   runtime.RawExtension{Raw: object}},
	})
	l.must(err)
	pair, err := tls.LoadX509KeyPair(l.e.CertFile("client.crt"), l.e.CertFile("client.key"))
	l.must(err)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}}}
	defer client.CloseIdleConnections()
	response, err := client.Post(l.url, "application/json", bytes.NewReader(text))
	l.must(err)
	defer response.Body.Close()
	var answer admission.AdmissionReview
	l.must(json.NewDecoder(response.Body).Decode(&answer))
	var patch []struct{ Path string }
	if len(answer.Response.Patch) > 0 {
		l.must(json.Unmarshal(answer.Response.Patch, &patch))
	}
	for _, operation := range patch {
		paths += operation.Path + " "
	}
	return paths, strings.Join(answer.Response.Warnings, "; ")
}

func (l *live) untilReviewed(pod *v1.Pod, want string) {
	l.Helper()
	l.until("the patch "+want, func(context.Context) (bool, error) {
		paths, warnings := l.review(pod)
		return paths == want, fmt.Errorf("patch: %s, warnings: %s", paths, warnings)
	})
}

// policy is for the pods of one app, in the stage's namespace.
func (l *live) policy(app string, more map[string]any) map[string]any {
	spec := map[string]any{
		"match": map[string]any{
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{v1.LabelMetadataName: l.id}},
			"objectSelector":    map[string]any{"matchLabels": map[string]any{"app": app}},
		},
		"pods": map[string]any{
			"spread":         []any{map[string]any{"topologyKey": zoneKey, "whenUnsatisfiable": "DoNotSchedule"}},
			"schedulerNames": []any{"nobody"}, // who leaves pods as they are
		},
	}
	for key, value := range more {
		spec[key] = value
	}
	return map[string]any{"apiVersion": "evenkeel.io/v1alpha1", "kind": "TopologyPolicy",
		"metadata": map[string]any{"name": l.id + "-" + app}, "spec": spec}
}

type policyStatus struct {
	Status struct {
		ObservedGeneration, Matched int64
		Conditions                  []metav1.Condition
	}
}

func (l *live) untilStatus(app string, ready metav1.ConditionStatus, matched int64) {
	l.Helper()
	l.until(fmt.Sprintf("policy %s: Ready is %s, %d pods", app, ready, matched), func(context.Context) (bool, error) {
		text, err := l.raw("GET", policiesPath+"/"+l.id+"-"+app, nil)
		if err != nil {
			return false, err
		}
		var p policyStatus
		l.must(json.Unmarshal(text, &p))
		c := meta.FindStatusCondition(p.Status.Conditions, "Ready")
		return c != nil && c.Status == ready && p.Status.Matched == matched &&
			c.ObservedGeneration == p.Status.ObservedGeneration && c.Reason != "", fmt.Errorf("%s", text)
	})
}

// othersConditionsStay: somebody else's condition is there still after Evenkeel has written its own, which
// say that no node has the policy's key any more, and that others leave it nothing.
func (l *live) othersConditionsStay() {
	l.Helper()
	path := policiesPath + "/" + l.id + "-web"
	foreign := `{"apiVersion":"evenkeel.io/v1alpha1","kind":"TopologyPolicy","metadata":{"name":"` + l.id + `-web"},"status":{
		"conditions":[{"type":"Reviewed","status":"True","reason":"ByAPerson","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	l.must(l.Client.Discovery().RESTClient().Patch(types.ApplyPatchType).AbsPath(path, "status").Param("fieldManager", "person").
		Body([]byte(foreign)).Do(l.ctx).Error())
	l.must(l.Client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(path).
		Body([]byte(`{"spec":{"pods":{"spread":[{"topologyKey":"zones","whenUnsatisfiable":"DoNotSchedule"}]}}}`)).Do(l.ctx).Error())
	l.until("Effective is False, beside what somebody else says", func(context.Context) (bool, error) {
		text, err := l.raw("GET", path, nil)
		if err != nil {
			return false, err
		}
		var p policyStatus
		l.must(json.Unmarshal(text, &p))
		effective := meta.FindStatusCondition(p.Status.Conditions, "Effective")
		return effective != nil && effective.Reason == "NoNodeHasKey" &&
			meta.IsStatusConditionFalse(p.Status.Conditions, "Shadowed") &&
			meta.IsStatusConditionTrue(p.Status.Conditions, "Reviewed"), fmt.Errorf("%s", text)
	})
}

// TestPoliciesLive: the kind is not there, comes, and its policies come, cannot work, and go.
func TestPoliciesLive(t *testing.T) {
	l := newLive(t)
	pod := l.newPod("web", "web", "nobody")
	l.untilReviewed(pod, "")
	text, err := os.ReadFile(policyCRD)
	l.must(err)
	var definition map[string]any
	l.must(yaml.Unmarshal(text, &definition))
	l.define(definition, "topologypolicies.evenkeel.io")
	running := l.newPod("running", "web", "nobody")
	running.Spec.NodeName = l.node("a", map[string]string{zoneKey: "z"}).Name
	l.create(running)
	// The status counts neither of these, for the webhook leaves them as they are.
	other, out := l.newPod("other", "web", "somebody"), l.newPod("out", "web", "nobody")
	other.Spec.NodeName, out.Spec.NodeName = running.Spec.NodeName, running.Spec.NodeName
	out.Labels["evenkeel.io/inject"] = "disabled"
	l.create(other)
	l.create(out)
	l.post(policiesPath, l.policy("web", nil))
	l.post(policiesPath, l.policy("never", map[string]any{"match": map[string]any{"objectSelector": map[string]any{
		"matchExpressions": []any{map[string]any{"key": "a", "operator": "Exists"},
			map[string]any{"key": "a", "operator": "DoesNotExist"}}}}}))
	l.must(l.e.Restart(l.ctx)) // otherwise it looks for the kind once or twice a minute
	if paths, warnings := l.review(pod); paths != "/spec/topologySpreadConstraints " {
		t.Errorf("ready, and yet the patch is %q (%s)", paths, warnings)
	}
	l.untilStatus("web", metav1.ConditionTrue, 1)
	l.untilStatus("never", metav1.ConditionFalse, 0)
	l.othersConditionsStay()
	_, err = l.raw("DELETE", policiesPath+"/"+l.id+"-web", struct{}{})
	l.must(err)
	l.untilReviewed(pod, "")
}

// statusFields are the fields that a definition of the kind declares for a policy's status.
func statusFields(definition map[string]any) map[string]any {
	version := definition["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	status := schema["properties"].(map[string]any)["status"].(map[string]any)
	return status["properties"].(map[string]any)
}

// TestPolicyKindOfAnotherVersion: with a definition that lacks today's fields of the status, the API server refuses
// them, and the rest is written all the same. Under today's definition an earlier Evenkeel may still write its own.
func TestPolicyKindOfAnotherVersion(t *testing.T) {
	l := newLive(t)
	text, err := os.ReadFile(policyCRD)
	l.must(err)
	var definition map[string]any
	l.must(yaml.Unmarshal(text, &definition))
	delete(statusFields(definition), "spread")
	delete(statusFields(definition), "topologyKeys")
	l.define(definition, "topologypolicies.evenkeel.io")
	running := l.newPod("running", "web", "nobody")
	running.Spec.NodeName = l.node("a", map[string]string{zoneKey: "z"}).Name
	l.create(running)
	l.post(policiesPath, l.policy("web", nil))
	l.must(l.e.Restart(l.ctx)) // otherwise it looks for the kind once or twice a minute
	l.untilStatus("web", metav1.ConditionTrue, 1)
	if said := strings.Count(l.e.Output(), "update the CustomResourceDefinition"); said != 2 {
		t.Errorf("the log names %d of 2 fields that the definition lacks, and what to do", said)
	}

	l.must(yaml.Unmarshal(text, &definition))
	today, err := json.Marshal(map[string]any{"spec": definition["spec"]})
	l.must(err)
	l.must(l.Client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(definitionsPath, "topologypolicies.evenkeel.io").
		Body(today).Do(l.ctx).Error())
	earlier := `{"apiVersion":"evenkeel.io/v1alpha1","kind":"TopologyPolicy","metadata":{"name":"` + l.id + `-web"},"status":{
		"reviews":{"since":"2026-01-01T00:00:00Z","injected":1,"softened":0,"skipped":{"NoNodeHasKey":1},"evaded":{}}}}`
	l.until("an earlier Evenkeel may write its status", func(context.Context) (bool, error) {
		err := l.Client.Discovery().RESTClient().Patch(types.ApplyPatchType).AbsPath(policiesPath, l.id+"-web", "status").
			Param("fieldManager", "earlier").Body([]byte(earlier)).Do(l.ctx).Error()
		return err == nil, err
	})
}

// TestDatasetsLive: what a pod mounts is created in one breath with it, and nobody watches it yet;
// then it is watched, and need not be read.
func TestDatasetsLive(t *testing.T) {
	l := newLive(t)
	pod := l.newPod("train", "train", "nobody")
	pod.Labels["fuse.serverful.fluid.io/inject"] = "true"
	pod.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "ds"}}}}
	if _, warnings := l.review(pod); !strings.Contains(warnings, "cannot find 1 of the pod's volume claims") {
		t.Errorf("without a claim the warning is %q", warnings)
	}
	l.fluid("Dataset")
	l.fluid("AlluxioRuntime")
	meta := map[string]any{"name": "ds", "namespace": l.id}
	fluidPath := "/apis/data.fluid.io/v1alpha1/namespaces/" + l.id
	l.post(fluidPath+"/datasets", map[string]any{"apiVersion": "data.fluid.io/v1alpha1", "kind": "Dataset",
		"metadata": meta, "status": map[string]any{"phase": "Bound", "runtimes": []any{map[string]any{"type": "alluxio"}}}})
	l.post(fluidPath+"/alluxioruntimes", map[string]any{"apiVersion": "data.fluid.io/v1alpha1",
		"kind": "AlluxioRuntime", "metadata": meta})
	l.post("/api/v1/namespaces/"+l.id+"/persistentvolumeclaims", map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "ds", "labels": map[string]any{"fluid.io/s-" + l.id + "-ds": "true"}},
		"spec": map[string]any{"accessModes": []any{"ReadOnlyMany"},
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}})
	const want = "/metadata/annotations /spec/affinity "
	if paths, warnings := l.review(pod); paths != want {
		t.Errorf("created in one breath: the patch is %q (%s)", paths, warnings)
	}
	l.must(l.e.Restart(l.ctx))
	l.until("all of it is watched", func(ctx context.Context) (bool, error) {
		metrics, err := l.e.Metrics(ctx)
		return metrics["evenkeel_fluid_objects"] >= 3, err
	})
	if paths, warnings := l.review(pod); paths != want {
		t.Errorf("watched: the patch is %q (%s)", paths, warnings)
	}
	metrics, err := l.e.Metrics(l.ctx)
	l.must(err)
	if reads := metrics.Sum("evenkeel_fluid_reads_total"); reads != 0 {
		t.Errorf("what is watched was read %v times", reads)
	}
}
