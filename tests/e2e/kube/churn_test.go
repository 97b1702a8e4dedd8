package e2e

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extender "k8s.io/kube-scheduler/extender/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// churn changes a stage's nodes and pods in every way that Evenkeel must hear of. Pods are created on
// their nodes; no kube-scheduler is needed.
type churn struct {
	*stage
	rounds int
	nodes  []string
	pods   []string
}

const churnZones = 3

// round makes 2 nodes and 6 pods, and, from the second time on, moves a node into another zone,
// relabels a pod, and deletes a node with its pods and two pods.
func (c *churn) round() {
	c.Helper()
	for i := range 2 {
		zone := fmt.Sprintf("zone-%d", (c.rounds+i)%churnZones)
		node := c.node(fmt.Sprintf("churn-%d-%d", c.rounds, i), map[string]string{zoneKey: zone})
		c.nodes = append(c.nodes, node.Name)
	}
	for i := range 6 {
		pod := c.newPod(fmt.Sprintf("churn-%d-%d", c.rounds, i), "churn", "nobody")
		pod.Spec.NodeName = c.nodes[len(c.nodes)-1-i%len(c.nodes)]
		c.pods = append(c.pods, c.create(pod).Name)
	}
	if c.rounds > 0 {
		c.patchNode(c.nodes[1], fmt.Sprintf(`{"metadata":{"labels":{%q:"zone-%d"}}}`, zoneKey, c.rounds%churnZones))
		c.patchPod(c.pods[0], `{"metadata":{"labels":{"app":"other"}}}`)
		c.deleteNode(c.nodes[0])
		c.nodes = c.nodes[1:]
		c.deletePod(c.pods[1])
		c.deletePod(c.pods[0])
		c.pods = c.pods[2:]
	}
	c.rounds++
}

func (c *churn) patchNode(name, patch string) {
	c.Helper()
	_, err := c.Client.CoreV1().Nodes().Patch(c.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	c.must(err)
}

func (c *churn) patchPod(name, patch string) {
	c.Helper()
	_, err := c.Client.CoreV1().Pods(c.id).Patch(c.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	c.must(err)
}

func (c *churn) deleteNode(name string) {
	c.Helper()
	c.must(c.Client.CoreV1().Nodes().Delete(c.ctx, name, metav1.DeleteOptions{}))
}

func (c *churn) deletePod(name string) {
	c.Helper()
	now := int64(0)
	c.must(c.Client.CoreV1().Pods(c.id).Delete(c.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

// agree waits until Evenkeel knows what the API server knows: as many objects in all, and as many pods
// with label app=churn in each zone of the stage, as its verdicts show.
func (c *churn) agree(e *evenkeel.Evenkeel) {
	c.Helper()
	c.caughtUp(e)
	// Numbers may be equal before contents are.
	c.until("verdicts that fit the pods in each zone", func(ctx context.Context) (bool, error) {
		counts, zones := c.perDomain(zoneKey, "churn"), c.domains(zoneKey)
		for skew := int32(1); ; skew++ {
			passed, err := c.passing(ctx, e, skew, zones)
			if err != nil {
				return false, err
			}
			all := true
			for node, zone := range zones {
				want := counts[zone]+1-least(counts) <= int(skew)
				if passed[node] != want {
					return false, fmt.Errorf("node %s in %s with maxSkew %d: passes is %v, with pods %v",
						node, zone, skew, passed[node], counts)
				}
				all = all && want
			}
			if all {
				return true, nil
			}
		}
	})
}

// passing asks for all nodes of the stage whether one more pod may go there.
func (c *churn) passing(ctx context.Context, e *evenkeel.Evenkeel, skew int32, zones map[string]string) (map[string]bool, error) {
	names := []string{}
	for node := range zones {
		names = append(names, node)
	}
	pod := c.newPod("question", "churn", "nobody", constraint(zoneKey, skew, v1.DoNotSchedule, "churn"))
	pod.UID = "question"
	result, err := e.Filter(ctx, &extender.ExtenderArgs{Pod: pod, NodeNames: &names})
	if err != nil {
		return nil, err
	}
	passed := map[string]bool{}
	for _, name := range *result.NodeNames {
		passed[name] = true
	}
	return passed, nil
}
