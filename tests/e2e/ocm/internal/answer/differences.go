package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Differences says where Evenkeel's answer differs from OCM's, a line each; empty when they agree.
func Differences(ours, theirs *Answer) string {
	var lines []string
	note := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			lines = append(lines, fmt.Sprintf("%s: %s, OCM %s", what, text(a), text(b)))
		}
	}
	note("placement", ours.Placement, theirs.Placement)
	note("eligibleSets", list(ours.EligibleSets), list(theirs.EligibleSets))
	note("available", list(ours.Available), list(theirs.Available))
	note("current", list(ours.Current), list(theirs.Current))
	note("selected", list(ours.Selected), list(theirs.Selected))
	note("moves.add", list(ours.Moves.Add), list(theirs.Moves.Add))
	note("moves.remove", list(ours.Moves.Remove), list(theirs.Moves.Remove))
	note("unscheduled", ours.Unscheduled, theirs.Unscheduled)
	note("conditions", list(ours.Conditions), list(theirs.Conditions))
	note("is there an error", ours.Error != "", theirs.Error != "")
	note("groups", groups(ours.Groups), groups(theirs.Groups))
	note("sum", table(ours.Sum), table(theirs.Sum))
	note("warnings", upstreams(ours.Warnings, theirs), list(theirs.Warnings))
	note("requeueAfterSeconds", value(ours.RequeueAfterSeconds), roundedUp(theirs.RequeueAfterSeconds))
	if theirs.Filter != nil { // otherwise a filter is misconfigured, and OCM lets nobody through
		note("filter", bare(ours.Filter), bare(theirs.Filter))
	}
	lines = append(lines, prioritizerDifferences(ours.Prioritizers, theirs.Prioritizers)...)
	lines = append(lines, notOCMs(ours)...)
	return strings.Join(lines, "\n")
}

// notOCMs are members that must say nothing where nothing of Evenkeel's own is asked for.
func notOCMs(ours *Answer) []string {
	var lines []string
	if len(ours.Terms) > 0 || len(ours.Publish) > 0 || ours.Policy != nil || ours.SpreadSatisfied != nil || ours.CelUnknown {
		lines = append(lines, fmt.Sprintf("terms %s, publish %s, policy %s, spreadSatisfied %s, celUnknown %v",
			text(ours.Terms), text(ours.Publish), text(ours.Policy), text(ours.SpreadSatisfied), ours.CelUnknown))
	}
	for name, verdict := range ours.Filter {
		if (verdict.Verdict == pass) != (verdict.Reason == "") {
			lines = append(lines, fmt.Sprintf("filter: %s has the verdict %s with the reason %q", name, verdict.Verdict, verdict.Reason))
		}
	}
	slices.Sort(lines)
	return lines
}

func prioritizerDifferences(ours, theirs []Prioritizer) []string {
	ours = slices.Clone(ours)
	sortPrioritizers(ours)
	var lines []string
	for i := range max(len(ours), len(theirs)) {
		var a, b Prioritizer
		if i < len(ours) {
			a = ours[i]
		}
		if i < len(theirs) {
			b = theirs[i]
		}
		if a.Name != b.Name || a.Weight != b.Weight || !maps.Equal(figures(a), figures(b)) {
			lines = append(lines, fmt.Sprintf("prioritizer: %s, OCM %s", text(a), text(b)))
		}
	}
	return lines
}

// figures leave out what counts 0 in the prioritizers that need not list it.
func figures(p Prioritizer) map[string]int64 {
	scores := maps.Clone(p.Scores)
	if strings.HasPrefix(p.Name, "ResourceAllocatable") {
		maps.DeleteFunc(scores, func(_ string, value int64) bool { return value == 0 })
	}
	return scores
}

// upstreams leaves out that selected clusters are in no group, which OCM does without a word when its
// groups are misconfigured.
func upstreams(warnings []string, theirs *Answer) []string {
	return slices.DeleteFunc(list(warnings), func(warning string) bool {
		return theirs.Misconfigured() != "" && strings.Contains(warning, "in no decision group")
	})
}

// ---- forms that compare ----

func list[T any](items []T) []T {
	return append([]T{}, items...)
}

func table(sums map[string]int64) map[string]int64 {
	if sums == nil {
		return map[string]int64{}
	}
	return sums
}

func groups(all []Group) []Group {
	var same []Group
	for _, group := range all {
		group.Decisions, group.Clusters = list(group.Decisions), list(group.Clusters)
		same = append(same, group)
	}
	return list(same)
}

func bare(verdicts map[string]Verdict) map[string]string {
	all := map[string]string{}
	for name, verdict := range verdicts {
		all[name] = verdict.Verdict
	}
	return all
}

func value(seconds *float64) any {
	if seconds == nil {
		return nil
	}
	return *seconds
}

// roundedUp is what Evenkeel says, which is whole seconds: a toleration is over after them.
func roundedUp(seconds *float64) any {
	if seconds == nil {
		return nil
	}
	return math.Ceil(*seconds)
}

func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}
