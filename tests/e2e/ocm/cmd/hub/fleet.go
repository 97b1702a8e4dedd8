package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

const (
	namespace = "shop"
	set       = "fleet"
)

// Each region has two zones, and each zone two clusters.
var regions = []string{"east", "north", "west"}

type zone struct{ region, name string }

func zones() (all []zone) {
	for _, region := range regions {
		for i := 1; i <= 2; i++ {
			all = append(all, zone{region, fmt.Sprintf("%s-%d", region, i)})
		}
	}
	return all
}

// fill creates the clusters and their set, then a Placement that does not ask for spread, while all are free, and one
// that does.
func (p *playground) fill(ctx context.Context) error {
	fmt.Println("== creating 12 clusters in 3 regions, and 2 Placements")
	objects := []*unstructured.Unstructured{
		object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSet", "", set,
			map[string]any{"clusterSelector": map[string]any{"selectorType": "ExclusiveClusterSetLabel"}}),
		object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding", namespace, set,
			map[string]any{"clusterSet": set}),
	}
	for _, z := range zones() {
		for _, letter := range []string{"a", "b"} {
			cluster := object("cluster.open-cluster-management.io/v1", "ManagedCluster", "", z.name+"-"+letter,
				map[string]any{"hubAcceptsClient": true})
			cluster.SetLabels(map[string]string{"cluster.open-cluster-management.io/clusterset": set, "region": z.region, "zone": z.name})
			objects = append(objects, cluster)
		}
	}
	term := func(key, when string) any {
		return map[string]any{"topologyKey": key, "topologyKeyType": "Label", "maxSkew": int64(1), "whenUnsatisfiable": when}
	}
	const placements = "cluster.open-cluster-management.io/v1beta1"
	if err := p.hub.Create(ctx, objects...); err != nil {
		return err
	}
	for _, placement := range []*unstructured.Unstructured{
		object(placements, "Placement", namespace, "plain", map[string]any{"numberOfClusters": int64(6)}),
		object(placements, "Placement", namespace, "web", map[string]any{"numberOfClusters": int64(6), "spreadPolicy": map[string]any{
			"spreadConstraints": []any{term("region", "ScheduleAnyway"), term("zone", "DoNotSchedule")}}}),
	} {
		if err := p.hub.Create(ctx, placement); err != nil {
			return err
		}
		if err := hub.Until(ctx, placement.GetName()+" is decided", func(ctx context.Context) (bool, error) {
			d, err := p.hub.Read(ctx, namespace, placement.GetName())
			return err == nil && len(d.Clusters()) == 6, err
		}); err != nil {
			return err
		}
	}
	return nil
}

func object(version, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "spec": spec}}
	o.SetName(name)
	o.SetNamespace(namespace)
	return o
}
