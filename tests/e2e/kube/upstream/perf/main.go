// Command perf measures scheduler_perf's topology-spreading workloads, Kubernetes' own benchmark, with
// stock kube-scheduler, with Evenkeel in place of its plugin and beside it, and with an extender that
// does nothing beside it. tests/bench/live.sh builds and runs it.
//
// Progress goes to standard error, a table in Markdown to standard output, everything that was
// measured to the file of -json. It asserts nothing but that every pod was placed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/upstream/hook"
	"evenkeel.io/tests/e2e/kube/upstream/program"
)

// workload is one of scheduler_perf's, by its name for each size.
type workload struct {
	name  string
	what  string
	sizes map[int]string
}

var workloads = []workload{
	{"TopologySpreading", "hard zone", map[int]string{5: "5Nodes", 500: "500Nodes", 5000: "5000Nodes"}},
	{"PreferredTopologySpreading", "soft zone", map[int]string{5: "5Nodes", 500: "500Nodes", 5000: "5000Nodes"}},
	{"DefaultTopologySpreading", "a Service's, by default", map[int]string{5: "5Nodes", 500: "500Nodes", 5000: "5000Nodes_10000Pods"}},
}

const (
	programName = "topology_spreading.test"
	folder      = "test/integration/scheduler_perf/topology_spreading" // it reads files from there
	benchmark   = "BenchmarkPerfScheduling"
	limit       = 40 * time.Minute // scheduler_perf's own is 30
)

type options struct {
	bin, kubernetes, dir, json string
	sizes                      []size
	modes                      []string
	workloads                  []workload
}

// size of the cluster, and how often it is measured.
type size struct{ nodes, rounds int }

// run is one run of a workload.
type run struct {
	Workload      string         `json:"workload"`
	Nodes         int            `json:"nodes"`
	Mode          string         `json:"mode"`
	Round         int            `json:"round"`
	Pods          int            `json:"pods"`                 // that are measured
	PodsPerSecond float64        `json:"podsPerSecond"`        // without the first twentieth
	Average       float64        `json:"schedulerPerfAverage"` // what scheduler_perf itself says: of samples of a second
	Zones         map[string]int `json:"zones"`
	Skew          int            `json:"skew"`
	CPU           float64        `json:"cpu"`         // seconds of API server, etcd, scheduler and load, for all pods
	ExtenderCPU   float64        `json:"extenderCPU"` // of the extender
	Asked         map[string]int `json:"asked,omitempty"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	flags.StringVar(&o.bin, "bin", "", "folder of the compiled benchmark and of etcd")
	flags.StringVar(&o.kubernetes, "kubernetes", "", "folder of the module k8s.io/kubernetes")
	flags.StringVar(&o.dir, "dir", "", "folder for logs")
	flags.StringVar(&o.json, "json", "", "file to write results to")
	sizes := flags.String("sizes", "500x3", "nodes (5, 500 or 5000) x runs of each, and more of these after commas")
	only := flags.String("workloads", "", "those alone, with commas between; none: "+strings.Join(workloadNames(), ","))
	modes := flags.String("modes", "stock,nothing,in-place,beside", "of "+strings.Join(hook.ModeNames, ","))
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	o.modes = strings.Split(*modes, ",")
	for _, mode := range o.modes {
		if _, err := hook.ParseMode(mode); err != nil {
			return o, err
		}
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		var s size
		n, err := fmt.Sscanf(text, "%dx%d", &s.nodes, &s.rounds)
		if n != 2 || err != nil || s.rounds < 1 || workloads[0].sizes[s.nodes] == "" {
			return o, fmt.Errorf("-sizes: %q is not like 500x3, or scheduler_perf has no such size", text)
		}
		o.sizes = append(o.sizes, s)
	}
	if err := o.choose(*only); err != nil {
		return o, err
	}
	if o.bin == "" || o.kubernetes == "" || o.dir == "" || flags.NArg() > 0 {
		return o, errors.New("-bin, -kubernetes and -dir are needed; -help lists flags")
	}
	return o, nil
}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// choose takes the workloads of these names, or all.
func (o *options) choose(names string) error {
	o.workloads = workloads
	if names == "" {
		return nil
	}
	o.workloads = nil
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
		if at < 0 {
			return fmt.Errorf("-workloads: there is no %q; there are %s", name, strings.Join(workloadNames(), ", "))
		}
		o.workloads = append(o.workloads, workloads[at])
	}
	return nil
}

func (o options) measure(ctx context.Context) error {
	load := loadAverage()
	var runs []run
	for _, size := range o.sizes {
		for _, w := range o.workloads {
			for i := range size.rounds * len(o.modes) {
				round := i / len(o.modes)
				// Whatever grows warm or tired does so for all.
				mode := o.modes[(i+round)%len(o.modes)]
				r, err := o.once(ctx, w, size.nodes, mode, round)
				if err != nil {
					return fmt.Errorf("%s, %d nodes, %s: %w", w.name, size.nodes, mode, err)
				}
				fmt.Fprintf(os.Stderr, "== %s, %d nodes, %s: %.0f pods/s, zones %s\n", w.name, size.nodes, mode,
					r.PodsPerSecond, r.zones())
				runs = append(runs, r)
			}
		}
	}
	if o.json != "" {
		text, err := json.MarshalIndent(runs, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s\nscheduler_perf of Kubernetes %s; of several rounds the median, and the zones of the most uneven. "+
		"Load before the run %s; %.0f s in all.\n", table(runs), o.version(), load, time.Since(began).Seconds())
	return nil
}

var began = time.Now()

// version of the module, which is in its folder's name.
func (o options) version() string {
	_, version, _ := strings.Cut(filepath.Base(o.kubernetes), "@")
	return version
}

// loadAverage is that of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

// once runs a workload in a program of its own.
func (o options) once(ctx context.Context, w workload, nodes int, mode string, round int) (run, error) {
	r := run{Workload: w.name, Nodes: nodes, Mode: mode, Round: round}
	dir := filepath.Join(o.dir, fmt.Sprintf("%s-%d-%s-%d", w.name, nodes, mode, round))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	ending, err := program.Run(ctx, program.Spec{
		Bin: o.bin, Name: programName, Dir: dir, Mode: mode, Limit: limit + time.Minute,
		Work: filepath.Join(o.kubernetes, filepath.FromSlash(folder)),
		Env:  []string{hook.MeasureVariable + "=yes"},
		Args: []string{
			"-test.run=^$", "-test.benchtime=1x", "-test.timeout=" + limit.String(),
			fmt.Sprintf("-test.bench=^%s$/^%s$/^%s$", benchmark, w.name, w.sizes[nodes]),
			"-perf-scheduling-label-filter=", "-data-items-dir=" + dir,
		},
	})
	if err == nil {
		err = ending.Err
	}
	if err != nil {
		return r, fmt.Errorf("%w; its log: %s", err, filepath.Join(dir, program.LogName))
	}
	r.CPU = ending.CPU.Seconds()
	if r.Average, err = average(dir); err != nil {
		return r, err
	}
	return r, r.read(dir)
}

// read takes what the hook has seen.
func (r *run) read(dir string) error {
	reports, err := hook.Reports(dir)
	if err != nil {
		return err
	}
	if len(reports) != 1 || len(reports[0].Placed) == 0 {
		return fmt.Errorf("%d kube-schedulers have reported, or no pods", len(reports))
	}
	report := reports[0]
	if report.Problem != "" {
		return errors.New(report.Problem)
	}
	r.ExtenderCPU, r.Asked = report.CPU, report.Asked
	// What is measured comes last.
	placed := report.Placed[len(report.Placed)-1]
	r.Zones, r.Pods = placed.Zones, len(placed.Bound)
	counts := r.counts()
	r.Skew = counts[len(counts)-1] - counts[0]
	first := r.Pods / 20
	if took := placed.Bound[r.Pods-1] - placed.Bound[first]; took > 0 {
		r.PodsPerSecond = float64(r.Pods-1-first) / took
	}
	return nil
}

// counts of the zones, in order.
func (r *run) counts() []int {
	var counts []int
	for _, count := range r.Zones {
		counts = append(counts, count)
	}
	slices.Sort(counts)
	return counts
}

func (r *run) zones() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(r.counts()), " ", "/"), "[]")
}

// average is what scheduler_perf has written; 0 if the run was too short for it.
func average(dir string) (float64, error) {
	files, err := filepath.Glob(filepath.Join(dir, benchmark+"_*.json"))
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("%d files of scheduler_perf in %s: %w", len(files), dir, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return 0, err
	}
	var items struct {
		DataItems []struct {
			Data   map[string]float64
			Labels map[string]string
		}
	}
	if err := json.Unmarshal(text, &items); err != nil {
		return 0, fmt.Errorf("%s: %w", files[0], err)
	}
	for _, item := range items.DataItems {
		if item.Labels["Metric"] == "SchedulingThroughput" {
			return item.Data["Average"], nil
		}
	}
	return 0, nil
}
