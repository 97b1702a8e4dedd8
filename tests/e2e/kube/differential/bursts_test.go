// kube-scheduler breaks ties with the global source of random numbers: seeded, bursts are repeatable.

//go:debug randseednop=0
package differential

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

const casesPerBurst = 10

// TestBursts plays random bursts of pods through kube-scheduler's own code, with its plugin for spreading
// alone, with Evenkeel in the plugin's place, and with Evenkeel beside it. Everything happens in virtual
// time, and Evenkeel sees bindings with the lag of the burst.
//
// Beside the plugin, `complement` changes nothing. `prioritize` may differ in single bursts, either way: an
// extender has other steps than the plugin and decides ties otherwise. On average pods are not to lie less
// evenly than with the plugin alone, which never lags.
func TestBursts(t *testing.T) {
	driver := compileHandlers(t)
	stock := &setup{name: "stock", placer: newPlacer(t, true)}
	setups := []*setup{
		newSetup(t, driver, inPlace, "prioritize", false),
		newSetup(t, driver, beside, "prioritize", true),
		newSetup(t, driver, complement, "complement", true),
	}
	report := burstReport{}
	forEachCase(t, 1, func(_, number int) bool {
		if number%casesPerBurst != 0 && *numberFlag < 0 {
			return true
		}
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
	report.check(t)
}

const inPlace, beside, complement = "in place of the plugin", "beside it", "beside it, complement"

func newSetup(t *testing.T, driver, name, verb string, ownSpreading bool) *setup {
	t.Helper()
	s := &setup{name: name, ours: startHandlers(t, driver)}
	s.placer = newPlacer(t, ownSpreading, &extender{ours: s.ours, verb: verb, weight: 2, pause: func() error {
		return s.play.passTo(s.play.now + s.play.burst.cycle/2)
	}})
	return s
}

// burstReport has a row for each set-up, and one for each range of lags in it.
type burstReport map[string]*burstRow

type burstRow struct {
	bursts, worse, better   int
	measures, stock, ours   int // sums over workloads and their keys
	worseCases, betterCases []int
}

func lagRange(lag int) string {
	for _, most := range []int{0, 50, 200} {
		if lag <= most {
			return fmt.Sprintf("lag up to %3d ms", most)
		}
	}
	return "lag up to 500 ms"
}

func (r burstReport) add(name string, number int, b *burst, stock, got outcome) {
	var one burstRow
	for _, w := range b.workloads {
		for _, key := range w.keys {
			expected, found := stock.skew(b, w, key), got.skew(b, w, key)
			one.measures, one.stock, one.ours = one.measures+1, one.stock+expected, one.ours+found
			one.worse, one.better = max(one.worse, found-expected), max(one.better, expected-found)
		}
	}
	for _, key := range []string{name, name + ", " + lagRange(b.lag)} {
		row := r[key]
		if row == nil {
			row = &burstRow{}
			r[key] = row
		}
		row.bursts++
		row.measures, row.stock, row.ours = row.measures+one.measures, row.stock+one.stock, row.ours+one.ours
		if one.worse > 0 {
			row.worse++
			row.worseCases = append(row.worseCases, number)
		}
		if one.better > 0 {
			row.better++
			row.betterCases = append(row.betterCases, number)
		}
	}
}

// enoughBursts are needed to speak of averages.
const enoughBursts = 100

func (r burstReport) check(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(r)) {
		row := r[key]
		share := func(count int) float64 { return 100 * float64(count) / float64(row.bursts) }
		t.Logf("%-40s %5d bursts: mean final skew %.3f, stock %.3f; less even in %4.1f %%, more in %4.1f %%", key, row.bursts,
			float64(row.ours)/float64(row.measures), float64(row.stock)/float64(row.measures), share(row.worse), share(row.better))
	}
	if row := r[complement]; row != nil && row.worse+row.better > 0 {
		t.Errorf("complement changed where pods land: cases %v %v", row.worseCases, row.betterCases)
	}
	for _, name := range []string{inPlace, beside} {
		if row := r[name]; row != nil && row.bursts >= enoughBursts && 20*row.ours > 21*row.stock { // chance is 5 % of it
			t.Errorf("%s: less even than stock; cases %v", name, row.worseCases)
		}
	}
}
