package main

import (
	"fmt"
	"strings"
)

// ---- questions about a fleet ----

const ocmGroup = "cluster.open-cluster-management.io"

func placementOf(spec object) object {
	return object{"apiVersion": ocmGroup + "/v1beta1", "kind": "Placement", "metadata": object{"name": "p", "namespace": "u"}, "spec": spec}
}

func spreadTerms(n int) object {
	var list []object
	for i := 0; i < n; i++ {
		list = append(list, object{"topologyKey": fmt.Sprintf("k%d", i), "topologyKeyType": "Label", "maxSkew": 1,
			"whenUnsatisfiable": "ScheduleAnyway"})
	}
	return object{"spreadConstraints": list}
}

// stateOf is a fleet in which every cluster is a domain of its own under eight keys.
func stateOf(clusters int) object {
	items := []object{
		{"apiVersion": ocmGroup + "/v1beta2", "kind": "ManagedClusterSet", "metadata": object{"name": "s"}},
		{"apiVersion": ocmGroup + "/v1beta2", "kind": "ManagedClusterSetBinding", "metadata": object{"name": "s", "namespace": "u"},
			"spec": object{"clusterSet": "s"}},
	}
	for i := 0; i < clusters; i++ {
		labels := object{ocmGroup + "/clusterset": "s"}
		for k := 0; k < 8; k++ {
			labels[fmt.Sprintf("k%d", k)] = fmt.Sprintf("v%d", i)
		}
		items = append(items, object{"apiVersion": ocmGroup + "/v1", "kind": "ManagedCluster",
			"metadata": object{"name": fmt.Sprintf("c%d", i), "labels": labels}})
	}
	return object{"apiVersion": "v1", "kind": "List", "items": items}
}

// fleetQuestions are those whose cost a caller may hope to be more than its own: more terms than there may be, a
// million names, rounds over thousands of domains, predicates and tolerations by the thousand, JSON that is deep.
func fleetQuestions(st *stage) error {
	var names, tolerations, predicates []any
	for i := 0; i < 1000000; i++ {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	for i := 0; i < 20000; i++ {
		tolerations = append(tolerations, object{"key": fmt.Sprintf("t%d", i), "operator": "Exists"})
		predicates = append(predicates, object{"requiredClusterSelector": object{"labelSelector": object{"matchLabels": object{
			fmt.Sprintf("k%d", i%8): fmt.Sprintf("w%d", i)}}}})
	}
	deep := `{"placement": ` + strings.Repeat(`{"spec": [`, 100000)
	bodies := [][]byte{
		encode(object{"placement": placementOf(object{"spreadPolicy": spreadTerms(10000)})}),
		encode(object{"placement": placementOf(object{}), "clusterNames": names}),
		encode(object{"placement": placementOf(object{"spreadPolicy": spreadTerms(8), "numberOfClusters": 10000}), "state": stateOf(20000), "rounds": true}),
		encode(object{"placement": placementOf(object{"predicates": predicates, "tolerations": tolerations}), "state": stateOf(5000)}),
		[]byte(deep),
	}
	for i := 0; i < 3; i++ {
		bodies = append(bodies, bodies...)
	}
	return st.post("https://"+st.daemon.extender+"/clusters/v1/select", "system:kube-scheduler", bodies, 4)
}
