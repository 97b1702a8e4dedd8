package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// webhook is what the Evenkeels of one stage share as a webhook: a CA, a certificate, policies.
type webhook struct {
	*stage
	authority *pki.Authority
	policies  string // file
}

// The policies and the configuration are those that users are shown.
const (
	examplePolicies = "../../../docs/examples/three-regions/policy.yaml"
	exampleState    = "../../../docs/examples/three-regions/state.json"
	exampleWebhook  = "../../../docs/examples/kubernetes/webhook-pods.yaml"
)

// newWebhook starts nothing. The example's policies are for the stage's namespace.
func (s *stage) newWebhook() *webhook {
	s.Helper()
	authority, err := pki.NewAuthority("e2e-webhook-ca")
	s.must(err)
	w := &webhook{stage: s, authority: authority, policies: filepath.Join(s.dir, "policies.yaml")}
	w.writeExample(examplePolicies, w.policies)
	w.rotate()
	return w
}

// writeExample copies a file of docs/examples, whose namespace is called shop. Its policies are for pods
// of the stage's scheduler, and for those that no scheduler touches, and inject no defaults.
func (w *webhook) writeExample(from, to string) {
	w.Helper()
	text, err := os.ReadFile(from)
	w.must(err)
	copied := strings.NewReplacer("shop", w.id, "\n  pods:\n", "\n  pods:\n    replaceDefaults: true\n    schedulerNames: [nobody, "+w.id+"]\n")
	w.must(os.WriteFile(to, []byte(copied.Replace(string(text))), 0o644))
}

// rotate writes a new certificate and then its key, each at once, and returns the certificate.
func (w *webhook) rotate() []byte {
	w.Helper()
	pair, err := w.authority.Server("127.0.0.1")
	w.must(err)
	w.must(pair.Write(w.dir, "new"))
	for _, suffix := range []string{".crt", ".key"} {
		w.must(os.Rename(filepath.Join(w.dir, "new"+suffix), filepath.Join(w.dir, "webhook"+suffix)))
	}
	return pair.Cert
}

// listen has an Evenkeel serve the webhook, and returns where.
func (w *webhook) listen(o *evenkeel.Options) (address string) {
	w.Helper()
	port, err := process.FreePort()
	w.must(err)
	address = fmt.Sprintf("127.0.0.1:%d", port)
	o.Settings["webhook"] = map[string]any{
		"listen":   address,
		"certFile": filepath.Join(w.dir, "webhook.crt"),
		"keyFile":  filepath.Join(w.dir, "webhook.key"),
	}
	o.Settings["policies"] = map[string]any{"paths": []string{w.policies}}
	return address
}

// start runs an Evenkeel that serves the webhook; `change` (may be nil) sees its options.
func (w *webhook) start(change func(*evenkeel.Options)) (e *evenkeel.Evenkeel, url string) {
	w.Helper()
	e = w.evenkeel(func(o *evenkeel.Options) {
		url = webhookURL(w.listen(o))
		if change != nil {
			change(o)
		}
	})
	w.caughtUpWith(e)
	return e, url
}

// caughtUpWith is for an Evenkeel that watches; one that reads files knows what is in them.
func (w *webhook) caughtUpWith(e *evenkeel.Evenkeel) {
	w.Helper()
	if e.Kubeconfig != "" {
		w.caughtUp(e)
	}
}

func webhookURL(address string) string { return "https://" + address + "/webhooks/v1/pods" }

// register has the API server ask this URL about the stage's pods, otherwise as the shipped
// configuration says, but for what `change` (may be nil) makes of it. It takes the API server a
// moment to know.
func (w *webhook) register(name, url string, change func(*admission.MutatingWebhook)) {
	w.Helper()
	text, err := os.ReadFile(exampleWebhook)
	w.must(err)
	var c admission.MutatingWebhookConfiguration
	w.must(yaml.UnmarshalStrict(text, &c))
	c.Name = name
	hook := &c.Webhooks[0]
	hook.ClientConfig = admission.WebhookClientConfig{URL: &url, CABundle: w.authority.Cert}
	hook.NamespaceSelector.MatchExpressions = append(hook.NamespaceSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: v1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn,
			Values: []string{w.id}})
	if change != nil {
		change(hook)
	}
	configurations := w.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err = configurations.Create(w.ctx, &c, metav1.CreateOptions{})
	w.must(err)
	w.Cleanup(func() {
		if err := configurations.Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
			w.Error(err)
		}
	})
}

// reconfigure changes a registration.
func (w *webhook) reconfigure(name string, change func(*admission.MutatingWebhook)) {
	w.Helper()
	configurations := w.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	c, err := configurations.Get(w.ctx, name, metav1.GetOptions{})
	w.must(err)
	change(&c.Webhooks[0])
	_, err = configurations.Update(w.ctx, c, metav1.UpdateOptions{})
	w.must(err)
}

// webPod is a pod of the policy "web".
func (w *webhook) webPod(name, scheduler string) *v1.Pod {
	pod := w.newPod(name, "web", scheduler)
	pod.Labels["tier"] = "web"
	return pod
}

// try creates a pod without storing it.
func (s *stage) try(ctx context.Context, pod *v1.Pod) (*v1.Pod, error) {
	return s.Client.CoreV1().Pods(pod.Namespace).Create(ctx, pod,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// tryUntil tries pods of the policy "web" until the outcome is as wanted.
func (w *webhook) tryUntil(what string, good func(*v1.Pod, error) bool) {
	w.Helper()
	w.until("pods are "+what, func(ctx context.Context) (bool, error) {
		pod, err := w.try(ctx, w.webPod("probe", "nobody"))
		return good(pod, err), err
	})
}

func (w *webhook) untilPatched() {
	w.Helper()
	w.tryUntil("patched", func(pod *v1.Pod, err error) bool { return err == nil && patched(pod) })
}

// patched says whether it has exactly what the policy "web" gives to a pod without constraints.
func patched(pod *v1.Pod) bool {
	c := pod.Spec.TopologySpreadConstraints
	return len(c) == 2 &&
		c[0].TopologyKey == regionKey && c[0].WhenUnsatisfiable == v1.ScheduleAnyway && c[0].MaxSkew == 1 &&
		c[1].TopologyKey == zoneKey && c[1].WhenUnsatisfiable == v1.DoNotSchedule && c[1].MaxSkew == 1 &&
		c[1].MinDomains != nil && *c[1].MinDomains == 3 && c[1].LabelSelector.MatchLabels["app"] == "web"
}

// load tries pods from so many goroutines while `during` runs, and returns how many there were. All
// of them must come out patched, and every goroutine must have tried one.
func (w *webhook) load(workers int, during func()) (tried int) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	counts := make([]int, workers)
	for worker := range workers {
		running.Go(func() {
			for ctx.Err() == nil && !w.Failed() {
				pod, err := w.try(w.ctx, w.webPod(fmt.Sprintf("load-%d", worker), "nobody"))
				if err != nil {
					w.Errorf("pod %d of worker %d: %v", counts[worker], worker, err)
				} else if !patched(pod) {
					w.Errorf("pod %d of worker %d was not patched", counts[worker], worker)
				}
				counts[worker]++
			}
		})
	}
	defer func() {
		cancel()
		running.Wait()
		for worker, count := range counts {
			if count == 0 {
				w.Errorf("worker %d tried no pod", worker)
			}
			tried += count
		}
	}()
	during()
	return 0
}

// ---- Deployments ----

// controllers runs Kubernetes' own for Deployments and ReplicaSets, for the stage alone.
func (s *stage) controllers() {
	s.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithNamespace(s.id))
	sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
	deployments, err := deployment.NewDeploymentController(ctx, factory.Apps().V1().Deployments(), sets, pods, s.Client)
	s.must(err)
	replicaSets := replicaset.NewReplicaSetController(ctx, sets, pods, s.Client, replicaset.BurstReplicas)
	factory.Start(ctx.Done())
	var running sync.WaitGroup
	running.Go(func() { deployments.Run(ctx, 2) })
	running.Go(func() { replicaSets.Run(ctx, 2) })
	s.Cleanup(func() {
		cancel()
		running.Wait()
		factory.Shutdown()
	})
}

// deploy makes a Deployment of such pods, named as their label app. They never get ready, so a rollout
// must not wait for that.
func (s *stage) deploy(replicas int32, pod *v1.Pod) {
	s.Helper()
	name, all := pod.Labels["app"], intstr.FromString("100%")
	_, err := s.Client.AppsV1().Deployments(s.id).Create(s.ctx, &apps.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.id},
		Spec: apps.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Strategy: apps.DeploymentStrategy{Type: apps.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &apps.RollingUpdateDeployment{MaxUnavailable: &all, MaxSurge: &all}},
			Template: v1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec,
			},
		},
	}, metav1.CreateOptions{})
	s.must(err)
}

// scale a Deployment.
func (s *stage) scale(name string, replicas int32) {
	s.Helper()
	scale, err := s.Client.AppsV1().Deployments(s.id).GetScale(s.ctx, name, metav1.GetOptions{})
	s.must(err)
	scale.Spec.Replicas = replicas
	_, err = s.Client.AppsV1().Deployments(s.id).UpdateScale(s.ctx, name, scale, metav1.UpdateOptions{})
	s.must(err)
}

// rollOut makes a new revision of a Deployment's pods, which have its name as an annotation.
func (s *stage) rollOut(name, revision string) {
	s.Helper()
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"revision":%q}}}}}`, revision)
	_, err := s.Client.AppsV1().Deployments(s.id).Patch(s.ctx, name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{})
	s.must(err)
}

// podsOf lists the stage's pods with label app=`app`.
func (s *stage) podsOf(app string) []v1.Pod {
	s.Helper()
	pods, err := s.Client.CoreV1().Pods(s.id).List(s.ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	s.must(err)
	return pods.Items
}
