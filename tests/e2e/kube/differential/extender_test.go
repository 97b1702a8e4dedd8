package differential

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// extender is Evenkeel as kube-scheduler sees it, without HTTP between them.
type extender struct {
	ours   *handlers
	verb   string // prioritize or complement
	weight int64
	pause  func() error // time passes between filter and the other verb
}

var _ fwk.Extender = (*extender)(nil)

// ask sends the names of the nodes, as with nodeCacheCapable.
func (x *extender) ask(verb string, pod *corev1.Pod, nodes []fwk.NodeInfo, answer any) error {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return x.ours.ask(verb, &extenderv1.ExtenderArgs{Pod: pod, NodeNames: &names}, answer)
}

func (x *extender) Filter(pod *corev1.Pod, nodes []fwk.NodeInfo) (passed []fwk.NodeInfo, failed, unresolvable extenderv1.FailedNodesMap, err error) {
	var result extenderv1.ExtenderFilterResult
	if err := x.ask("filter", pod, nodes, &result); err != nil {
		return nil, nil, nil, err
	}
	if result.Error != "" || result.NodeNames == nil {
		return nil, nil, nil, fmt.Errorf("filter answers %s", toJSON(result))
	}
	for _, node := range nodes {
		if slices.Contains(*result.NodeNames, node.Node().Name) {
			passed = append(passed, node)
		}
	}
	return passed, result.FailedNodes, result.FailedAndUnresolvableNodes, nil
}

func (x *extender) Prioritize(pod *corev1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	if err := x.pause(); err != nil {
		return nil, 0, err
	}
	var result extenderv1.HostPriorityList
	return &result, x.weight, x.ask(x.verb, pod, nodes, &result)
}

func (x *extender) Name() string                  { return "evenkeel" }
func (x *extender) IsFilter() bool                { return true }
func (x *extender) IsPrioritizer() bool           { return true }
func (x *extender) IsBinder() bool                { return false }
func (x *extender) IsIgnorable() bool             { return false }
func (x *extender) IsInterested(*corev1.Pod) bool { return true }
func (x *extender) SupportsPreemption() bool      { return false }

func (x *extender) Bind(*corev1.Binding) error { return errors.ErrUnsupported }

func (x *extender) ProcessPreemption(*corev1.Pod, map[string]*extenderv1.Victims, fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	return nil, errors.ErrUnsupported
}
