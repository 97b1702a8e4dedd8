package evenkeel

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Hub is an Evenkeel as the chart runs one on a hub: it decides Placements, and reviews them by a webhook.
type Hub struct {
	Ops       string // URL without a path
	Webhook   string // URL of Placements
	Authority []byte // CA of the webhook, as PEM
	Config    string // file
	Log       string // file

	command *exec.Cmd
	exited  chan struct{} // closed when it has ended
}

// StartOnHub returns when it is ready. Its files are in `dir`.
func StartOnHub(ctx context.Context, binary, dir, kubeconfig string) (*Hub, error) {
	certs := filepath.Join(dir, "certs")
	if output, err := exec.CommandContext(ctx, binary, "certs", "init", "--dir", certs).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("evenkeel certs init: %w: %s", err, output)
	}
	authority, err := os.ReadFile(filepath.Join(certs, "ca.crt"))
	if err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	h := &Hub{Ops: "http://" + addresses[0], Webhook: "https://" + addresses[1] + "/webhooks/v1/placements", Authority: authority,
		Config: filepath.Join(dir, "evenkeel.json"), Log: filepath.Join(dir, "evenkeel.log"), exited: make(chan struct{})}
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion": "evenkeel.io/v1alpha1", "kind": "EvenkeelConfiguration",
		"kubernetes": map[string]any{"kubeconfig": kubeconfig},
		"extender":   map[string]any{"listen": "0"},
		"ops":        map[string]any{"listen": addresses[0]},
		"ocm":        map[string]any{"enabled": true},
		// No CustomResourceDefinition of TopologyPolicies is here.
		"policies": map[string]any{"watch": false},
		"webhook": map[string]any{"listen": addresses[1], "pods": false,
			"certFile": filepath.Join(certs, "tls.crt"), "keyFile": filepath.Join(certs, "tls.key")},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(h.Config, append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	if err := h.start(binary); err != nil {
		return nil, err
	}
	if err := h.untilReady(ctx); err != nil {
		h.Stop()
		return nil, err
	}
	return h, nil
}

// freeAddresses are of this machine, and were free a moment ago.
func freeAddresses(count int) ([]string, error) {
	var all []string
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // each another one
		all = append(all, listener.Addr().String())
	}
	return all, nil
}

func (h *Hub) start(binary string) error {
	log, err := os.Create(h.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	h.command = exec.Command(binary, "serve", "--config", h.Config)
	h.command.Stderr = log
	// Ctrl-C is for whoever has started it.
	h.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := h.command.Start(); err != nil {
		return err
	}
	go func() {
		_ = h.command.Wait() // how it ends is in its log
		close(h.exited)
	}()
	return nil
}

func (h *Hub) untilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for {
		if response, err := http.Get(h.Ops + "/readyz"); err == nil {
			_ = response.Body.Close() // its status is enough
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-h.exited:
			return fmt.Errorf("Evenkeel has ended: see %s", h.Log)
		case <-ctx.Done():
			return fmt.Errorf("Evenkeel is not ready: see %s", h.Log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Exited is closed when it has ended.
func (h *Hub) Exited() <-chan struct{} { return h.exited }

// Stop ends it at once, but not in the middle of a write.
func (h *Hub) Stop() {
	_ = h.command.Process.Signal(syscall.SIGINT) // it may have ended by itself
	select {
	case <-h.exited:
	case <-time.After(deadline):
		_ = h.command.Process.Kill()
		<-h.exited
	}
}
