package differential

import (
	"slices"
	"testing"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
)

// TestEstimatorOverGRPC_1_17 has the client of that version ask a running Evenkeel, and that version's estimator the
// same.
func TestEstimatorOverGRPC_1_17(t *testing.T) { askOlder(t, "EVENKEEL_E2E_KARMADA_1_17", false) }

// TestEstimatorOverGRPC_1_16 has it ask the newest estimator, for its own needs older libraries.
func TestEstimatorOverGRPC_1_16(t *testing.T) { askOlder(t, "EVENKEEL_E2E_KARMADA_1_16", true) }

func askOlder(t *testing.T, variable string, newest bool) {
	t.Helper()
	const members, questions = 8, 30
	older := olderProgram(t, variable)
	fit := 0
	for i := range members {
		m, err := newMember(diceFor(i))
		if err != nil {
			t.Fatal(err)
		}
		from := object{"nodes": m.nodes, "pods": m.pods}
		if newest {
			address, stop, err := m.running.Serve()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			from = object{"peer": address}
		}
		fit += askOlderOf(t, older, m, from, questions)
		m.running.Close()
	}
	if fit == 0 {
		t.Error("nothing fitted anywhere: these questions say little")
	}
}

// askOlderOf returns how many answers were above 0.
func askOlderOf(t *testing.T, o *older, m *member, question object, questions int) int {
	t.Helper()
	e, err := evenkeel.StartEstimator(binary(t), memberName, stateFile(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	var replicas []*workv1alpha2.ReplicaRequirements
	var sets [][]workv1alpha2.Component
	for range questions {
		if one := (&workv1alpha2.ReplicaRequirements{NodeClaim: m.claim(), ResourceRequest: m.request(), Namespace: "d"}); !hasEmptySelector(one.NodeClaim) {
			replicas = append(replicas, one)
		}
		components := m.components()
		for i := range components {
			components[i].Replicas = max(components[i].Replicas, 1)
		}
		sets = append(sets, components)
	}
	question["address"], question["name"], question["replicas"], question["sets"] = e.Address, memberName, replicas, sets
	var got struct{ Given, Peer []int32 }
	if err := o.askFor(question, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Peer) != len(replicas)+len(sets) || !slices.Equal(got.Given, got.Peer) {
		t.Errorf("Evenkeel answers %d instead of %d: %d for replicas first", got.Given, got.Peer, len(replicas))
	}
	fit := 0
	for _, n := range got.Given {
		if n > 0 {
			fit++
		}
	}
	return fit
}
