package e2e

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	webhookadmission "k8s.io/apiserver/pkg/admission/plugin/webhook/config"
	authentication "k8s.io/apiserver/pkg/util/webhook"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// withFluid is a pod whose claim no watch brings: without Fluid's kinds claims are not watched.
func (w *webhook) withFluid(name string) *v1.Pod {
	pod := w.newPod(name, "train", "nobody")
	pod.Labels["fuse.serverful.fluid.io/inject"] = "true"
	pod.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}}}
	return pod
}

func (w *webhook) reads(e *evenkeel.Evenkeel, result string) float64 {
	w.Helper()
	metrics, err := e.Metrics(w.ctx)
	w.must(err)
	return metrics[`evenkeel_fluid_reads_total{result="`+result+`"}`]
}

// untilAsked creates pods until the API server asks the webhook; each that it asks about has claims to be
// read, which ends as `result` says.
func (w *webhook) untilAsked(e *evenkeel.Evenkeel, result string) {
	w.Helper()
	w.until("a review with a claim: "+result, func(context.Context) (bool, error) {
		_, err := w.Client.CoreV1().Pods(w.id).Create(w.ctx, w.withFluid("train"),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return w.reads(e, result) > 0, err
	})
}

// TestWebhookClient: an API server with an AdmissionConfiguration shows its certificate, is let in, and has
// objects read for its reviews; nobody else is.
func TestWebhookClient(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	w := s.newWebhook()
	s.claim("claim")
	e, url := w.start(func(o *evenkeel.Options) {
		settings := o.Settings["webhook"].(map[string]any)
		settings["clientCAFile"] = s.CAFile()
		settings["allowedSubjects"] = []string{cluster.WebhookClient}
		settings["fluid"] = map[string]any{"readTimeout": "10s"} // machines of tests are slow
	})
	w.register(s.id, url, nil)
	w.untilAsked(e, "found")
	if n := w.reads(e, "refused"); n != 0 {
		t.Errorf("%v objects were not read for the API server", n)
	}
	for who, certificates := range map[string][]tls.Certificate{
		"nobody": nil, "another name": {w.client("somebody")},
	} {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, Certificates: certificates}}}
		response, err := client.Post(url, "application/json", strings.NewReader("{}"))
		s.must(err)
		response.Body.Close()
		client.CloseIdleConnections()
		want := http.StatusUnauthorized
		if certificates != nil {
			want = http.StatusForbidden
		}
		if response.StatusCode != want {
			t.Errorf("%s is answered with %s", who, response.Status)
		}
	}
}

// TestWebhookUnverified: without a client CA nobody knows who asks, and nothing is read.
func TestWebhookUnverified(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	w := s.newWebhook()
	s.claim("claim")
	e, url := w.start(nil)
	w.register(s.id, url, nil)
	w.untilAsked(e, "refused")
	if n := w.reads(e, "found"); n != 0 {
		t.Errorf("%v objects were read", n)
	}
}

// client is a certificate of the cluster's CA.
func (w *webhook) client(name string) tls.Certificate {
	w.Helper()
	pair, err := w.CA.Client(name)
	w.must(err)
	certificate, err := pair.TLS()
	w.must(err)
	return certificate
}

// claim creates one that is bound to nothing.
func (s *stage) claim(name string) {
	s.Helper()
	claim := &v1.PersistentVolumeClaim{}
	s.must(yaml.Unmarshal([]byte("{metadata: {name: "+name+"}, spec: {accessModes: [ReadOnlyMany], "+
		"resources: {requests: {storage: 1Gi}}}}"), claim))
	_, err := s.Client.CoreV1().PersistentVolumeClaims(s.id).Create(s.ctx, claim, metav1.CreateOptions{})
	s.must(err)
}

// TestWebhookClientExample: the files that users are shown are read by an API server as they are meant.
func TestWebhookClientExample(t *testing.T) {
	const folder = "../../../docs/examples/kubernetes"
	text, err := os.ReadFile(filepath.Join(folder, "apiserver-admission.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		APIVersion, Kind string
		Plugins          []struct {
			Name          string
			Configuration map[string]any
		}
	}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatal(err)
	}
	if c.APIVersion != "apiserver.config.k8s.io/v1" || c.Kind != "AdmissionConfiguration" ||
		len(c.Plugins) != 1 || c.Plugins[0].Name != "MutatingAdmissionWebhook" {
		t.Fatalf("%+v", c)
	}
	inner, err := yaml.Marshal(c.Plugins[0].Configuration)
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := webhookadmission.LoadConfig(strings.NewReader(string(inner)))
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(hooks.KubeConfigFile); name != "webhook-client.yaml" {
		t.Errorf("kubeConfigFile is %s", hooks.KubeConfigFile)
	}
	resolver, err := authentication.NewDefaultAuthenticationInfoResolver(filepath.Join(folder, "webhook-client.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for port, want := range map[int]string{9443: "/etc/kubernetes/pki/apiserver-kubelet-client.crt", 443: ""} {
		config, err := resolver.ClientConfigForService("evenkeel", "evenkeel", port)
		if err != nil {
			t.Fatal(err)
		}
		if config.CertFile != want {
			t.Errorf("port %d: the certificate is %q", port, config.CertFile)
		}
	}
}
