package peer

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/detector"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native"
	"github.com/karmada-io/karmada/pkg/util"
	"github.com/karmada-io/karmada/pkg/util/helper"
)

// Detector is Karmada's, with the built-in interpreters alone. It knows no API server.
type Detector struct {
	detector.ResourceDetector
}

// builtIn has none of the interpreters that users configure.
type builtIn struct {
	resourceinterpreter.ResourceInterpreter
	native *native.DefaultInterpreter
}

func (i builtIn) HookEnabled(kind schema.GroupVersionKind, operation configv1alpha1.InterpreterOperation) bool {
	return i.native.HookEnabled(kind, operation)
}

func (i builtIn) GetReplicas(object *unstructured.Unstructured) (int32, *workv1alpha2.ReplicaRequirements, error) {
	return i.native.GetReplicas(object)
}

func NewDetector() *Detector {
	return &Detector{detector.ResourceDetector{
		ResourceInterpreter: builtIn{native: native.NewDefaultInterpreter()},
		EventRecorder:       &record.FakeRecorder{},
		// The defaults of karmada-controller-manager.
		SkippedResourceConfig:        util.NewSkippedResourceConfig(),
		SkippedPropagatingNamespaces: []*regexp.Regexp{regexp.MustCompile("^kube-.*$")},
	}}
}

// Store sets what the API server and Karmada's webhook set when a policy is created: the defaults of the CRD
// first, as far as they are in what a detector reads.
func Store(spec *policyv1alpha1.PropagationSpec, namespace string) {
	for i := range spec.ResourceSelectors {
		if spec.ResourceSelectors[i].Namespace == "" {
			spec.ResourceSelectors[i].Namespace = namespace
		}
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = "default-scheduler"
	}
	if spec.ConflictResolution == "" {
		spec.ConflictResolution = policyv1alpha1.ConflictAbort
	}
	if s := spec.Placement.ReplicaScheduling; s != nil && s.ReplicaSchedulingType == "" {
		s.ReplicaSchedulingType = policyv1alpha1.ReplicaSchedulingTypeDivided
	}
	helper.SetDefaultSpreadConstraints(spec.Placement.SpreadConstraints)
	helper.SetReplicaDivisionPreferenceWeighted(&spec.Placement)
	spec.PropagateDeps = spec.PropagateDeps || helper.ContainsServiceImport(spec.ResourceSelectors)
}

// Bind is what a policy, as it is stored, makes of an object; nil if it does not select it.
func (d *Detector) Bind(policy *policyv1alpha1.PropagationPolicy, object *unstructured.Unstructured) (*workv1alpha2.ResourceBinding, error) {
	if policy.Namespace != object.GetNamespace() || !policy.DeletionTimestamp.IsZero() || // as LookForMatchedPolicy() lists them
		!d.selects(object, policy.Spec.ResourceSelectors) {
		return nil, nil
	}
	id := policy.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel]
	return d.BuildResourceBinding(object, &policy.Spec, id, policy.ObjectMeta, detector.AddPPClaimMetadata)
}

// BindClusterWide is the same of a ClusterPropagationPolicy: one of the two, or none.
func (d *Detector) BindClusterWide(policy *policyv1alpha1.ClusterPropagationPolicy, object *unstructured.Unstructured) (metav1.Object, error) {
	if !policy.DeletionTimestamp.IsZero() || !d.selects(object, policy.Spec.ResourceSelectors) {
		return nil, nil
	}
	id := policy.Labels[policyv1alpha1.ClusterPropagationPolicyPermanentIDLabel]
	if object.GetNamespace() == "" {
		return d.BuildClusterResourceBinding(object, &policy.Spec, id, policy.ObjectMeta)
	}
	return d.BuildResourceBinding(object, &policy.Spec, id, policy.ObjectMeta, detector.AddCPPClaimMetadata)
}

// selects is what comes before a policy is applied: APIs that are not watched, EventFilter(), the selectors.
func (d *Detector) selects(object *unstructured.Unstructured, selectors []policyv1alpha1.ResourceSelector) bool {
	kind := object.GroupVersionKind()
	return !d.SkippedResourceConfig.GroupDisabled(kind.Group) && !d.SkippedResourceConfig.GroupVersionDisabled(kind.GroupVersion()) &&
		!d.SkippedResourceConfig.GroupVersionKindDisabled(kind) && d.EventFilter(object) && util.GetLabelValue(object.GetLabels(), util.ResourceTemplateClaimedByLabel) == "" &&
		util.ResourceMatchSelectors(object, selectors...)
}
