package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Who gets everything from the API server.
const (
	plainReader      = "plain reader"
	evenkeelClient   = "Evenkeel"
	informerProtobuf = "client-go informers, protobuf"
	informerJSON     = "client-go informers, JSON"
)

var syncClients = []string{plainReader, evenkeelClient, informerProtobuf, informerJSON}

// syncRun is one first sync.
type syncRun struct {
	Client    string  `json:"client"`
	Round     int     `json:"round"`
	Seconds   float64 `json:"seconds"`       // from the start of the process
	CPU       float64 `json:"cpuSeconds"`    // of the process until then
	ServerCPU float64 `json:"serverSeconds"` // CPU seconds of the API server meanwhile
	Bytes     int64   `json:"bytes,omitempty"`
	Memory    memory  `json:"memory"`        // at the moment of the sync
	Settled   memory  `json:"settledMemory"` // when it has stopped to change
}

const syncLimit = 10 * time.Minute

func (b *bench) measureSync(ctx context.Context) error {
	say("first syncs: once unmeasured, then in turns")
	if _, err := b.sync(ctx, plainReader, 0); err != nil {
		return err
	}
	for round := range min(b.rounds, 3) {
		for i := range syncClients {
			client := syncClients[(round+i)%len(syncClients)]
			run, err := b.sync(ctx, client, round)
			if err != nil {
				return fmt.Errorf("%s: %w", client, err)
			}
			say("%-30s %6.2f s, %5.2f s of CPU, %6.1f MiB", client, run.Seconds, run.CPU, mib(run.Settled.Now))
			b.results.Sync = append(b.results.Sync, run)
		}
	}
	return nil
}

func (b *bench) sync(ctx context.Context, client string, round int) (syncRun, error) {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	run := syncRun{Client: client, Round: round}
	server := b.cluster.APIServer().PID()
	before, err := cpuSeconds(server)
	if err != nil {
		return run, err
	}
	var p *process.Process
	if client == evenkeelClient {
		p, err = b.syncEvenkeel(ctx, &run)
	} else {
		p, err = b.syncBaseline(ctx, &run)
	}
	if err != nil {
		return run, err
	}
	defer p.Kill() // it has nothing to lose
	if run.CPU, err = cpuSeconds(p.PID()); err != nil {
		return run, err
	}
	after, err := cpuSeconds(server)
	if err != nil {
		return run, err
	}
	run.ServerCPU = after - before
	if run.Memory, err = memoryOf(p.PID()); err != nil {
		return run, err
	}
	run.Settled, err = settledMemory(p.PID())
	return run, err
}

func (b *bench) syncEvenkeel(ctx context.Context, run *syncRun) (*process.Process, error) {
	e, err := b.newEvenkeel("sync")
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := b.launch(ctx, e); err != nil {
		return nil, err
	}
	run.Seconds = seconds(time.Since(began))
	return e.Process, nil
}

func (b *bench) newEvenkeel(name string) (*evenkeel.Evenkeel, error) {
	kubeconfig, err := b.cluster.Kubeconfig(cluster.Evenkeel(0))
	if err != nil {
		return nil, err
	}
	return evenkeel.New(evenkeel.Options{
		Name: name, Dir: b.dir, Binary: b.evenkeel, Kubeconfig: kubeconfig,
		Settings: map[string]any{"log": map[string]any{"level": "info"}},
	})
}

// launch starts Evenkeel and returns within some milliseconds of its being ready. It must have seen
// the whole cluster then.
func (b *bench) launch(ctx context.Context, e *evenkeel.Evenkeel) error {
	if err := e.Launch(); err != nil {
		return err
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := e.Ops(ctx, "/readyz")
		if err == nil {
			break
		}
		select {
		case <-e.Exited():
			return fmt.Errorf("it has ended: %s", e.Tail(20))
		case <-ctx.Done():
			e.Kill()
			return fmt.Errorf("it is not ready: %w: %s", err, e.Tail(20))
		case <-tick.C:
		}
	}
	err := e.Knows(ctx, map[string]int{
		"evenkeel_cache_nodes": b.nodes, "evenkeel_cache_pods": b.population.live,
	})
	if err != nil {
		e.Kill()
	}
	return err
}

func (b *bench) syncBaseline(ctx context.Context, run *syncRun) (*process.Process, error) {
	kubeconfig, err := b.cluster.Kubeconfig(cluster.Evenkeel(0))
	if err != nil {
		return nil, err
	}
	args := map[string][]string{
		plainReader:      {"read", kubeconfig},
		informerProtobuf: {"inform", kubeconfig, "protobuf"},
		informerJSON:     {"inform", kubeconfig, "json"},
	}[run.Client]
	began := time.Now()
	p, line, err := b.startBaseline(ctx, args...)
	if err != nil {
		return nil, err
	}
	run.Seconds, run.Bytes = seconds(line.At.Sub(began)), line.Bytes
	if args[0] == "inform" && line.Pods != b.population.live {
		p.Kill()
		return nil, fmt.Errorf("it knows %d pods, not %d", line.Pods, b.population.live)
	}
	return p, nil
}

// baselineLine is what the programs of ./baseline print.
type baselineLine struct {
	At    time.Time
	Bytes int64
	Pods  int
}

// startBaseline returns when the program has printed its line.
func (b *bench) startBaseline(ctx context.Context, args ...string) (*process.Process, baselineLine, error) {
	var line baselineLine
	b.started++
	p, err := process.Start(process.Spec{
		Name: "baseline " + args[0], Path: b.baseline, Args: args,
		Log: filepath.Join(b.dir, fmt.Sprintf("baseline-%s-%d.log", args[0], b.started)),
	})
	if err != nil {
		return nil, line, err
	}
	err = p.WaitReady(ctx, func(context.Context) error {
		for text := range strings.Lines(p.Output()) {
			if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &line) == nil {
				return nil
			}
		}
		return fmt.Errorf("it has not said that it is there")
	})
	if err != nil {
		p.Kill()
	}
	return p, line, err
}
