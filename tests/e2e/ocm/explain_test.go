package e2e

import (
	"encoding/json"
	"slices"
	"strings"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
)

// explained is what `evenkeel explain placement -o json` prints, as far as tests ask.
type explained struct {
	Placement string
	Selected  []string
	Planner   struct {
		Leads  bool
		Mode   string
		Result string
	}
	History []struct {
		Time, Reason, Result string
		Add, Remove          []string
	}
}

func (w *world) explain(name string, replicas ...*evenkeel.Replica) explained {
	w.t.Helper()
	output, err := evenkeel.Explain("placement", w.name+"/"+name, replicas...)
	w.must(err)
	var e explained
	w.must(json.Unmarshal(output, &e))
	return e
}

// moved checks the history of a Placement: lines such as "spread Decided +c0 -b1", names in any order.
func (w *world) moved(name string, replica *evenkeel.Replica, wanted ...string) {
	w.t.Helper()
	var lines []string
	last := ""
	e := w.explain(name, replica)
	for _, move := range e.History {
		if move.Time < last {
			w.t.Errorf("%s moved at %s, after %s", name, move.Time, last)
		}
		last = move.Time
		words := []string{move.Reason, move.Result}
		for sign, names := range map[string][]string{"+": move.Add, "-": move.Remove} {
			for _, cluster := range names {
				words = append(words, sign+strings.TrimPrefix(cluster, w.name+"-"))
			}
		}
		slices.Sort(words[2:])
		lines = append(lines, strings.Join(words, " "))
	}
	if !slices.Equal(lines, wanted) {
		w.t.Errorf("%s has moved\n\t%s\nand not\n\t%s", name, strings.Join(lines, "\n\t"), strings.Join(wanted, "\n\t"))
	}
	if e.Planner.Mode != w.mode || !e.Planner.Leads || e.Placement != w.name+"/"+name {
		w.t.Errorf("%s is explained as %+v", name, e)
	}
}
