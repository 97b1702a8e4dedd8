package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	admission "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// The same policy twice, by the label tier: it helps, and it binds.
const bindingPolicies = `
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: helps}, spec: {
  match: {objectSelector: {matchLabels: {tier: helps}}},
  pods: {replaceDefaults: true, schedulerNames: [nobody], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]}}}
---
{kind: TopologyPolicy, apiVersion: evenkeel.io/v1alpha1, metadata: {name: binds}, spec: {
  mode: Require,
  match: {objectSelector: {matchLabels: {tier: binds}}},
  pods: {replaceDefaults: true, schedulerNames: [nobody], spread: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]}}}
`

const exampleValidating = "../../../docs/examples/kubernetes/webhook-pods-validate.yaml"

// validate has the API server ask this URL about the stage's pods as they will be stored, as the
// shipped configuration says.
func (w *webhook) validate(name, url string, policy admission.FailurePolicyType) {
	w.Helper()
	text, err := os.ReadFile(exampleValidating)
	w.must(err)
	var c admission.ValidatingWebhookConfiguration
	w.must(yaml.UnmarshalStrict(text, &c))
	c.Name = name
	hook := &c.Webhooks[0]
	hook.FailurePolicy = &policy
	hook.ClientConfig = admission.WebhookClientConfig{URL: &url, CABundle: w.authority.Cert}
	hook.NamespaceSelector.MatchExpressions = append(hook.NamespaceSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: v1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn,
			Values: []string{w.id}})
	configurations := w.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err = configurations.Create(w.ctx, &c, metav1.CreateOptions{})
	w.must(err)
	w.Cleanup(func() {
		if err := configurations.Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
			w.Error(err)
		}
	})
}

// owned gives a pod a controller that it names itself.
func owned(pod *v1.Pod, version, kind string) {
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "o", UID: "o", Controller: &yes}}
}

// pin leaves a pod one node by its name.
func pin(pod *v1.Pod) {
	pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"anywhere"}}},
		}}}}}
}

// Ways out of a policy, by the reason that a denial names.
var evasions = []struct {
	name, reason string
	change       func(pod *v1.Pod)
}{
	{"maxSkew without end", "ConstraintWeaker", func(pod *v1.Pod) {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(zoneKey, 2147483647, v1.DoNotSchedule, "web")}
	}},
	{"a preference in its place", "ConstraintWeaker", func(pod *v1.Pod) {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(zoneKey, 1, v1.ScheduleAnyway, "web")}
	}},
	{"a constraint that counts others", "ConstraintNarrower", func(pod *v1.Pod) {
		c, two := constraint(zoneKey, 1, v1.DoNotSchedule, "nobody"), int32(2)
		c.MinDomains = &two
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c}
	}},
	{"an invented DaemonSet", "NotOfDaemonSet", func(pod *v1.Pod) { owned(pod, "apps/v1", "DaemonSet") }},
	{"an invented Node as owner", "NotOfKubelet", func(pod *v1.Pod) { owned(pod, "v1", "Node") }},
	{"a mirror pod of nobody's", "NotOfKubelet", func(pod *v1.Pod) {
		pod.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"}
		pod.Spec.NodeName = "anywhere"
	}},
	{"a node of its own choice", "NodeChosen", func(pod *v1.Pod) { pod.Spec.NodeName = "anywhere" }},
	{"a node by affinity", "NodeChosen", pin},
	{"another scheduler", "OtherScheduler", func(pod *v1.Pod) { pod.Spec.SchedulerName = "somebody" }},
	{"a label of its own", "GroupOfOne", func(pod *v1.Pod) { pod.Labels["me"] = "2" }},
	{"a worker of no unit", "NotFirstOfUnit", func(pod *v1.Pod) {
		pod.Labels["leaderworkerset.sigs.k8s.io/name"], pod.Labels["leaderworkerset.sigs.k8s.io/worker-index"] = "llm", "3"
	}},
	{"podAffinity to its own group", "OwnPodAffinity", func(pod *v1.Pod) { pod.Spec.Affinity = together(pod, zoneKey) }},
	{"one zone", "TooFewDomainsNamed", func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }},
}

// TestWebhookRequire: what evades a policy is admitted with mode Enforce and denied with mode Require,
// by a real API server; good pods pass; and without Evenkeel failurePolicy decides.
func TestWebhookRequire(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	for zone := range 2 {
		s.node(fmt.Sprintf("z%d", zone), map[string]string{zoneKey: fmt.Sprintf("zone-%d", zone)})
	}
	s.must(os.WriteFile(w.policies, []byte(bindingPolicies), 0o644))
	e, url := w.start(nil)
	w.register(s.id, url, nil)
	w.validate(s.id, url+"/validate", admission.Fail)
	pod := func(tier string) *v1.Pod {
		pod := s.newPod("probe", "web", "nobody")
		pod.Labels["tier"] = tier
		return pod
	}
	noGroup := pod("binds")
	noGroup.Spec.SchedulerName = "somebody"
	s.until("the API server asks both webhooks", func(ctx context.Context) (bool, error) {
		got, err := w.try(ctx, pod("binds"))
		if err != nil || len(got.Spec.TopologySpreadConstraints) != 1 {
			return false, err
		}
		_, err = w.try(ctx, noGroup)
		return apierrors.IsForbidden(err), err
	})
	for _, tier := range []string{"helps", "binds"} {
		other := pod(tier) // that some pods have a label in common with
		other.Name, other.Labels["me"] = "other-"+tier, "1"
		other.Spec.NodeName = ""
		created := s.create(other)
		s.must(s.Client.CoreV1().Pods(s.id).Bind(s.ctx, &v1.Binding{ObjectMeta: created.ObjectMeta,
			Target: v1.ObjectReference{Kind: "Node", Name: s.id + "-z0"}}, metav1.CreateOptions{}))
	}
	s.until("Evenkeel knows the others", func(ctx context.Context) (bool, error) {
		lonely := pod("binds")
		lonely.Labels["me"] = "2"
		_, err := w.try(ctx, lonely)
		return apierrors.IsForbidden(err), err
	})
	good := map[string]func(*v1.Pod){
		"as it is":            func(*v1.Pod) {},
		"with the opt-out":    func(pod *v1.Pod) { pod.Labels["evenkeel.io/inject"] = "disabled" },
		"with two zones":      func(pod *v1.Pod) { pod.Spec.NodeSelector["disk"] = "ssd" },
		"with a stricter one": func(pod *v1.Pod) { pod.Spec.TopologySpreadConstraints = strict() },
	}
	for name, change := range good {
		p := pod("binds")
		delete(p.Labels, "me")
		change(p)
		got, err := w.try(s.ctx, p)
		if err != nil {
			t.Errorf("a good pod, %s: %v", name, err)
		} else if len(got.Spec.TopologySpreadConstraints) != 1 {
			t.Errorf("a good pod, %s, has the constraints %v", name, got.Spec.TopologySpreadConstraints)
		}
	}
	for _, evasion := range evasions {
		t.Run(evasion.name, func(t *testing.T) {
			helped, bound := pod("helps"), pod("binds")
			evasion.change(helped)
			evasion.change(bound)
			if _, err := w.try(s.ctx, helped); err != nil {
				t.Errorf("with mode Enforce: %v", err)
			}
			_, err := w.try(s.ctx, bound)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "("+evasion.reason+")") ||
				!strings.Contains(err.Error(), "policy 'binds'") {
				t.Errorf("with mode Require: %v; expected a denial with %s", err, evasion.reason)
			}
		})
	}
	t.Run("controllers place pods", func(t *testing.T) { s.controllersPlace(t, w, pod("binds")) })
	t.Run("what a check says beforehand", func(t *testing.T) {
		// two pods run, a workload each
		out, err := exec.CommandContext(s.ctx, binary, "check", "policy", w.policies, "--kubeconfig", e.Kubeconfig, "-o", "json").CombinedOutput()
		var said struct {
			Sound     bool
			Policies  []struct{ Name string }
			Workloads []struct{ Namespace, Name string }
		}
		if json.Unmarshal(out, &said) != nil || err != nil || !said.Sound || len(said.Policies) != 2 || len(said.Workloads) != 2 {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("gates that go", func(t *testing.T) { s.gatesGo(t, pod) })
	for policy, lets := range map[admission.FailurePolicyType]bool{admission.Fail: false, admission.Ignore: true} {
		w.nobodyValidates(s.id, policy)
		s.until(fmt.Sprintf("failurePolicy %s decides without Evenkeel", policy), func(ctx context.Context) (bool, error) {
			p := pod("binds")
			p.Spec.SchedulerName = "somebody"
			_, err := w.try(ctx, p)
			return (err == nil) == lets && !apierrors.IsForbidden(err), err
		})
		label := fmt.Sprintf(`{"metadata":{"labels":{"policy":%q}}}`, policy)
		if _, err := s.Client.CoreV1().Pods(s.id).Patch(s.ctx, "other-binds", types.MergePatchType, []byte(label), metav1.PatchOptions{}); err != nil {
			t.Errorf("Evenkeel is asked about a change of a pod without gates: %v", err)
		}
	}
}

// Changes that an API server allows while a pod has schedulingGates, and the reason that a denial names
// when the last gate goes.
var gated = []struct {
	name, reason string
	change       func(pod *v1.Pod)
}{
	{"nothing else", "", func(*v1.Pod) {}},
	{"a node by affinity", "NodeChosen", pin},
	{"one zone", "TooFewDomainsNamed", func(pod *v1.Pod) { pod.Spec.NodeSelector[zoneKey] = "zone-0" }},
	{"an invented Node as owner", "NotOfKubelet", func(pod *v1.Pod) { owned(pod, "v1", "Node") }},
	{"an invented DaemonSet", "NotOfDaemonSet", func(pod *v1.Pod) { owned(pod, "apps/v1", "DaemonSet") }},
}

// gatesGo: a pod is created with two gates, changed while it has one, and judged when that one goes.
func (s *stage) gatesGo(t *testing.T, pod func(tier string) *v1.Pod) {
	pods := s.Client.CoreV1().Pods(s.id)
	for i, row := range gated {
		p := pod("binds")
		p.Name = fmt.Sprintf("gated-%d", i)
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "a.example/one"}, {Name: "a.example/two"}}
		p, err := pods.Create(s.ctx, p, metav1.CreateOptions{})
		s.must(err)
		if len(p.Spec.TopologySpreadConstraints) != 1 {
			t.Errorf("%s: the pod has the constraints %v", row.name, p.Spec.TopologySpreadConstraints)
		}
		row.change(p)
		p.Spec.SchedulingGates = p.Spec.SchedulingGates[:1]
		changed, err := pods.Update(s.ctx, p, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || len(changed.Spec.SchedulingGates) != 1 {
			t.Errorf("%s, with a gate left: %v", row.name, err)
		}
		p.Spec.SchedulingGates = nil
		_, err = pods.Update(s.ctx, p, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		if row.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", row.name, err)
			}
		} else if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "("+row.reason+")") {
			t.Errorf("%s: %v; expected a denial with %s", row.name, err, row.reason)
		}
	}
}

// nobodyValidates has the API server ask where nobody is.
func (w *webhook) nobodyValidates(name string, policy admission.FailurePolicyType) {
	w.Helper()
	configurations := w.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	c, err := configurations.Get(w.ctx, name, metav1.GetOptions{})
	w.must(err)
	nowhere := "https://127.0.0.1:1/"
	c.Webhooks[0].ClientConfig.URL = &nowhere
	c.Webhooks[0].FailurePolicy = &policy
	_, err = configurations.Update(w.ctx, c, metav1.UpdateOptions{})
	w.must(err)
}

func strict() []v1.TopologySpreadConstraint {
	c, three := constraint(zoneKey, 1, v1.DoNotSchedule, "web"), int32(3)
	c.MinDomains = &three
	return []v1.TopologySpreadConstraint{c}
}

// controllersPlace: those who act for others may create what its author may not.
func (s *stage) controllersPlace(t *testing.T, w *webhook, pod *v1.Pod) {
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:kube-system:daemon-set-controller",
		Groups: []string{"system:masters"}}
	client, err := kubernetes.NewForConfig(config)
	s.must(err)
	owned(pod, "apps/v1", "DaemonSet")
	_, err = client.CoreV1().Pods(s.id).Create(s.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Errorf("a pod of the DaemonSets' controller: %v", err)
	}
}
