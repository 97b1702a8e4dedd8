package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// ServerName is a name that the API server's certificate has beside its address.
const ServerName = "kubernetes.e2e.evenkeel.io"

// EvenkeelUser is who Evenkeel is to the API server: somebody who may do what it needs, no more.
const EvenkeelUser = "evenkeel"

// WebhookClient is who the API server is to webhooks that ask for its certificate.
const WebhookClient = "e2e-apiserver"

// evenkeelTokens are as many as tests rotate through.
const evenkeelTokens = 8

// Identity is who a client is and how it gets to the API server. Of Cert and Token at most one.
type Identity struct {
	Name   string
	Groups []string // of a client with a certificate
	Token  string
	File   string // token file, instead of Token

	Server     string // "": the API server itself
	ServerName string // to verify the server's certificate by; "": its address
	CA         []byte // nil: the cluster's
	CAFile     string // instead of CA
}

// Admin may do anything.
func Admin() Identity { return Identity{Name: "admin", Groups: []string{"system:masters"}} }

// SchedulerIdentity is what kube-scheduler is to Kubernetes' built-in roles.
func SchedulerIdentity() Identity { return Identity{Name: "system:kube-scheduler"} }

// Evenkeel with the i-th of its tokens, from 0; all of them are valid.
func Evenkeel(i int) Identity {
	return Identity{Name: EvenkeelUser, Token: EvenkeelToken(i), ServerName: ServerName}
}

// EvenkeelToken is the i-th of its tokens.
func EvenkeelToken(i int) string { return fmt.Sprintf("evenkeel-token-%d", i%evenkeelTokens) }

// Files that kube-apiserver reads.
func (c *Cluster) writeIdentities() error {
	server, err := c.CA.Server(c.hosts()...)
	if err != nil {
		return err
	}
	accounts, err := c.CA.Server("service-accounts") // for its key
	if err != nil {
		return err
	}
	kubelets, err := c.CA.Client("kube-apiserver-kubelet-client")
	if err != nil {
		return err
	}
	var tokens strings.Builder
	for i := range evenkeelTokens {
		fmt.Fprintf(&tokens, "%s,%s,%s-uid\n", EvenkeelToken(i), EvenkeelUser, EvenkeelUser)
	}
	dir := c.pkiDir()
	for _, write := range []func() error{
		func() error { return c.CA.Write(dir, "ca") },
		func() error { return server.Write(dir, "apiserver") },
		func() error { return accounts.Write(dir, "accounts") },
		func() error { return kubelets.Write(dir, "kubelet-client") },
		func() error { return os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(tokens.String()), 0o600) },
		c.writeWebhookClient,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// The ports of webhooks are not known yet, so it shows the certificate to all that ask for one.
func (c *Cluster) writeWebhookClient() error {
	pair, err := c.CA.Client(WebhookClient)
	if err != nil {
		return err
	}
	file := func(name string) string { return filepath.Join(c.pkiDir(), name) }
	config := &api.Config{AuthInfos: map[string]*api.AuthInfo{
		"*": {ClientCertificateData: pair.Cert, ClientKeyData: pair.Key},
	}}
	if err := clientcmd.WriteToFile(*config, file("webhook-client.yaml")); err != nil {
		return err
	}
	return os.WriteFile(file("admission.yaml"), []byte(`apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: MutatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: `+file("webhook-client.yaml")+"\n"), 0o600)
}

// CAFile is the cluster's CA, which signs clients, too.
func (c *Cluster) CAFile() string { return filepath.Join(c.pkiDir(), "ca.crt") }

// Kubeconfig writes a kubeconfig for the identity and returns its path.
func (c *Cluster) Kubeconfig(id Identity) (string, error) {
	config, err := c.clientConfig(id)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Join(c.Dir, "kubeconfigs"), strings.ReplaceAll(id.Name, ":", "-")+"-")
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	return file.Name(), clientcmd.WriteToFile(*config, file.Name())
}

// RESTConfig is the same for clients in this process.
func (c *Cluster) RESTConfig(id Identity) (*rest.Config, error) {
	config, err := c.clientConfig(id)
	if err != nil {
		return nil, err
	}
	return clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{}).ClientConfig()
}

func (c *Cluster) clientConfig(id Identity) (*api.Config, error) {
	cluster := &api.Cluster{
		Server: id.Server, TLSServerName: id.ServerName, CertificateAuthorityData: id.CA,
	}
	if cluster.Server == "" {
		cluster.Server = c.URL()
	}
	if id.CAFile != "" {
		cluster.CertificateAuthority = id.CAFile
	} else if id.CA == nil {
		cluster.CertificateAuthorityData = c.CA.Cert
	}
	user := &api.AuthInfo{Token: id.Token, TokenFile: id.File}
	if id.Token == "" && id.File == "" {
		var pair pki.Pair
		pair, err := c.CA.Client(id.Name, id.Groups...)
		if err != nil {
			return nil, err
		}
		user.ClientCertificateData, user.ClientKeyData = pair.Cert, pair.Key
	}
	return &api.Config{
		Clusters:       map[string]*api.Cluster{"e2e": cluster},
		AuthInfos:      map[string]*api.AuthInfo{id.Name: user},
		Contexts:       map[string]*api.Context{"e2e": {Cluster: "e2e", AuthInfo: id.Name}},
		CurrentContext: "e2e",
	}, nil
}
