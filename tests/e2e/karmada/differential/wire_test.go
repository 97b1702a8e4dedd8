package differential

import (
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	corev1 "k8s.io/api/core/v1"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/pb"
)

// epoch is which fields a client of some version writes: those that are Kubernetes' own messages, those
// that have them as bytes, or, as v1.18.1 does, both.
type epoch int

const (
	bothFields epoch = iota
	oldFields
	newFields
)

var epochNames = []string{"fields of v1.18", "fields before v1.18", "fields after v1.18"}

func (e epoch) claim(c *workv1alpha2.NodeClaim) *pb.NodeClaim {
	if c == nil {
		return nil
	}
	wire := (&pb.NodeClaim{NodeSelector: c.NodeSelector}).MustSetNodeAffinity(c.HardNodeAffinity).MustSetTolerations(c.Tolerations)
	switch e {
	case oldFields:
		wire.NodeAffinityBytes, wire.TolerationsBytes = nil, nil
	case newFields:
		wire.NodeAffinity, wire.Tolerations = nil, nil
	}
	return wire
}

func (e epoch) requirements(r *workv1alpha2.ReplicaRequirements) *pb.ReplicaRequirements {
	if r == nil {
		return nil
	}
	wire := (&pb.ReplicaRequirements{NodeClaim: e.claim(r.NodeClaim), Namespace: r.Namespace,
		PriorityClassName: r.PriorityClassName}).MustSetResourceRequest(r.ResourceRequest)
	switch e {
	case oldFields:
		wire.ResourceRequestBytes = nil
	case newFields:
		wire.ResourceRequest = nil
	}
	return wire
}

func (e epoch) components(all []workv1alpha2.Component) []*pb.Component {
	var list []*pb.Component
	for _, one := range all {
		wire := &pb.Component{Name: one.Name, Replicas: one.Replicas}
		if r := one.ReplicaRequirements; r != nil {
			wire.ReplicaRequirements = (&pb.ComponentReplicaRequirements{NodeClaim: e.claim(r.NodeClaim),
				PriorityClassName: r.PriorityClassName}).MustSetResourceRequest(r.ResourceRequest)
			switch e {
			case oldFields:
				wire.ReplicaRequirements.ResourceRequestBytes = nil
			case newFields:
				wire.ReplicaRequirements.ResourceRequest = nil
			}
		}
		list = append(list, wire)
	}
	return list
}

// sent writes a message, and reads it as a server does.
func sent(message, received proto.Message) (text string, err error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(bytes), proto.Unmarshal(bytes, received)
}

// written is a response.
func written(message proto.Message) (string, error) {
	bytes, err := proto.Marshal(message)
	return hex.EncodeToString(bytes), err
}

// hasEmptySelector says whether a claim has a selector without terms, which means different things in
// different fields of the wire.
func hasEmptySelector(c *workv1alpha2.NodeClaim) bool {
	return c != nil && c.HardNodeAffinity != nil && emptySelector(c.HardNodeAffinity)
}

func emptySelector(s *corev1.NodeSelector) bool { return len(s.NodeSelectorTerms) == 0 }
