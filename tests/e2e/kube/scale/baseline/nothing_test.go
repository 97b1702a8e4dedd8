package main

import (
	"encoding/json"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
)

// What is cut and pasted is what a decoder would have made of it.
func TestNothing(t *testing.T) {
	pod := &v1.Pod{}
	pod.Annotations = map[string]string{"a": `"NodeNames":["x"]`}
	for _, want := range [][]string{{}, {"a"}, {"a.b", "c-d"}} {
		question, err := json.Marshal(extender.ExtenderArgs{Pod: pod, NodeNames: &want})
		if err != nil {
			t.Fatal(err)
		}
		names, found := cutNames(question)
		if !found {
			t.Fatalf("no names in %s", question)
		}
		var passed extender.ExtenderFilterResult
		if err := json.Unmarshal(passAll(names), &passed); err != nil || !slices.Equal(*passed.NodeNames, want) {
			t.Errorf("%q passes %s: %v", want, passAll(names), err)
		}
		var scores extender.HostPriorityList
		if err := json.Unmarshal(scoreNone(names), &scores); err != nil || len(scores) != len(want) {
			t.Errorf("%q scores %s: %v", want, scoreNone(names), err)
			continue
		}
		for i, score := range scores {
			if score.Host != want[i] || score.Score != 0 {
				t.Errorf("score %d of %q is %v", i, want, score)
			}
		}
	}
}
