package differential

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// TestVolumes: what VolumeBinding and VolumeZone make of a pod's claims, beside the other filters.
func TestVolumes(t *testing.T) {
	binary, folders := evenkeelBinary(t), workerFolders(t)
	var mutex sync.Mutex
	tally := map[string]int{}
	count := caseCount() // a process each
	if count > 3000 {
		count = max(3000, count/4)
	}
	forEachOf(t, count, len(folders), func(worker, number int) bool {
		c := diceFor(number).volumesCase()
		s := newSimulation(binary, folders[worker])
		s.arguments = slices.DeleteFunc(s.arguments, func(a string) bool { return a == "--filters" || a == spreadFilter })
		ours, theirs, err := c.ask(s)
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
		for _, one := range theirs {
			tally[strings.TrimSpace(one.verdict+" "+one.filter+" "+kindOf(one.reasons))]++
		}
		return true
	})
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%7d %s", tally[what], what)
	}
	if *numberFlag < 0 && caseCount() >= 500 {
		for _, what := range expectedVolumeVerdicts {
			if tally[what] == 0 {
				t.Errorf("nothing was %q: the cases are too dull", what)
			}
		}
	}
}

// expectedVolumeVerdicts are what enough cases must have met.
var expectedVolumeVerdicts = []string{
	"Pass",
	"UnschedulableAndUnresolvable VolumeBinding node(s) didn't match PersistentVolume's node affinity",
	"UnschedulableAndUnresolvable VolumeBinding node(s) didn't find available persistent volumes to bind",
	"UnschedulableAndUnresolvable VolumeBinding pod has unbound immediate PersistentVolumeClaims",
	"UnschedulableAndUnresolvable VolumeBinding persistentvolumeclaim _ not found",
	"UnschedulableAndUnresolvable VolumeBinding persistentvolumeclaim _ is being deleted",
	"UnschedulableAndUnresolvable VolumeBinding persistentvolumeclaim _ bound to non-existent persistentvolume _",
	"UnschedulableAndUnresolvable VolumeZone persistentvolume _ not found",
	"UnschedulableAndUnresolvable VolumeZone node(s) had no available volume zone",
}

// kindOf puts a _ in the place of each quoted name.
func kindOf(reasons string) string {
	parts := strings.Split(reasons, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "_"
	}
	return strings.Join(parts, "")
}

func (c *volumesCase) ask(s *simulation) (ours, theirs map[string]refused, err error) {
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": c.items()}
	if err := s.write("state.json", []byte(toJSON(list))); err != nil {
		return nil, nil, err
	}
	if err := s.write("pod.json", []byte(toJSON(c.pod))); err != nil {
		return nil, nil, err
	}
	objects, err := intree.ReadFile(s.path("state.json"))
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	filters, err := intree.NewFilters(ctx, objects, nil, intree.VolumePlugins...)
	if err != nil {
		return nil, nil, err
	}
	verdicts, err := filters.Filter(ctx, c.pod)
	if err != nil {
		return nil, nil, err
	}
	theirs = map[string]refused{}
	for node, v := range verdicts {
		theirs[node] = refusedBy(strings.Replace(v.Code.String(), "Success", "Pass", 1), v.Plugin, v.Reasons, nil)
	}
	output, err := s.run()
	if err != nil {
		return nil, nil, err
	}
	var p struct {
		Filter map[string]struct{ Verdict, Filter, Reason string }
	}
	if err := json.Unmarshal(output, &p); err != nil {
		return nil, nil, err
	}
	ours = map[string]refused{}
	for node, v := range p.Filter {
		ours[node] = refusedBy(v.Verdict, v.Filter, strings.Split(v.Reason, ", "), nil)
	}
	return ours, theirs, nil
}
