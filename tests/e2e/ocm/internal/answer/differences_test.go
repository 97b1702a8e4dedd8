package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// OCM's side of a case that has everything.
func rich() *Answer {
	after := 90.0
	return &Answer{
		Placement: "ns/p", EligibleSets: []string{"set1", "set2"}, Available: []string{"c1", "c2", "c3"},
		Filter: map[string]Verdict{"c1": {Verdict: pass}, "c2": {Verdict: predicate}, "c3": {Verdict: pass}},
		Prioritizers: []Prioritizer{{"AddOn/r/s", 2, map[string]int64{"c1": 3, "c3": 0}},
			{"ResourceAllocatableCPU", 1, map[string]int64{"c1": 100, "c3": -100}}},
		Sum: map[string]int64{"c1": 106, "c3": -100}, Current: []string{"c2", "c3"}, Selected: []string{"c1", "c3"},
		Moves: Moves{Add: []string{"c1"}, Remove: []string{"c2"}}, Unscheduled: 1,
		Groups: []Group{{0, "canary", []string{"p-decision-1"}, []string{"c1"}}, {1, "rest", []string{"p-decision-2"}, []string{"c3"}}},
		Conditions: []Condition{{"PlacementMisconfigured", "False", "Succeedconfigured", "text"},
			{"PlacementSatisfied", "False", "NotAllDecisionsScheduled", "text"}},
		RequeueAfterSeconds: &after, Warnings: []string{"AddOnPlacementScores c1/r expired"},
	}
}

// Evenkeel's side: it gives a reason, too.
func richOurs() *Answer {
	a := rich()
	a.Filter["c2"] = Verdict{predicate, "no predicate matches"}
	return a
}

func TestNoDifferences(t *testing.T) {
	if text := Differences(richOurs(), rich()); text != "" {
		t.Error(text)
	}
	if text := Differences(&Answer{}, &Answer{Filter: map[string]Verdict{}}); text != "" {
		t.Error(text)
	}
}

// A resource prioritizer may leave out who counts 0, no other may.
func TestFigureThatCountsNothing(t *testing.T) {
	ours, theirs := richOurs(), rich()
	theirs.Prioritizers[1].Scores["c2"] = 0
	if text := Differences(ours, theirs); text != "" {
		t.Error(text)
	}
	delete(ours.Prioritizers[0].Scores, "c3")
	if text := Differences(ours, theirs); text == "" {
		t.Error("an AddOn's score may be left out")
	}
}

// Whatever of an answer changes is a difference.
func TestEveryDifference(t *testing.T) {
	whole := decoded(t, richOurs())
	count := 0
	for _, path := range paths(whole, nil) {
		for _, change := range changes {
			other := decoded(t, richOurs())
			if !change(other, path) {
				continue
			}
			count++
			ours := encoded(t, other)
			if text := Differences(ours, rich()); text == "" {
				t.Errorf("no difference after a change of %v: %+v", path, ours)
			}
		}
	}
	if count < 80 {
		t.Errorf("only %d changes were tried", count)
	}
}

func decoded(t *testing.T, a *Answer) any {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func encoded(t *testing.T, value any) *Answer {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	a := &Answer{}
	if err := json.Unmarshal(text, a); err != nil {
		t.Fatal(err)
	}
	return a
}

// paths of everything inside a value.
func paths(value any, above []string) [][]string {
	var all [][]string
	add := func(key string, inside any) {
		path := append(slices.Clone(above), key)
		all = append(append(all, path), paths(inside, path)...)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inside := range v {
			add(key, inside)
		}
	case []any:
		for i, inside := range v {
			add(fmt.Sprint(i), inside)
		}
	}
	return all
}

// changes alter what is at a path, if they apply to it.
var changes = []func(whole any, path []string) bool{
	// another scalar
	func(whole any, path []string) bool {
		if path[len(path)-1] == "reason" && path[0] == "filter" {
			return false // any text will do
		}
		return replace(whole, path, func(old any) (any, bool) {
			switch v := old.(type) {
			case string:
				return v + "x", true
			case float64:
				return v + 1, true
			case bool:
				return !v, true
			}
			return nil, false
		})
	},
	// one item less
	func(whole any, path []string) bool {
		return replace(whole, path, func(old any) (any, bool) {
			list, is := old.([]any)
			if !is || len(list) == 0 {
				return nil, false
			}
			return list[:len(list)-1], true
		})
	},
	// other order
	func(whole any, path []string) bool {
		return replace(whole, path, func(old any) (any, bool) {
			list, is := old.([]any)
			if !is || len(list) < 2 || strings.Join(path, "/") == "prioritizers" {
				return nil, false
			}
			slices.Reverse(list)
			return list, true
		})
	},
	// something where there was nothing
	func(whole any, path []string) bool {
		return replace(whole, path, func(old any) (any, bool) {
			if old != nil {
				return nil, false
			}
			switch path[len(path)-1] {
			case "terms", "publish": // and policy, spreadSatisfied
				return []any{"x"}, true
			}
			return "x", true
		})
	},
	// a member less
	func(whole any, path []string) bool {
		return replace(whole, path, func(old any) (any, bool) {
			members, is := old.(map[string]any)
			if !is {
				return nil, false
			}
			for _, key := range []string{"c1", "name", "add", "type", "verdict"} {
				if _, has := members[key]; has {
					delete(members, key)
					return members, true
				}
			}
			return nil, false
		})
	},
}

// replace what is at a path by what `change` makes of it.
func replace(whole any, path []string, change func(any) (any, bool)) bool {
	for _, key := range path[:len(path)-1] {
		whole = inside(whole, key)
	}
	key := path[len(path)-1]
	value, changed := change(inside(whole, key))
	if !changed {
		return false
	}
	switch v := whole.(type) {
	case map[string]any:
		v[key] = value
	case []any:
		v[index(key)] = value
	}
	return true
}

func inside(whole any, key string) any {
	if members, is := whole.(map[string]any); is {
		return members[key]
	}
	return whole.([]any)[index(key)]
}

func index(key string) int {
	var i int
	_, _ = fmt.Sscan(key, &i) // it is from fmt.Sprint
	return i
}
