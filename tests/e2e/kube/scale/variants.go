package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

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

// startExtender starts what the variant needs; both are nil if that is nothing. The caller kills the
// process.
func (b *bench) startExtender(ctx context.Context, variant string) (*config.Extender, *process.Process, error) {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	if variant == alone {
		return nil, nil, nil
	}
	e, err := b.newEvenkeel("schedule")
	if err != nil {
		return nil, nil, err
	}
	entry := e.Extender()
	if variant == doNothing {
		// What it lacks is a preempt verb, which nothing here comes to.
		port, err := process.FreePort()
		if err != nil {
			return nil, nil, err
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		p, _, err := b.startBaseline(ctx, "nothing", address, e.CertFile("tls.crt"), e.CertFile("tls.key"), e.CertFile("ca.crt"))
		entry.URLPrefix = "https://" + address + "/extender/v1"
		entry.PreemptVerb = ""
		return &entry, p, err
	}
	if variant == withBind {
		entry.BindVerb = "bind"
		entry.HTTPTimeout = metav1.Duration{Duration: 15 * time.Second} // the API server's time is in it
	}
	if err := b.launch(ctx, e); err != nil {
		return nil, nil, err
	}
	return &entry, e.Process, nil
}
