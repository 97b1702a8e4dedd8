// Package evenkeel runs the built Evenkeel beside a test's control plane and asks it things.
package evenkeel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Options say how it is started.
type Options struct {
	Name   string // of its log and configuration files
	Dir    string // for its files; one folder may serve several
	Binary string

	// Where it learns about the cluster: a kubeconfig, or what kubectl printed.
	Kubeconfig, State string
	// More of the EvenkeelConfiguration, by key: "orderedSpread", "reservations", ...
	Settings map[string]any
	// RequestTimeout of the extender; 0: the default.
	RequestTimeout time.Duration
	Env            []string
	// OwnClock lets Jump set its wall clock.
	OwnClock bool
	// Wrap is put in front of the program: `ip netns exec NAME`, say.
	Wrap []string
}

// Evenkeel is a daemon that was started at least once. It keeps its ports when it is restarted.
type Evenkeel struct {
	Options
	*process.Process
	ConfigFile string
	Log        string

	certs              string
	extenderPort, port int
	client             *http.Client // of the extender, with kube-scheduler's certificate
}

const (
	startLimit = 60 * time.Second
	stopLimit  = 30 * time.Second
)

// Start makes certificates and a configuration, and runs `evenkeel serve` until it is ready.
func Start(ctx context.Context, o Options) (*Evenkeel, error) {
	e, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := e.Launch(); err != nil {
		return nil, err
	}
	if err := e.WaitReady(ctx); err != nil {
		e.Kill()
		return nil, err
	}
	return e, nil
}

// New prepares everything but the process.
func New(o Options) (*Evenkeel, error) {
	e := &Evenkeel{Options: o, certs: filepath.Join(o.Dir, "evenkeel-certs")}
	for _, port := range []*int{&e.extenderPort, &e.port} {
		var err error
		if *port, err = process.FreePort(); err != nil {
			return nil, err
		}
	}
	if err := e.makeCertificates(); err != nil {
		return nil, err
	}
	var err error
	if e.client, err = e.newClient(); err != nil {
		return nil, err
	}
	if err := e.setUpClock(); err != nil {
		return nil, err
	}
	e.Log = filepath.Join(o.Dir, "evenkeel-"+o.Name+".log")
	e.ConfigFile = filepath.Join(o.Dir, "evenkeel-"+o.Name+".yaml")
	return e, e.writeConfig()
}

func (e *Evenkeel) writeConfig() error {
	c := map[string]any{
		"apiVersion": "evenkeel.io/v1alpha1",
		"kind":       "EvenkeelConfiguration",
		"extender": map[string]any{
			"listen":          fmt.Sprintf("127.0.0.1:%d", e.extenderPort),
			"certFile":        e.CertFile("tls.crt"),
			"keyFile":         e.CertFile("tls.key"),
			"clientCAFile":    e.CertFile("ca.crt"),
			"allowedSubjects": []string{"system:kube-scheduler"},
			"bind":            true, // asked for only where kube-scheduler has a bindVerb
		},
		"ops":      map[string]any{"listen": fmt.Sprintf("127.0.0.1:%d", e.port)},
		"shutdown": map[string]any{"delay": "0s"},
		"log":      map[string]any{"level": "debug"},
	}
	if e.RequestTimeout > 0 {
		c["extender"].(map[string]any)["limits"] = map[string]any{"requestTimeout": e.RequestTimeout.String()}
	}
	if e.Kubeconfig != "" {
		c["kubernetes"] = map[string]any{"kubeconfig": e.Kubeconfig}
	}
	if e.State != "" {
		c["state"] = map[string]any{"paths": []string{e.State}, "pollInterval": "10ms"}
	}
	for key, value := range e.Settings {
		c[key] = value
	}
	text, err := json.MarshalIndent(c, "", "  ") // YAML, too
	if err != nil {
		return err
	}
	return os.WriteFile(e.ConfigFile, text, 0o644)
}

// Launch starts the process, for the first time or again, and does not wait.
func (e *Evenkeel) Launch() error {
	command := append(append([]string{}, e.Wrap...), e.Binary, "serve", "--config", e.ConfigFile)
	p, err := process.Start(process.Spec{
		Name: "evenkeel " + e.Name, Path: command[0], Args: command[1:], Env: e.Env, Log: e.Log,
	})
	if err != nil {
		return err
	}
	e.Process = p
	return nil
}

// Addresses that it listens on.
func (e *Evenkeel) Addresses() []string {
	return []string{fmt.Sprintf("127.0.0.1:%d", e.extenderPort), fmt.Sprintf("127.0.0.1:%d", e.port)}
}

// WaitReady returns when /readyz says so.
func (e *Evenkeel) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return e.Process.WaitReady(ctx, func(ctx context.Context) error {
		_, err := e.Ops(ctx, "/readyz")
		return err
	})
}

// Restart kills it (SIGKILL) and starts it again, ready.
func (e *Evenkeel) Restart(ctx context.Context) error {
	e.Kill()
	if err := e.Launch(); err != nil {
		return err
	}
	return e.WaitReady(ctx)
}

// Stop ends it gently; how it ended is an error if that was not with status 0.
func (e *Evenkeel) Stop() error {
	if !e.Running() {
		return fmt.Errorf("evenkeel %s had ended by itself; its log: %s", e.Name, e.Tail(20))
	}
	return e.Process.Stop(stopLimit)
}

// Freeze stops the process in its tracks, Thaw lets it go on.
func (e *Evenkeel) Freeze() error { return e.Signal(syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (e *Evenkeel) Thaw() error { return e.Signal(syscall.SIGCONT) }
