// Package world runs what a Karmada is made of, for tests: API servers with etcd, one with Karmada's kinds and
// others of member clusters, and programs beside them.
package world

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	karmada "github.com/karmada-io/karmada/pkg/generated/clientset/versioned"
)

// Patience is within what everything must come that a test waits for; so long only on a machine that is busy.
const Patience = 60 * time.Second

const startLimit = 4 * time.Minute

// ControlPlane is an API server with an etcd. Its clients are for any goroutine.
type ControlPlane struct {
	Kubeconfig string // an administrator's
	Config     *rest.Config
	Kube       kubernetes.Interface
	Objects    dynamic.Interface
	Karmada    karmada.Interface // once it has Karmada's kinds

	input  io.Closer
	exited chan struct{} // closed when it has ended
	end    error         // how it has
}

// StartControlPlane has its files in `dir`, which must be empty or not be there. `program` is that of
// tests/e2e/kube/cmd/controlplane.
func StartControlPlane(dir, program string) (*ControlPlane, error) {
	c := &ControlPlane{exited: make(chan struct{})}
	if err := c.start(dir, program); err != nil {
		return nil, err
	}
	if err := c.connect(); err != nil {
		_ = c.Stop() // the first error says more
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) start(dir, program string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	log, err := os.Create(dir + ".log")
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(program, "-dir", dir)
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test alone
	if c.input, err = command.StdinPipe(); err != nil {
		return err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if c.Kubeconfig, err = firstLine(output); err != nil {
		return fmt.Errorf("the control plane does not start: %w; see %s", err, log.Name())
	}
	go func() {
		defer close(c.exited)
		c.end = command.Wait()
	}()
	return nil
}

// firstLine of what a program prints, which ends if the program does.
func firstLine(output io.ReadCloser) (string, error) {
	giveUp := time.AfterFunc(startLimit, func() { _ = output.Close() }) // which ends the reading
	defer giveUp.Stop()
	line, err := bufio.NewReader(output).ReadString('\n')
	return strings.TrimSpace(line), err
}

func (c *ControlPlane) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 2000, 4000 // tests are meant to push the server, not themselves
	c.Config = config
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if c.Karmada, err = karmada.NewForConfig(config); err != nil {
		return err
	}
	c.Objects, err = dynamic.NewForConfig(config)
	return err
}

// KubeconfigOf is an administrator's kubeconfig with another server, and another user if `user` changes it. It is a
// file of `dir`.
func (c *ControlPlane) KubeconfigOf(dir, name, server string, user func(*User)) (string, error) {
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		return "", err
	}
	context := config.Contexts[config.CurrentContext]
	if server != "" {
		config.Clusters[context.Cluster].Server = "https://" + server
	}
	if user != nil {
		user(config.AuthInfos[context.AuthInfo])
	}
	path := filepath.Join(dir, name)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o600)
}

// Address is where its API server listens.
func (c *ControlPlane) Address() (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(config.Host, "https://"), nil
}

// Stop ends it.
func (c *ControlPlane) Stop() error {
	if err := c.input.Close(); err != nil {
		return err
	}
	<-c.exited
	return c.end
}

// Until asks again and again until it is true, for as long as Patience. An error may go away.
func Until(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, last = ask(ctx)
		return done && last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waited in vain until %s: %w, last: %v", what, err, last)
	}
	return nil
}
