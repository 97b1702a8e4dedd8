package differential

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/pb"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

const memberName = "fake"

// TestAccurateEstimator estimates by a member's nodes and pods: how many replicas fit.
func TestAccurateEstimator(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return accurateCase, nil }, append([]string{
		"no node", "no requirements", "a claim of nodes", "a selector without terms", "asked as JSON", "another cluster", "replicas fit"},
		epochNames...)...)
}

// TestComponentSets estimates by a member's nodes and pods: how many sets of components fit.
func TestComponentSets(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return setsCase, nil }, append([]string{
		"no node", "no components", "several components", "asked as JSON", "another cluster", "sets fit", "some without replicas",
		deviatesNoReplicas}, epochNames...)...)
}

// member is a case that is being made.
type member struct {
	dice
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	name    string // of the cluster that is asked for
	epoch   epoch
	used    map[string]bool // traits
	running *peer.Member
}

// newMember must be closed.
func newMember(d dice) (*member, error) {
	m := &member{dice: d, name: memberName, epoch: epoch(d.IntN(3)), used: map[string]bool{}}
	m.nodes = d.nodes(0)
	m.pods = d.pods(m.nodes)
	if d.chance(2) {
		m.name = "other"
	}
	m.used[epochNames[m.epoch]], m.used["no node"], m.used["another cluster"] = true, len(m.nodes) == 0, m.name != memberName
	var err error
	m.running, err = peer.NewMember(memberName, m.nodes, m.pods)
	return m, err
}

// question has one more member.
func (m *member) question(name string, value any) object {
	return object{"step": "estimate", "cluster": memberName, "nodes": inTurns(m.nodes), "pods": m.pods, name: value}
}

func accurateCase(d dice) ([]pair, error) {
	m, err := newMember(d)
	if err != nil {
		return nil, err
	}
	defer m.running.Close()
	var requirements *workv1alpha2.ReplicaRequirements
	if d.chance(95) {
		requirements = &workv1alpha2.ReplicaRequirements{NodeClaim: d.claim(), ResourceRequest: d.request(), Namespace: "d"}
	}
	received := &pb.MaxAvailableReplicasRequest{}
	wire, err := sent(&pb.MaxAvailableReplicasRequest{Cluster: m.name, ReplicaRequirements: m.epoch.requirements(requirements)}, received)
	if err != nil {
		return nil, err
	}
	wanted := object{}
	response, failed := m.running.Replicas(received)
	if failed != nil {
		wanted["error"] = failed.Error()
	} else if wanted["wire"], err = written(response); err != nil {
		return nil, err
	} else {
		wanted["error"], wanted["replicas"] = "", response.MaxReplicas
	}
	m.used["no requirements"] = requirements == nil
	m.used["a claim of nodes"] = requirements != nil && requirements.NodeClaim != nil
	m.used["a selector without terms"] = requirements != nil && hasEmptySelector(requirements.NodeClaim)
	m.used["replicas fit"] = response != nil && response.MaxReplicas > 0
	pairs := []pair{{m.question("wire", wire), wanted, traitsOf(m.used)}}
	if failed == nil && requirements != nil && !m.used["a selector without terms"] {
		pairs = append(pairs, pair{m.question("requirements", requirements), object{"replicas": response.MaxReplicas}, []string{"asked as JSON"}})
	}
	return pairs, nil
}

func setsCase(d dice) ([]pair, error) {
	m, err := newMember(d)
	if err != nil {
		return nil, err
	}
	defer m.running.Close()
	var components []workv1alpha2.Component
	if d.chance(97) {
		components = d.components()
	}
	zeros, emptySelectors := 0, false
	for i := range components {
		if r := components[i].ReplicaRequirements; r != nil && d.chance(50) {
			r.NodeClaim = d.claim()
			emptySelectors = emptySelectors || hasEmptySelector(r.NodeClaim)
		}
		if components[i].Replicas == 0 {
			zeros++
		}
	}
	m.used["no components"], m.used["several components"] = len(components) == 0, len(components) > 1
	m.used["some without replicas"] = zeros > 0 && zeros < len(components)
	request := &pb.MaxAvailableComponentSetsRequest{Cluster: m.name, Namespace: "d", Components: m.epoch.components(components)}
	received := &pb.MaxAvailableComponentSetsRequest{}
	wire, err := sent(request, received)
	if err != nil {
		return nil, err
	}
	var response *pb.MaxAvailableComponentSetsResponse
	var failed error
	if len(components) > 0 && zeros == len(components) && len(m.nodes) > 0 && m.name == memberName {
		m.used[deviatesNoReplicas] = true
		response, failed = m.withoutReplicas(received)
	} else {
		response, failed = m.running.Sets(received)
	}
	wanted := object{}
	if failed != nil {
		wanted["error"] = failed.Error()
	} else if wanted["wire"], err = written(response); err != nil {
		return nil, err
	} else {
		wanted["error"], wanted["sets"] = "", response.MaxSets
	}
	m.used["sets fit"] = response != nil && response.MaxSets > 0 && len(components) > 0
	pairs := []pair{{m.question("componentsWire", wire), wanted, traitsOf(m.used)}}
	if failed == nil && components != nil && !emptySelectors {
		pairs = append(pairs, pair{m.question("components", components), object{"sets": response.MaxSets}, []string{"asked as JSON"}})
	}
	return pairs, nil
}

// withoutReplicas is how many sets there are of components that have no replicas: any number, if one
// replica of each would fit.
func (m *member) withoutReplicas(request *pb.MaxAvailableComponentSetsRequest) (*pb.MaxAvailableComponentSetsResponse, error) {
	for _, component := range request.Components {
		component.Replicas = 1
		one, err := m.running.Sets(&pb.MaxAvailableComponentSetsRequest{Cluster: request.Cluster, Namespace: request.Namespace,
			Components: []*pb.Component{component}})
		if err != nil || one.MaxSets == 0 {
			return one, err
		}
	}
	return &pb.MaxAvailableComponentSetsResponse{MaxSets: 1<<31 - 1}, nil
}
