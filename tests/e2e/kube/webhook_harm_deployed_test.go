package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
)

// step of a Deployment's life: so many replicas, and perhaps a new revision of them.
type step struct {
	replicas int32
	roll     bool
}

var (
	rollout = []step{{replicas: 4}, {replicas: 4, roll: true}}
	climb   = []step{{replicas: 1}, {replicas: 2}, {replicas: 4}, {replicas: 7}}
	waver   = []step{{replicas: 6}, {replicas: 2}, {replicas: 7}}
)

var deployedShapes = []shape{
	{name: "rollout", pods: 4, deployed: rollout},
	{name: "rollout in two zones", pods: 4, deployed: rollout, change: requires(zoneKey, "zone-0", "zone-3")},
	{name: "rollout, one a node", pods: 4, deployed: rollout, change: withOwn("", hostKey)},
	{name: "rollout of pods together in a zone", pods: 4, deployed: rollout, loose: everything, change: withOwn(zoneKey, "")},
	{name: "rollout beside a volume", pods: 4, deployed: rollout, loose: everything, change: mountsOf(func(int) string { return "zone-2" })},
	{name: "more and more replicas", pods: 7, deployed: climb},
	{name: "more and more replicas in a tainted zone, too", pods: 7, deployed: climb, change: tolerates(gpuTaint)},
	{name: "fewer replicas and more again", pods: 7, deployed: waver},
}

// placeByControllers has Kubernetes' own controllers take Deployments through their steps, with
// maxSurge 25 % and no pod unavailable: a pod that stays Pending stops a rollout.
func (s *stage) placeByControllers(groups []*group, pods cache.SharedIndexInformer) {
	s.Helper()
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g.shape.deployed == nil })
	s.controllers()
	s.kubelet(pods)
	for i := 0; ; i++ {
		var next []*group
		for _, g := range groups {
			if i < len(g.shape.deployed) && !g.stuck {
				next = append(next, g)
			}
		}
		if len(next) == 0 {
			return
		}
		s.each(next, func(g *group) error { return g.take(i) })
		s.settleDeployments(next, i)
	}
}

// take a step.
func (g *group) take(i int) error {
	now, deployments := g.shape.deployed[i], g.Client.AppsV1().Deployments(g.stage.id)
	if i == 0 {
		pod := g.pod(0)
		surge, none := intstr.FromString("25%"), intstr.FromInt32(0)
		_, err := deployments.Create(g.ctx, &apps.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: g.id},
			Spec: apps.DeploymentSpec{Replicas: &now.replicas,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.id}},
				Strategy: apps.DeploymentStrategy{Type: apps.RollingUpdateDeploymentStrategyType,
					RollingUpdate: &apps.RollingUpdateDeployment{MaxUnavailable: &none, MaxSurge: &surge}},
				Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec}},
		}, metav1.CreateOptions{})
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, now.replicas)
	if now.roll {
		patch = fmt.Sprintf(`{"spec":{"replicas":%d,"template":{"metadata":{"annotations":{"revision":"%d"}}}}}`, now.replicas, i)
	}
	_, err := deployments.Patch(g.ctx, g.id, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// settleDeployments waits until all have what they want, but those that their policy's own words keep from it.
func (s *stage) settleDeployments(groups []*group, i int) {
	s.Helper()
	j := s.newJudge()
	var missing []*group
	deadline := time.Now().Add(3 * s.patience) // a rollout is many calls, and there are a hundred
	for tick := time.NewTicker(500 * time.Millisecond); ; <-tick.C {
		all, err := s.Client.AppsV1().Deployments(s.id).List(s.ctx, metav1.ListOptions{ResourceVersion: "0"})
		s.must(err)
		missing = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool {
			at := slices.IndexFunc(all.Items, func(d apps.Deployment) bool { return d.Name == g.id })
			return at >= 0 && isDone(&all.Items[at], g.shape.deployed[i].replicas) || mayStop(j, g)
		})
		if len(missing) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, g := range missing {
		d, err := s.Client.AppsV1().Deployments(s.id).Get(s.ctx, g.id, metav1.GetOptions{})
		s.must(err)
		s.Errorf("%v: stands still in step %d: %d replicas, %d updated, %d available, as of generation %d of %d", g, i,
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration, d.Generation)
		g.stuck = true
	}
}

func mayStop(j *judge, g *group) bool {
	for i := range harmExcuses {
		if g.policy == nil {
			return false
		}
		if _, ok := harmExcuses[i].excuses(j, g); ok {
			return true
		}
	}
	return false
}

func isDone(d *apps.Deployment, replicas int32) bool {
	return *d.Spec.Replicas == replicas && d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == replicas &&
		d.Status.UpdatedReplicas == replicas && d.Status.AvailableReplicas == replicas
}

// kubelet has pods of Deployments be ready as soon as they have a node.
func (s *stage) kubelet(pods cache.SharedIndexInformer) {
	s.Helper()
	var mu sync.Mutex
	ready := map[types.UID]bool{}
	update := func(object any) {
		pod := object.(*v1.Pod)
		mu.Lock()
		defer mu.Unlock()
		if pod.Spec.NodeName == "" || pod.Labels["app"] != strings.Join(strings.SplitN(pod.Name, "-", 3)[:2], "-") ||
			len(pod.OwnerReferences) == 0 || ready[pod.UID] || pod.DeletionTimestamp != nil {
			return
		}
		ready[pod.UID] = true
		patch := []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
		_, err := s.Client.CoreV1().Pods(s.id).Patch(s.ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil && s.ctx.Err() == nil && !apierrors.IsNotFound(err) {
			s.Errorf("pod %s does not get ready: %v", pod.Name, err)
		}
	}
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: update,
		UpdateFunc: func(_, object any) { update(object) }})
	s.must(err)
	s.Cleanup(func() {
		s.must(pods.RemoveEventHandler(registration))
		mu.Lock() // whoever is at it ends first
		ready = nil
		mu.Unlock()
	})
}
