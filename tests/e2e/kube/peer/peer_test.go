package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"evenkeel.io/tests/e2e/kube/differential/served"
	"evenkeel.io/tests/e2e/kube/peer/intree"
)

const stateNodes, statePods = 300, 6000

// makeState writes the state that the benchmark makes, smaller.
func makeState(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.json")
	state, err := exec.Command(served.Program(t, "MAKE_STATE", "build/bench/make_state"),
		fmt.Sprint(stateNodes), fmt.Sprint(statePods)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, state, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func startPeer(t *testing.T, state string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	handler, _, err := load(ctx, state)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func post(t *testing.T, url, verb string, args *extenderv1.ExtenderArgs, answer any) {
	t.Helper()
	if err := served.Post(url, verb, args, answer); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

// verdicts are a filter's answer without its reasons, which are worded differently.
type verdicts struct {
	Passed, Failed, Unresolvable []string
}

func filter(t *testing.T, url string, args *extenderv1.ExtenderArgs) verdicts {
	t.Helper()
	var result extenderv1.ExtenderFilterResult
	post(t, url, "filter", args, &result)
	if result.Error != "" || result.NodeNames == nil {
		t.Fatalf("%s: filter answered %+v", url, result)
	}
	return verdicts{*result.NodeNames, namesIn(result.FailedNodes), namesIn(result.FailedAndUnresolvableNodes)}
}

func namesIn(failed extenderv1.FailedNodesMap) []string {
	names := []string{}
	for name := range failed {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// waiting is a pod of the same workload as `like`, to be spread evenly over a key and preferably
// over hosts.
func waiting(like *corev1.Pod, key string) *corev1.Pod {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": like.Labels["app"]}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "waiting", Namespace: like.Namespace, UID: "waiting", Labels: like.Labels}}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector},
		{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
	}
	return pod
}

func TestPeerAnswersLikeEvenkeel(t *testing.T) {
	state := makeState(t)
	objects, err := intree.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := served.Start(served.Program(t, "EVENKEEL", "build/evenkeel"), "--state", state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(daemon.Stop)
	peer, evenkeel := startPeer(t, state), daemon.URL
	var all []string
	for _, node := range objects.Nodes {
		all = append(all, node.Name)
	}
	var rejected, scored int
	for i := range 30 {
		key := corev1.LabelTopologyZone
		if i%3 == 2 {
			key = "example.com/on-no-node"
		}
		pod := waiting(objects.Pods[i*100], key)
		names := all[i : len(all)-7*i]
		args := &extenderv1.ExtenderArgs{Pod: pod, NodeNames: &names}
		ours, theirs := filter(t, evenkeel, args), filter(t, peer, args)
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("pod %d: filter: evenkeel %+v, peer %+v", i, ours, theirs)
		}
		rejected += len(theirs.Failed)
		if len(theirs.Passed)+len(theirs.Failed)+len(theirs.Unresolvable) != len(names) {
			t.Errorf("pod %d: %d names, but %+v", i, len(names), theirs)
		}
		scored += comparePriorities(t, i, evenkeel, peer, args)
	}
	if rejected == 0 || scored == 0 {
		t.Errorf("%d nodes rejected, %d differ in priority: the questions are too dull", rejected, scored)
	}
}

// comparePriorities returns how many nodes got another priority than the first one.
func comparePriorities(t *testing.T, number int, evenkeel, peer string, args *extenderv1.ExtenderArgs) (differ int) {
	t.Helper()
	var ours, theirs extenderv1.HostPriorityList
	post(t, evenkeel, "prioritize", args, &ours)
	post(t, peer, "prioritize", args, &theirs)
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("pod %d: prioritize: evenkeel %v, peer %v", number, ours, theirs)
	}
	for _, one := range theirs {
		if one.Score != theirs[0].Score {
			differ++
		}
	}
	return differ
}
