package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

const (
	regions = 10 // as the plans of tests/bench have them
	group   = "cluster.open-cluster-management.io"
	others  = 20 // Placements that have decided, which Balance counts
	most    = 100
)

type object = map[string]any

func named(version, kind, namespace, name string) object {
	metadata := object{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return object{"apiVersion": group + "/" + version, "kind": kind, "metadata": metadata}
}

// newFleet is a List: clusters in zones, one set of all, what others have decided, and what the
// Placement has.
func newFleet(s size) []byte {
	dice := rand.New(rand.NewPCG(1, uint64(s.clusters)))
	set := named("v1beta2", "ManagedClusterSet", "", "all")
	set["spec"] = object{"clusterSelector": object{"selectorType": "LabelSelector", "labelSelector": object{}}}
	binding := named("v1beta2", "ManagedClusterSetBinding", "ns", "all")
	binding["spec"] = object{"clusterSet": "all"}
	items := []object{set, binding}
	var names []string
	for i := range s.clusters {
		name := fmt.Sprintf("cluster-%05d", i)
		names = append(names, name)
		items = append(items, newCluster(dice, name, i%s.zones))
	}
	for i := range others {
		items = append(items, decisions(fmt.Sprintf("other-%d", i), pick(dice, names, 50))...)
	}
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "List",
		"items": append(items, decisions("p", pick(dice, names, s.number))...)})
	if err != nil {
		panic(err) // it is made of maps and texts
	}
	return text
}

func newCluster(dice *rand.Rand, name string, zone int) object {
	o := named("v1", "ManagedCluster", "", name)
	o["metadata"].(object)["labels"] = object{"region": fmt.Sprintf("region-%d", zone%regions),
		"zone": fmt.Sprintf("zone-%d", zone), "env": "prod"}
	o["spec"] = object{"hubAcceptsClient": true}
	cpu := 4 + dice.IntN(60)
	o["status"] = object{"version": object{}, "capacity": object{"cpu": "64", "memory": "256Gi"},
		"allocatable": object{"cpu": fmt.Sprintf("%d", cpu), "memory": fmt.Sprintf("%dGi", 4*cpu)}}
	return o
}

func pick(dice *rand.Rand, names []string, count int) []string {
	var picked []string
	for _, i := range dice.Perm(len(names))[:count] {
		picked = append(picked, names[i])
	}
	return picked
}

// decisions of a Placement, in as many objects as that takes.
func decisions(placement string, clusters []string) []object {
	var all []object
	for len(clusters) > 0 {
		part := clusters[:min(most, len(clusters))]
		clusters = clusters[len(part):]
		o := named("v1beta1", "PlacementDecision", "ns", fmt.Sprintf("%s-decision-%d", placement, len(all)+1))
		o["metadata"].(object)["labels"] = object{group + "/placement": placement, group + "/decision-group-index": "0",
			group + "/decision-group-name": ""}
		var list []object
		for _, name := range part {
			list = append(list, object{"clusterName": name, "reason": ""})
		}
		o["status"] = object{"decisions": list}
		all = append(all, o)
	}
	return all
}

func newPlacement(s size, spread bool) []byte {
	o := named("v1beta1", "Placement", "ns", "p")
	spec := object{"numberOfClusters": s.number, "prioritizerPolicy": object{"mode": "Additive", "configurations": []object{
		{"scoreCoordinate": object{"type": "BuiltIn", "builtIn": "ResourceAllocatableCPU"}, "weight": 1}}}}
	if spread {
		spec["spreadPolicy"] = object{"spreadConstraints": []object{
			{"topologyKey": "region", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
			{"topologyKey": "zone", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}}}
	}
	o["spec"] = spec
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it is made of maps and texts
	}
	return text
}
