package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/posted"
)

// traffic is made without an end while something happens to the webhook's replicas: pods are created (dry runs), of
// which the API server asks, and reviews are sent to the Service beside it.
type traffic struct {
	*host
	stop    context.CancelFunc
	running sync.WaitGroup

	created, sent atomic.Int64 // those that have ended

	mu     sync.Mutex
	failed []failedCall // guarded by mu
}

type failedCall struct {
	straight bool // to the Service; otherwise by the API server
	begun    time.Time
	err      error
}

// So many at a time, and so many a second if the machine can: none waits for its turn, so what it cannot do is not
// made up for.
const (
	creators         = 4
	createdPerSecond = 200
	senders          = 8
	sentPerSecond    = 500
	perSocket        = 10 // reviews on each connection: one that is kept for ever tells nothing of new ones
)

func (h *host) startTraffic() *traffic {
	h.Helper()
	ctx, stop := context.WithCancel(h.ctx)
	c := &traffic{host: h, stop: stop}
	service := h.webhookService()
	c.deal(ctx, creators, createdPerSecond, func(int64) {
		c.ended(ctx, false, time.Now(), c.create(ctx))
	})
	c.deal(ctx, senders, sentPerSecond, func(i int64) {
		c.ended(ctx, true, time.Now(), service.send(ctx, i%perSocket == 0))
	})
	return c
}

// deal has workers make numbered calls.
func (c *traffic) deal(ctx context.Context, workers int, perSecond time.Duration, call func(int64)) {
	due := make(chan int64)
	for range workers {
		c.running.Go(func() {
			for i := range due {
				call(i)
			}
		})
	}
	c.running.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for i := int64(1); ctx.Err() == nil; i++ {
			<-tick.C
			select {
			case <-ctx.Done():
			case due <- i:
			}
		}
	})
}

// ended counts a call. The last ones, which we end, are none.
func (c *traffic) ended(ctx context.Context, straight bool, begun time.Time, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	count := &c.created
	if straight {
		count = &c.sent
	}
	count.Add(1)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failed = append(c.failed, failedCall{straight, begun, err})
	}
}

// create tries a pod, which must get its constraints.
func (c *traffic) create(ctx context.Context) error {
	pod, err := c.try(ctx, userPod("load"))
	if err == nil && !spreadByPolicy(pod) {
		err = errors.New("the pod was not patched")
	}
	return err
}

// more waits until so many more of both kinds have ended.
func (c *traffic) more(count int64) {
	c.Helper()
	created, sent := c.created.Load()+count, c.sent.Load()+count
	c.until(fmt.Sprintf("%d more calls", count), func(context.Context) (bool, error) {
		return c.created.Load() >= created && c.sent.Load() >= sent, nil
	})
}

// end waits for those under way, and returns those that failed.
func (c *traffic) end() []failedCall {
	c.stop()
	c.running.Wait()
	return c.failed
}

func (c *traffic) String() string {
	return fmt.Sprintf("%d pods through the API server and %d reviews straight", c.created.Load(), c.sent.Load())
}

// failures in words, the first few of them.
func failures(all []failedCall) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d calls failed", len(all))
	for _, f := range all[:min(len(all), 10)] {
		fmt.Fprintf(&text, "\n%s straight=%t: %v", f.begun.Format("15:04:05.000"), f.straight, f.err)
	}
	return text.String()
}

// webhookService calls the webhook as an API server does that trusts it: HTTP/1.1 over connections that are kept,
// to the address of its Service.
type webhookService struct {
	url    string
	client *http.Client
	pod    []byte
	pause  time.Duration // before each piece of a review; 0: it is sent at once
}

// pieces is a body that arrives slowly.
type pieces struct {
	rest  []byte
	pause time.Duration
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	time.Sleep(p.pause)
	n := copy(to, p.rest[:min(len(p.rest), 64)])
	p.rest = p.rest[n:]
	return n, nil
}

func (h *host) webhookService() *webhookService {
	h.Helper()
	service, err := h.Client.CoreV1().Services(release).Get(h.ctx, "evenkeel-webhook", metav1.GetOptions{})
	h.must(err)
	return h.webhookAt(service.Spec.ClusterIP + ":443")
}

// webhookAt calls it at another address, which may be that of one replica.
func (h *host) webhookAt(address string) *webhookService {
	h.Helper()
	hooks, err := h.Client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(h.ctx, "evenkeel.evenkeel", metav1.GetOptions{})
	h.must(err)
	how := hooks.Webhooks[0].ClientConfig
	name := how.Service.Name + "." + how.Service.Namespace + ".svc"
	pod := userPod("load")
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	text, err := json.Marshal(pod)
	h.must(err)
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{ServerName: name, RootCAs: pki.Pool(how.CABundle), NextProtos: []string{"http/1.1"}},
		MaxIdleConnsPerHost: 25, // client-go's
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return h.machine.Dial(ctx, network, address)
		},
	}
	h.Cleanup(transport.CloseIdleConnections)
	return &webhookService{url: "https://" + name + *how.Service.Path + "?timeout=10s",
		client: &http.Client{Transport: transport, Timeout: 10 * time.Second}, pod: text}
}

var reviews atomic.Int64

// send has a pod reviewed, which must get its constraints; `last`: the connection ends with it.
func (s *webhookService) send(ctx context.Context, last bool) error {
	resource := metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}
	asked := &admissionv1.AdmissionRequest{
		UID: types.UID(fmt.Sprintf("review-%d", reviews.Add(1))), Kind: kind, RequestKind: &kind, Resource: resource,
		RequestResource: &resource, Namespace: "shop", Name: "load", Operation: admissionv1.Create,
		Object: runtime.RawExtension{Raw: s.pod},
	}
	body, err := json.Marshal(&admissionv1.AdmissionReview{Request: asked,
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}})
	if err != nil {
		return err
	}
	var sent io.Reader = bytes.NewReader(body)
	if s.pause > 0 {
		sent = &pieces{body, s.pause}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, sent)
	if err != nil {
		return err
	}
	request.ContentLength = int64(len(body)) // of any reader
	request.Close = last
	text, err := posted.Answer(s.client, request)
	if err != nil {
		return err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &review); err != nil || review.Response == nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if answer := review.Response; answer.UID != asked.UID || !answer.Allowed || !strings.Contains(string(answer.Patch), zoneKey) {
		return fmt.Errorf("the answer is %s", text)
	}
	return nil
}

// webhookPods are the replicas that are to stay.
func (h *host) webhookPods() []v1.Pod {
	h.Helper()
	pods, err := h.Client.CoreV1().Pods(release).List(h.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=webhook"})
	h.must(err)
	var staying []v1.Pod
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			staying = append(staying, pod)
		}
	}
	return staying
}
