package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"evenkeel.io/tests/e2e/ocm/internal/peer"
	"evenkeel.io/tests/e2e/ocm/internal/state"
)

// Verdicts of OCM's two filters.
const (
	pass            = "Pass"
	predicate       = "Predicate"
	taintToleration = "TaintToleration"
)

// Of is OCM's decision, which must not have failed, in Evenkeel's form.
func Of(s *state.State, d *peer.Decision, now time.Time) (*Answer, error) {
	groups, err := Groups(d.Objects, d.Status)
	if err != nil {
		return nil, err
	}
	if d.Status.NumberOfSelectedClusters != int32(len(d.Selected)) {
		return nil, fmt.Errorf("the status counts %d selected clusters of %v", d.Status.NumberOfSelectedClusters, d.Selected)
	}
	a := &Answer{
		Placement:           s.Placement.Namespace + "/" + s.Placement.Name,
		EligibleSets:        eligibleSets(s),
		Available:           slices.Sorted(slices.Values(d.Available)),
		Current:             current(s),
		Selected:            d.Selected,
		Unscheduled:         d.Unscheduled,
		Groups:              groups,
		Conditions:          Conditions(d.Status),
		RequeueAfterSeconds: seconds(now, d.RequeueAt),
	}
	a.Moves.Add = without(a.Selected, a.Current)
	a.Moves.Remove = without(a.Current, a.Selected)
	if len(d.Filters) == 2 { // both have answered
		a.Filter = verdicts(a.Available, d.Filters)
	}
	if d.Scheduled() {
		a.Prioritizers = prioritizers(d.Prioritizers)
		a.Sum = d.Sum
		a.Warnings = warnings(d.Expired)
	} else {
		a.Error = d.Error
	}
	return a, nil
}

// eligibleSets are the sets that a binding of the namespace names and the Placement does not rule out.
func eligibleSets(s *state.State) []string {
	var sets []string
	for _, set := range s.Sets {
		bound := slices.ContainsFunc(s.Bindings, func(b *clusterv1beta2.ManagedClusterSetBinding) bool {
			return b.Namespace == s.Placement.Namespace && b.Name == set.Name
		})
		if bound && (len(s.Placement.Spec.ClusterSets) == 0 || slices.Contains(s.Placement.Spec.ClusterSets, set.Name)) {
			sets = append(sets, set.Name)
		}
	}
	slices.Sort(sets)
	return sets
}

// current are the clusters of the decisions that carry the Placement's label.
func current(s *state.State) []string {
	var clusters []string
	for _, object := range s.Decisions {
		if object.Namespace == s.Placement.Namespace && object.Labels[clusterv1beta1.PlacementLabel] == s.Placement.Name {
			for _, one := range object.Status.Decisions {
				clusters = append(clusters, one.ClusterName)
			}
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// without sorts what of `list` is not in `other`.
func without(list, other []string) []string {
	var rest []string
	for _, name := range list {
		if !slices.Contains(other, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return rest
}

func verdicts(available []string, filters []scheduling.FilterResult) map[string]Verdict {
	all := map[string]Verdict{}
	for _, name := range available {
		verdict := predicate
		if slices.Contains(filters[0].FilteredClusters, name) {
			verdict = taintToleration
		}
		if slices.Contains(filters[1].FilteredClusters, name) {
			verdict = pass
		}
		all[name] = Verdict{Verdict: verdict}
	}
	return all
}

func prioritizers(results []scheduling.PrioritizerResult) []Prioritizer {
	var list []Prioritizer
	for _, r := range results {
		list = append(list, Prioritizer{r.Name, r.Weight, r.Scores})
	}
	sortPrioritizers(list)
	return list
}

// sortPrioritizers by name; those of one name, by weight, as their order is nobody's promise.
func sortPrioritizers(list []Prioritizer) {
	slices.SortStableFunc(list, func(a, b Prioritizer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Weight, b.Weight))
	})
}

func warnings(expired []string) []string {
	var list []string
	slices.SortFunc(expired, func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	for _, object := range slices.Compact(expired) {
		list = append(list, "AddOnPlacementScores "+object+" expired")
	}
	return list
}

// Conditions of a Placement's status.
func Conditions(status clusterv1beta1.PlacementStatus) []Condition {
	var all []Condition
	for _, c := range status.Conditions {
		all = append(all, Condition{c.Type, string(c.Status), c.Reason, c.Message})
	}
	return all
}

// Groups takes names and clusters out of a Placement's objects, which are sorted by number, and compares
// them with what its status says of groups.
func Groups(objects []*clusterv1beta1.PlacementDecision, status clusterv1beta1.PlacementStatus) ([]Group, error) {
	var groups []Group
	for _, object := range objects {
		index, name := object.Labels[clusterv1beta1.DecisionGroupIndexLabel], object.Labels[clusterv1beta1.DecisionGroupNameLabel]
		if index != fmt.Sprint(len(groups)-1) {
			groups = append(groups, Group{Index: len(groups), Name: name})
		}
		group := &groups[len(groups)-1]
		if index != fmt.Sprint(group.Index) || name != group.Name {
			return nil, fmt.Errorf("%s is labelled %s %q in the group %d %q", object.Name, index, name, group.Index, group.Name)
		}
		group.Decisions = append(group.Decisions, object.Name)
		for _, one := range object.Status.Decisions {
			group.Clusters = append(group.Clusters, one.ClusterName)
		}
	}
	var listed []clusterv1beta1.DecisionGroupStatus
	for _, group := range groups {
		listed = append(listed, clusterv1beta1.DecisionGroupStatus{DecisionGroupIndex: int32(group.Index),
			DecisionGroupName: group.Name, Decisions: group.Decisions, ClustersCount: int32(len(group.Clusters))})
	}
	if got, want := fmt.Sprint(status.DecisionGroups), fmt.Sprint(listed); got != want {
		return nil, fmt.Errorf("the status lists the groups %s, the objects are %s", got, want)
	}
	return groups, nil
}

// Passed are the clusters that all filters let through, by name.
func (a *Answer) Passed() []string {
	var list []string
	for name, verdict := range a.Filter {
		if verdict.Verdict == pass {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Misconfigured is the message of that condition, if it is true.
func (a *Answer) Misconfigured() string {
	for _, c := range a.Conditions {
		if c.Type == clusterv1beta1.PlacementConditionMisconfigured && c.Status == string(metav1.ConditionTrue) {
			return c.Message
		}
	}
	return ""
}
