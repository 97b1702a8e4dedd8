// Command run runs Kubernetes' own integration tests with Evenkeel in their kube-schedulers, once they
// are compiled; tests/e2e/upstream.sh does both.
//
// It prints a line per test and mode, what a test that failed has said, and last `N passed, N failed`.
// A test passes when every run has passed, but for the cases that no extender can pass: those are in
// limits.go, and must fail.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/part"
	"evenkeel.io/tests/e2e/kube/upstream/hook"
	"evenkeel.io/tests/e2e/kube/upstream/program"
)

type options struct {
	// Folders: compiled tests and etcd, logs, and the module k8s.io/kubernetes.
	bin, logs, kubernetes string

	tests        *regexp.Regexp
	modes, loads []string // of the plan if there are none
	count        int      // of the plan if 0
	full         bool
	part         part.Part // of what the others choose
	list, names  bool      // only say what would be run
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == busyCommand {
		os.Exit(burn(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	failed := 0
	if err == nil {
		failed, err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	flags.StringVar(&o.bin, "bin", "", "folder of the compiled tests and of etcd")
	flags.StringVar(&o.logs, "logs", "", "folder for logs")
	flags.StringVar(&o.kubernetes, "kubernetes", "", "folder of the module k8s.io/kubernetes")
	tests := flags.String("tests", "", "only tests whose package/Name matches this expression")
	modes := flags.String("modes", "", "of "+strings.Join(hook.ModeNames, ",")+"; default: the plan's")
	loads := flags.String("loads", "", "of calm,busy (two busy processes beside); default: the plan's")
	flags.IntVar(&o.count, "count", 0, "runs of each; default: the plan's")
	flags.BoolVar(&o.full, "full", false, "everything 20 times, unless said otherwise: takes hours")
	flags.BoolVar(&o.list, "list", false, "print what would be run, and which cases no extender can pass")
	flags.BoolVar(&o.names, "packages", false, "print which packages that needs")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	o.modes, o.loads = split(*modes), split(*loads)
	for _, mode := range o.modes {
		if m, err := hook.ParseMode(mode); err != nil {
			return o, err
		} else if m.Silent {
			return o, fmt.Errorf("mode %q is for the benchmark", mode)
		}
	}
	for _, load := range o.loads {
		if load != calm && load != busy {
			return o, fmt.Errorf("-loads: %q is neither %s nor %s", load, calm, busy)
		}
	}
	if flags.NArg() > 0 || o.count < 0 {
		return o, errors.New("unexpected arguments; -help lists flags")
	}
	var err error
	if o.part, err = part.FromEnvironment(); err != nil {
		return o, err
	}
	o.tests, err = regexp.Compile(*tests)
	return o, err
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func run(ctx context.Context, o options) (failed int, err error) {
	jobs := o.jobs()
	if len(jobs) == 0 {
		return 0, errors.New("no test has such a name")
	}
	if o.list || o.names {
		o.describe(jobs)
		return 0, nil
	}
	if err := checkLimits(o.kubernetes); err != nil {
		return 0, err
	}
	return o.all(ctx, jobs)
}

// Jobs at a time, of those that may: they mostly wait.
const atOnce = 3

// all runs the jobs and prints verdicts.
func (o options) all(ctx context.Context, jobs []job) (failed int, err error) {
	var sum tally
	for _, j := range jobs {
		if j.alone() {
			sum.add(o.do(ctx, j))
		}
	}
	var others sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, j := range jobs {
		if j.alone() {
			continue
		}
		places <- struct{}{}
		others.Go(func() {
			sum.add(o.do(ctx, j))
			<-places
		})
	}
	others.Wait()
	if sum.err == nil {
		fmt.Printf("%d passed, %d failed\n", sum.passed, sum.failed)
	}
	return sum.failed, sum.err
}

// tally may be used by any goroutine.
type tally struct {
	lock           sync.Mutex
	passed, failed int
	err            error // the first
}

func (t *tally) add(verdicts []verdict, err error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.err == nil {
		t.err = err
	}
	for _, v := range verdicts {
		fmt.Print(v.text())
		if v.failed() {
			t.failed++
		} else {
			t.passed++
		}
	}
}

// do runs a job and says how each of its tests went, and Evenkeel.
func (o options) do(ctx context.Context, j job) ([]verdict, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	dir := filepath.Join(o.logs, j.folder())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if j.load == busy {
		stop, err := startBusy(filepath.Join(dir, "busy.log"), j.limit()+grace)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	began := time.Now()
	ending, err := o.execute(ctx, j, dir)
	if err != nil {
		return nil, err
	}
	log, err := os.Open(filepath.Join(dir, program.LogName))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	results, err := readResults(log)
	if err != nil {
		return nil, err
	}
	var verdicts []verdict
	for _, test := range j.tests {
		verdicts = append(verdicts, judge(j, test, results))
	}
	problems, err := j.problems(dir, ending.Err, results)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		verdicts = append(verdicts, verdict{
			name: j.String(), seconds: time.Since(began).Seconds(), problems: problems,
		})
	}
	return verdicts, nil
}

// problems that are no test's own: how Evenkeel and the program ended.
func (j job) problems(dir string, ending error, results results) ([]string, error) {
	var problems []string
	reports, err := hook.Reports(dir)
	if err != nil {
		return nil, err
	}
	asked := 0
	for _, r := range reports {
		if r.Problem != "" {
			problems = append(problems, r.Problem)
		}
		asked += r.Asked["filter"] + r.Asked["prioritize"]
	}
	mode, err := hook.ParseMode(j.mode)
	if err != nil {
		return nil, err
	}
	if mode.Evenkeel && asked == 0 && (mode.PluginOut || !j.pkg.unasked) {
		problems = append(problems, "no kube-scheduler has asked Evenkeel anything")
	}
	if ending != nil && !results.failed() {
		problems = append(problems, fmt.Sprintf("no test failed, but the program did: %v; its log: %s",
			ending, filepath.Join(dir, program.LogName)))
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil
}
