package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

const (
	extenderRights  = "../../../docs/examples/kubernetes/rbac-extender-certificates.yaml"
	extenderSecret  = "evenkeel-extender-tls" // of extenderRights, as the next
	schedulerSecret = "evenkeel-extender-client"
)

// certified is a stage with replicas that make the extender's certificates.
type certified struct {
	*stage
	replicas  []*evenkeel.Evenkeel
	addresses []string
}

// replica prepares one more.
func (c *certified) replica() *evenkeel.Evenkeel {
	c.Helper()
	port, err := process.FreePort()
	c.must(err)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	e := c.prepared(func(o *evenkeel.Options) {
		o.Name = fmt.Sprintf("%s-%d", c.id, len(c.replicas))
		o.Settings["extender"] = map[string]any{"listen": address, "certificates": map[string]any{
			"mode": "SelfSigned", "secretNamespace": c.id, "hosts": []string{"evenkeel-extender.svc", "127.0.0.1"},
		}}
	})
	c.replicas = append(c.replicas, e)
	c.addresses = append(c.addresses, "https://"+address+"/extender/v1")
	return e
}

func (c *certified) secret(name string) map[string][]byte {
	c.Helper()
	secret, err := c.Client.CoreV1().Secrets(c.id).Get(c.ctx, name, metav1.GetOptions{})
	c.must(err)
	return secret.Data
}

// edit is what a person does.
func (c *certified) edit(name string, change map[string][]byte) {
	c.Helper()
	secret, err := c.Client.CoreV1().Secrets(c.id).Get(c.ctx, name, metav1.GetOptions{})
	c.must(err)
	for key, text := range change {
		secret.Data[key] = text
	}
	_, err = c.Client.CoreV1().Secrets(c.id).Update(c.ctx, secret, metav1.UpdateOptions{FieldManager: gitOps})
	c.must(err)
}

// mended starts a replica, for the others may have written within the last minute, and waits until the Secret
// is as it should be.
func (c *certified) mended(what, name string, good func(map[string][]byte) bool) {
	c.Helper()
	began := time.Now()
	c.launch(c.replica())
	c.until(what, func(ctx context.Context) (bool, error) {
		secret, err := c.Client.CoreV1().Secrets(c.id).Get(ctx, name, metav1.GetOptions{})
		return err == nil && good(secret.Data), err
	})
	c.Logf("e2e: %s after %v", what, time.Since(began).Round(time.Millisecond))
}

// caller is a client of the extender that trusts what kube-scheduler has read at its start.
func caller(ca []byte, pair *pki.Pair) (*http.Client, error) {
	settings := &tls.Config{RootCAs: pki.Pool(ca)}
	if pair != nil {
		own, err := pair.TLS()
		if err != nil {
			return nil, err
		}
		settings.Certificates = []tls.Certificate{own}
	}
	return &http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}, nil
}

func ask(client *http.Client, prefix string) (status int, err error) {
	response, err := client.Post(prefix+"/filter", "application/json", strings.NewReader(`{"Pod":{"metadata":{"name":"a"}},"NodeNames":[]}`))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

// expectCaller has every replica answer this caller with that status. Without a pair it shows no certificate.
func (c *certified) expectCaller(who string, ca []byte, pair *pki.Pair, want int) {
	c.Helper()
	client, err := caller(ca, pair)
	c.must(err)
	for _, address := range c.addresses {
		if status, err := ask(client, address); err != nil || status != want {
			c.Errorf("%s: %d, %v; want %d", who, status, err, want)
		}
	}
}

// calls makes new connections to the first two replicas until the returned function is called, which says how
// many. None may fail.
func (c *certified) calls(ca []byte, pair *pki.Pair) (end func() int) {
	c.Helper()
	client, err := caller(ca, pair)
	c.must(err)
	var group sync.WaitGroup
	var made int
	stop := make(chan struct{})
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if status, err := ask(client, c.addresses[i%2]); err != nil || status != http.StatusOK {
				c.Errorf("call %d: %d, %v", i, status, err)
				return
			}
			made++
		}
	})
	return func() int {
		close(stop)
		group.Wait()
		return made
	}
}

// schedulerEntry is kube-scheduler's, with the files of its Secret.
func (c *certified) schedulerEntry() config.Extender {
	c.Helper()
	folder := filepath.Join(c.dir, "scheduler-certificates")
	c.must(os.MkdirAll(folder, 0o700))
	for key, text := range c.secret(schedulerSecret) {
		c.must(os.WriteFile(filepath.Join(folder, key), text, 0o600))
	}
	entry := c.replicas[0].Extender()
	entry.URLPrefix = c.addresses[0]
	entry.TLSConfig = &config.ExtenderTLSConfig{CAFile: filepath.Join(folder, "ca.crt"),
		CertFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key")}
	return entry
}

// TestExtenderCertificates: two replicas make the extender's certificate and kube-scheduler's once, with the
// rights that users are shown. Who has the latter is answered, and nobody else; and whatever becomes of the
// Secrets, who has read the CA once is answered on.
func TestExtenderCertificates(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	s.zones(3, 2)
	text, err := os.ReadFile(extenderRights)
	s.must(err)
	own := strings.NewReplacer(
		"{kind: ServiceAccount, name: evenkeel, namespace: evenkeel}",
		"{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+cluster.EvenkeelUser+"}",
		"namespace: evenkeel\n", "namespace: "+s.id+"\n").Replace(string(text))
	for document := range strings.SplitSeq(own, "\n---\n") {
		s.createRight(document)
	}
	c := &certified{stage: s}
	c.replica()
	c.replica()
	for _, e := range c.replicas { // both at once
		s.must(e.Launch())
		t.Cleanup(func() {
			if err := e.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, e := range c.replicas {
		s.must(e.WaitReady(s.ctx))
	}
	c.until("kube-scheduler's Secret", func(ctx context.Context) (bool, error) {
		_, err := s.Client.CoreV1().Secrets(s.id).Get(ctx, schedulerSecret, metav1.GetOptions{})
		return err == nil, err
	})
	for _, name := range []string{"extender", "client"} {
		written := 0.0
		for _, e := range c.replicas {
			metrics, err := e.Metrics(s.ctx)
			s.must(err)
			written += metrics[`evenkeel_certificate_writes_total{certificate="`+name+`",result="success"}`]
		}
		if written != 1 {
			t.Errorf("%s: written %v times", name, written)
		}
	}

	server, client := c.secret(extenderSecret), c.secret(schedulerSecret)
	ca := client["ca.crt"]
	if !bytes.Equal(ca, server["ca.crt"]) || len(client["ca.key"]) > 0 {
		t.Errorf("kube-scheduler's Secret has %d keys", len(client))
	}
	scheduler := &pki.Pair{Cert: client["tls.crt"], Key: client["tls.key"]}
	authority, err := pki.LoadAuthority(pki.Pair{Cert: server["ca.crt"], Key: server["ca.key"]})
	s.must(err)
	another, err := authority.Client("somebody")
	s.must(err)
	foreign, err := pki.NewAuthority("evenkeel-ca")
	s.must(err)
	stranger, err := foreign.Client("system:kube-scheduler")
	s.must(err)
	c.expectCaller("kube-scheduler", ca, scheduler, http.StatusOK)
	c.expectCaller("nobody", ca, nil, http.StatusUnauthorized)
	c.expectCaller("another name", ca, &another, http.StatusForbidden)
	c.expectCaller("another authority", ca, &stranger, http.StatusForbidden)
	c.expectCaller("the server's certificate", ca, &pki.Pair{Cert: server["tls.crt"], Key: server["tls.key"]}, http.StatusForbidden)

	s.scheduler(s.id, nil, c.schedulerEntry())
	r := s.record()
	place := func(from, to int) {
		for i := from; i < to; i++ {
			s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id, constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
		}
		s.waitBound(r, to)
	}
	place(0, 3)
	end := c.calls(ca, scheduler)
	old, err := authority.ServerUntil(time.Now().Add(time.Minute), "127.0.0.1")
	s.must(err)
	c.edit(extenderSecret, map[string][]byte{"tls.crt": old.Cert, "tls.key": old.Key})
	c.mended("a certificate that is about to end is renewed", extenderSecret, func(data map[string][]byte) bool {
		return !bytes.Equal(data["tls.crt"], old.Cert)
	})
	c.edit(extenderSecret, map[string][]byte{"ca.crt": []byte("no PEM")})
	c.mended("a CA that somebody has broken is put back", extenderSecret, func(data map[string][]byte) bool {
		return bytes.Equal(data["ca.crt"], ca)
	})
	s.waitNote(s.id, extenderSecret, "CertificateIssued", "missing or broken")
	for _, name := range []string{extenderSecret, schedulerSecret} {
		s.must(s.Client.CoreV1().Secrets(s.id).Delete(s.ctx, name, metav1.DeleteOptions{}))
	}
	c.mended("a Secret that was deleted is there, with the same CA", extenderSecret, func(data map[string][]byte) bool {
		return bytes.Equal(data["ca.crt"], ca)
	})
	c.until("and kube-scheduler's", func(ctx context.Context) (bool, error) {
		secret, err := s.Client.CoreV1().Secrets(s.id).Get(ctx, schedulerSecret, metav1.GetOptions{})
		return err == nil && bytes.Equal(secret.Data["ca.crt"], ca), err
	})
	renewed := c.secret(schedulerSecret)
	c.expectCaller("kube-scheduler, before the deletion", ca, scheduler, http.StatusOK)
	c.expectCaller("kube-scheduler, after it", renewed["ca.crt"], &pki.Pair{Cert: renewed["tls.crt"], Key: renewed["tls.key"]}, http.StatusOK)
	place(3, 6)
	t.Logf("e2e: %d calls on new connections, none failed", end())
}
