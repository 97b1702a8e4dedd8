package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/process"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// TestWebhookUnwell: whatever is wrong with the webhook, with failurePolicy Ignore pods are created as
// they are, and with Fail they are not. How long Ignore takes is logged: at most the timeout, 1 s.
func TestWebhookUnwell(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	e, url := w.start(nil)
	w.register(s.id, url, func(hook *admission.MutatingWebhook) {
		second := int32(1)
		hook.TimeoutSeconds = &second
	})
	w.untilPatched()
	for _, c := range w.ailments(e, url) {
		t.Run(c.name, func(t *testing.T) {
			fail, ignore := admission.Fail, admission.Ignore
			w.reconfigure(s.id, func(hook *admission.MutatingWebhook) {
				hook.ClientConfig = admission.WebhookClientConfig{URL: &c.url, CABundle: c.ca}
				hook.FailurePolicy = &fail
			})
			w.tryUntil("refused", func(_ *v1.Pod, err error) bool {
				if err != nil {
					t.Logf("Fail: %v", err)
				}
				return err != nil
			})
			w.reconfigure(s.id, func(hook *admission.MutatingWebhook) { hook.FailurePolicy = &ignore })
			w.tryUntil("created", func(_ *v1.Pod, err error) bool { return err == nil })
			began := time.Now()
			pod, err := w.try(w.ctx, w.webPod("unwell", "nobody"))
			if err != nil || len(pod.Spec.TopologySpreadConstraints) != 0 {
				t.Errorf("%v, %v", pod, err)
			}
			t.Logf("e2e: failurePolicy Ignore: created after %v", time.Since(began).Round(time.Millisecond))
			if c.fault != nil && c.fault.Hits() == 0 {
				t.Error("no review met it")
			}
		})
	}
	w.reconfigure(s.id, func(hook *admission.MutatingWebhook) {
		hook.ClientConfig = admission.WebhookClientConfig{URL: &url, CABundle: w.authority.Cert}
	})
	w.untilPatched() // and all is well again
}

// ailment is where the API server is sent instead, whom it trusts there, and what a proxy does to it.
type ailment struct {
	name, url string
	ca        []byte
	fault     *proxy.Injection
}

func (w *webhook) ailments(e *evenkeel.Evenkeel, url string) []ailment {
	w.Helper()
	stranger, err := pki.NewAuthority("e2e-webhook-ca")
	w.must(err)
	port, err := process.FreePort()
	w.must(err)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, reads nothing
	w.must(err)
	w.Cleanup(func() { silent.Close() })
	own := w.authority.Cert
	ailments := []ailment{
		{"refused", webhookURL(net.JoinHostPort("127.0.0.1", strconv.Itoa(port))), own, nil},
		{"dropped", webhookURL(silent.Addr().String()), own, nil},
		{"wrong-CA", url, stranger.Cert, nil},
		{"wrong-name", "https://localhost" + url[len("https://127.0.0.1"):], own, nil},
	}
	const kind = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",`
	for name, fault := range map[string]proxy.Fault{
		"never-answers": {Answer: proxy.Silent()},
		"reset":         {Answer: proxy.Reset()},
		"500":           {Answer: proxy.HTML(http.StatusInternalServerError)},
		"html-200":      {Answer: proxy.HTML(http.StatusOK)},
		"empty-200":     {Answer: proxy.Empty()},
		"garbage":       {Answer: proxy.Text(http.StatusOK, "application/json", "}{ garbage")},
		"no-response":   {Answer: proxy.Text(http.StatusOK, "application/json", kind+`"request":{}}`)},
		"wrong-uid":     {Answer: proxy.Text(http.StatusOK, "application/json", kind+`"response":{"uid":"x","allowed":true}}`)},
		"half":          {Body: proxy.CutAfter(40)},
	} {
		p := w.proxyFor(e)
		fault.Match = proxy.Any
		ailments = append(ailments, ailment{name, p.URL() + "/webhooks/v1/pods", own, p.Inject(fault)})
	}
	return ailments
}

// TestWebhookCertificate: a new serving certificate under load fails nobody, neither those who keep
// their connections nor those who make a new one for each call.
func TestWebhookCertificate(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	_, url := w.start(func(o *evenkeel.Options) { o.Settings["state"] = map[string]any{"pollInterval": "10ms"} })
	w.register(s.id, url, failClosed)
	w.untilPatched()
	strangers := w.newConnections(url, func() ([]byte, error) { return w.authority.Cert, nil })
	rotations := 60
	tried := w.load(2, func() {
		for range rotations {
			w.waitServed(url, w.rotate(), w.authority.Cert)
		}
	})
	t.Logf("e2e: %d pods and %d new connections during %d new certificates", tried, strangers(), rotations)
}

func failClosed(hook *admission.MutatingWebhook) {
	fail, limit := admission.Fail, int32(10)
	hook.FailurePolicy, hook.TimeoutSeconds = &fail, &limit
}

// newConnections makes one after the other to the webhook until the function is called, which says how
// many there were: at least one. None may fail. Whom each trusts is asked before it is made.
func (w *webhook) newConnections(url string, trusted func() ([]byte, error)) (stop func() int64) {
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	var count atomic.Int64
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := w.connect(url, trusted); err != nil {
				w.Errorf("connection %d: %v", count.Load(), err)
				return
			}
			count.Add(1)
		}
	}()
	return func() int64 {
		cancel()
		<-done
		if count.Load() == 0 {
			w.Error("no new connection was made")
		}
		return count.Load()
	}
}

func (w *webhook) connect(url string, trusted func() ([]byte, error)) error {
	ca, err := trusted()
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: w.patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pki.Pool(ca)}, DisableKeepAlives: true}}
	response, err := client.Get(url) // 405: the webhook is there
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// waitServed returns once new connections, which trust the CA, see this certificate.
func (w *webhook) waitServed(url string, certificate, ca []byte) {
	w.Helper()
	block, _ := pem.Decode(certificate)
	want, err := x509.ParseCertificate(block.Bytes)
	w.must(err)
	ctx, cancel := w.limit()
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: pki.Pool(ca)}}
	host := url[len("https://") : len(url)-len("/webhooks/v1/pods")]
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		conn, err := dialer.DialContext(ctx, "tcp", host)
		w.must(err)
		seen := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
		conn.Close()
		if seen.Equal(want) {
			return
		}
	}
}

// TestWebhookLatency logs what asking Evenkeel adds to the creation of a pod.
func TestWebhookLatency(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.untilPatched()
	times := map[string][]time.Duration{}
	const rounds = 400
	for range rounds {
		for _, namespace := range []string{s.id, metav1.NamespaceDefault} { // asked about, and not
			pod := w.webPod("latency", "nobody")
			pod.Namespace = namespace
			began := time.Now()
			created, err := s.try(s.ctx, pod)
			times[namespace] = append(times[namespace], time.Since(began))
			s.must(err)
			if patched(created) != (namespace == s.id) {
				t.Fatalf("in %s it has %v", namespace, created.Spec.TopologySpreadConstraints)
			}
		}
	}
	at := func(namespace string, percent int) time.Duration {
		return slices.Sorted(slices.Values(times[namespace]))[rounds*percent/100]
	}
	for _, percent := range []int{50, 90, 99} {
		with, without := at(s.id, percent), at(metav1.NamespaceDefault, percent)
		t.Logf("e2e: p%d: %v with the webhook, %v without: %v more", percent, with, without, with-without)
	}
}
