package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Loads.
const (
	calm = "calm"
	busy = "busy" // two processes that only burn beside it
)

// pkg is one of upstream's packages.
type pkg struct {
	folder string // in test/integration/scheduler
	limit  time.Duration
	// timed: what it finds depends on who else uses the processor.
	timed bool
	// unasked: where the plugin stays, it rejects every node and nobody asks Evenkeel.
	unasked bool
}

func (p pkg) name() string   { return p.folder }
func (p pkg) binary() string { return path.Base(p.folder) + ".test" }

var (
	filters      = pkg{folder: "filters", limit: 5 * time.Minute}
	scoring      = pkg{folder: "scoring", limit: 3 * time.Minute, timed: true}
	misc         = pkg{folder: "preemption/misc", limit: 5 * time.Minute}
	preemption   = pkg{folder: "preemption", limit: 15 * time.Minute}
	nominated    = pkg{folder: "preemption/nominatednodename", limit: 15 * time.Minute}
	extending    = pkg{folder: "extender", limit: 3 * time.Minute}
	queueing     = pkg{folder: "queueing", limit: 5 * time.Minute}
	queueingHint = pkg{folder: "queueing/queueinghint", limit: 5 * time.Minute, unasked: true}
)

// round is how a test is run.
type round struct {
	mode, load string
	count      int
}

// The plan: every test here is run by -full; without it, in the rounds that stand beside it. `cases`
// narrows a test.
var plan = []struct {
	pkg    pkg
	test   string
	cases  string
	rounds []round
}{
	{scoring, "TestDefaultPodTopologySpreadScoring", "", []round{
		{"in-place", calm, 10}, {"beside", busy, 10}, {"in-place+bind", calm, 3}, {"beside+bind", busy, 3},
	}},
	{scoring, "TestPodTopologySpreadScoring", "", inPlaceOnce},
	{misc, "TestNonPreemption", "", inPlaceOnce}, // the longest first
	{misc, "TestDisablePreemption", "", inPlaceOnce},
	{misc, "TestPodPriorityResolution", "", inPlaceOnce},
	{misc, "TestPreemptionStarvation", "", inPlaceOnce},
	{misc, "TestPreemptionRaces", "", inPlaceOnce},
	{misc, "TestPDBInPreemption", "", inPlaceOnce},
	{misc, "TestReadWriteOncePodPreemption", "", inPlaceOnce},
	{filters, "TestPodTopologySpreadFilter", "", inPlaceOnce},
	{queueingHint, "TestCoreResourceEnqueue", "PodTopologySpread/", []round{
		{"in-place", calm, 1}, {"beside", calm, 1},
	}},
	{extending, "TestSchedulerExtender", "", []round{{"in-place", calm, 1}, {"beside", calm, 1}}},
	{filters, "TestUnschedulablePodBecomesSchedulable", "", nil},
	{filters, "TestNodeResourcesFilter", "", nil},
	{filters, "TestNodeAffinityFilter", "", nil},
	{preemption, "TestPreemption", "", nil},
	{nominated, "TestNominatedNode", "", nil},
	{nominated, "TestPreferNominatedNode", "", nil},
	{queueing, "TestSchedulingGates", "", nil},
	{queueing, "TestRequeueByBindFailure", "", nil},
	// Not TestRequeueByPermitRejection: it does not wait until its pod has come to Permit, and some
	// milliseconds of any extender are too long for that.
}

var inPlaceOnce = []round{{"in-place", calm, 1}}

const fullCount = 20

// job is one run of a package's program.
type job struct {
	pkg pkg
	round
	tests []string
	cases string
}

// limit of all its runs.
func (j job) limit() time.Duration { return j.pkg.limit * time.Duration(j.count) }

// alone says whether no other job may run beside it.
func (j job) alone() bool { return j.pkg.timed || j.load == busy }

func (j job) String() string { return j.pkg.name() + " " + j.mode + " " + j.load }

// folder of the logs.
func (j job) folder() string {
	parts := []string{j.pkg.name(), j.mode, j.load}
	if len(j.tests) == 1 {
		parts = append(parts, j.tests[0])
	}
	return strings.ReplaceAll(strings.Join(parts, "-"), "/", "-")
}

// pattern for -test.run.
func (j job) pattern() string {
	pattern := "^(" + strings.Join(j.tests, "|") + ")$"
	if j.cases != "" {
		pattern += "/" + j.cases
	}
	return pattern
}

// jobs of the plan that the options choose. Tests of a package that are run alike share a program.
func (o options) jobs() []job {
	var jobs []job
	number := 0
	for _, entry := range plan {
		if !o.tests.MatchString(entry.pkg.name() + "/" + entry.test) {
			continue
		}
		for _, round := range o.rounds(entry.rounds) {
			number++
			if !o.part.Has(number) {
				continue
			}
			j := job{pkg: entry.pkg, round: round, tests: []string{entry.test}, cases: entry.cases}
			same := slices.IndexFunc(jobs, func(other job) bool {
				return other.pkg == j.pkg && other.round == j.round && other.cases == j.cases
			})
			if same >= 0 {
				jobs[same].tests = append(jobs[same].tests, entry.test)
			} else {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// rounds are the plan's unless flags say otherwise.
func (o options) rounds(planned []round) []round {
	if !o.full && o.modes == nil && o.loads == nil {
		rounds := slices.Clone(planned)
		for i := range rounds {
			if o.count > 0 {
				rounds[i].count = o.count
			}
		}
		return rounds
	}
	modes, loads, count := o.modes, o.loads, o.count
	if modes == nil {
		modes = []string{"in-place", "beside", "in-place+bind", "beside+bind"}
	}
	if loads == nil {
		loads = []string{calm}
		if o.full {
			loads = []string{calm, busy}
		}
	}
	if count == 0 {
		count = 1
		if o.full {
			count = fullCount
		}
	}
	var rounds []round
	for _, mode := range modes {
		for _, load := range loads {
			rounds = append(rounds, round{mode, load, count})
		}
	}
	return rounds
}

// describe prints what would be run.
func (o options) describe(jobs []job) {
	if o.names {
		var names []string
		for _, j := range jobs {
			names = append(names, j.pkg.name())
		}
		slices.Sort(names)
		fmt.Println(strings.Join(slices.Compact(names), "\n"))
		return
	}
	for _, j := range jobs {
		fmt.Printf("%2d x %-20s %s: %s\n", j.count, j.round, j.pkg.name(), strings.Join(j.tests, " "))
	}
	fmt.Println("\nNo extender can pass in place of the plugin:")
	for i, l := range limits {
		if i > 0 && l.why != limits[i-1].why {
			fmt.Println()
		}
		fmt.Printf("  test/integration/scheduler/%s:%d %s\n", l.file, l.line, l.name)
		if i+1 == len(limits) || l.why != limits[i+1].why {
			fmt.Printf("    because %s\n", l.why)
		}
	}
}

func (r round) String() string { return fmt.Sprintf("%s %s", r.mode, r.load) }
