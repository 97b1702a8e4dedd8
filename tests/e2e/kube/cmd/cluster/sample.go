package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	config "k8s.io/kube-scheduler/config/v1"
)

type configExtender = config.Extender

// settings of Evenkeel: pods with app=api go evenly over regions first, then over the zones of each.
func settings() map[string]any {
	term := func(key string) map[string]any {
		return map[string]any{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
	}
	return map[string]any{
		"reservations": map[string]any{"mode": "Conservative"},
		"orderedSpread": map[string]any{"rules": []any{map[string]any{
			"name":        "api",
			"podSelector": map[string]any{"matchLabels": map[string]string{"app": "api"}},
			"terms":       []any{term(v1.LabelTopologyRegion), term(v1.LabelTopologyZone)},
		}}},
	}
}

// Regions with their zones; every zone has two nodes. They are not alike on purpose.
var regions = []struct {
	name  string
	zones []string
}{
	{"east", []string{"east-1", "east-2", "east-3"}},
	{"west", []string{"west-1", "west-2"}},
	{"north", []string{"north-1"}},
}

// fill creates the sample nodes and pods, and waits until the pods have their nodes.
func (p *playground) fill(ctx context.Context) error {
	fmt.Println("== creating nodes and pods")
	for _, region := range regions {
		for _, zone := range region.zones {
			for i := range 2 {
				if err := p.createNode(ctx, fmt.Sprintf("%s-node-%d", zone, i), region.name, zone); err != nil {
					return err
				}
			}
		}
	}
	for _, app := range []struct {
		name string
		pods int
	}{{"web", 12}, {"api", 12}, {"batch", 6}} {
		for i := range app.pods {
			if err := p.createPod(ctx, app.name, i); err != nil {
				return err
			}
		}
	}
	return p.waitScheduled(ctx)
}

func (p *playground) createNode(ctx context.Context, name, region, zone string) error {
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("16"), v1.ResourceMemory: resource.MustParse("64Gi"),
		v1.ResourcePods: resource.MustParse("110"),
	}
	_, err := p.Client.CoreV1().Nodes().Create(ctx, &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelTopologyRegion: region, v1.LabelTopologyZone: zone,
		}},
		Status: v1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []v1.NodeCondition{
			{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "Sample", Message: "there is no kubelet here"},
		}},
	}, metav1.CreateOptions{})
	return err
}

// web: a hard constraint over zones of the pod's own. api: Evenkeel's rule. batch: nothing.
func (p *playground) createPod(ctx context.Context, app string, i int) error {
	none := int64(0)
	labels := map[string]string{"app": app}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", app, i), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{ownedBy(app)}},
		Spec: v1.PodSpec{
			// Nobody would end it: without this, `kubectl delete pod` waits for ever.
			TerminationGracePeriodSeconds: &none,
			Containers:                    []v1.Container{{Name: "main", Image: "example.com/" + app}},
		},
	}
	if app == "web" {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			TopologyKey: v1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		}}
	}
	_, err := p.Client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// ownedBy makes the pods of an app those of one workload, which `evenkeel topology` measures. No controller
// and no garbage collector runs here, so nobody misses the StatefulSet.
func ownedBy(app string) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: app, UID: types.UID(app), Controller: &yes}
}

func (p *playground) waitScheduled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		pods, err := p.Client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
			FieldSelector: "spec.nodeName=",
		})
		if err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d pods have no node, pod %s for one; see %s",
				len(pods.Items), pods.Items[0].Name, p.LogFile("scheduler-default-scheduler"))
		case <-tick.C:
		}
	}
}
