package main

import (
	"encoding/json"
	"fmt"
)

// What the API server of a scene holds: nodes in zones, pods of other tenants, a dataset of Fluid's.

const (
	nodeCount = 5000
	podCount  = 20000
	zoneCount = 12
)

type object = map[string]any

type cluster struct {
	objects map[string][]object // by the path of their list
	// Pods that only a page by page listing shows; on a watch list they are split all the same.
	noWatchList bool
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func newCluster() *cluster {
	c := &cluster{objects: map[string][]object{}}
	for i := 0; i < nodeCount; i++ {
		zone := fmt.Sprintf("zone-%02d", i%zoneCount)
		labels := object{
			"kubernetes.io/hostname":        nodeName(i),
			"topology.kubernetes.io/zone":   zone,
			"topology.kubernetes.io/region": fmt.Sprintf("region-%d", i%zoneCount/4),
		}
		if i%50 == 0 {
			labels["fluid.io/s-u-images"] = "true"
		}
		c.add("/api/v1/nodes", object{
			"metadata": object{"name": nodeName(i), "labels": labels, "uid": fmt.Sprintf("node-uid-%d", i)},
			"status":   object{"allocatable": object{"cpu": "64", "memory": "256Gi", "pods": "110"}},
		})
	}
	for i := 0; i < podCount; i++ {
		pod := podOf("good", fmt.Sprintf("web-%d", i), object{"app": fmt.Sprintf("web-%d", i%50)})
		pod["spec"].(object)["nodeName"] = nodeName(i * 7 % nodeCount)
		pod["status"] = object{"phase": "Running"}
		c.add("/api/v1/pods", pod)
	}
	for _, namespace := range []string{"good", "u", "victim"} {
		c.add("/api/v1/namespaces", object{"metadata": object{"name": namespace, "uid": namespace,
			"labels": object{"kubernetes.io/metadata.name": namespace}}})
	}
	c.add("/api/v1/persistentvolumeclaims", object{"metadata": object{"name": "images", "namespace": "u",
		"uid": "claim", "labels": object{"fluid.io/s-u-images": "true"}}})
	c.add("/apis/data.fluid.io/v1alpha1/datasets", object{
		"metadata": object{"name": "images", "namespace": "u", "uid": "dataset"},
		"status": object{"phase": "Bound", "ufsTotal": "40.00GiB",
			"runtimes": []object{{"name": "images", "namespace": "u", "type": "alluxio"}}}})
	c.add("/apis/data.fluid.io/v1alpha1/alluxioruntimes", object{
		"metadata": object{"name": "images", "namespace": "u", "uid": "runtime"},
		"spec":     object{"fuse": object{"nodeSelector": object{"disk": "ssd"}}},
		"status": object{"cacheAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
			"nodeSelectorTerms": []object{{"matchExpressions": []object{
				{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []string{"zone-00", "zone-01"}}}}}}}}})
	return c
}

func (c *cluster) add(list string, o object) { c.objects[list] = append(c.objects[list], o) }

func podOf(namespace, name string, labels object) object {
	return object{
		"metadata": object{"name": name, "namespace": namespace, "uid": namespace + "-" + name, "labels": labels},
		"spec":     object{"containers": []object{{"name": "c", "image": "example.com/c:1"}}},
	}
}

// withSpread gives the pod a constraint on this key that counts pods by these labels.
func withSpread(pod object, key, when string, labels object) object {
	spec := pod["spec"].(object)
	constraints, _ := spec["topologySpreadConstraints"].([]object)
	spec["topologySpreadConstraints"] = append(constraints, object{"maxSkew": 1, "topologyKey": key,
		"whenUnsatisfiable": when, "labelSelector": object{"matchLabels": labels}})
	return pod
}

func nodeNames() []string {
	names := make([]string, nodeCount)
	for i := range names {
		names[i] = nodeName(i)
	}
	return names
}

// encode never fails: everything here is made of maps, lists, texts and numbers.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// filterOf is what kube-scheduler posts to an extender.
func filterOf(pod object, names []string) []byte {
	return encode(object{"Pod": pod, "Nodes": nil, "NodeNames": names})
}

// reviewOf is what an API server posts to a webhook as a pod is created.
func reviewOf(pod object, dryRun bool) []byte { return reviewBy("", pod, nil, dryRun) }

// reviewBy is the same of a user, and of a pod that was another one before, or nil.
func reviewBy(user string, pod, old object, dryRun bool) []byte {
	metadata, operation := pod["metadata"].(object), "CREATE"
	if old != nil {
		operation = "UPDATE"
	}
	return encode(object{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": object{
		"uid": "3f0d6c1e-0000-4000-8000-000000000000", "kind": object{"group": "", "version": "v1", "kind": "Pod"},
		"resource":  object{"group": "", "version": "v1", "resource": "pods"},
		"name":      metadata["name"],
		"namespace": metadata["namespace"], "operation": operation, "dryRun": dryRun, "object": pod, "oldObject": old,
		"userInfo": object{"username": user}}})
}
