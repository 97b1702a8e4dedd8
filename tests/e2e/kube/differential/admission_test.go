package differential

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"

	"evenkeel.io/tests/e2e/kube/differential/served"
)

// TestAdmission asks the webhook, as API servers do, about pods of every kind. What it answers must
// apply with the API server's own patch library, give a pod that the API server takes if it took the
// original, touch nothing that is not Evenkeel's to touch, allow no node that the pod itself did not
// allow, and be complete: asked about the result, Evenkeel has nothing to add.
func TestAdmission(t *testing.T) {
	w := startWebhook(t)
	var tally admissionTally
	forEachCase(t, 2*goruntime.GOMAXPROCS(0), func(_, number int) bool {
		d := diceFor(number)
		pod, template := d.podToAdmit()
		err := w.admit(d, pod, template, &tally)
		if err != nil {
			t.Errorf("seed %d, case %d, template %q: %v\npod: %s", seed(), number, template, err, pod)
		}
		return err == nil
	})
	if !t.Failed() {
		tally.report(t)
	}
}

// admissionTally counts what the cases were like: to leave pods alone proves nothing.
type admissionTally struct {
	mutex  sync.Mutex
	counts map[string]int // guarded by mutex
}

func (t *admissionTally) count(what string, yes bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	if yes {
		t.counts[what]++
	}
}

var admissionKinds = []string{"pods", "valid", "patched", "valid and patched", "with a warning",
	"constraints added", "required terms changed", "preferred terms added", "mounts changed", "annotations changed",
	"nodes excluded", "nodes left", fromTemplate, fromTemplate + ", valid", fromTemplate + ", valid and patched"}

const fromTemplate = "from a template"

func (t *admissionTally) report(tb testing.TB) {
	for _, what := range admissionKinds {
		tb.Logf("%7d %s", t.counts[what], what)
		if t.counts["pods"] >= ablateMin && t.counts[what]*100 < t.counts["pods"] {
			tb.Errorf("hardly any %s: the cases are too dull", what)
		}
	}
	const enough = 20 // on average, for none to be left out by chance
	for _, one := range templates() {
		if t.counts[fromTemplate] >= enough*len(templates()) && t.counts[one.name] == 0 {
			tb.Errorf("no case is from the template %s", one.name)
		}
	}
}

// ---- one case ----

// admit asks about a pod, which may be from a template ("" if it is from none).
func (w *webhook) admit(d dice, pod []byte, template string, tally *admissionTally) error {
	answer, err := w.ask(pod)
	if err != nil {
		return err
	}
	valid := invalid(pod) == nil
	tally.count(template, true)
	tally.count(fromTemplate, template != "")
	tally.count(fromTemplate+", valid", template != "" && valid)
	tally.count(fromTemplate+", valid and patched", template != "" && valid && answer.Patch != nil)
	return w.judge(d, pod, answer, tally)
}

// judge what became of the pod.
func (w *webhook) judge(d dice, pod []byte, answer *admissionv1.AdmissionResponse, tally *admissionTally) error {
	valid := invalid(pod) == nil
	tally.count("pods", true)
	tally.count("valid", valid)
	tally.count("patched", answer.Patch != nil)
	tally.count("with a warning", len(answer.Warnings) > 0)
	if answer.Patch == nil {
		return nil
	}
	tally.count("valid and patched", valid)
	patched, err := apply(pod, answer.Patch)
	if err == nil && valid {
		err = invalid(patched)
	}
	if err == nil {
		err = owned(pod, patched, tally)
	}
	if err == nil {
		err = narrowed(d, pod, patched, tally)
	}
	if err == nil {
		err = w.nothingMore(patched)
	}
	if err != nil {
		return fmt.Errorf("%w\npatch: %s", err, answer.Patch)
	}
	return nil
}

func apply(pod, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("the patch is none: %w", err)
	}
	patched, err := decoded.Apply(pod)
	if err != nil {
		return nil, fmt.Errorf("the patch does not apply: %w", err)
	}
	return patched, nil
}

func (w *webhook) nothingMore(patched []byte) error {
	again, err := w.ask(patched)
	if err == nil && again.Patch != nil {
		err = fmt.Errorf("asked about the result it adds %s", again.Patch)
	}
	return err
}

// ---- the webhook ----

type webhook struct {
	url    string
	client *http.Client
}

func startWebhook(t *testing.T) *webhook {
	t.Helper()
	binary, folder := evenkeelBinary(t), t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{"policies.yaml": admissionPolicies, "state.yaml": admissionState} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := exec.Command(binary, "certs", "init", "--dir", at("certs")).CombinedOutput(); err != nil {
		t.Fatalf("evenkeel certs init: %v: %s", err, output)
	}
	daemon, err := served.Start(binary, "--state", at("state.yaml"), "--policy", at("policies.yaml"),
		"--webhook-listen", "127.0.0.1:0", "--webhook-cert-file", at("certs/tls.crt"),
		"--webhook-key-file", at("certs/tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(daemon.Stop)
	ca, err := os.ReadFile(at("certs/ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &webhook{"https://" + daemon.Webhook + "/webhooks/v1/pods", &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64}}}
}

// ask sends the review that API servers send. It is an error if the pod is not allowed, or the answer
// is none.
func (w *webhook) ask(pod []byte) (*admissionv1.AdmissionResponse, error) {
	var meta struct{ Metadata struct{ Namespace string } }
	if err := json.Unmarshal(pod, &meta); err != nil {
		return nil, err
	}
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}
	resource := metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{UID: reviewUID, Kind: kind, Resource: resource, RequestKind: &kind,
			RequestResource: &resource, Namespace: meta.Metadata.Namespace, Operation: admissionv1.Create,
			Object: runtime.RawExtension{Raw: pod}},
	})
	if err != nil {
		return nil, err
	}
	return w.post(body)
}

const reviewUID = types.UID("705ab4f5-6393-11e8-b7cc-42010a800002")

func (w *webhook) post(body []byte) (*admissionv1.AdmissionResponse, error) {
	response, err := w.client.Post(w.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if response.StatusCode != http.StatusOK || json.Unmarshal(text, &review) != nil || review.Response == nil {
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	answer := review.Response
	if _, err := request.VerifyAdmissionResponse(reviewUID, true, &review); err != nil || !answer.Allowed {
		return nil, fmt.Errorf("it answers %s", text)
	}
	return answer, nil
}

// ---- what it knows ----

const admissionPolicies = `
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: front}
spec:
  priority: 10
  match:
    objectSelector: {matchLabels: {tier: front}}
  pods:
    schedulerNames: [default-scheduler, volcano, jupyterhub-user-scheduler]
    spread:
    - {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway, maxSkew: 2}
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}
---
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: back}
spec:
  priority: 5
  match:
    objectSelector: {matchExpressions: [{key: tier, operator: In, values: [back, ""]}]}
    namespaceSelector: {matchExpressions: [{key: team, operator: Exists}]}
  pods:
    schedulerNames: [default-scheduler, volcano, jupyterhub-user-scheduler]
    spread:
    - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}
    - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: example.com/rack, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: Ignore}
---
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: rest}
spec:
  match:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}
  pods:
    schedulerNames: [default-scheduler, volcano, jupyterhub-user-scheduler]
    spread:
    - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
`

// Claims are datasets of several runtimes, a dataset that is not bound, one that is not there, and
// something else.
const admissionState = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {Fluid-Injection: enabled}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: default}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: images, namespace: shop, labels: {fluid.io/s-shop-images: "true"}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: words, namespace: shop, labels: {fluid.io/s-shop-words: "true"}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: thin, namespace: shop, labels: {fluid.io/managed-by: thin}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: loose, namespace: shop, labels: {fluid.io/s-shop-loose: "true"}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: lost, namespace: shop, labels: {fluid.io/s-shop-lost: "true"}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: plain, namespace: shop}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: images, namespace: other, labels: {fluid.io/s-other-images: "true"}}}
- apiVersion: data.fluid.io/v1alpha1
  kind: Dataset
  metadata: {name: images, namespace: shop}
  status: {phase: Bound, runtimes: [{name: images, namespace: shop, type: alluxio}]}
- apiVersion: data.fluid.io/v1alpha1
  kind: AlluxioRuntime
  metadata: {name: images, namespace: shop}
  spec: {fuse: {nodeSelector: {disk: ssd}}}
  status:
    cacheAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-0, zone-1]}]
- apiVersion: data.fluid.io/v1alpha1
  kind: Dataset
  metadata: {name: words, namespace: shop}
  status: {phase: Bound, runtimes: [{name: words, namespace: shop, type: juicefs}]}
- apiVersion: data.fluid.io/v1alpha1
  kind: JuiceFSRuntime
  metadata: {name: words, namespace: shop}
  spec: {fuse: {nodeSelector: {disk: ssd, size: "2"}}}
- apiVersion: data.fluid.io/v1alpha1
  kind: Dataset
  metadata: {name: thin, namespace: shop}
  status: {phase: Bound, runtimes: [{name: thin, namespace: shop, type: thin}]}
- {apiVersion: data.fluid.io/v1alpha1, kind: ThinRuntime, metadata: {name: thin, namespace: shop}, spec: {}}
- {apiVersion: data.fluid.io/v1alpha1, kind: Dataset, metadata: {name: loose, namespace: shop}, status: {phase: NotBound}}
- apiVersion: data.fluid.io/v1alpha1
  kind: Dataset
  metadata: {name: images, namespace: other}
  status: {phase: Bound, runtimes: [{name: images, namespace: other, type: alluxio}]}
- {apiVersion: data.fluid.io/v1alpha1, kind: AlluxioRuntime, metadata: {name: images, namespace: other}, spec: {}}
`

// admissionNode is one of those that a pod may or may not run on.
func (d dice) admissionNode() *corev1.Node {
	labels := d.labels(nodeLabels, 80)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[zoneKey] = fmt.Sprintf("zone-%d", d.IntN(3))
	for _, key := range some(d, 30, "fluid.io/s-shop-images", "fluid.io/s-shop-words", "fluid.io/s-other-images",
		"data.fluid.io/storage-scalein-shop-images", "data.fluid.io/storage-scalein-shop-words") {
		labels[key] = "true"
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(d.IntN(6)), Labels: labels}}
}
