package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// scheduleRun is one round of one variant.
type scheduleRun struct {
	Variant  string     `json:"variant"`
	Round    int        `json:"round"`
	Phases   []phaseRun `json:"phases"`
	Refused  int        `json:"refused"` // times that a pod seemed to fit nowhere
	Refusal  string     `json:"lastRefusal,omitempty"`
	Skew     int        `json:"skew"`               // of the most uneven workload over zones, at the end
	Extender *memory    `json:"extender,omitempty"` // at the end
}

// phaseRun is measured from the pod after the first twentieth to the one before the last: at both
// ends phases overlap, and a pod that had to wait would count as much as all others.
type phaseRun struct {
	Pods          string             `json:"pods"`
	Scheduler     string             `json:"scheduler"`
	PodsPerSecond float64            `json:"podsPerSecond"`
	CPU           map[string]float64 `json:"cpuMillisecondsPerPod"` // by part
}

const (
	scheduleLimit = 20 * time.Minute

	schedulerPart = "kube-scheduler"
	extenderPart  = "extender"
	serverPart    = "kube-apiserver"
)

func (b *bench) measureScheduling(ctx context.Context) error {
	for round := range b.rounds {
		for i := range variants {
			variant := variants[(round+i)%len(variants)]
			say("round %d of %d, kube-scheduler: %s", round+1, b.rounds, variant)
			run, err := b.schedule(ctx, variant, round)
			if err != nil {
				return fmt.Errorf("%s: %w", variant, err)
			}
			for _, p := range run.Phases {
				say("   %-20s %-11s %6.1f pods/s", p.Pods, p.Scheduler, p.PodsPerSecond)
			}
			if run.Refused > 0 {
				say("   refused at first: %d, the last was %s", run.Refused, run.Refusal)
			}
			b.results.Schedule = append(b.results.Schedule, run)
		}
	}
	return nil
}

func (b *bench) schedule(ctx context.Context, variant string, round int) (scheduleRun, error) {
	ctx, cancel := context.WithTimeout(ctx, scheduleLimit)
	defer cancel()
	run := scheduleRun{Variant: variant, Round: round}
	if err := b.createPending(ctx, round); err != nil {
		return run, err
	}
	h, err := b.startHelper(ctx, variant)
	if err != nil {
		return run, err
	}
	defer h.kill()
	parts := map[string]int{serverPart: b.cluster.APIServer().PID()}
	if h.process != nil {
		parts[extenderPart] = h.process.PID()
	}
	if err := b.place(ctx, h.entry, parts, &run); err != nil {
		return run, err
	}
	if h.evenkeel != nil {
		if err := b.sawAll(ctx, h.evenkeel); err != nil {
			return run, err
		}
	}
	if h.process != nil {
		m, err := memoryOf(h.process.PID())
		if err != nil {
			return run, err
		}
		run.Extender = &m
	}
	return run, b.deletePending(ctx, round)
}

// sawAll is an error if Evenkeel does not know of every pod that was placed, soon.
func (b *bench) sawAll(ctx context.Context, e *evenkeel.Evenkeel) error {
	pods := b.population.live + b.phasePods(warmUp) + len(phases)*b.pending
	ctx, cancel := context.WithTimeout(ctx, eventLimit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := e.Knows(ctx, map[string]int{"evenkeel_cache_nodes": b.nodes, "evenkeel_cache_pods": pods})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// place runs a kube-scheduler until all pods have nodes.
func (b *bench) place(ctx context.Context, extender *config.Extender, parts map[string]int, run *scheduleRun) error {
	w, err := watchPods(ctx, b.client, metav1.ListOptions{LabelSelector: pendingKey})
	if err != nil {
		return err
	}
	defer w.stop()
	scheduler, err := b.startScheduler(extender)
	if err != nil {
		return err
	}
	defer scheduler.Kill()
	parts[schedulerPart] = scheduler.PID()
	t := b.newTally(parts)
	w.call(t.note)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-scheduler.Exited()
		cancel(fmt.Errorf("kube-scheduler has ended: %s", scheduler.Tail(10)))
	}()
	if err := w.until(ctx, func() bool { return t.left == 0 }); err != nil {
		return fmt.Errorf("%d pods still wait: %w; the last refusal: %s", t.left, context.Cause(ctx), w.reason)
	}
	run.Refused, run.Refusal, run.Skew = w.refused, w.reason, t.skew()
	run.Phases, err = t.phases()
	return err
}
