package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

const (
	stayNumber = 45 // of 3 x stayEach clusters
	stayEach   = 30
	// Whoever writes may not have seen what happened so shortly before.
	viewLag = time.Second
)

const byRegion = `"spreadPolicy":{"spreadConstraints":[{"topologyKey":"region","topologyKeyType":"Label"%s}]}`

// evenPlan is what contract 2 makes of one hard term with maxSkew 1 where no cluster is better than another: in each
// round a cluster of the emptiest region, a member rather than another one, by name; then members stay.
func evenPlan(region map[string]string, members []string, number int) []string {
	count, picked := map[string]int{}, []string{}
	for name, value := range region {
		if value != "" || slices.Contains(members, name) {
			count[value] += 0
		}
	}
	delete(count, "")
	left := func(wanted func(name string) bool) (names []string) {
		for name := range region {
			if !slices.Contains(picked, name) && wanted(name) {
				names = append(names, name)
			}
		}
		outside := func(name string) int {
			if slices.Contains(members, name) {
				return 0
			}
			return 1
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(count[region[a]]-count[region[b]], outside(a)-outside(b), cmp.Compare(a, b))
		})
		return names
	}
	take := func(wanted func(name string) bool) {
		for len(picked) < number {
			names := left(wanted)
			if len(names) == 0 {
				return
			}
			picked = append(picked, names[0])
			if region[names[0]] != "" {
				count[region[names[0]]]++
			}
		}
	}
	take(func(name string) bool { // above the emptiest region by one at most
		least := number
		for _, n := range count {
			least = min(least, n)
		}
		return region[name] != "" && count[region[name]] <= least
	})
	isMember := func(name string) bool { return slices.Contains(members, name) }
	take(func(name string) bool { return isMember(name) && region[name] != "" })
	take(isMember)
	slices.Sort(picked)
	return picked
}

// stayers is a Placement with a hard term, on a fleet of which all is written down.
type stayers struct {
	*world
	fleet *hub.FleetHistory
}

// planned waits until the Placement is as planned, by simulate and by evenPlan.
func (s *stayers) planned() {
	s.t.Helper()
	s.equals("p")
	var got, wanted []string
	err := hub.Until(s.t.Context(), "p is as planned", func(ctx context.Context) (bool, error) {
		d, err := s.h.Read(ctx, s.name, "p")
		if err != nil {
			return false, err
		}
		got = d.Clusters()
		wanted = evenPlan(s.fleet.Now(), got, stayNumber)
		return slices.Equal(got, wanted), nil
	})
	if err != nil {
		s.t.Fatalf("%v; it has %v, the plan is %v", err, got, wanted)
	}
}

// membersStayed checks every version of the decisions: what takes a cluster away that may stay leaves as many as are
// wanted, and what comes is above no hard term.
func (s *stayers) membersStayed() {
	s.t.Helper()
	moments := s.history.Of("p")
	least, began := stayNumber, false
	for i, now := range moments {
		began = began || len(now.Clusters) == stayNumber
		if !began || i == 0 {
			continue // its first decision
		}
		least = min(least, len(now.Clusters))
		seen, err := s.fleet.Seen(now, viewLag)
		s.must(err)
		before := moments[i-1].Clusters
		for _, name := range before {
			if !slices.Contains(now.Clusters, name) && len(now.Clusters) < stayNumber && passes(seen, name) {
				s.t.Errorf("version %s takes %s away, which fits, and leaves %d", now.Version, name, len(now.Clusters))
			}
		}
		for _, name := range now.Clusters {
			if !slices.Contains(before, name) && !mayCome(seen, now.Clusters, name) {
				s.t.Errorf("version %s adds %s above the hard term, to %d clusters", now.Version, name, len(now.Clusters))
			}
		}
	}
	s.t.Logf("%s: %d versions, %d clusters at least", s.mode, len(moments), least)
}

// passes says whether nothing kept the cluster out at any of these moments.
func passes(seen []hub.FleetMoment, name string) bool {
	return !slices.ContainsFunc(seen, func(m hub.FleetMoment) bool {
		_, there := m.Value[name]
		return !there
	})
}

// mayCome says whether, at one of these moments, the cluster was above no other region by more than one.
func mayCome(seen []hub.FleetMoment, clusters []string, name string) bool {
	return slices.ContainsFunc(seen, func(m hub.FleetMoment) bool {
		count := map[string]int{}
		for _, value := range m.Value {
			count[value] += 0
		}
		delete(count, "")
		for _, cluster := range clusters {
			if value := m.Value[cluster]; value != "" {
				count[value]++
			}
		}
		least := stayNumber
		for _, n := range count {
			least = min(least, n)
		}
		return m.Value[name] != "" && count[m.Value[name]] <= least+1
	})
}

// oneByOne patches the clusters of region c, with a pause behind each.
func (s *stayers) oneByOne(patch string, pause time.Duration) {
	s.t.Helper()
	for i := range stayEach {
		s.patchCluster(fmt.Sprintf("c%02d", i), patch)
		time.Sleep(pause)
	}
}

// flap gives two clusters other regions, a new one, and none, again and again, and in the end what they had.
func (s *stayers) flap(during time.Duration, names ...string) {
	s.t.Helper()
	regions := []string{`"b"`, `"d"`, `null`, `"a"`}
	for until, i := time.Now().Add(during), 0; time.Now().Before(until) || i%len(regions) != 0; i++ {
		for _, name := range names {
			s.patchCluster(name, `{"metadata":{"labels":{"region":`+regions[i%len(regions)]+`}}}`)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// membersStay: a region joins with one cluster and leaves, one is lost a cluster at a time and comes back so, labels flap.
func membersStay(w *world) {
	s := &stayers{world: w}
	for i := range stayEach {
		for _, region := range []string{"a", "b", "c"} {
			w.cluster(fmt.Sprintf("%s%02d", region, i), "region="+region)
		}
	}
	var err error
	s.fleet, err = w.h.WatchFleet(context.Background(), w.name, "region")
	w.must(err)
	w.t.Cleanup(s.fleet.Stop)
	w.place("p", fmt.Sprintf(`{`+inOrder+`"numberOfClusters":%d,`+byRegion+`}`, stayNumber, hard))
	s.planned()
	w.condition("p", "True Even")

	w.cluster("d00", "region=d")
	s.planned()
	w.condition("p", "False Skewed")
	w.deleteCluster("d00")
	s.planned()
	w.condition("p", "True Even")

	s.oneByOne(gone, 10*time.Millisecond)
	s.planned()
	s.oneByOne(well, 50*time.Millisecond)
	s.planned()
	w.condition("p", "True Even")

	s.flap(5*time.Second, "a00", "a29") // a member, and one that is none
	s.planned()
	w.condition("p", "True Even")
	s.membersStayed()
}

// TestMembersStay: a hard term keeps new clusters out, and takes away none that is there.
func TestMembersStay(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "owner-fleet.yaml")
	startOwner(t, h, dir, "evenkeel", "--ocm-moves-per-minute", "1000")
	for name, mode := range map[string]string{"owner": "Owner", "scores": "Scores"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			membersStay(newWorld(t, h, dir, name, mode))
		})
	}
}
