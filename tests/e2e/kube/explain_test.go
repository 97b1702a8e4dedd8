package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// explanation is an answer of /explain, as far as this test reads it.
type explanation struct {
	Decisions []struct {
		Verb, Result, Node string
		UID                string `json:"uid"`
		Candidates, Passed int
		Constraints        []struct{ From, TopologyKey, Selector string }
		Dropped            []struct {
			Reason string
			Nodes  int
			Names  []string
		}
		Scores []struct{ Node string }
	}
}

func (s *stage) explain(e *evenkeel.Evenkeel, pod string) explanation {
	s.Helper()
	text, err := e.Ops(s.ctx, "/explain/pods/"+s.id+"/"+pod)
	s.must(err)
	var told explanation
	s.must(json.Unmarshal([]byte(text), &told))
	return told
}

// TestExplain asks about every pod that kube-scheduler has placed with Evenkeel's verdicts alone: what
// is told agrees with where it is.
func TestExplain(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	s.zones(3, 2)
	e := s.evenkeel(func(o *evenkeel.Options) {
		o.Settings["reservations"] = conservative()
	})
	s.scheduler(s.id, withoutSpread(), binding(e))
	r := s.record()
	const pods = 12
	for i := range pods {
		s.create(s.newPod(fmt.Sprintf("web-%d", i), "web", s.id,
			constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
	}
	s.waitBound(r, pods)
	list, err := s.Client.CoreV1().Pods(s.id).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	dropped := 0
	for _, pod := range list.Items {
		told := s.explain(e, pod.Name)
		n := len(told.Decisions)
		if n < 2 {
			t.Fatalf("only %d decisions about %s", n, pod.Name)
		}
		last := told.Decisions[n-1]
		if last.Verb != "bind" || last.Result != "bound" || last.Node != pod.Spec.NodeName {
			t.Errorf("%s is on %s, and told is %+v", pod.Name, pod.Spec.NodeName, last)
		}
		for i, d := range told.Decisions {
			if d.UID != string(pod.UID) {
				t.Errorf("%s has the uid %s, and told is %s", pod.Name, pod.UID, d.UID)
			}
			if d.Verb != "filter" {
				continue
			}
			if len(d.Constraints) != 1 || d.Constraints[0].From != "pod" || d.Constraints[0].TopologyKey != zoneKey {
				t.Errorf("%s was judged by %+v", pod.Name, d.Constraints)
			}
			sum := d.Passed
			for _, reason := range d.Dropped {
				sum += reason.Nodes
				dropped += reason.Nodes
				// The last filter before the binding left the node.
				if slices.Contains(reason.Names, pod.Spec.NodeName) && i+2 >= n {
					t.Errorf("%s is on %s, which was dropped: %s", pod.Name, pod.Spec.NodeName, reason.Reason)
				}
			}
			if sum != d.Candidates {
				t.Errorf("%s: %d of %d nodes are told of", pod.Name, sum, d.Candidates)
			}
		}
	}
	if dropped == 0 {
		t.Error("no node was ever dropped")
	}
}
