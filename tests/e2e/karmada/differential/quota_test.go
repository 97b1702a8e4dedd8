package differential

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/pb"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestQuota estimates with ResourceQuotas, which are off unless they are asked for.
func TestQuota(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return quotaCase, nil },
		"replicas by quotas", "sets by quotas", "quotas used up", "quotas with scopes", deviatesExceeded)
}

var quotaKeys = []corev1.ResourceName{"cpu", "requests.cpu", "memory", "requests.memory", "limits.cpu", "requests.nvidia.com/gpu", gpu, "pods",
	"requests.storage", "count/services"}

func bare(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case "requests.cpu", "limits.cpu":
		return corev1.ResourceCPU
	case "requests.memory":
		return corev1.ResourceMemory
	case "requests.nvidia.com/gpu":
		return gpu
	}
	return name
}

func (d dice) quota(number int) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%d", number), Namespace: pick(d, "d", "d", "d", "e")}}
	q.Spec.Hard, q.Status.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	taken := map[corev1.ResourceName]bool{} // a bare key beside one with a prefix: which of them counts is as a map has it
	for _, key := range some(d, 35, quotaKeys...) {
		if name := bare(key); !taken[name] {
			taken[name] = true
			hard := d.amount(name, 0, 30)
			q.Spec.Hard[key], q.Status.Hard[key] = hard, hard
			if d.chance(92) {
				q.Status.Used[key] = d.amount(name, 0, pick(d, 6, 6, 20))
			}
		}
	}
	if d.chance(15) {
		q.Spec.Scopes = []corev1.ResourceQuotaScope{pick(d, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeTerminating,
			corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeCrossNamespacePodAffinity)}
	}
	if d.chance(30) {
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: several(d, 1, 2, d.scope)}
	}
	return q
}

func (d dice) scope() corev1.ScopedResourceSelectorRequirement {
	one := corev1.ScopedResourceSelectorRequirement{
		ScopeName: pick(d, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeBestEffort),
		Operator: pick(d, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn, corev1.ScopeSelectorOpExists,
			corev1.ScopeSelectorOpDoesNotExist)}
	if one.Operator == corev1.ScopeSelectorOpIn || one.Operator == corev1.ScopeSelectorOpNotIn {
		one.Values = append(some(d, 40, "high"), "low")
	}
	if d.chance(6) { // invalid, mostly
		one.Values = pick(d, nil, []string{"low"}, []string{"low", "bad value!"})
	}
	return one
}

func quotaCase(d dice) ([]pair, error) {
	nodes := d.nodes(1)
	pods, number := d.pods(nodes), 0
	quotas := several(d, 0, 3, func() *corev1.ResourceQuota {
		number++
		return d.quota(number)
	})
	asked, err := peer.NewQuotas(nodes, pods, quotas)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	question := func(name, wire string) object {
		return object{"step": "estimate", "cluster": memberName, "nodes": inTurns(nodes), "pods": pods, "quotas": quotas, name: wire,
			"options": object{"resourceQuota": true}}
	}
	scopes := false
	for _, q := range quotas {
		scopes = scopes || q.Namespace == "d" && (q.Spec.ScopeSelector != nil || len(q.Spec.Scopes) > 0)
	}
	e := epoch(d.IntN(3))
	requirements := &workv1alpha2.ReplicaRequirements{ResourceRequest: d.request(), Namespace: pick(d, "d", "d", "e", ""),
		PriorityClassName: pick(d, "", "low", "high")}
	received := &pb.MaxAvailableReplicasRequest{}
	wire, err := sent(&pb.MaxAvailableReplicasRequest{Cluster: memberName, ReplicaRequirements: e.requirements(requirements)}, received)
	if err != nil {
		return nil, err
	}
	replicas, err := asked.Replicas(received.ReplicaRequirements)
	if err != nil {
		return nil, err
	}
	pairs := []pair{{question("wire", wire), object{"replicas": max(0, replicas), "error": ""}, traitsOf(map[string]bool{
		"replicas by quotas": len(quotas) > 0 && replicas > 0, "quotas used up": len(quotas) > 0 && replicas == 0,
		"quotas with scopes": scopes, deviatesExceeded: replicas < 0})}}
	sets, err := setsByQuotas(d, e, asked, question)
	return append(pairs, sets...), err
}

func setsByQuotas(d dice, e epoch, asked *peer.Quotas, question func(name, wire string) object) ([]pair, error) {
	components := d.components()
	total := int32(0)
	for i := range components {
		total += components[i].Replicas
		if r := components[i].ReplicaRequirements; r != nil {
			r.PriorityClassName = pick(d, "", "low", "high")
		}
	}
	if total == 0 {
		return nil, nil // see deviatesNoReplicas
	}
	received := &pb.MaxAvailableComponentSetsRequest{}
	wire, err := sent(&pb.MaxAvailableComponentSetsRequest{Cluster: memberName, Namespace: pick(d, "d", "d", "e", ""),
		Components: e.components(components)}, received)
	if err != nil {
		return nil, err
	}
	sets, err := asked.Sets(received.Namespace, received.Components)
	return []pair{{question("componentsWire", wire), object{"sets": max(0, sets), "error": ""},
		traitsOf(map[string]bool{"sets by quotas": sets > 0, deviatesExceeded: sets < 0})}}, err
}
