package differential

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
)

// What POST /clusters/v1/filter answers.
type filtered struct {
	ClusterNames   []string
	FailedClusters map[string]string
	Error          string
}

// What POST /clusters/v1/prioritize answers.
type prioritized struct {
	Scores []scored
	Error  string
}

type scored struct {
	Cluster string
	Score   int64
	By      map[string]int64
}

// TestVerbs asks for filters and scores alone.
func TestVerbs(t *testing.T) {
	daemon, all := startDaemon(t), referees(t, runtime.NumCPU())
	forEachOf(t, (caseCount()+9)/10, len(all), func(worker, number int) bool {
		q := questionOf(t, number)
		theirs, err := all[worker].ask(t.Context(), q)
		if err != nil {
			t.Errorf("case %d: OCM: %v", number, err)
			return false
		}
		var ours struct {
			filtered
			prioritized
		}
		text := all[worker].refusalOr(theirs, q, daemon.Ask("filter", q, &ours.filtered), func() string { return ours.filtered.differences(theirs) }) +
			all[worker].refusalOr(theirs, q, daemon.Ask("prioritize", q, &ours.prioritized), func() string { return ours.prioritized.differences(theirs) })
		if text != "" {
			t.Errorf("case %d of seed %d:\n%s\nfilter %+v\nprioritize %+v\nkept in %s", number, seed(), text, ours.filtered,
				ours.prioritized, keep(t, number, q, theirs, nil, text))
		}
		return text == ""
	})
}

func (r *referee) refusalOr(theirs *expected, q evenkeel.Question, err error, differences func() string) string {
	if refused := (evenkeel.Refusal{}); errors.As(err, &refused) && r.mayRefuse(theirs, q) {
		return ""
	}
	if err != nil {
		return err.Error() + "\n"
	}
	return differences()
}

func (f filtered) differences(theirs *expected) string {
	if theirs.failed != "" || theirs.Filter == nil {
		return differ("filter: is there an error", f.Error != "" && len(f.ClusterNames) == 0, true)
	}
	var failed []string
	for name, verdict := range theirs.Filter {
		if verdict.Verdict != "Pass" {
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	return differ("filter: error", f.Error, "") +
		differ("clusterNames", strings.Join(f.ClusterNames, " "), strings.Join(theirs.Passed(), " ")) +
		differ("failedClusters", strings.Join(slices.Sorted(maps.Keys(f.FailedClusters)), " "), strings.Join(failed, " "))
}

func (p prioritized) differences(theirs *expected) string {
	if theirs.failed != "" || theirs.Sum == nil {
		return differ("prioritize: is there an error", p.Error != "" && len(p.Scores) == 0, true)
	}
	var want []scored
	for name, sum := range theirs.Sum {
		by := map[string]int64{}
		for _, one := range theirs.Prioritizers {
			if value, given := one.Scores[name]; given {
				by[one.Name] = value
			}
		}
		want = append(want, scored{name, sum, by})
	}
	slices.SortFunc(want, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Cluster, b.Cluster))
	})
	return differ("prioritize: error", p.Error, "") + differ("scores", append([]scored{}, p.Scores...), append([]scored{}, want...))
}

func differ(what string, ours, theirs any) string {
	if reflect.DeepEqual(ours, theirs) {
		return ""
	}
	return fmt.Sprintf("%s: %v, OCM %v\n", what, ours, theirs)
}
