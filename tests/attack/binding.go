package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// What U does about a policy that binds it: TopologyPolicies with mode Require.

const policiesList = "/apis/evenkeel.io/v1alpha1/topologypolicies"

// bindingPolicy has the cluster's policy bind, in every namespace, and comes before the one of the file.
func bindingPolicy(c *cluster) {
	c.add(policiesList, object{"apiVersion": "evenkeel.io/v1alpha1", "kind": "TopologyPolicy",
		"metadata": object{"name": "binds", "uid": "binds"},
		"spec": object{"mode": "Require", "priority": 1, "pods": object{"spread": []object{
			{"topologyKey": zoneKey, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3}}}}})
}

// longLabels are 1.35 MB, and those of one value are a group.
func longLabels(value string) object {
	labels := object{"app": "web"}
	for i := 0; i < 90000; i++ {
		labels[fmt.Sprintf("la%d", i)] = value
	}
	return labels
}

// bindingNamespace adds to that what a review has to look at: 5,000 pods of U's with a label of their own, and
// twelve with 90,000.
func bindingNamespace(c *cluster) {
	bindingPolicy(c)
	for i := 0; i < 12; i++ {
		pod := podOf("u", fmt.Sprintf("others%d", i), longLabels(fmt.Sprint(10+i)))
		pod["spec"].(object)["nodeName"] = nodeName(i)
		c.add(podsList, pod)
	}
	for i := 0; i < 5000; i++ {
		pod := podOf("u", fmt.Sprintf("own%d", i), object{"app": "web", "me": fmt.Sprint(i)})
		pod["spec"].(object)["nodeName"] = nodeName(i)
		c.add(podsList, pod)
	}
}

// verdict is what a validating review says.
type verdict struct {
	allowed bool
	message string
}

// validator posts validating reviews as an API server does.
func (st *stage) validator(connections int) *http.Client {
	client := caller("127.0.0.5", st.authority.client("kube-apiserver-webhook-client", nil), connections)
	client.Timeout = 10 * time.Second
	return client
}

func (st *stage) validate(client *http.Client, body []byte) (v verdict, err error) {
	response, err := client.Post("https://"+st.daemon.webhook+"/webhooks/v1/pods/validate", "application/json", bytes.NewReader(body))
	if err != nil {
		return v, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var answer struct {
		Response struct {
			Allowed bool
			Status  struct{ Message string }
		}
	}
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, &answer)
	} else if err == nil {
		err = fmt.Errorf("%d %.200s", response.StatusCode, text)
	}
	return verdict{answer.Response.Allowed, answer.Response.Status.Message}, err
}

// validations has pods reviewed whose labels are many, and none of which another pod has all.
func validations(st *stage) error {
	const atOnce, rounds = 4, 8
	body := reviewBy("alice", podOf("u", "long", longLabels("vv")), nil, true)
	client := st.validator(atOnce)
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	var mutex sync.Mutex
	var failure error
	denied := 0
	for i := 0; i < atOnce; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for round := 0; round < rounds && st.until(); round++ {
				v, err := st.validate(client, body)
				mutex.Lock()
				if err != nil {
					failure = err
				} else if !v.allowed {
					denied++
				}
				mutex.Unlock()
			}
		}()
	}
	all.Wait()
	if failure == nil && denied == 0 {
		return errors.New("no review denied such a pod")
	}
	return failure
}

// What U writes, by the user that API servers see, and the reason for which it is denied; "": it is not.
type evasion struct {
	name, user, reason string
	pod                func() (pod, old object)
}

func podOwnedBy(version, kind string, labels, spec object) object {
	labels["app"] = "mine"
	pod := podOf("u", "evader", labels)
	pod["metadata"].(object)["ownerReferences"] = []object{
		{"apiVersion": version, "kind": kind, "name": "o", "uid": "o", "controller": true}}
	for key, value := range spec {
		pod["spec"].(object)[key] = value
	}
	return pod
}

func onNode(terms object) object {
	return object{"affinity": object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
		"nodeSelectorTerms": []object{terms}}}}}
}

func created(pod object) func() (object, object) { return func() (object, object) { return pod, nil } }

// ungated is a pod that has lost its gate, and what it was before.
func ungated(spec object) func() (object, object) {
	return func() (object, object) {
		old := podOf("u", "gated", object{"app": "mine"})
		old["spec"].(object)["schedulingGates"] = []object{{"name": "example.com/wait"}}
		pod := podOf("u", "gated", object{"app": "mine"})
		for key, value := range spec {
			pod["spec"].(object)[key] = value
		}
		return pod, old
	}
}

func waysOut() []evasion {
	const account = "system:serviceaccount:kube-system:"
	node := object{"nodeName": nodeName(1)}
	pinned := onNode(object{"matchFields": []object{{"key": "metadata.name", "operator": "In", "values": []string{nodeName(1)}}}})
	oneZone := object{"nodeSelector": object{zoneKey: "zone-00"}}
	worker := object{"leaderworkerset.sigs.k8s.io/name": "o", "leaderworkerset.sigs.k8s.io/worker-index": "1"}
	job := object{"jobset.sigs.k8s.io/jobset-name": "o", "batch.kubernetes.io/job-completion-index": "1"}
	gang := object{"scheduling.x-k8s.io/pod-group": "g"}
	return []evasion{
		{"a good pod", "alice", "", created(podOf("u", "good", object{"app": "mine"}))},
		{"a Deployment's template names a node", account + "replicaset-controller", "NodeChosen",
			created(podOwnedBy("apps/v1", "ReplicaSet", object{}, node))},
		{"a Job's template names a node", account + "job-controller", "NodeChosen", created(podOwnedBy("batch/v1", "Job", object{}, node))},
		{"a template names a node by matchFields", account + "statefulset-controller", "NodeChosen",
			created(podOwnedBy("apps/v1", "StatefulSet", object{}, pinned))},
		{"labels of a LeaderWorkerSet in a template", account + "statefulset-controller", "NotFirstOfUnit",
			created(podOwnedBy("apps/v1", "StatefulSet", worker, nil))},
		{"labels of a JobSet in a template", account + "job-controller", "NotFirstOfUnit", created(podOwnedBy("batch/v1", "Job", job, nil))},
		{"a RayCluster that is not there", "system:serviceaccount:u:robot", "NotFirstOfUnit",
			created(podOwnedBy("ray.io/v1", "RayCluster", object{"ray.io/replica-host-index": "1"}, nil))},
		{"an owner of a kind that nobody knows", "system:serviceaccount:u:robot", "NotFirstOfUnit",
			created(podOwnedBy("x.example/v1", "Any", gang, nil))},
		{"a pod that loses its gates and has one zone", "alice", "TooFewDomainsNamed", ungated(oneZone)},
		{"a pod that loses its gates and has a node", "alice", "NodeChosen", ungated(pinned)},
		{"a pod that loses its gates", "alice", "", ungated(nil)},
		{"a Node as owner", "alice", "NotOfKubelet", created(podOwnedBy("v1", "Node", object{}, nil))},
		{"a DaemonSet as owner", "alice", "NotOfDaemonSet", created(podOwnedBy("apps/v1", "DaemonSet", object{}, pinned))},
	}
}

// evasions has each way out tried, and notes those that were ways out.
func evasions(st *stage) error {
	client := st.validator(1)
	defer client.CloseIdleConnections()
	for _, e := range waysOut() {
		pod, old := e.pod()
		v, err := st.validate(client, reviewBy(e.user, pod, old, true))
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if v.allowed != (e.reason == "") || !v.allowed && !strings.Contains(v.message, "("+e.reason+")") {
			st.notes = append(st.notes, fmt.Sprintf("%s, which is %q: allowed %v, %q", e.name, e.reason, v.allowed, v.message))
		}
	}
	return nil
}
