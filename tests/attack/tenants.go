package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// What U writes into its own namespace of a hub, and how long the Placements of another tenant, bob, wait for that.

const (
	bobsNumber  = 3
	otherMiB    = 10          // that his own Placements may take, and buffers in which large objects were read
	bobsLimit   = time.Second // beside three times what it takes when nobody attacks
	tenantTime  = 6 * time.Second
	givenBack   = 10 // per cent that may stay when all of it is deleted
	quietTrials = 5
	bobsPause   = 300 * time.Millisecond // four writes a Placement, of 50 a second for all
)

// bobWaits creates a Placement of bob's and returns after what time its clusters were decided; false: not within the limit.
func (st *stage) bobWaits(limit time.Duration) (time.Duration, bool) {
	st.bobs++
	name := fmt.Sprintf("bob-%d", st.bobs)
	began := time.Now()
	st.api.put(placementsList, tenantPlacement("bob", name, bobsNumber))
	for time.Since(began) < limit {
		text := st.api.status(decisionsList, "bob", name+"-decision-1")
		if bytes.Count(text, []byte(`"clusterName"`)) == bobsNumber {
			return time.Since(began), true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return limit, false
}

// bobIsServed begins an attack, and goes on creating Placements of bob's until the time is over. None may wait for much
// longer than before.
func (st *stage) bobIsServed(during time.Duration, attack func(over <-chan struct{})) error {
	var quiet time.Duration
	for range quietTrials {
		waited, decided := st.bobWaits(attackTime)
		if !decided {
			return fmt.Errorf("nobody attacks, and a Placement was not decided in %v", waited)
		}
		quiet = max(quiet, waited)
	}
	st.base = st.daemon.rss()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		attack(over)
	}()
	var most time.Duration
	count, decided := 0, true
	for until := time.Now().Add(during * time.Duration(slack)); decided && time.Now().Before(until); count++ {
		var waited time.Duration
		waited, decided = st.bobWaits(max(time.Until(until), st.bobMay(quiet)))
		most = max(most, waited)
		time.Sleep(bobsPause)
	}
	close(over)
	<-ended
	st.figure = fmt.Sprintf("a Placement of another tenant waited %.0f ms, the longest of %d %.0f ms", ms(quiet), count, ms(most))
	if !decided {
		st.late = append(st.late, fmt.Sprintf("another tenant's Placement was not decided in %.1f s", most.Seconds()))
	} else if most > st.bobMay(quiet) {
		st.late = append(st.late, fmt.Sprintf("another tenant's Placement waited %.0f ms, %.0f before", ms(most), ms(quiet)))
	}
	return nil
}

func (st *stage) bobMay(quiet time.Duration) time.Duration {
	return (slower*quiet + max(bobsLimit, 10*patience)) * time.Duration(slack)
}

// changes touches objects in turn until it is over, with a pause behind each.
func (st *stage) changes(over <-chan struct{}, list string, objects []object, pause time.Duration) {
	for n := 0; ; n++ {
		for _, o := range objects {
			select {
			case <-over:
				return
			case <-time.After(pause):
			}
			metadata := o["metadata"].(object)
			st.api.change(list, "u", metadata["name"].(string), object{"metadata": object{"labels": object{"n": fmt.Sprint(n)}}})
		}
	}
}

func (st *stage) putAll(list string, objects []object) {
	for _, o := range objects {
		st.api.put(list, o)
	}
}

// ---- many Placements ----

func manyPlacements(st *stage) error {
	var all []object
	for i := range 1000 {
		all = append(all, tenantPlacement("u", fmt.Sprintf("many-%d", i), 30))
	}
	return st.bobIsServed(tenantTime, func(over <-chan struct{}) {
		st.putAll(placementsList, all)
		st.changes(over, placementsList, all, time.Millisecond)
	})
}

// ---- spread groups ----

// groupSelector has so many requirements, which every Placement of U's meets.
func groupSelector(requirements int) string {
	var list []string
	for i := range requirements {
		list = append(list, fmt.Sprintf("!a%d", i))
	}
	return strings.Join(list, ",")
}

func spreadGroups(st *stage) error {
	selector := groupSelector(1000)
	var all []object
	for i := range 500 {
		p := tenantPlacement("u", fmt.Sprintf("group-%d", i), 3)
		p["metadata"].(object)["annotations"].(object)["placements.evenkeel.io/spread-group"] = selector
		all = append(all, p)
	}
	return st.bobIsServed(tenantTime, func(over <-chan struct{}) {
		st.putAll(placementsList, all)
		st.changes(over, placementsList, all, 10*time.Millisecond)
	})
}

// ---- scores ----

const scoredClusters = 4

func scoredCount() int {
	if full {
		return 400
	}
	return 100
}

// scoredPlacements are of mode Scores: each has an item in the one object of every cluster.
func scoredPlacements(st *stage) error {
	var all []object
	for i := range scoredCount() {
		p := tenantPlacement("u", fmt.Sprintf("scored-%d", i), scoredClusters)
		p["metadata"].(object)["annotations"].(object)["placements.evenkeel.io/mode"] = "Scores"
		all = append(all, p)
	}
	return st.bobIsServed(2*tenantTime, func(over <-chan struct{}) {
		st.putAll(placementsList, all)
		<-over
	})
}

// scoresAreWritten looks whether all items are there, and how many writes the API server refused as conflicts.
func scoresAreWritten(st *stage) (faults []string) {
	items := 0
	for until := time.Now().Add(attackTime * time.Duration(slack)); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if items = st.api.scoreItems(); items == scoredClusters*scoredCount() {
			break
		}
	}
	if items != scoredClusters*scoredCount() {
		faults = append(faults, fmt.Sprintf("%d of %d items of scores are there", items, scoredClusters*scoredCount()))
	}
	writes, conflicts := st.api.count(st.api.writes, scoresList), st.api.count(st.api.conflicts, scoresList)
	st.figure += fmt.Sprintf("; %d writes of scores, %d conflicts", writes, conflicts)
	if conflicts*100 > mostConflicts*writes {
		faults = append(faults, fmt.Sprintf("%d of %d writes of scores were conflicts", conflicts, writes))
	}
	return faults
}

const mostConflicts = 2 // per cent of the writes

func (s *apiServer) scoreItems() (items int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for p, k := range s.objects {
		if p.list == scoresList {
			items += bytes.Count(k.status, []byte(`"value":100`))
		}
	}
	return items
}

// ---- bytes ----

const uploadPause = 20 * time.Millisecond

const largeCount = 200 // of 60 kB: each may be kept, and not all of them

// hugeCount is how many have 1.3 MB. All of them, 300 MB, are more than a list may be.
func hugeCount() int {
	if full {
		return 230
	}
	return 60
}

// specOf spreads as tenantPlacement does, with a list more.
func specOf(list string, items []object) json.RawMessage {
	spec := tenantPlacement("u", "p", 3)["spec"].(object)
	spec[list] = items
	return encode(spec)
}

// largePlacements have tolerations of a kilobyte each.
func largePlacements(kilobytes int) json.RawMessage {
	var tolerations []object
	for n := range kilobytes {
		tolerations = append(tolerations, object{"key": fmt.Sprintf("k%d", n), "operator": "Equal", "value": strings.Repeat("v", 1024)})
	}
	return specOf("tolerations", tolerations)
}

func fillNamespace(st *stage) error {
	huge, large := largePlacements(1200), largePlacements(55)
	return st.bobIsServed(2*tenantTime, func(<-chan struct{}) {
		for i := range hugeCount() + largeCount {
			p := tenantPlacement("u", fmt.Sprintf("large-%d", i), 3)
			p["spec"] = huge
			if i >= hugeCount() {
				p["spec"] = large
			}
			st.api.put(placementsList, p)
			time.Sleep(uploadPause) // an API server takes no more than some 60 MB a second
		}
	})
}

// aReplicaDecides has a new replica list what U has written: once it says that it is ready, it decides as before.
func aReplicaDecides(st *stage) (faults []string) {
	faults = st.memoryIsBounded(st.daemon)
	if err := st.daemon.end(); err != nil {
		faults = append(faults, err.Error())
	}
	again, err := st.restarted()
	if err != nil {
		return append(faults, "a new replica: "+err.Error())
	}
	st.daemon = again
	if waited, decided := st.bobWaits(attackTime); !decided || waited > st.bobMay(0) {
		faults = append(faults, fmt.Sprintf("a new replica is ready, and another tenant's Placement was not decided in %.1f s", waited.Seconds()))
	}
	faults = append(faults, st.memoryIsBounded(again)...)
	for i := range hugeCount() + largeCount {
		st.api.remove(placementsList, "u", fmt.Sprintf("large-%d", i))
	}
	return append(faults, st.memoryIsGivenBack()...)
}

func (st *stage) memoryIsBounded(d *daemon) []string {
	if grown := d.peak() - st.base; grown > largeRSS*slack {
		return []string{fmt.Sprintf("Placements of one tenant took %d MiB, %d are allowed", grown, largeRSS*slack)}
	}
	return nil
}

// memoryIsGivenBack when what U wrote is deleted.
func (st *stage) memoryIsGivenBack() []string {
	most, now := st.base+st.base*givenBack/100+otherMiB, 0
	for until := time.Now().Add(attackTime * time.Duration(slack)); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if now = st.daemon.rss(); now <= most*slack {
			st.figure += fmt.Sprintf("; %d MiB before, %d when all of it is deleted", st.base, now)
			return nil
		}
	}
	return []string{fmt.Sprintf("it has %d MiB when all of it is deleted, and had %d before", now, st.base)}
}

// ---- costly plans ----

const (
	costlyCount = 5  // of 12,000 predicates, 1.2 MB
	fewerCount  = 60 // of 600, as many as may be kept
)

// costlyPredicates are met by no cluster.
func costlyPredicates(count int) json.RawMessage {
	var predicates []object
	for n := range count {
		predicates = append(predicates, object{"requiredClusterSelector": object{"labelSelector": object{"matchLabels": object{
			"zone": fmt.Sprintf("n%d", n)}}}})
	}
	return specOf("predicates", predicates)
}

func costlyPlans(st *stage) error {
	most, fewer := costlyPredicates(12000), costlyPredicates(600)
	var all []object
	for i := range costlyCount + fewerCount {
		p := tenantPlacement("u", fmt.Sprintf("costly-%d", i), 3)
		p["spec"] = most
		if i >= costlyCount {
			p["spec"] = fewer
		}
		all = append(all, p)
	}
	return st.bobIsServed(tenantTime, func(over <-chan struct{}) {
		st.putAll(placementsList, all)
		st.changes(over, placementsList, all, 10*time.Millisecond)
	})
}

// ---- forged decisions ----

const (
	forgedObjects = 10
	forgedEach    = 30000
)

func forgedDecision(i int) object {
	var text bytes.Buffer
	text.WriteString(`{"decisions":[`)
	for n := range forgedEach {
		if n > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"clusterName":"forged-%d-%d","reason":""}`, i, n)
	}
	text.WriteString("]}")
	return object{"apiVersion": ocmGroup + "/v1beta1", "kind": "PlacementDecision",
		"metadata": object{"name": fmt.Sprintf("forged-%d", i), "namespace": "u", "labels": object{ocmGroup + "/placement": "forged"}},
		"status":   json.RawMessage(text.Bytes())}
}

func forgedDecisions(st *stage) error {
	return st.bobIsServed(tenantTime, func(<-chan struct{}) {
		for i := range forgedObjects {
			st.api.put(decisionsList, forgedDecision(i))
		}
	})
}

func forgedAreForgotten(st *stage) []string {
	for i := range forgedObjects {
		st.api.remove(decisionsList, "u", fmt.Sprintf("forged-%d", i))
	}
	return st.memoryIsGivenBack()
}
