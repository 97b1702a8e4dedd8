package evenkeel

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// CertFile is the path of one of the files that `evenkeel certs init` made.
func (e *Evenkeel) CertFile(name string) string { return filepath.Join(e.certs, name) }

// A folder that has certificates keeps them: several daemons may share it.
func (e *Evenkeel) makeCertificates() error {
	if _, err := os.Stat(e.CertFile("tls.crt")); err == nil {
		return nil
	}
	output, err := exec.Command(e.Binary, "certs", "init", "--dir", e.certs).CombinedOutput()
	if err != nil {
		return fmt.Errorf("evenkeel certs init: %w: %s", err, output)
	}
	return nil
}

// A client of the extender that is known as kube-scheduler.
func (e *Evenkeel) newClient() (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(e.CertFile("client.crt"), e.CertFile("client.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(e.CertFile("ca.crt"))
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pki.Pool(ca), Certificates: []tls.Certificate{pair}},
	}}, nil
}

// ExtenderURL is the prefix that kube-scheduler puts before its verbs.
func (e *Evenkeel) ExtenderURL() string {
	return e.Address() + "/extender/v1"
}

// Extender is the entry for kube-scheduler's configuration: filter, prioritize and preempt, over
// HTTPS with client certificates. Callers change what they want otherwise.
func (e *Evenkeel) Extender() config.Extender {
	return config.Extender{
		URLPrefix:      e.ExtenderURL(),
		FilterVerb:     "filter",
		PrioritizeVerb: "prioritize",
		PreemptVerb:    "preempt",
		Weight:         2, // that of the in-tree plugin
		EnableHTTPS:    true,
		TLSConfig: &config.ExtenderTLSConfig{
			CertFile: e.CertFile("client.crt"), KeyFile: e.CertFile("client.key"),
			CAFile: e.CertFile("ca.crt"),
		},
		HTTPTimeout:      metav1.Duration{Duration: 5 * time.Second},
		NodeCacheCapable: true,
	}
}

// Address of the extender, without a path.
func (e *Evenkeel) Address() string { return fmt.Sprintf("https://127.0.0.1:%d", e.extenderPort) }

// Identity is kube-scheduler's certificate, and the CA that signed it and Evenkeel's own.
func (e *Evenkeel) Identity() (client pki.Pair, ca []byte, err error) {
	for name, into := range map[string]*[]byte{
		"client.crt": &client.Cert, "client.key": &client.Key, "ca.crt": &ca,
	} {
		if *into, err = os.ReadFile(e.CertFile(name)); err != nil {
			return client, nil, err
		}
	}
	return client, ca, nil
}
