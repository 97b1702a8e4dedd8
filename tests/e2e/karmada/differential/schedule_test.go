package differential

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestSchedule runs the algorithm whole: filters, scores, the general estimator, selection, division.
func TestSchedule(t *testing.T) {
	newMaker := func() (maker, error) {
		scheduler, err := peer.NewScheduler()
		return func(d dice) ([]pair, error) { return scheduleCase(d, scheduler) }, err
	}
	compareAll(t, caseCount(), newMaker, append([]string{
		"no cluster", "clusters", "FitError", "UnschedulableError", "error", "several reasons", "one affinity", "affinities", "overflows",
		"being deleted", "evicted", "not a workload", "empty ones, too", "with models", "spread", deviatesLeastZero, deviatesWrap},
		strategies...)...)
}

// binding is a case that is being made.
type binding struct {
	dice
	clusters []*clusterv1alpha1.Cluster
	spec     *workv1alpha2.ResourceBindingSpec
	status   *workv1alpha2.ResourceBindingStatus
	used     map[string]bool // traits
}

func scheduleCase(d dice, scheduler *peer.Scheduler) ([]pair, error) {
	b := &binding{dice: d, spec: &workv1alpha2.ResourceBindingSpec{}, status: &workv1alpha2.ResourceBindingStatus{}, used: map[string]bool{}}
	b.makeClusters()
	b.makeResource()
	b.makePlacement()
	b.makeHistory()
	emptyPropagation := d.chance(25)
	answer, err := scheduler.Schedule(b.clusters, b.spec, b.status, emptyPropagation)
	if err != nil {
		return nil, err
	}
	question := object{"step": "schedule", "clusters": b.clusters, "spec": b.spec.DeepCopy(), "status": b.status,
		"enableEmptyWorkloadPropagation": emptyPropagation}
	placement := b.spec.Placement.DeepCopy()
	b.used[deviatesLeastZero] = d.leastZero(placement)
	question["spec"].(*workv1alpha2.ResourceBindingSpec).Placement = placement
	if !usual(placement.SpreadConstraints) || d.chance(50) {
		question["options"] = object{"compat": "v1.18.1"}
	}
	if strings.Contains(answer.Error, wrapped) { // as it was before, but not anew
		b.used[deviatesWrap] = true
		b.spec.RescheduleTriggeredAt = nil
		if answer, err = scheduler.Schedule(b.clusters, b.spec, b.status, emptyPropagation); err != nil {
			return nil, err
		}
	}
	if answer.ErrorKind != "" {
		b.used[answer.ErrorKind] = true
	}
	b.used["several reasons"] = answer.ErrorKind == "FitError" && strings.Contains(answer.Error, ", ")
	b.used["clusters"] = len(answer.Clusters) > 0
	b.used["empty ones, too"] = false
	for _, replicas := range answer.Clusters {
		b.used["empty ones, too"] = b.used["empty ones, too"] || emptyPropagation && replicas == 0 && b.spec.Replicas > 0
	}
	return []pair{{question, object{"clusters": answer.Clusters, "errorKind": answer.ErrorKind, "error": answer.Error}, traitsOf(b.used)}}, nil
}

func (b *binding) makeClusters() {
	size := b.between(1, 12)
	if b.chance(5) {
		size = b.between(13, 30)
	}
	if b.chance(1) {
		size = 0
	}
	b.used["no cluster"] = size == 0
	for i := range size {
		c := b.place(i + 1)
		if b.chance(95) {
			c.Status.APIEnablements = b.enablements()
		}
		if b.chance(15) {
			c.Spec.Taints = several(b.dice, 1, 2, b.taint)
		}
		if b.chance(3) {
			c.DeletionTimestamp, c.Finalizers = scheduledAt.DeepCopy(), []string{"karmada.io/cluster-controller"}
			b.used["being deleted"] = true
		}
		if b.chance(95) {
			b.summarise(c)
		}
		b.clusters = append(b.clusters, c)
	}
}

func (b *binding) enablements() []clusterv1alpha1.APIEnablement {
	all := []clusterv1alpha1.APIEnablement{
		{GroupVersion: "v1", Resources: []clusterv1alpha1.APIResource{{Name: "configmaps", Kind: "ConfigMap"}}},
		{GroupVersion: "apps/v1", Resources: []clusterv1alpha1.APIResource{{Name: "daemonsets", Kind: "DaemonSet"},
			{Name: "deployments", Kind: "Deployment"}}},
	}
	if b.chance(4) {
		all[1].GroupVersion = "apps/v1beta1"
	}
	if b.chance(4) {
		all[1].Resources = all[1].Resources[:1]
	}
	return all
}

func (b *binding) taint() corev1.Taint {
	return corev1.Taint{Key: pick(b.dice, "k", "l"), Value: pick(b.dice, "", "v0", "v1"),
		Effect: pick(b.dice, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)}
}

func (d dice) toleration() corev1.Toleration {
	one := corev1.Toleration{Key: pick(d, "k", "l", ""), Operator: pick(d, "", corev1.TolerationOpEqual, corev1.TolerationOpExists),
		Effect: pick(d, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)}
	if one.Operator != corev1.TolerationOpExists {
		one.Value = pick(d, "", "v0", "v1")
	}
	if one.Key == "" && d.chance(80) {
		one.Operator, one.Value = corev1.TolerationOpExists, ""
	}
	return one
}

func (b *binding) summarise(c *clusterv1alpha1.Cluster) {
	c.Status.ResourceSummary = b.summary(40)
	if b.chance(20) {
		b.model(c, 3, 4)
		b.used["with models"] = true
	}
}

func (b *binding) makeResource() {
	b.spec.Resource = workv1alpha2.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "d", Name: "web"}
	if b.chance(15) {
		b.spec.Resource.APIVersion, b.spec.Resource.Kind = "v1", "ConfigMap"
		b.used["not a workload"] = true
	} else {
		b.spec.Replicas = int32(b.between(0, pick(b.dice, 5, 60, 60, 300)))
		if b.chance(90) {
			b.spec.ReplicaRequirements = &workv1alpha2.ReplicaRequirements{ResourceRequest: b.request()}
		}
		if b.chance(5) {
			b.spec.Components = b.components()
		}
	}
	if b.chance(60) {
		b.spec.Resource.UID = types.UID(fmt.Sprintf("%x-uid", b.Uint32()))
	}
}

func (b *binding) makePlacement() {
	all, name := names(b.clusters), pick(b.dice, strategies...)
	p := &policyv1alpha1.Placement{ReplicaScheduling: strategy(name, b.rules(all))}
	b.spec.Placement, b.used[name] = p, true
	switch b.IntN(10) {
	case 0, 1, 2:
		one := b.affinity(all)
		p.ClusterAffinity, b.used["one affinity"] = &one, true
	case 3, 4, 5:
		p.ClusterAffinities = b.affinities(all, b.chance(50))
		b.status.SchedulerObservedAffinityName = pick(b.dice, "", "a1", "a1", "a1", "a2", "a9")
		b.used["affinities"] = true
		for _, term := range p.ClusterAffinities {
			b.used["overflows"] = b.used["overflows"] || term.AffinityName == b.status.SchedulerObservedAffinityName && len(term.OverflowAffinities) > 0
		}
	}
	if b.chance(30) {
		p.ClusterTolerations = several(b.dice, 1, 2, b.toleration)
	}
	if b.chance(60) {
		p.SpreadConstraints, b.used["spread"] = b.spread(len(all)), true
	}
}

func (b *binding) makeHistory() {
	for _, c := range b.clusters {
		if b.chance(30) {
			b.spec.Clusters = append(b.spec.Clusters, workv1alpha2.TargetCluster{Name: c.Name, Replicas: int32(b.between(0, 20))})
		}
		if b.chance(4) {
			b.used["evicted"] = true
			b.spec.GracefulEvictionTasks = append(b.spec.GracefulEvictionTasks, workv1alpha2.GracefulEvictionTask{FromCluster: c.Name,
				Reason: "TaintUntolerated", Producer: "TaintManager", CreationTimestamp: &metav1.Time{Time: scheduledAt.Time}})
		}
	}
	if b.chance(10) {
		b.spec.Clusters = append(b.spec.Clusters, workv1alpha2.TargetCluster{Name: "gone", Replicas: int32(b.between(0, 9))})
	}
	b.times(b.spec, b.status)
}
