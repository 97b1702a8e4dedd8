package differential

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// refused is what one side says of one node; scores are "plugin score".
type refused struct{ verdict, filter, reasons, scores string }

// silentNodes do not say what they have, and are refused for it.
const silentNodes = "refused because nothing is allocatable"

// spreadFilter has its own words for its reasons, in which it names the topology key.
const spreadFilter = "PodTopologySpread"

func refusedBy(verdict, filter string, reasons []string, scores map[string]int64) refused {
	slices.Sort(reasons)
	if filter == spreadFilter {
		reasons = nil
	}
	var scored []string
	for _, plugin := range slices.Sorted(maps.Keys(scores)) {
		scored = append(scored, fmt.Sprint(plugin, " ", scores[plugin]))
	}
	return refused{verdict, filter, strings.Join(reasons, "; "), strings.Join(scored, ", ")}
}

// filtersQuestion is a case of TestFilters.
func (d dice) filtersQuestion() *question {
	q := d.anyQuestion(pick(d, 0, 0, 0, 1, 1, 2))
	q.args, q.countAll, q.candidates = intree.SystemDefaulting(), false, nil
	d.withRequests(&q.cluster, q.pod)
	d.withNeighbours(&q.cluster, q.pod)
	if d.chance(20) {
		q.added = d.addedAffinity()
	}
	return q
}

func (q *question) plugins(path string) (map[string]refused, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	objects, err := intree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	filters, err := intree.NewFilters(ctx, objects, q.added)
	if err != nil {
		return nil, err
	}
	verdicts, err := filters.Filter(ctx, q.pod)
	said := map[string]refused{}
	for node, v := range verdicts {
		said[node] = refusedBy(strings.Replace(v.Code.String(), "Success", "Pass", 1), v.Plugin, v.Reasons, v.Scores)
	}
	return said, err
}

// filtersOf asks the driver, on a cluster of its own.
func filtersOf(h *handlers, s *simulation, q *question) (map[string]refused, error) {
	state, err := os.ReadFile(s.path("state.json"))
	if err == nil {
		_, err = h.run("open", []byte(s.path("rules.json")))
	}
	if err == nil {
		_, err = h.run("apply", state)
	}
	if err == nil {
		var added []byte
		if q.added != nil {
			added = []byte(toJSON(q.added))
		}
		_, err = h.run("added", added)
	}
	var p map[string]struct {
		Verdict, Filter, Reason string
		InTree                  map[string]int64
	}
	if err == nil {
		err = h.ask("judge", q.pod, &p)
	}
	said := map[string]refused{}
	for node, v := range p {
		said[node] = refusedBy(v.Verdict, v.Filter, strings.Split(v.Reason, ", "), v.InTree)
	}
	return said, err
}

// countNone are the rules of the plugin's version.
const countNone = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"EvenkeelConfiguration","spread":{"emptySelector":"CountNone"}}`

// TestFilters: of every node the verdict, the filter that refuses it, and why; and of those that pass
// what each plugin scores them.
func TestFilters(t *testing.T) {
	binary, folders, driver := evenkeelBinary(t), workerFolders(t), compileHandlers(t)
	var running []*handlers
	for range folders {
		running = append(running, startHandlers(t, driver))
	}
	var mutex sync.Mutex
	tally := map[string]int{}
	forEachCase(t, len(folders), func(worker, number int) bool {
		q := diceFor(number).filtersQuestion()
		s, err := q.prepare(binary, folders[worker])
		if err == nil {
			err = s.write("rules.json", []byte(countNone))
		}
		if err != nil {
			t.Errorf("seed %d, case %d: %v", seed(), number, err)
			return false
		}
		s.arguments = slices.DeleteFunc(s.arguments, func(a string) bool { return a == "--filters" || a == spreadFilter })
		theirs, err := q.plugins(s.path("state.json"))
		var ours map[string]refused
		if err == nil {
			ours, err = filtersOf(running[worker], s, q)
		}
		if err != nil {
			t.Errorf("seed %d, case %d: %v", seed(), number, err)
			return false
		}
		if !maps.Equal(ours, theirs) {
			reportFilters(t, number, s, ours, theirs)
			return false
		}
		mutex.Lock()
		defer mutex.Unlock()
		for _, node := range q.cluster.Nodes {
			if one := theirs[node.Name]; len(node.Status.Allocatable) == 0 && one.filter == "NodeResourcesFit" {
				tally[silentNodes]++
			}
		}
		for _, one := range theirs {
			tally[one.verdict+" "+one.filter]++
			for _, score := range strings.Split(one.scores, ", ") {
				plugin, points, _ := strings.Cut(score, " ")
				if points != "" && points != "0" && points != "100" {
					tally["between 0 and 100 by "+plugin]++
				}
			}
		}
		return true
	})
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%7d %s", tally[what], what)
	}
	if *numberFlag < 0 && caseCount() >= 500 && tally[silentNodes] == 0 {
		t.Error("every node said what it has: the cases are too dull")
	}
	for _, filter := range intree.FilterPlugins {
		refuses := func(said string) bool { return strings.HasSuffix(said, " "+filter) }
		if *numberFlag < 0 && caseCount() >= 500 && !slices.ContainsFunc(slices.Collect(maps.Keys(tally)), refuses) {
			t.Errorf("%s never refused a node: the cases are too dull", filter)
		}
	}
}

func reportFilters(t *testing.T, number int, s *simulation, ours, theirs map[string]refused) {
	t.Helper()
	kept, err := os.MkdirTemp("", "evenkeel-filters-*")
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(s.folder))
	}
	if err != nil {
		t.Errorf("cannot keep the case: %v", err)
	}
	var lines []string
	for node, one := range theirs {
		if ours[node] != one {
			lines = append(lines, fmt.Sprintf("%s: %+v, kube-scheduler %+v", node, ours[node], one))
		}
	}
	slices.Sort(lines)
	t.Errorf("seed %d, case %d differs (files in %s):\n%s\n%d nodes, kube-scheduler %d\n%s",
		seed(), number, kept, strings.Join(lines, "\n"), len(ours), len(theirs),
		strings.ReplaceAll(s.command(), s.folder, kept))
}
