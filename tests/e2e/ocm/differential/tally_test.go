package differential

import (
	"sync"
	"testing"
)

const tellingCases = 10000 // with fewer of them, a rare thing may have had no chance

// tally counts what the cases were like: equal answers to dull questions prove nothing.
type tally struct {
	mutex  sync.Mutex
	counts map[string]int // guarded by mutex
}

// The order in which report shows them. Each must occur.
var tallied = []string{
	"cases", "cases whose controller fails", "cases with more than 100 selected",
	"NoManagedClusterSetBindings", "NoIntersection", "AllManagedClusterSetsEmpty", "NoManagedClusterMatched",
	"AllDecisionsScheduled", "NotAllDecisionsScheduled",
	"misconfigured, nothing selected", "misconfigured groups, something selected",
	"cases with all three verdicts", "verdict Pass", "verdict Predicate", "verdict TaintToleration",
	"cases with Balance between its limits", "cases with Steady", "cases with CPU", "cases with memory", "cases with AddOn",
	"cases with an AddOn twice", "cases where scores choose", "cases where names choose",
	"cases with several groups", "cases with moves", "cases that are requeued", "cases with warnings",
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

func (l *tally) add(e *expected) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.count("cases", true)
	l.count("cases whose controller fails", e.failed != "")
	if e.failed != "" {
		return
	}
	l.counts[e.Conditions[1].Reason]++
	l.count("misconfigured, nothing selected", e.Misconfigured() != "" && len(e.Selected) == 0)
	l.count("misconfigured groups, something selected", e.Misconfigured() != "" && len(e.Selected) > 0)
	l.count("cases with more than 100 selected", len(e.Selected) > 100)
	l.count("cases with several groups", len(e.Groups) > 1)
	l.count("cases with moves", len(e.Moves.Add) > 0 && len(e.Moves.Remove) > 0)
	l.count("cases that are requeued", e.RequeueAfterSeconds != nil)
	l.count("cases with warnings", len(e.Warnings) > 0)
	l.addVerdicts(e)
	l.addPrioritizers(e)
	l.addChoice(e)
}

// count must be called with the mutex held, as must those below.
func (l *tally) count(what string, yes bool) {
	if yes {
		l.counts[what]++
	}
}

func (l *tally) addVerdicts(e *expected) {
	different := map[string]bool{}
	for _, verdict := range e.Filter {
		l.counts["verdict "+verdict.Verdict]++
		different[verdict.Verdict] = true
	}
	l.count("cases with all three verdicts", len(different) == 3)
}

var resourceCases = map[string]string{
	"ResourceAllocatableCPU": "cases with CPU", "ResourceAllocatableMemory": "cases with memory", "Steady": "cases with Steady",
}

func (l *tally) addPrioritizers(e *expected) {
	before, twice, addOns, between := "", false, false, false
	for _, p := range e.Prioritizers {
		values := map[int64]bool{}
		for _, value := range p.Scores {
			values[value] = true
			between = between || p.Name == "Balance" && value > -100 && value < 100
		}
		if what, known := resourceCases[p.Name]; known {
			l.count(what, len(values) > 1)
		} else if p.Name != "Balance" {
			addOns = addOns || len(values) > 1
			twice = twice || p.Name == before
		}
		before = p.Name
	}
	l.count("cases with Balance between its limits", between)
	l.count("cases with AddOn", addOns)
	l.count("cases with an AddOn twice", twice)
}

// What decides who is the last to be selected, where not all are.
func (l *tally) addChoice(e *expected) {
	if len(e.Selected) == 0 || len(e.Selected) >= len(e.Sum) {
		return
	}
	chosen, last := map[string]bool{}, e.Sum[e.Selected[len(e.Selected)-1]]
	for _, name := range e.Selected {
		chosen[name] = true
	}
	tied := false
	for name, sum := range e.Sum {
		tied = tied || !chosen[name] && sum == last
	}
	l.count("cases where names choose", tied)
	l.count("cases where scores choose", !tied)
}

// report prints all of it, and fails where cases had no chance to show a difference.
func (l *tally) report(t *testing.T) {
	for _, what := range tallied {
		t.Logf("%7d %s", l.counts[what], what)
		if l.counts["cases"] >= tellingCases && l.counts[what] == 0 {
			t.Errorf("no %s: the cases are too dull", what)
		}
	}
}
