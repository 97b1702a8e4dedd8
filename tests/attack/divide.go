package main

import (
	"errors"
	"fmt"
)

// ---- questions about Karmada's scheduling ----

// karmadaCandidates are all alike, in as many zones as are said.
func karmadaCandidates(count, zones int) []object {
	var list []object
	for i := 0; i < count; i++ {
		var in []string
		for z := 0; z < zones; z++ {
			in = append(in, fmt.Sprintf("z%d", (i*7+z*13)%997))
		}
		list = append(list, object{"name": fmt.Sprintf("m%d", i), "provider": fmt.Sprintf("p%d", i%30), "region": fmt.Sprintf("r%d", i%61),
			"zones": in, "score": i % 3, "allocatable": 10, "available": 10, "labels": object{"rack": fmt.Sprintf("%d", i%101)}})
	}
	return list
}

// divided spreads by levels, which are "provider:5" or a label's with = in front.
func divided(min, max int, fields ...string) object {
	var list []object
	for _, field := range fields {
		spread := object{"minGroups": min, "maxGroups": max, "spreadByField": field}
		if field[0] == '=' {
			spread = object{"minGroups": min, "maxGroups": max, "spreadByLabel": field[1:]}
		}
		list = append(list, spread)
	}
	return object{"spreadConstraints": list, "replicaScheduling": object{"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}
}

func searches() []any {
	var items []object
	for i := 0; i < 60; i++ {
		items = append(items, object{"name": fmt.Sprintf("g%d", i), "value": 3, "weight": i * i % 17})
	}
	most := object{"searchBudget": int64(1) << 60}
	return []any{
		object{"step": "groups", "items": items, "min": 20, "max": 40, "target": 121},
		object{"step": "select", "candidates": karmadaCandidates(5000, 20), "replicas": 1000000, "options": most,
			"placement": divided(9, 30, "provider", "region", "zone", "=rack", "cluster")},
		object{"step": "select", "candidates": karmadaCandidates(3000, 3), "replicas": 301, "options": most,
			"placement": divided(10, 30, "zone", "cluster")},
		object{"step": "select", "candidates": karmadaCandidates(2000, 1), "replicas": 100000, "placement": divided(30, 30, "region", "cluster")},
	}
}

func divisions() []any {
	var rules, clusters []object
	for i := 0; i < 5000; i++ {
		rules = append(rules, object{"weight": int64(1)<<62 - int64(i), "targetCluster": object{"labelSelector": object{"matchExpressions": []object{
			{"key": "rack", "operator": "NotIn", "values": []string{fmt.Sprint(i)}}}}}})
		clusters = append(clusters, object{"name": fmt.Sprintf("m%d", i), "replicas": 1<<31 - 1})
	}
	static := object{"replicaScheduling": object{"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
		"weightPreference": object{"staticWeightList": rules}}}
	return []any{
		object{"step": "assign", "candidates": karmadaCandidates(5000, 1),
			"spec": object{"replicas": 1<<31 - 1, "replicaRequirements": object{}, "placement": static}},
		object{"step": "assign", "candidates": karmadaCandidates(5000, 1), "overflow": true,
			"spec": object{"replicas": 1<<31 - 1, "replicaRequirements": object{}, "clusters": clusters, "placement": divided(1, 1, "cluster")}},
	}
}

func estimates() []any {
	var models, modelings, nodes, components []object
	for i := 0; i < 20000; i++ {
		models = append(models, object{"grade": i, "ranges": []object{{"name": "cpu", "min": fmt.Sprint(i), "max": fmt.Sprint(i + 1)}}})
		modelings = append(modelings, object{"grade": i, "count": int64(1)<<62 + int64(i)})
		nodes = append(nodes, object{"metadata": object{"name": fmt.Sprintf("n%d", i)}, "status": object{"allocatable": object{"cpu": fmt.Sprint(1 + i%7),
			"memory": "64Gi", "pods": "110"}}})
	}
	for i := 0; i < 2000; i++ {
		components = append(components, object{"name": fmt.Sprintf("c%d", i), "replicas": 1 + i%3,
			"replicaRequirements": object{"resourceRequest": object{"cpu": fmt.Sprintf("%dm", 1+i%11), "memory": "1Mi"}}})
	}
	request := object{"resourceRequest": object{"cpu": "1m"}}
	cluster := object{"metadata": object{"name": "m"}, "spec": object{"resourceModels": models},
		"status": object{"resourceSummary": object{"allocatable": object{"cpu": "1M", "pods": "100M"}, "allocatableModelings": modelings}}}
	return []any{
		object{"step": "estimate", "cluster": cluster, "requirements": request, "components": components},
		object{"step": "estimate", "nodes": nodes, "pods": []object{}, "requirements": request},
		object{"step": "estimate", "nodes": nodes, "pods": []object{}, "components": components},
	}
}

// karmadaQuestions are those of single steps whose cost a caller may hope to be more than its own.
func karmadaQuestions(st *stage) error {
	ask := func(verb string, questions []any) error {
		var bodies [][]byte
		for _, question := range questions {
			bodies = append(bodies, encode(question))
		}
		return st.post("https://"+st.daemon.extender+"/clusters/v1/"+verb, "system:kube-scheduler", append(bodies, bodies...), 2)
	}
	return errors.Join(ask("select", searches()), ask("assign", divisions()), ask("estimate", estimates()))
}
