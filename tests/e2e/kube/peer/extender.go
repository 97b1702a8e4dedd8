package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

const bodyMax = 64 << 20 // as Evenkeel's

// extender answers filter and prioritize with the plugin. Only names of nodes are understood, which
// is what kube-scheduler sends when nodeCacheCapable is set.
type extender struct {
	cluster *intree.Cluster
}

func newExtender(cluster *intree.Cluster) http.Handler {
	x := &extender{cluster}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /extender/v1/filter", x.filter)
	mux.HandleFunc("POST /extender/v1/prioritize", x.prioritize)
	mux.HandleFunc("POST /webhooks/v1/pods", review)
	return mux
}

func decode(w http.ResponseWriter, r *http.Request) (*extenderv1.ExtenderArgs, error) {
	if r.ContentLength < 0 || r.ContentLength >= bodyMax {
		return nil, fmt.Errorf("a body of %d bytes", r.ContentLength)
	}
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(http.MaxBytesReader(w, r.Body, bodyMax), body); err != nil {
		return nil, err
	}
	args := &extenderv1.ExtenderArgs{}
	if err := json.Unmarshal(body, args); err != nil {
		return nil, err
	}
	if args.Pod == nil || args.NodeNames == nil {
		return nil, errors.New("expected Pod and NodeNames")
	}
	return args, nil
}

func encode(w http.ResponseWriter, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // who asked is gone
}

func (x *extender) filter(w http.ResponseWriter, r *http.Request) {
	args, err := decode(w, r)
	var result *extenderv1.ExtenderFilterResult
	if err == nil {
		result, err = x.judge(r, args)
	}
	if err != nil {
		result = &extenderv1.ExtenderFilterResult{Error: err.Error()}
	}
	encode(w, result)
}

func (x *extender) judge(r *http.Request, args *extenderv1.ExtenderArgs) (*extenderv1.ExtenderFilterResult, error) {
	names := *args.NodeNames
	codes, err := x.cluster.Filter(r.Context(), args.Pod, names)
	if err != nil {
		return nil, err
	}
	passed := make([]string, 0, len(names))
	result := &extenderv1.ExtenderFilterResult{
		NodeNames:                  &passed,
		FailedNodes:                extenderv1.FailedNodesMap{},
		FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
	}
	for i, code := range codes {
		switch code {
		case fwk.Success:
			passed = append(passed, names[i])
		case fwk.Unschedulable:
			result.FailedNodes[names[i]] = podtopologyspread.ErrReasonConstraintsNotMatch
		case fwk.UnschedulableAndUnresolvable:
			result.FailedAndUnresolvableNodes[names[i]] = podtopologyspread.ErrReasonNodeLabelNotMatch
		default:
			return nil, fmt.Errorf("node '%s': %v", names[i], code)
		}
	}
	return result, nil
}

func (x *extender) prioritize(w http.ResponseWriter, r *http.Request) {
	args, err := decode(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	scores, err := x.cluster.Score(r.Context(), args.Pod, *args.NodeNames)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	list := make(extenderv1.HostPriorityList, len(*args.NodeNames))
	for i, name := range *args.NodeNames {
		list[i].Host = name
		if scores != nil {
			list[i].Score = priority(scores.Normalized[i])
		}
	}
	encode(w, list)
}

// priority brings a score from the framework's scale to that of extenders, rounded to nearest.
func priority(score int64) int64 {
	return (score*extenderv1.MaxExtenderPriority + fwk.MaxNodeScore/2) / fwk.MaxNodeScore
}
