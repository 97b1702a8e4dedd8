package live

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// A scheduler of Karmada's takes bindings that have its name, and finds estimators by it.
func nameOf(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
}

// startScheduler runs karmada-scheduler, which finds an estimator for all members at the address. It ends with the test.
func startScheduler(t *testing.T, address string, flags ...string) *world.Program {
	t.Helper()
	for _, name := range memberNames {
		must(t, karmada.Point(t.Context(), nameOf(t), name, address))
	}
	log := filepath.Join(folder(t), "karmada-scheduler.log")
	p, err := world.Run(log, setting(t, "EVENKEEL_E2E_KARMADA_PEER"), append([]string{"scheduler", "--kubeconfig", karmada.Kubeconfig,
		"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--scheduler-name", nameOf(t),
		"--enable-scheduler-estimator=true", "--scheduler-estimator-service-prefix", nameOf(t), "-v=4"}, flags...)...)
	must(t, err)
	t.Cleanup(func() {
		if p.Ended() || p.LogHas("panic") {
			t.Errorf("karmada-scheduler has ended, or was in a panic: see %s", log)
		}
		p.Kill()
	})
	return p
}

func weighted() *policyv1alpha1.ReplicaSchedulingStrategy {
	return &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided,
		ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceWeighted,
		WeightPreference:          &policyv1alpha1.ClusterPreferences{DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas}}
}

func aggregated() *policyv1alpha1.ReplicaSchedulingStrategy {
	return &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided,
		ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceAggregated}
}

// bind makes the binding of a Deployment with replicas of two CPUs.
func bind(t *testing.T, name string, replicas int32, strategy *policyv1alpha1.ReplicaSchedulingStrategy) {
	t.Helper()
	binding := &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: nameOf(t) + "-" + name,
			Labels: map[string]string{policyv1alpha1.PropagationPolicyPermanentIDLabel: "p"}},
		Spec: workv1alpha2.ResourceBindingSpec{SchedulerName: nameOf(t), Replicas: replicas,
			Resource:            workv1alpha2.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: nameOf(t) + "-" + name},
			ReplicaRequirements: &workv1alpha2.ReplicaRequirements{ResourceRequest: world.Requests(2)},
			Placement:           &policyv1alpha1.Placement{ReplicaScheduling: strategy}}}
	_, err := karmada.Karmada.WorkV1alpha2().ResourceBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
}

// scheduled waits until the scheduler has decided: replicas by cluster, or why not.
func scheduled(t *testing.T, name string) (map[string]int32, string) {
	t.Helper()
	var b *workv1alpha2.ResourceBinding
	var c *metav1.Condition
	must(t, world.Until(t.Context(), "karmada-scheduler has decided "+name, func(ctx context.Context) (bool, error) {
		var err error
		b, err = karmada.Karmada.WorkV1alpha2().ResourceBindings("default").Get(ctx, nameOf(t)+"-"+name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		c = meta.FindStatusCondition(b.Status.Conditions, workv1alpha2.Scheduled)
		return c != nil && (c.Status == metav1.ConditionFalse || b.Status.SchedulerObservedGeneration == b.Generation), nil
	}))
	decision := map[string]int32{}
	for _, target := range b.Spec.Clusters {
		decision[target.Name] = target.Replicas
	}
	if c.Status == metav1.ConditionFalse {
		return decision, c.Message
	}
	return decision, ""
}

func expect(t *testing.T, name string, wanted map[string]int32) {
	t.Helper()
	if got, message := scheduled(t, name); !maps.Equal(got, wanted) {
		t.Errorf("%s: %v %q instead of %v", name, got, message, wanted)
	}
}

// byNodes asks for what is right only by the members' nodes, and not by their summaries.
func byNodes(t *testing.T) {
	t.Helper()
	bind(t, "weighted", fit1+fit2, weighted())
	bind(t, "aggregated", fit2, aggregated())
	bind(t, "toomany", fit1+fit2+1, weighted())
	expect(t, "weighted", map[string]int32{memberNames[0]: fit1, memberNames[1]: fit2})
	expect(t, "aggregated", map[string]int32{memberNames[1]: fit2})
	wanted := fmt.Sprintf("Clusters available replicas %d are not enough to schedule.", fit1+fit2)
	if got, message := scheduled(t, "toomany"); len(got) > 0 || !strings.HasSuffix(message, wanted) {
		t.Errorf("too many: %v %q instead of %q", got, message, wanted)
	}
}

// bySummaries asks for what is right only by the summaries.
func bySummaries(t *testing.T) {
	t.Helper()
	bind(t, "weighted", fit1+fit2, weighted())
	bind(t, "aggregated", fit2, aggregated())
	expect(t, "weighted", map[string]int32{memberNames[0]: 4, memberNames[1]: 4})
	expect(t, "aggregated", map[string]int32{memberNames[0]: fit2})
}

func TestPlaintext(t *testing.T) {
	t.Parallel()
	startScheduler(t, startEstimator(t, everyMember()...).Address)
	byNodes(t)
}

// TestNobody shows what the scheduler does without an estimator, that others are different.
func TestNobody(t *testing.T) {
	t.Parallel()
	startScheduler(t, freeAddress(t), "--enable-scheduler-estimator=false")
	bySummaries(t)
}
