package intree

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// Preempt says for each node whether the pod would pass there without the node's victims, as the
// scheduler's preemption tries it: every node on a state of its own, every victim taken out of it.
func (c *Cluster) Preempt(ctx context.Context, pod *corev1.Pod,
	victims map[string][]types.UID) (map[string]bool, error) {
	fits := map[string]bool{}
	state, skipped, err := c.preFilter(ctx, pod)
	if err != nil {
		return nil, err
	}
	for node, uids := range victims {
		if skipped {
			fits[node] = true
			continue
		}
		if fits[node], err = c.fitsWithout(ctx, state.Clone(), pod, node, uids); err != nil {
			return nil, err
		}
	}
	return fits, nil
}

func (c *Cluster) fitsWithout(ctx context.Context, state fwk.CycleState, pod *corev1.Pod,
	name string, victims []types.UID) (bool, error) {
	known, err := c.snapshot.Get(name)
	if err != nil {
		return false, err
	}
	node := known.Snapshot() // to be changed
	for _, uid := range victims {
		at := slices.IndexFunc(node.GetPods(), func(p fwk.PodInfo) bool { return p.GetPod().UID == uid })
		if at < 0 {
			return false, fmt.Errorf("node '%s' has no pod '%s'", name, uid)
		}
		victim := node.GetPods()[at]
		if err := node.RemovePod(klog.FromContext(ctx), victim.GetPod()); err != nil {
			return false, err
		}
		if status := c.plugin.RemovePod(ctx, state, pod, victim, node); !status.IsSuccess() {
			return false, status.AsError()
		}
	}
	return c.plugin.Filter(ctx, state, pod, node).IsSuccess(), nil
}
