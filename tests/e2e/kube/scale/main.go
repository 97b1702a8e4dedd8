// Command scale measures Evenkeel beside a real control plane with a large cluster in it: 5,000 nodes
// and 150,000 pods unless told otherwise.
//
//   - how long the first sync takes and how much memory it leaves, beside a client that only reads
//     the same bytes and beside client-go's informers;
//   - how long after a change Evenkeel's answers show it, beside a client-go watch;
//   - how many pods a second kube-scheduler places without any extender, with one that does nothing,
//     with Evenkeel, and with Evenkeel binding.
//
// tests/bench/live.sh builds and runs it. Progress goes to standard error, tables in Markdown to
// standard output, everything that was measured to the file of --json. Nothing but an error is a
// failure: it asserts that answers are right, never that they are fast.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
)

// bench is one run. Its methods are for one goroutine.
type bench struct {
	options
	cluster    *cluster.Cluster
	client     kubernetes.Interface // of an administrator: no limits, neither its own nor the server's
	population *population
	results    results
	started    int // programs of ./baseline so far
}

type options struct {
	nodes, pods, pending, rounds, events int
	quick                                bool
	evenkeel, baseline                   string
	json, dir, steps                     string
}

func main() {
	component.RunIfAsked()
	o, err := parse()
	if err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

var steps = map[string]func(*bench, context.Context) error{
	"sync": (*bench).measureSync, "events": (*bench).measureEvents, "schedule": (*bench).measureScheduling,
}

func parse() (options, error) {
	var o options
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	flag.IntVar(&o.nodes, "nodes", 5000, "nodes in the cluster")
	flag.IntVar(&o.pods, "pods", 150000, "pods bound to them, beside finished ones")
	flag.IntVar(&o.pending, "pending", 300, "pods to schedule, of each sort")
	flag.IntVar(&o.rounds, "rounds", 2, "rounds of scheduling; of first syncs there are three at most")
	flag.IntVar(&o.events, "events", 200, "changes to wait for")
	flag.BoolVar(&o.quick, "quick", false, "500 nodes, 10000 pods, 300 pending, one round, whatever else is said")
	flag.StringVar(&o.evenkeel, "evenkeel", "build/evenkeel", "the binary to measure")
	flag.StringVar(&o.baseline, "baseline", filepath.Join(filepath.Dir(self), "scale-baseline"),
		"the program of ./baseline")
	flag.StringVar(&o.json, "json", "", "file to write results to")
	flag.StringVar(&o.dir, "dir", "", "empty folder to leave logs and data in; otherwise they are removed")
	flag.StringVar(&o.steps, "steps", "sync,events,schedule", "which of these to measure")
	flag.Parse()
	if o.quick {
		o.nodes, o.pods, o.pending, o.rounds, o.events = 500, 10000, 300, 1, 50
	}
	for name, value := range map[string]int{"pods": o.pods, "pending": o.pending, "rounds": o.rounds, "events": o.events} {
		if value < 1 {
			return o, fmt.Errorf("--%s must be at least 1", name)
		}
	}
	if o.nodes < zones || o.nodes < o.events+2 {
		return o, fmt.Errorf("--nodes must be at least %d, and more than --events", zones)
	}
	for step := range strings.SplitSeq(o.steps, ",") {
		if steps[step] == nil {
			return o, fmt.Errorf("--steps: unknown step %q", step)
		}
	}
	if flag.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	o.evenkeel, err = filepath.Abs(o.evenkeel)
	return o, err
}

func run(o options) error {
	klog.LogToStderr(false) // client-go's own log
	klog.SetOutput(discard{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "evenkeel-scale-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	} else if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	b := &bench{options: o, population: newPopulation(o.nodes, o.pods), results: newResults(o)}
	if err := b.start(ctx); err != nil {
		return err
	}
	defer b.cluster.Stop() // what it says changes nothing any more
	if err := b.fill(ctx); err != nil {
		return err
	}
	for step := range strings.SplitSeq(o.steps, ",") {
		if err := steps[step](b, ctx); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	say("done")
	b.results.Seconds = seconds(time.Since(began))
	if err := b.results.write(o.json); err != nil {
		return err
	}
	return b.results.print(os.Stdout)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (b *bench) start(ctx context.Context) error {
	say("starting etcd and kube-apiserver")
	dir := filepath.Join(b.dir, "control-plane")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var err error
	if b.cluster, err = cluster.Start(ctx, dir); err != nil {
		return err
	}
	config := rest.CopyConfig(b.cluster.Config)
	config.QPS, config.Burst = -1, -1
	config.ContentType = runtime.ContentTypeProtobuf
	b.client, err = kubernetes.NewForConfig(config)
	return err
}
