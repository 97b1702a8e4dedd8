package peer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	build "open-cluster-management.io/ocm/pkg/placement/helpers/testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"evenkeel.io/tests/e2e/ocm/internal/state"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	resourceMemory = "ResourceAllocatableMemory"
)

func cluster(name string) *build.ManagedClusterBuilder {
	return build.NewManagedCluster(name).WithLabel(clusterv1beta2.ClusterSetLabel, "set1")
}

func plain(names ...string) []*clusterv1.ManagedCluster {
	var all []*clusterv1.ManagedCluster
	for _, name := range names {
		all = append(all, cluster(name).Build())
	}
	return all
}

func withMemory(name, amount string) *clusterv1.ManagedCluster {
	return cluster(name).WithResource(clusterv1.ResourceMemory, amount, "100").Build()
}

func tainted(name, key, value string) *clusterv1.ManagedCluster {
	return cluster(name).WithTaint(&clusterv1.Taint{Key: key, Value: value, Effect: clusterv1.TaintEffectNoSelect}).Build()
}

func placement() *build.PlacementBuilder { return build.NewPlacement("ns1", "p") }

// decision is an object of the namespace; without a placement it has no label.
func decision(name, ofPlacement string, clusters ...string) *clusterv1beta1.PlacementDecision {
	b := build.NewPlacementDecision("ns1", name).WithDecisions(clusters...)
	if ofPlacement != "" {
		b = b.WithLabel(clusterv1beta1.PlacementLabel, ofPlacement)
	}
	return b.Build()
}

func score(cluster string, value int32) *clusterv1alpha1.AddOnPlacementScore {
	return build.NewAddOnPlacementScore(cluster, "demo").WithScore("demo", value).Build()
}

// row is a case of upstream's schedule_test, with what that expects.
type row struct {
	name        string
	placement   *build.PlacementBuilder
	clusters    []*clusterv1.ManagedCluster
	decisions   []*clusterv1beta1.PlacementDecision
	scores      []*clusterv1alpha1.AddOnPlacementScore
	selected    string
	unscheduled int
	records     string // of prioritizers: name weight cluster:score ...
	filters     string
	misfit      string // of the condition Misconfigured, otherwise False
}

var bothFilters = "Predicate; Predicate,TaintToleration"

var rows = []row{
	{name: "no number", placement: placement(), clusters: plain("c1"), selected: "c1",
		records: "Balance 1 c1:100; Steady 1 c1:0"},
	{name: "more than there are", placement: placement().WithNOC(3), clusters: plain("c1"), selected: "c1",
		unscheduled: 2, records: "Balance 1 c1:100; Steady 1 c1:0"},
	{name: "a bad toleration", placement: placement().WithNOC(3).AddToleration(&clusterv1beta1.Toleration{
		Operator: clusterv1beta1.TolerationOpEqual}), clusters: plain("c1", "c2", "c3"), filters: "Predicate",
		misfit: "TaintToleration:If the key is empty, operator must be Exists."},
	{name: "what was decided stays", placement: placement().WithNOC(2), clusters: plain("c1", "c2", "c3"),
		decisions: []*clusterv1beta1.PlacementDecision{decision("p-decision-1", "p", "c1", "c2")}, selected: "c1 c2",
		records: "Balance 1 c1:100 c2:100 c3:100; Steady 1 c1:100 c2:100 c3:0"},
	{name: "without a mode", placement: placement().WithNOC(2).WithPrioritizerPolicy(""),
		clusters: plain("c1", "c2", "c3"), decisions: []*clusterv1beta1.PlacementDecision{decision("p-decision-1", "p", "c1", "c2")},
		selected: "c1 c2", records: "Balance 1 c1:100 c2:100 c3:100; Steady 1 c1:100 c2:100 c3:0"},
	{name: "taints", placement: placement().WithNOC(3).AddToleration(&clusterv1beta1.Toleration{Key: "key1", Value: "value1"}),
		clusters: append(plain("c3"), tainted("c1", "key1", "value1"), tainted("c2", "key2", "value2")),
		selected: "c1 c3", unscheduled: 1, records: "Balance 1 c1:100 c3:100; Steady 1 c1:0 c3:0"},
	{name: "additive", placement: placement().WithNOC(2).WithPrioritizerPolicy("Additive").WithPrioritizerConfig("Balance", 3).
		WithPrioritizerConfig(resourceMemory, 1).WithScoreCoordinateAddOn("demo", "demo", 1),
		clusters: []*clusterv1.ManagedCluster{withMemory("c1", "100"), withMemory("c2", "50"), withMemory("c3", "0")},
		scores:   []*clusterv1alpha1.AddOnPlacementScore{score("c1", 30), score("c2", 40), score("c3", 50)},
		selected: "c1 c2", records: "AddOn/demo/demo 1 c1:30 c2:40 c3:50; Balance 3 c1:100 c2:100 c3:100; " +
			resourceMemory + " 1 c1:100 c2:0 c3:-100; Steady 1 c1:0 c2:0 c3:0"},
	{name: "exact", placement: placement().WithNOC(2).WithPrioritizerPolicy("Exact").WithPrioritizerConfig("Balance", 3).
		WithPrioritizerConfig(resourceMemory, 1),
		clusters: []*clusterv1.ManagedCluster{withMemory("c1", "100"), withMemory("c2", "50"), withMemory("c3", "0")},
		selected: "c1 c2", records: "Balance 3 c1:100 c2:100 c3:100; " + resourceMemory + " 1 c1:100 c2:0 c3:-100"},
	{name: "one decided before", placement: placement().WithNOC(4), clusters: plain("c1", "c2"),
		decisions: []*clusterv1beta1.PlacementDecision{decision("p-decision-1", "p", "c1")}, selected: "c1 c2",
		unscheduled: 2, records: "Balance 1 c1:100 c2:100; Steady 1 c1:100 c2:0"},
	{name: "others are balanced", placement: placement().WithNOC(1), clusters: plain("c1", "c2", "c3"),
		decisions: []*clusterv1beta1.PlacementDecision{decision("other", "", "c1", "c2")}, selected: "c3",
		records: "Balance 1 c1:-100 c2:-100 c3:100; Steady 1 c1:0 c2:0 c3:0"},
	{name: "it does not move", placement: placement().WithNOC(1), clusters: plain("c1", "c2", "c3"),
		decisions: []*clusterv1beta1.PlacementDecision{decision("other1", "", "c2", "c3"), decision("other2", "", "c1", "c2"),
			decision("p-decision-1", "p", "c3")}, selected: "c3",
		records: "Balance 1 c1:0 c2:-100 c3:0; Steady 1 c1:0 c2:0 c3:100"},
	// Not upstream's: what its API has and its scheduler does not do.
	{name: "a spread policy is ignored", placement: spreading(), clusters: []*clusterv1.ManagedCluster{
		cluster("a1").WithLabel("zone", "a").Build(), cluster("a2").WithLabel("zone", "a").Build(),
		cluster("b1").WithLabel("zone", "b").Build()}, selected: "a1 a2",
		records: "Balance 1 a1:100 a2:100 b1:100; Steady 1 a1:0 a2:0 b1:0"},
	{name: "the prioritizer Spread is none", placement: placement().WithPrioritizerConfig("Spread", 1), clusters: plain("c1"),
		decisions: []*clusterv1beta1.PlacementDecision{decision("p-decision-1", "p", "c1")},
		misfit:    ":incorrect builtin prioritizer: Spread"},
}

func spreading() *build.PlacementBuilder {
	b := placement().WithNOC(2)
	b.Build().Spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
		TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
		WhenUnsatisfiable: clusterv1beta1.DoNotSchedule}}
	return b
}

func (r row) state() *state.State {
	return &state.State{Placement: r.placement.Build(), Clusters: r.clusters, Decisions: r.decisions, Scores: r.scores,
		Sets:     []*clusterv1beta2.ManagedClusterSet{build.NewClusterSet("set1").Build()},
		Bindings: []*clusterv1beta2.ManagedClusterSetBinding{build.NewClusterSetBinding("ns1", "set1")}}
}

func TestScheduleTable(t *testing.T) {
	SetClock(clocktesting.NewFakeClock(now))
	w := NewWorld(t.Context())
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			d, err := w.Decide(t.Context(), r.state())
			if err != nil {
				t.Fatal(err)
			}
			r.check(t, d)
		})
	}
}

func (r row) check(t *testing.T, d *Decision) {
	t.Helper()
	if r.filters == "" {
		r.filters = bothFilters
	}
	for what, got := range map[string][2]string{
		"selected":     {strings.Join(d.Selected, " "), r.selected},
		"unscheduled":  {fmt.Sprint(d.Unscheduled), fmt.Sprint(r.unscheduled)},
		"prioritizers": {recordsText(d), r.records},
		"filters":      {filtersText(d), r.filters},
		"condition":    {misfitText(d), r.misfit},
		"written":      {writtenText(d), strings.Join(slices.Sorted(slices.Values(strings.Fields(r.selected))), " ")},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
}

func recordsText(d *Decision) string {
	var lines []string
	for _, p := range d.Prioritizers {
		line := fmt.Sprintf("%s %d", p.Name, p.Weight)
		for _, name := range slices.Sorted(slices.Values(d.Available)) {
			if value, scored := p.Scores[name]; scored {
				line += fmt.Sprintf(" %s:%d", name, value)
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func filtersText(d *Decision) string {
	var list []string
	for _, filter := range d.Filters {
		list = append(list, filter.Name)
	}
	return strings.Join(list, "; ")
}

func misfitText(d *Decision) string {
	for _, condition := range d.Status.Conditions {
		if condition.Type == clusterv1beta1.PlacementConditionMisconfigured && condition.Status == metav1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}

func writtenText(d *Decision) string {
	var clusters []string
	for _, object := range d.Objects {
		for _, one := range object.Status.Decisions {
			clusters = append(clusters, one.ClusterName)
		}
	}
	return strings.Join(clusters, " ")
}
