package differential

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestBind makes bindings of policies and workloads, as Karmada's detector and its built-in interpreters make them.
func TestBind(t *testing.T) {
	newMaker := func() (maker, error) {
		d := peer.NewDetector()
		return func(dice dice) ([]pair, error) { return bindCase(dice, d) }, nil
	}
	traits := []string{"selected", "not selected", "ignored namespace", "cluster-wide policy", "cluster-wide binding", "requirements", "node claim", "by limits",
		"without a number", "webhook's defaults"}
	for _, k := range boundKinds {
		traits = append(traits, k.api+" "+k.kind)
	}
	compareAll(t, caseCount(), newMaker, traits...)
}

// boundKinds are of objects; `template` is where the pod's template is, nil without one.
var boundKinds = []struct {
	api, kind  string
	namespaced bool
	numbers    []string // members of spec
	template   []string
}{
	{"apps/v1", "Deployment", true, []string{"replicas"}, []string{"spec", "template", "spec"}},
	{"apps/v1", "StatefulSet", true, []string{"replicas"}, []string{"spec", "template", "spec"}},
	{"apps/v1", "ReplicaSet", true, []string{"replicas"}, []string{"spec", "template", "spec"}},
	{"batch/v1", "Job", true, []string{"parallelism", "completions"}, []string{"spec", "template", "spec"}},
	{"batch/v1", "CronJob", true, []string{"suspend"}, []string{"spec", "jobTemplate", "spec", "template", "spec"}},
	{"v1", "Pod", true, nil, []string{"spec"}},
	{"apps/v1", "DaemonSet", true, nil, []string{"spec", "template", "spec"}},
	{"apps/v1beta1", "Deployment", true, []string{"replicas"}, []string{"spec", "template", "spec"}},
	{"example.com/v1", "Database", true, []string{"replicas"}, []string{"spec", "template", "spec"}},
	{"v1", "ConfigMap", true, nil, nil},
	{"multicluster.x-k8s.io/v1alpha1", "ServiceImport", true, nil, nil},
	{"remedy.karmada.io/v1alpha1", "Remedy", true, nil, nil},
	{"v1", "Event", true, nil, nil},
	{"coordination.k8s.io/v1", "Lease", true, nil, nil},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", false, nil, nil},
	{"storage.k8s.io/v1", "StorageClass", false, nil, nil},
	{"certificates.k8s.io/v1beta1", "PodCertificateRequest", true, nil, nil},
	{"gateway.networking.k8s.io/v1", "GatewayClass", false, nil, nil},
	{"gateway.networking.k8s.io/v1", "Gateway", true, nil, nil},
	{"snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", false, nil, nil},
	{"example.com/v1", "Planet", false, nil, nil},
}

// bound is a case that is being made.
type bound struct {
	dice
	used    map[string]bool // traits
	written object          // the workload of the user's file
	stored  *unstructured.Unstructured
}

func bindCase(d dice, asked *peer.Detector) ([]pair, error) {
	b := &bound{dice: d, used: map[string]bool{}}
	if err := b.makeWorkload(); err != nil {
		return nil, err
	}
	var made any
	policy, err := b.bind(asked, &made)
	if err != nil {
		return nil, err
	}
	b.used["selected"], b.used["not selected"] = made != nil, made == nil
	return []pair{{object{"step": "bind", "policy": policy, "workload": b.written}, object{"madeBinding": made}, traitsOf(b.used)}}, nil
}

// ---- workloads ----

func (b *bound) makeWorkload() error {
	k := pick(b.dice, boundKinds...)
	b.used[k.api+" "+k.kind] = true
	meta := object{"name": pick(b.dice, "web", "web", "API:V1"), "uid": "u1", "resourceVersion": fmt.Sprint(b.between(1, 99))}
	if k.namespaced {
		meta["namespace"] = pick(b.dice, "shop", "shop", "shop", "shop", "other", "kube-x", "karmada-system", "karmada-es-m1", "kubex")
	}
	if b.chance(60) {
		meta["labels"] = object{"env": pick(b.dice, "e0", "e1", "e2"), "tier": pick(b.dice, "t0", "t1")}
	}
	if b.chance(3) {
		meta["labels"] = object{"resourcetemplate.karmada.io/claimed-by": pick(b.dice, "", "mcs")}
	}
	b.written = object{"apiVersion": k.api, "kind": k.kind, "metadata": meta}
	spec := object{}
	if k.template != nil {
		if err := b.putPod(spec, k.template[1:]); err != nil {
			return err
		}
	}
	stored := object{}
	for _, member := range k.numbers {
		switch {
		case member == "suspend":
			spec[member] = b.chance(50)
		case b.chance(75):
			spec[member] = b.between(0, 12)
		default:
			b.used["without a number"] = true
			if b.chance(30) {
				spec[member] = nil
			}
			if member != "completions" {
				stored[member] = int64(1) // as the API server sets it
			}
		}
	}
	if len(spec) > 0 {
		b.written["spec"] = spec
	}
	// Of kinds of example.com the scope is not known without an API server.
	if !k.namespaced && k.api != "example.com/v1" && b.chance(30) {
		b.used["ignored namespace"] = true
		meta["namespace"] = pick(b.dice, "shop", "kube-x")
	}
	if err := b.store(stored); err != nil {
		return err
	}
	if !k.namespaced {
		b.stored.SetNamespace("")
	}
	return nil
}

// store makes the object that the API server has: with numbers as defaults, and without nulls.
func (b *bound) store(defaults object) error {
	text, err := json.Marshal(b.written)
	if err != nil {
		return err
	}
	b.stored = &unstructured.Unstructured{}
	if err = b.stored.UnmarshalJSON(text); err != nil {
		return err
	}
	spec, _, _ := unstructured.NestedMap(b.stored.Object, "spec")
	for member, value := range spec {
		if value == nil {
			delete(spec, member)
		}
	}
	for member, value := range defaults {
		spec[member] = value
	}
	if spec != nil {
		b.stored.Object["spec"] = spec
	}
	return nil
}

func (b *bound) putPod(into object, path []string) error {
	p := corev1.PodSpec{Containers: several(b.dice, 1, 3, b.limited)}
	if b.chance(30) {
		p.InitContainers = several(b.dice, 1, 2, b.limited)
	}
	if b.chance(10) {
		p.Overhead = b.request()
	}
	if claim := b.claim(); claim != nil {
		p.NodeSelector, p.Tolerations = claim.NodeSelector, claim.Tolerations
		if claim.HardNodeAffinity != nil {
			p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: claim.HardNodeAffinity}}
		}
	}
	if b.chance(10) {
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	pod := object{}
	if err = json.Unmarshal(text, &pod); err != nil {
		return err
	}
	if b.chance(10) { // what no interpreter reads
		pod["resources"] = object{"requests": object{"cpu": "9"}}
		pod["tolerance"] = []any{1}
	}
	if len(path) == 0 {
		for member, value := range pod {
			into[member] = value
		}
		return nil
	}
	for _, member := range path[:len(path)-1] {
		inner := object{}
		into[member] = inner
		into = inner
	}
	into[path[len(path)-1]] = pod
	return nil
}

// limited is a container with requests, limits, both or neither.
func (b *bound) limited() corev1.Container {
	c := corev1.Container{Name: "c", Image: "i"}
	if b.chance(70) {
		c.Resources.Requests = b.request()
	}
	if b.chance(40) {
		c.Resources.Limits, b.used["by limits"] = b.request(), true
	}
	if b.chance(10) {
		always := corev1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
	}
	return c
}

// ---- policies ----

func (b *bound) bind(asked *peer.Detector, made *any) (any, error) {
	meta := metav1.ObjectMeta{Name: "p", UID: "u2"}
	spec := b.policySpec()
	b.used["cluster-wide policy"] = b.chance(40) || b.stored.GetNamespace() == "" && b.chance(60)
	if b.used["cluster-wide policy"] {
		if b.chance(50) {
			meta.Labels = map[string]string{policyv1alpha1.ClusterPropagationPolicyPermanentIDLabel: "id-1"}
		}
		written := &policyv1alpha1.ClusterPropagationPolicy{ObjectMeta: meta, Spec: *spec.DeepCopy()}
		written.APIVersion, written.Kind = "policy.karmada.io/v1alpha1", "ClusterPropagationPolicy"
		b.beStored(&spec, "")
		binding, err := asked.BindClusterWide(&policyv1alpha1.ClusterPropagationPolicy{ObjectMeta: meta, Spec: spec}, b.stored)
		return written, b.take(binding, err, made)
	}
	meta.Namespace = pick(b.dice, "shop", "shop", "shop", b.stored.GetNamespace(), b.stored.GetNamespace())
	if meta.Namespace == "" {
		meta.Namespace = "shop"
	}
	if b.chance(50) {
		meta.Labels = map[string]string{policyv1alpha1.PropagationPolicyPermanentIDLabel: "id-2"}
	}
	written := &policyv1alpha1.PropagationPolicy{ObjectMeta: meta, Spec: *spec.DeepCopy()}
	written.APIVersion, written.Kind = "policy.karmada.io/v1alpha1", "PropagationPolicy"
	b.beStored(&spec, meta.Namespace)
	binding, err := asked.Bind(&policyv1alpha1.PropagationPolicy{ObjectMeta: meta, Spec: spec}, b.stored)
	return written, b.take(binding, err, made)
}

func (b *bound) beStored(spec *policyv1alpha1.PropagationSpec, namespace string) {
	before := spec.Placement.DeepCopy()
	peer.Store(spec, namespace)
	b.used["webhook's defaults"] = !reflect.DeepEqual(before, &spec.Placement)
}

// take makes what the detector made the wanted answer; of Go's nil pointers there is none.
func (b *bound) take(binding metav1.Object, err error, made *any) error {
	if err != nil || binding == nil || reflect.ValueOf(binding).IsNil() {
		return err
	}
	text, err := json.Marshal(binding)
	if err != nil {
		return err
	}
	all := object{}
	if err = json.Unmarshal(text, &all); err != nil {
		return err
	}
	all["apiVersion"], all["kind"] = "work.karmada.io/v1alpha2", "ResourceBinding"
	if binding.GetNamespace() == "" {
		all["kind"], b.used["cluster-wide binding"] = "ClusterResourceBinding", true
	}
	requirements, _, _ := unstructured.NestedMap(all, "spec", "replicaRequirements")
	b.used["requirements"], b.used["node claim"] = requirements != nil, requirements["nodeClaim"] != nil
	*made = all
	return nil
}

func (b *bound) policySpec() policyv1alpha1.PropagationSpec {
	clusters := []string{"m01", "m02", "m03"}
	name := pick(b.dice, strategies...)
	spec := policyv1alpha1.PropagationSpec{ResourceSelectors: several(b.dice, 1, 3, b.selector)}
	if b.chance(3) {
		spec.ResourceSelectors = nil
	}
	p := &spec.Placement
	p.ReplicaScheduling = strategy(name, b.rules(clusters))
	if s := p.ReplicaScheduling; s != nil && b.chance(25) {
		s.ReplicaDivisionPreference = ""
	}
	if s := p.ReplicaScheduling; s != nil && b.chance(15) {
		s.ReplicaSchedulingType = ""
	}
	if b.chance(40) {
		one := b.affinity(clusters)
		p.ClusterAffinity = &one
	} else if b.chance(40) {
		p.ClusterAffinities = b.affinities(clusters, b.chance(50))
	}
	if b.chance(30) {
		p.ClusterTolerations = several(b.dice, 1, 2, b.toleration)
	}
	if b.chance(50) {
		p.SpreadConstraints = b.spread(len(clusters))
		if b.chance(30) {
			p.SpreadConstraints[0].SpreadByField = ""
			p.SpreadConstraints[0].SpreadByLabel = pick(b.dice, "", "", "env")
		}
		if b.chance(30) {
			p.SpreadConstraints[0].MinGroups = 0
		}
	}
	if b.chance(10) {
		p.WorkloadAffinity = &policyv1alpha1.WorkloadAffinity{AntiAffinity: &policyv1alpha1.WorkloadAntiAffinityTerm{GroupByLabelKey: "env"}}
	}
	b.otherMembers(&spec)
	return spec
}

func (b *bound) otherMembers(spec *policyv1alpha1.PropagationSpec) {
	yes := b.chance(50)
	spec.PropagateDeps = b.chance(30)
	spec.SchedulerName = pick(b.dice, "", "", "evenkeel")
	spec.ConflictResolution = pick(b.dice, "", policyv1alpha1.ConflictAbort, policyv1alpha1.ConflictOverwrite)
	if b.chance(15) {
		spec.Suspension = &policyv1alpha1.Suspension{Dispatching: &yes}
	}
	if b.chance(15) {
		spec.PreserveResourcesOnDeletion = &yes
	}
	if b.chance(15) {
		seconds := int32(b.between(1, 600))
		spec.Failover = &policyv1alpha1.FailoverBehavior{Application: &policyv1alpha1.ApplicationFailoverBehavior{
			DecisionConditions: policyv1alpha1.DecisionConditions{TolerationSeconds: &seconds},
			PurgeMode:          policyv1alpha1.PurgeModeGracefully, GracePeriodSeconds: &seconds}}
	}
}

// selector is of the workload, mostly.
func (b *bound) selector() policyv1alpha1.ResourceSelector {
	s := policyv1alpha1.ResourceSelector{APIVersion: b.stored.GetAPIVersion(), Kind: b.stored.GetKind()}
	if b.chance(10) {
		s.APIVersion = pick(b.dice, "apps/v1", "v1", "apps/v2")
	}
	if b.chance(10) {
		s.Kind = pick(b.dice, "Deployment", "ConfigMap", "ServiceImport")
	}
	if b.chance(30) {
		s.Namespace = pick(b.dice, "shop", b.stored.GetNamespace(), "other")
	}
	if b.chance(40) {
		s.Name = pick(b.dice, b.stored.GetName(), b.stored.GetName(), "web", "wrong")
	}
	if b.chance(40) {
		s.LabelSelector = b.labelSelector()
		if b.chance(5) {
			s.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "env", Operator: "Like", Values: []string{"e"}}}
		}
	}
	return s
}
