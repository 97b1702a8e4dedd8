package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// What kube-scheduler has beside it.
const (
	alone      = "alone"
	doNothing  = "do-nothing extender"
	withFilter = "Evenkeel"
	withBind   = "Evenkeel, binding"
)

var variants = []string{alone, doNothing, withFilter, withBind}

// helper is what kube-scheduler has beside it; all are nil if that is nothing.
type helper struct {
	entry    *config.Extender
	process  *process.Process
	evenkeel *evenkeel.Evenkeel
}

func (h helper) kill() {
	if h.process != nil {
		h.process.Kill()
	}
}

// startHelper starts what the variant needs. The caller kills it.
func (b *bench) startHelper(ctx context.Context, variant string) (helper, error) {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	if variant == alone {
		return helper{}, nil
	}
	e, err := b.newEvenkeel("schedule")
	if err != nil {
		return helper{}, err
	}
	entry := e.Extender()
	if variant == doNothing {
		return b.startNothing(ctx, e, entry)
	}
	if variant == withBind {
		entry.BindVerb = "bind"
		entry.HTTPTimeout = metav1.Duration{Duration: 15 * time.Second} // the API server's time is in it
	}
	if err := b.launch(ctx, e); err != nil {
		return helper{}, err
	}
	return helper{&entry, e.Process, e}, nil
}

// startNothing starts the do-nothing extender with the certificates of an Evenkeel that does not run.
func (b *bench) startNothing(ctx context.Context, e *evenkeel.Evenkeel, entry config.Extender) (helper, error) {
	port, err := process.FreePort()
	if err != nil {
		return helper{}, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	p, _, err := b.startBaseline(ctx, "nothing", address,
		e.CertFile("tls.crt"), e.CertFile("tls.key"), e.CertFile("ca.crt"))
	if err != nil {
		return helper{}, err
	}
	entry.URLPrefix = "https://" + address + "/extender/v1"
	entry.PreemptVerb = "" // nothing here comes to that
	return helper{&entry, p, nil}, nil
}
