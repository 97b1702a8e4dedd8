// Package state reads what kubectl prints of a hub into the types of OCM's API.
package state

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"evenkeel.io/tests/e2e/ocm/internal/crds"
)

// State is a Placement and what OCM decides it from.
type State struct {
	Placement *clusterv1beta1.Placement
	Clusters  []*clusterv1.ManagedCluster
	Sets      []*clusterv1beta2.ManagedClusterSet
	Bindings  []*clusterv1beta2.ManagedClusterSetBinding
	Decisions []*clusterv1beta1.PlacementDecision
	Scores    []*clusterv1alpha1.AddOnPlacementScore
}

// Read decodes a Placement and a List, with the defaults that an API server would have applied.
// Placements of the List do not matter to the decision and are passed over.
func Read(schemas crds.Schemas, placement, list []byte) (*State, error) {
	object, items, err := parse(placement, list)
	if err != nil {
		return nil, err
	}
	s := &State{Placement: &clusterv1beta1.Placement{}}
	if err := decode(schemas, object, s.Placement); err != nil {
		return nil, err
	}
	if s.Placement.Namespace == "" {
		s.Placement.Namespace = "default"
	}
	for _, item := range items {
		if err := s.add(schemas, item); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func parse(placement, list []byte) (object map[string]any, items []map[string]any, err error) {
	if err := json.Unmarshal(placement, &object); err != nil {
		return nil, nil, fmt.Errorf("the Placement: %w", err)
	}
	var whole struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(list, &whole); err != nil {
		return nil, nil, fmt.Errorf("the List: %w", err)
	}
	return object, whole.Items, nil
}

// Refused says what of it an API server would not have taken; nil: it would have taken everything.
func Refused(schemas crds.Schemas, placement, list []byte) error {
	object, items, err := parse(placement, list)
	if err != nil {
		return err
	}
	for _, item := range append(items, object) {
		schemas.Default(item)
		if err := schemas.Validate(item); err != nil {
			return fmt.Errorf("%v %v: %w", item["kind"], item["metadata"], err)
		}
	}
	return nil
}

func (s *State) add(schemas crds.Schemas, item map[string]any) error {
	switch item["kind"] {
	case "ManagedCluster":
		return appendTo(&s.Clusters, schemas, item)
	case "ManagedClusterSet":
		return appendTo(&s.Sets, schemas, item)
	case "ManagedClusterSetBinding":
		return appendTo(&s.Bindings, schemas, item)
	case "PlacementDecision":
		return appendTo(&s.Decisions, schemas, item)
	case "AddOnPlacementScore":
		return appendTo(&s.Scores, schemas, item)
	}
	return nil
}

func appendTo[T any](list *[]*T, schemas crds.Schemas, item map[string]any) error {
	object := new(T)
	*list = append(*list, object)
	return decode(schemas, item, object)
}

func decode(schemas crds.Schemas, item map[string]any, into any) error {
	if !schemas.Default(item) {
		return fmt.Errorf("%v %v is no kind of OCM's", item["apiVersion"], item["kind"])
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item, into); err != nil {
		return fmt.Errorf("%v %v: %w", item["kind"], item["metadata"], err)
	}
	return nil
}
