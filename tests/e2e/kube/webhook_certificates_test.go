package e2e

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// Who rewrites the caBundle less often than that is answered at once: src/actions/controllers/ca_bundle.h.
const calm = 9 * time.Second

// TestCABundleRewritten: a caBundle that somebody else empties or replaces is mended, by one of two
// replicas and with one write, also when it is done again and again. How long it takes is logged.
func TestCABundleRewritten(t *testing.T) {
	t.Parallel()
	k := newStage(t).keep("SelfSigned")
	k.replica()
	k.replica()
	k.announce()
	k.untilPatched()
	k.untilAll(map[string]int{k.metric("evenkeel_webhook_configuration_right"): 1})
	stranger, err := pki.NewAuthority("gitops-ca")
	k.must(err)
	first, err := k.configuration(k.ctx)
	k.must(err)
	right := first.Webhooks[0].ClientConfig.CABundle
	writes := k.bundleWrites()

	rewrites := []struct {
		what   string
		after  time.Duration // it was right
		bundle []byte
	}{
		{"replaced", calm, stranger.Cert},
		{"emptied", 0, nil},
		{"replaced", 0, stranger.Cert},
	}
	for i, r := range rewrites {
		<-time.After(r.after)
		k.rewrite(r.bundle)
		began := time.Now()
		k.until("the caBundle is mended", func(ctx context.Context) (bool, error) {
			c, err := k.configuration(ctx)
			return err == nil && bytes.Equal(c.Webhooks[0].ClientConfig.CABundle, right), err
		})
		t.Logf("e2e: %s %v after it was right: mended in %v", r.what, r.after, time.Since(began).Round(time.Millisecond))
		k.untilPatched()
		k.untilAll(map[string]int{ // both have seen all of it, so that nobody has any more to write
			k.metric("evenkeel_ca_bundle_foreign_writes_total"): i + 1,
			k.metric("evenkeel_webhook_configuration_right"):    1,
		})
	}

	last, err := k.configuration(k.ctx)
	k.must(err)
	if changes := last.Generation - first.Generation; changes != int64(2*len(rewrites)) {
		t.Errorf("the configuration was changed %d times by %d rewrites", changes, len(rewrites))
	}
	if mended := k.bundleWrites() - writes; mended != float64(len(rewrites)) {
		t.Errorf("%v writes for %d of others", mended, len(rewrites))
	}
	k.waitNote(metav1.NamespaceDefault, k.id, "CABundleRewritten", "field manager '"+gitOps+"'")
}

// bundleWrites is how many succeeded, of all replicas.
func (k *kept) bundleWrites() (sum float64) {
	k.Helper()
	for _, r := range k.backends {
		metrics, err := r.Metrics(k.ctx)
		k.must(err)
		sum += metrics[k.metric("evenkeel_ca_bundle_writes_total", `result="success"`)]
	}
	return sum
}

// TestWebhookConfigurationDeleted: it is said, and nobody makes it anew; when it is applied again all is
// well again.
func TestWebhookConfigurationDeleted(t *testing.T) {
	t.Parallel()
	k := newStage(t).keep("SelfSigned")
	k.announce() // first, so that nobody has missed it yet
	k.replica()
	k.replica()
	k.untilPatched()
	right := k.metric("evenkeel_webhook_configuration_right")
	k.untilAll(map[string]int{right: 1})
	c, err := k.configuration(k.ctx)
	k.must(err)
	configurations := k.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	k.must(configurations.Delete(k.ctx, k.id, metav1.DeleteOptions{}))
	k.untilAll(map[string]int{right: 0})
	k.waitNote(metav1.NamespaceDefault, k.id, "WebhookConfigurationMissing", "apply it again")
	c.UID, c.ResourceVersion, c.Webhooks[0].ClientConfig.CABundle = "", "", nil
	_, err = configurations.Create(k.ctx, c, metav1.CreateOptions{}) // fails if it is there
	k.must(err)
	k.untilPatched()
	k.untilAll(map[string]int{right: 1})
}

// TestWebhookCertificateShared: whatever becomes of the Secret that replicas share, pods are created with
// failurePolicy Fail, and those who trust the present caBundle get through.
func TestWebhookCertificateShared(t *testing.T) {
	k := newStage(t).keep("SelfSigned")
	k.replica()
	k.replica()
	k.announce()
	k.untilPatched()
	strangers := k.newConnections(k.url(), k.trusted)
	rotations := 10
	tried := k.load(2, func() {
		secret := k.secret()
		authority, ca := k.authorityOf(secret), secret.Data["ca.crt"]
		for range rotations {
			pair, err := authority.Server("127.0.0.1")
			k.must(err)
			k.replacePair(pair)
			k.waitAllServe(pair.Cert, ca)
		}
		k.must(k.Client.CoreV1().Secrets(k.id).Delete(k.ctx, secretName, metav1.DeleteOptions{}))
		began := time.Now()
		secret = k.waitIssued(secret.Data["tls.crt"])
		k.waitAllServe(secret.Data["tls.crt"], secret.Data["ca.crt"])
		t.Logf("e2e: a certificate of a new CA is shown %v after the Secret was deleted",
			time.Since(began).Round(time.Millisecond))
		if k.leafOf(secret.Data["tls.crt"]).CheckSignatureFrom(k.leafOf(ca)) == nil {
			t.Error("the new certificate is of the old CA, whose key went with the Secret")
		}
	})
	t.Logf("e2e: %d pods and %d new connections during %d new certificates and a Secret that was deleted",
		tried, strangers(), rotations)
}

// TestWebhookCertificateMismatch: a key that is another certificate's is not taken, and the pair before it
// stays in use.
func TestWebhookCertificateMismatch(t *testing.T) {
	k := newStage(t).keep("Secret")
	pairs := [2]pki.Pair{}
	for i := range pairs {
		var err error
		pairs[i], err = k.authority.Server("127.0.0.1")
		k.must(err)
	}
	old, next := pairs[0], pairs[1]
	k.fill(k.authority.Cert, old)
	k.replica()
	k.announce()
	k.untilPatched()
	strangers := k.newConnections(k.url(), k.trusted)
	tried := k.load(1, func() {
		k.replacePair(pki.Pair{Cert: next.Cert, Key: old.Key})
		k.untilAll(map[string]int{`evenkeel_certificate_reload_total{listener="webhook",result="error"}`: 1})
		k.waitAllServe(old.Cert, k.authority.Cert)
		k.replacePair(next)
		k.waitAllServe(next.Cert, k.authority.Cert)
	})
	t.Logf("e2e: %d pods and %d new connections", tried, strangers())
}

// TestWebhookCertificateEnds: one that ends soon, or has ended, is replaced. It is of the same CA, so
// nobody has to learn anything.
func TestWebhookCertificateEnds(t *testing.T) {
	k := newStage(t).keep("SelfSigned")
	k.replica()
	k.announce()
	k.untilPatched()
	authority := k.authorityOf(k.secret())
	for _, c := range []struct {
		left time.Duration
		note string
	}{
		{time.Minute, "two thirds of the certificate's time are over"},
		{-time.Minute, "the certificate has expired"},
	} {
		pair, err := authority.ServerUntil(time.Now().Add(c.left), "127.0.0.1")
		k.must(err)
		k.replacePair(pair)
		k.replica() // those who have written within the last minute leave it to this one
		secret := k.waitIssued(pair.Cert)
		end := k.leafOf(secret.Data["tls.crt"]).NotAfter
		k.untilAll(map[string]int{
			`evenkeel_certificate_expiration_timestamp_seconds{listener="webhook"}`: int(end.Unix())})
		k.waitAllServe(secret.Data["tls.crt"], authority.Cert)
		k.untilPatched()
		if left := time.Until(end); left < 24*time.Hour {
			t.Errorf("the new one ends in %v", left)
		}
		note := k.waitNote(k.id, secretName, "CertificateIssued", c.note)
		if !strings.HasPrefix(note, "issued: ") {
			t.Errorf("the event says %q", note)
		}
	}
}
