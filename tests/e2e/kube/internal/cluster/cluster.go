// Package cluster runs a Kubernetes control plane for tests: etcd, kube-apiserver and any number of
// kube-schedulers, on 127.0.0.1 and in a folder. There are no controllers and no kubelets: nodes are
// objects that tests make, and pods that were bound never run; unless it is a Machine, in which they do.
//
// Every part keeps its port and its certificates when it is started again, so clients find it where
// it was.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/machine"
	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Cluster is a control plane. Its methods are for one goroutine; Client and Config for any.
type Cluster struct {
	Dir    string
	CA     *pki.Authority // signs the API server's certificate and its users'
	Config *rest.Config   // of an administrator
	Client kubernetes.Interface

	etcdPort, peerPort, port int
	etcd, apiserver          *process.Process
	machine                  *machine.Machine // nil: there is none, and all is on 127.0.0.1
}

// How long a part may take to start on a busy machine, and to stop.
const (
	startLimit = 2 * time.Minute
	stopLimit  = 30 * time.Second
)

// Start makes a control plane with its files in `dir`, which must be empty.
func Start(ctx context.Context, dir string) (*Cluster, error) {
	c := &Cluster{Dir: dir}
	err := c.choosePorts()
	if err == nil {
		err = c.prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot prepare a control plane: %w", err)
	}
	if err = c.StartEtcd(); err == nil {
		err = c.StartAPIServer(ctx)
	}
	if err == nil {
		err = c.createRoles(ctx)
	}
	if err != nil {
		_ = c.Stop() // the first error says more
		return nil, err
	}
	return c, nil
}

func (c *Cluster) choosePorts() error {
	for _, port := range []*int{&c.etcdPort, &c.peerPort, &c.port} {
		var err error
		if *port, err = process.FreePort(); err != nil {
			return err
		}
	}
	return nil
}

// wrap goes in front of the commands of its parts.
func (c *Cluster) wrap() []string {
	if c.machine == nil {
		return nil
	}
	return c.machine.Namespace.Wrap()
}

// Certificates and an administrator's client.
func (c *Cluster) prepare() error {
	for _, dir := range []string{c.pkiDir(), filepath.Join(c.Dir, "kubeconfigs")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var err error
	if c.CA, err = pki.NewAuthority("e2e-kubernetes-ca"); err != nil {
		return err
	}
	if err := c.writeIdentities(); err != nil {
		return err
	}
	if c.Config, err = c.RESTConfig(Admin()); err != nil {
		return err
	}
	// Tests are meant to push the server, not themselves.
	c.Config.QPS, c.Config.Burst = 2000, 4000
	c.Client, err = kubernetes.NewForConfig(c.Config)
	return err
}

func (c *Cluster) pkiDir() string { return filepath.Join(c.Dir, "pki") }

// URL of the API server.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// LogFile of a part.
func (c *Cluster) LogFile(part string) string { return filepath.Join(c.Dir, part+".log") }

// Stop ends everything but the schedulers, which their owners stop.
func (c *Cluster) Stop() error {
	return errors.Join(c.StopAPIServer(), c.StopEtcd())
}

// StartAPIServer starts it, for the first time or again, and waits until it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	p, err := component.StartIn(c.wrap(), component.APIServer, c.LogFile(component.APIServer), c.apiserverFlags()...)
	if err != nil {
		return err
	}
	c.apiserver = p
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return p.WaitReady(ctx, c.ready)
}

func (c *Cluster) apiserverFlags() []string {
	file := func(name string) string { return filepath.Join(c.pkiDir(), name) }
	flags := plainFlags()
	if c.machine != nil {
		flags = c.machineFlags()
	}
	return append(flags,
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.etcdPort),
		fmt.Sprintf("--secure-port=%d", c.port),
		"--tls-cert-file="+file("apiserver.crt"),
		"--tls-private-key-file="+file("apiserver.key"),
		"--client-ca-file="+file("ca.crt"),
		"--token-auth-file="+file("tokens.csv"),
		"--service-account-issuer=https://e2e.evenkeel.io",
		"--service-account-key-file="+file("accounts.key"),
		"--service-account-signing-key-file="+file("accounts.key"),
		"--admission-control-config-file="+file("admission.yaml"),
		"--profiling=false",
		// Otherwise open watches hold up its end for a minute.
		"--shutdown-watch-termination-grace-period=1s",
	)
}

func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var status int
	result := c.Client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
	if err := result.Error(); err != nil {
		return fmt.Errorf("/readyz: %w", err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("/readyz says %d", status)
	}
	return nil
}

// Revive starts what is not running, after a test that stopped it and got no further.
func (c *Cluster) Revive(ctx context.Context) error {
	if !c.etcd.Running() {
		if err := c.StartEtcd(); err != nil {
			return err
		}
	}
	if !c.apiserver.Running() {
		return c.StartAPIServer(ctx)
	}
	return nil
}

// StopAPIServer ends it gently: watches are closed, requests are finished.
func (c *Cluster) StopAPIServer() error {
	if c.apiserver == nil || !c.apiserver.Running() {
		return nil
	}
	return c.apiserver.Stop(stopLimit)
}

// KillAPIServer ends it at once (SIGKILL).
func (c *Cluster) KillAPIServer() { c.apiserver.Kill() }

// APIServer is its present process.
func (c *Cluster) APIServer() *process.Process { return c.apiserver }
