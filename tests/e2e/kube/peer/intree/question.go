package intree

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Scores are those of the nodes asked for, in their order.
type Scores struct {
	Raw, Normalized []int64
}

// AllNodes lists the names of all nodes, in the order in which the scheduler tries them.
func (c *Cluster) AllNodes() []string {
	infos, _ := c.snapshot.List() // a snapshot's list does not fail
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Node().Name
	}
	return names
}

// nodes finds the named ones; nil stands for one that the cluster does not have.
func (c *Cluster) nodes(names []string) []fwk.NodeInfo {
	found := make([]fwk.NodeInfo, len(names))
	for i, name := range names {
		if info, err := c.snapshot.Get(name); err == nil {
			found[i] = info
		}
	}
	return found
}

// Filter judges the pod on each of the named nodes, in their order: the code of the plugin's
// status. Nodes that the cluster does not have are Unschedulable, which is Evenkeel's answer: the
// scheduler asks its plugins of no others.
func (c *Cluster) Filter(ctx context.Context, pod *corev1.Pod, names []string) ([]fwk.Code, error) {
	codes := make([]fwk.Code, len(names))
	state, skipped, err := c.preFilter(ctx, pod)
	if err != nil || skipped {
		return codes, err
	}
	nodes := c.nodes(names)
	judge := func(i int) {
		codes[i] = fwk.Unschedulable
		if nodes[i] != nil {
			codes[i] = c.plugin.Filter(ctx, state, pod, nodes[i]).Code()
		}
	}
	c.parallelizer.Until(ctx, len(names), judge, c.plugin.Name())
	return codes, nil
}

func (c *Cluster) preFilter(ctx context.Context, pod *corev1.Pod) (fwk.CycleState, bool, error) {
	state := framework.NewCycleState()
	all, err := c.snapshot.List()
	if err != nil {
		return nil, false, err
	}
	_, status := c.plugin.PreFilter(ctx, state, pod, all)
	if status.IsSkip() {
		return nil, true, nil
	}
	return state, false, status.AsError()
}

// Score scores the named nodes, all of which the cluster must have, as those that passed all
// filters. Nil where the plugin has no opinion, because nothing about the pod is to be spread
// preferably.
func (c *Cluster) Score(ctx context.Context, pod *corev1.Pod, names []string) (*Scores, error) {
	if len(names) == 0 {
		return nil, nil // the scheduler does not score then
	}
	nodes := c.nodes(names)
	for i, node := range nodes {
		if node == nil {
			return nil, fmt.Errorf("no node '%s'", names[i])
		}
	}
	state := framework.NewCycleState()
	status := c.plugin.PreScore(ctx, state, pod, nodes)
	if status.IsSkip() {
		return nil, nil
	}
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	return c.scoreAll(ctx, state, pod, nodes)
}

func (c *Cluster) scoreAll(ctx context.Context, state fwk.CycleState, pod *corev1.Pod,
	nodes []fwk.NodeInfo) (*Scores, error) {
	list := make(fwk.NodeScoreList, len(nodes))
	failures := make([]*fwk.Status, len(nodes))
	score := func(i int) {
		list[i].Name = nodes[i].Node().Name
		list[i].Score, failures[i] = c.plugin.Score(ctx, state, pod, nodes[i])
	}
	c.parallelizer.Until(ctx, len(nodes), score, c.plugin.Name())
	scores := &Scores{Raw: make([]int64, len(nodes)), Normalized: make([]int64, len(nodes))}
	for i := range list {
		if !failures[i].IsSuccess() {
			return nil, failures[i].AsError()
		}
		scores.Raw[i] = list[i].Score
	}
	if status := c.plugin.NormalizeScore(ctx, state, pod, list); !status.IsSuccess() {
		return nil, status.AsError()
	}
	for i := range list {
		scores.Normalized[i] = list[i].Score
	}
	return scores, nil
}
