// kube-scheduler breaks ties with the global source of random numbers: seeded, bursts are repeatable.

//go:debug randseednop=0
package differential

import (
	"fmt"
	"math"
	"testing"
)

const (
	casesPerBurst = 10 // a burst takes as long as so many cases of other tests
	fewestBursts  = 200
)

// TestBursts plays random bursts of pods through kube-scheduler's own code: with its own plugin for
// spreading alone, and with Evenkeel, which sees what happens later. In the end pods are not to lie less
// evenly than with the plugin alone in more than one of a hundred bursts, and not on average. Beside the
// plugin, where its points and Evenkeel's may disagree, `complement` is what the guide recommends: it
// changes nothing. `prioritize` is held to two of a hundred there.
//
// A burst has ended less evenly when some workload's skew over some key is larger and none is smaller:
// of two keys, upstream's own score gives one away for the other.
func TestBursts(t *testing.T) {
	driver := compileHandlers(t)
	stock := &setup{name: "stock", placer: newPlacer(t, true)}
	setups := []*setup{
		newSetup(t, driver, "prioritize, in place", "prioritize", false, 1),
		newSetup(t, driver, "prioritize, beside", "prioritize", true, 2),
		newSetup(t, driver, "complement, beside", "complement", true, 0),
	}
	report := burstReport{}
	// one at a time: the random numbers are the process's
	forEachOf(t, max(caseCount()/casesPerBurst, fewestBursts), 1, func(_, number int) bool {
		b := diceFor(number).burst()
		expected, err := stock.playBurst(t.Context(), b)
		for _, s := range setups {
			var got outcome
			if err == nil {
				got, err = s.playBurst(t.Context(), b)
			}
			if err != nil {
				t.Errorf("seed %d, case %d, %s: %v", seed(), number, s.name, err)
				return false
			}
			report.add(s.name, number, b, expected, got)
		}
		return true
	})
	if *numberFlag < 0 && !t.Failed() {
		report.check(t, setups)
	}
}

// newSetup is one in which this percentage of bursts may end less evenly.
func newSetup(t *testing.T, driver, name, verb string, ownSpreading bool, percent float64) *setup {
	t.Helper()
	s := &setup{name: name, verb: verb, percent: percent, ours: startHandlers(t, driver)}
	pause := func() error { return s.play.passTo(s.play.now + s.play.burst.cycle/2) }
	s.placer = newPlacer(t, ownSpreading, &extender{ours: s.ours, verb: verb, weight: 2, pause: pause})
	return s
}

// ---- what came of it ----

// burstReport has a row for every set-up and lag.
type burstReport map[burstKey]*burstRow

type burstKey struct{ setup, lag string }

type burstRow struct {
	bursts, skews int
	sum, stockSum int // of all skews
	squares       int // of their differences
	// Bursts with a larger skew than the plugin alone; also with no smaller one; the opposite.
	larger, less, more int
	elsewhere          int   // pods that are on another node than with the plugin alone
	lessEven           []int // numbers of some bursts
}

const allLags = "all"

var lags = []string{"0", "1 to 50", "51 to 200", "201 to 500", allLags}

func lagOf(b *burst) string {
	switch {
	case b.lag == 0:
		return lags[0]
	case b.lag <= 50:
		return lags[1]
	case b.lag <= 200:
		return lags[2]
	}
	return lags[3]
}

func (r burstReport) add(setup string, number int, b *burst, stock, got outcome) {
	for _, lag := range []string{lagOf(b), allLags} {
		key := burstKey{setup, lag}
		if r[key] == nil {
			r[key] = &burstRow{}
		}
		r[key].add(number, b, stock, got)
	}
}

func (r *burstRow) add(number int, b *burst, stock, got outcome) {
	larger, smaller := false, false
	for _, w := range b.workloads {
		for _, key := range w.keys {
			before, now := stock.skew(b, w, key), got.skew(b, w, key)
			larger, smaller = larger || now > before, smaller || now < before
			r.skews++
			r.sum += now
			r.stockSum += before
			r.squares += (now - before) * (now - before)
		}
	}
	r.bursts++
	r.larger += oneIf(larger)
	r.less += oneIf(larger && !smaller)
	r.more += oneIf(smaller && !larger)
	if larger && !smaller && len(r.lessEven) < 5 {
		r.lessEven = append(r.lessEven, number)
	}
	for name, one := range stock {
		r.elsewhere += oneIf(got[name] == nil || got[name].pod.Spec.NodeName != one.pod.Spec.NodeName)
	}
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (r burstReport) check(t *testing.T, setups []*setup) {
	t.Logf("%-20s %-10s %6s  %-22s %-33s %s", "", "lag in ms", "bursts", "mean skew (plugin's)",
		"less even (more; a larger skew)", "such as case")
	for _, s := range setups {
		for _, lag := range lags {
			if row := r[burstKey{s.name, lag}]; row != nil {
				n := float64(row.bursts)
				percent := func(count int) string { return fmt.Sprintf("%.2f %%", float64(count)/n*100) }
				t.Logf("%-20s %-10s %6d  %-22s %-33s %v", s.name, lag, row.bursts,
					fmt.Sprintf("%.3f (%.3f)", float64(row.sum)/float64(row.skews), float64(row.stockSum)/float64(row.skews)),
					fmt.Sprintf("%s (%s; %s)", percent(row.less), percent(row.more), percent(row.larger)), row.lessEven)
			}
		}
		r[burstKey{s.name, allLags}].check(t, s)
	}
}

func (r *burstRow) check(t *testing.T, s *setup) {
	if float64(r.sum-r.stockSum) > 3*math.Sqrt(float64(r.squares)) { // more than chance may add
		t.Errorf("%s: pods lie less evenly on average", s.name)
	}
	if most := mayBe(r.bursts, s.percent); r.less > most {
		t.Errorf("%s: %d of %d bursts end less evenly than with the plugin alone, at most %d may", s.name, r.less, r.bursts, most)
	}
	if s.verb == "complement" && r.elsewhere > 0 {
		t.Errorf("%s: %d pods are not where they are without Evenkeel", s.name, r.elsewhere)
	}
}

// mayBe is this percentage, and what chance may add to it: three standard deviations.
func mayBe(bursts int, percent float64) int {
	expected := float64(bursts) * percent / 100
	return int(expected + 3*math.Sqrt(expected))
}
