package differential

import (
	"fmt"
	"sync"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

const (
	ablateEvery = 10   // one case in so many is asked again without each of its features
	ablateMin   = 1500 // with fewer of those, a rare feature may have had no chance
)

// tally counts what the cases were like: equal answers to dull questions prove nothing.
type tally struct {
	mutex    sync.Mutex
	counts   map[string]int // guarded by mutex, as is the rest
	decisive map[string]int
	ablated  int
}

func newTally() *tally {
	return &tally{counts: map[string]int{}, decisive: map[string]int{}}
}

// The order in which report shows them.
var tallied = []string{
	"cases",
	"verdict Pass", "verdict Unschedulable", "verdict UnschedulableAndUnresolvable",
	"cases with Unschedulable", "cases with several verdicts", "cases with all three verdicts",
	"scores", "cases with scores", "cases with several raw scores", "cases with several normalised scores",
	"cases with default constraints only", "cases with named candidates",
}

func (t *tally) add(q *question, a *answer) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	verdicts, raw, normalized := map[string]bool{}, map[int64]bool{}, map[int64]bool{}
	for _, verdict := range a.Verdicts {
		verdicts[verdict] = true
		t.counts["verdict "+verdict]++
	}
	for _, score := range a.Scores {
		raw[score.Raw], normalized[score.Normalized] = true, true
		t.counts["scores"]++
	}
	t.count("cases", true)
	t.count("cases with "+fwk.Unschedulable.String(), verdicts[fwk.Unschedulable.String()])
	t.count("cases with several verdicts", len(verdicts) > 1)
	t.count("cases with all three verdicts", len(verdicts) > 2)
	t.count("cases with scores", len(raw) > 0)
	t.count("cases with several raw scores", len(raw) > 1)
	t.count("cases with several normalised scores", len(normalized) > 1)
	t.count("cases with default constraints only", len(q.pod.Spec.TopologySpreadConstraints) == 0)
	t.count("cases with named candidates", q.candidates != nil)
}

// count must be called with the mutex held.
func (t *tally) count(what string, yes bool) {
	if yes {
		t.counts[what]++
	}
}

// ablate asks the plugin once more for every feature, without it, and counts those that decided
// the answer.
func (t *tally) ablate(q *question, whole *answer) error {
	decided := map[string]bool{}
	for _, one := range ablations {
		c := q.clone()
		one.change(c)
		without, err := c.askPlugin(&c.cluster)
		if err != nil {
			return fmt.Errorf("without %s: %w", one.name, err)
		}
		decided[one.name] = without.differences(whole) != ""
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ablated++
	for name, decisive := range decided {
		if decisive {
			t.decisive[name]++
		}
	}
	return nil
}

// report prints all of it, and fails where cases had no chance to show a difference.
func (t *tally) report(tb testing.TB) {
	for _, what := range tallied {
		tb.Logf("%7d %s", t.counts[what], what)
		if t.ablated >= ablateMin && t.counts[what] == 0 {
			tb.Errorf("no %s: the cases are too dull", what)
		}
	}
	tb.Logf("of %d cases asked again without a feature, the answer changed without", t.ablated)
	for _, one := range ablations {
		tb.Logf("%7d %s", t.decisive[one.name], one.name)
		if t.ablated >= ablateMin && t.decisive[one.name] == 0 {
			tb.Errorf("%s never mattered: the cases are too dull", one.name)
		}
	}
}
