package e2e

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// kept is a webhook whose certificate is in a Secret, and whose caBundle Evenkeel keeps right. Its
// replicas are behind a Service, and have the rights that users are shown.
type kept struct {
	*balancer
	certificates map[string]any // webhook.certificates
}

const (
	exampleRights = "../../../docs/examples/kubernetes/rbac-certificates.yaml"
	secretName    = "evenkeel-webhook-tls" // of exampleRights
	gitOps        = "gitops"               // the field manager of others who write
)

// keep starts nothing. The configuration has the stage's name, and the Secret is in its namespace.
func (s *stage) keep(mode string) *kept {
	s.Helper()
	s.needsWatch()
	s.mayKeepCertificates()
	k := &kept{balancer: s.newWebhook().balance(0), certificates: map[string]any{
		"mode": mode, "secretName": secretName, "secretNamespace": s.id, "configurations": []string{s.id},
	}}
	if mode == "SelfSigned" {
		k.certificates["hosts"] = []string{"127.0.0.1"}
	}
	return k
}

// replica starts one more; `changes` see its options.
func (k *kept) replica(changes ...func(*evenkeel.Options)) *backend {
	k.Helper()
	return k.backend(func(o *evenkeel.Options) {
		for _, change := range changes {
			change(o)
		}
		hook := o.Settings["webhook"].(map[string]any)
		delete(hook, "certFile")
		delete(hook, "keyFile")
		hook["certificates"] = k.certificates
	})
}

func (k *kept) url() string { return webhookURL(k.listener.Addr().String()) }

// announce registers the webhook as failing closed, and without a caBundle.
func (k *kept) announce() {
	k.Helper()
	k.register(k.id, k.url(), func(hook *admission.MutatingWebhook) {
		failClosed(hook)
		hook.ClientConfig.CABundle = nil
	})
}

// mayKeepCertificates creates what an administrator would apply, for the stage's namespace and
// configuration, and binds it to the user that Evenkeel is here.
func (s *stage) mayKeepCertificates() {
	s.Helper()
	text, err := os.ReadFile(exampleRights)
	s.must(err)
	own := strings.NewReplacer(
		"{kind: ServiceAccount, name: evenkeel, namespace: evenkeel}",
		"{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+cluster.EvenkeelUser+"}",
		"namespace: evenkeel\n", "namespace: "+s.id+"\n",
		"name: evenkeel-certificates", "name: "+s.id+"-certificates",
		"resourceNames: [evenkeel]", "resourceNames: ["+s.id+"]",
	).Replace(string(text))
	for document := range strings.SplitSeq(own, "\n---\n") {
		s.createRight(document)
	}
}

// mayTellOfWorkloads grants the user what is shown for Events about workloads, until the test ends.
func (s *stage) mayTellOfWorkloads() {
	s.Helper()
	text, err := os.ReadFile("../../../docs/examples/kubernetes/rbac-events.yaml")
	s.must(err)
	own := strings.NewReplacer(
		"{kind: ServiceAccount, name: evenkeel, namespace: evenkeel}",
		"{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+cluster.EvenkeelUser+"}",
		"name: evenkeel-events", "name: "+s.id+"-events",
	).Replace(string(text))
	for document := range strings.SplitSeq(own, "\n---\n") {
		s.createRight(document)
	}
}

// createRight makes an object of rbac.authorization.k8s.io, until the test ends.
func (s *stage) createRight(text string) {
	s.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	s.must(err)
	var object metav1.PartialObjectMetadata
	s.must(json.Unmarshal(body, &object))
	path := "/apis/" + object.APIVersion
	if object.Namespace != "" {
		path += "/namespaces/" + object.Namespace
	}
	path += "/" + strings.ToLower(object.Kind) + "s"
	client := s.Client.Discovery().RESTClient()
	s.must(client.Post().AbsPath(path).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").Body(body).Do(s.ctx).Error())
	s.Cleanup(func() {
		if err := client.Delete().AbsPath(path, object.Name).Do(s.ctx).Error(); err != nil {
			s.Error(err)
		}
	})
}

// ---- the configuration ----

func (k *kept) configuration(ctx context.Context) (*admission.MutatingWebhookConfiguration, error) {
	return k.Client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, k.id, metav1.GetOptions{})
}

// trusted is whom API servers are told to trust.
func (k *kept) trusted() ([]byte, error) {
	c, err := k.configuration(k.ctx)
	if err != nil {
		return nil, err
	}
	return c.Webhooks[0].ClientConfig.CABundle, nil
}

// rewrite is what somebody else does who thinks that the caBundle is his.
func (k *kept) rewrite(bundle []byte) {
	k.Helper()
	c, err := k.configuration(k.ctx)
	k.must(err)
	c.Webhooks[0].ClientConfig.CABundle = bundle
	_, err = k.Client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(k.ctx, c,
		metav1.UpdateOptions{FieldManager: gitOps})
	k.must(err)
}

// metric is the series of this configuration.
func (k *kept) metric(name string, labels ...string) string {
	all := append([]string{fmt.Sprintf("configuration=%q", k.id)}, labels...)
	return fmt.Sprintf("%s{%s}", name, strings.Join(all, ","))
}

// untilAll waits until every replica has these metrics.
func (k *kept) untilAll(want map[string]int) {
	k.Helper()
	for _, r := range k.backends {
		k.until("metrics of "+r.Name, func(ctx context.Context) (bool, error) {
			err := r.Knows(ctx, want)
			return err == nil, err
		})
	}
}

// ---- the Secret ----

func (k *kept) secret() *v1.Secret {
	k.Helper()
	secret, err := k.Client.CoreV1().Secrets(k.id).Get(k.ctx, secretName, metav1.GetOptions{})
	k.must(err)
	return secret
}

// fill makes the Secret, as somebody does who is no Evenkeel.
func (k *kept) fill(ca []byte, pair pki.Pair) {
	k.Helper()
	_, err := k.Client.CoreV1().Secrets(k.id).Create(k.ctx, &v1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: secretName},
		Type:       v1.SecretTypeTLS,
		Data:       map[string][]byte{"ca.crt": ca, "tls.crt": pair.Cert, "tls.key": pair.Key},
	}, metav1.CreateOptions{FieldManager: gitOps})
	k.must(err)
}

// replacePair leaves everything else in the Secret alone.
func (k *kept) replacePair(pair pki.Pair) {
	k.Helper()
	secret := k.secret()
	secret.Data["tls.crt"], secret.Data["tls.key"] = pair.Cert, pair.Key
	_, err := k.Client.CoreV1().Secrets(k.id).Update(k.ctx, secret, metav1.UpdateOptions{FieldManager: gitOps})
	k.must(err)
}

// authorityOf is the one that Evenkeel has made.
func (k *kept) authorityOf(secret *v1.Secret) *pki.Authority {
	k.Helper()
	authority, err := pki.LoadAuthority(pki.Pair{Cert: secret.Data["ca.crt"], Key: secret.Data["ca.key"]})
	k.must(err)
	return authority
}

// waitIssued returns the Secret once its certificate is another one.
func (k *kept) waitIssued(before []byte) (secret *v1.Secret) {
	k.Helper()
	k.until("a new certificate", func(ctx context.Context) (bool, error) {
		var err error
		secret, err = k.Client.CoreV1().Secrets(k.id).Get(ctx, secretName, metav1.GetOptions{})
		return err == nil && !bytes.Equal(secret.Data["tls.crt"], before), err
	})
	return secret
}

// waitAllServe returns when every replica shows this certificate to those who trust the CA.
func (k *kept) waitAllServe(certificate, ca []byte) {
	k.Helper()
	for _, r := range k.backends {
		k.waitServed(webhookURL(r.address), certificate, ca)
	}
}

// leafOf is the first certificate of a text.
func (s *stage) leafOf(text []byte) *x509.Certificate {
	s.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		s.Fatalf("no certificate: %q", text)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	s.must(err)
	return leaf
}
