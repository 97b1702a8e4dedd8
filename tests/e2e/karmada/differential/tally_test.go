package differential

import (
	"sync"
	"testing"
)

const tellingCases = 10000 // with fewer of them, a rare thing may have had no chance

// tally counts what the cases were like: equal answers to dull questions prove nothing.
type tally struct {
	order  []string // of the report
	mutex  sync.Mutex
	asked  int            // guarded by mutex
	counts map[string]int // guarded by mutex
}

func newTally(order []string) *tally {
	return &tally{order: order, counts: map[string]int{}}
}

func (l *tally) add(traits []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.asked++
	for _, trait := range traits {
		l.counts[trait]++
	}
}

// report prints all of it, and fails where cases had no chance to show a difference.
func (l *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%7d questions", l.asked)
	listed := map[string]bool{}
	for _, trait := range l.order {
		listed[trait] = true
		t.Logf("%7d %s", l.counts[trait], trait)
		if l.asked >= tellingCases && l.counts[trait] == 0 {
			t.Errorf("no case with %s: the cases are too dull", trait)
		}
	}
	for trait := range l.counts {
		if !listed[trait] {
			t.Errorf("%q is counted, but not listed", trait)
		}
	}
}

// traitsOf are the names of what is true.
func traitsOf(all map[string]bool) []string {
	var traits []string
	for trait, yes := range all {
		if yes {
			traits = append(traits, trait)
		}
	}
	return traits
}
