package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

const (
	chartFolder  = "../../../charts/evenkeel"
	valuesFolder = "../../packaging/values"
)

// helm runs the program as an administrator, in the stage's namespace, and returns what it prints.
func (s *stage) helm(arguments ...string) (string, error) {
	s.Helper()
	kubeconfig, err := s.Kubeconfig(cluster.Admin())
	s.must(err)
	program, err := filepath.Abs(setting("HELM", "../../../build/tools/helm"))
	s.must(err)
	command := exec.Command(program, append(arguments, "--namespace", s.id, "--kubeconfig", kubeconfig)...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+s.dir, "HELM_CONFIG_HOME="+s.dir, "HELM_DATA_HOME="+s.dir)
	var output, said bytes.Buffer
	command.Stdout, command.Stderr = &output, &said
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s", arguments[0], err, said.String())
	}
	return output.String(), nil
}

// documents of what Helm prints, as objects.
func (s *stage) documents(text string) (objects []*unstructured.Unstructured) {
	s.Helper()
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		object := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal([]byte(document), &object.Object))
		if object.GetKind() != "" {
			objects = append(objects, object)
		}
	}
	return objects
}

// dryRunner has the API server judge objects without storing them.
type dryRunner struct {
	*stage
	client dynamic.Interface
	mapper meta.RESTMapper
}

func (s *stage) dryRunner() *dryRunner {
	s.Helper()
	groups, err := restmapper.GetAPIGroupResources(s.Client.Discovery())
	s.must(err)
	client, err := dynamic.NewForConfig(s.Config)
	s.must(err)
	return &dryRunner{s, client, restmapper.NewDiscoveryRESTMapper(groups)}
}

func (d *dryRunner) apply(object *unstructured.Unstructured) error {
	return d.patch(object, metav1.PatchOptions{
		DryRun: []string{metav1.DryRunAll}, FieldManager: "helm", FieldValidation: metav1.FieldValidationStrict,
	})
}

func (d *dryRunner) patch(object *unstructured.Unstructured, options metav1.PatchOptions) error {
	kind := object.GroupVersionKind()
	mapping, err := d.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	force := true
	options.Force = &force
	_, err = d.client.Resource(mapping.Resource).Namespace(object.GetNamespace()).Patch(d.ctx, object.GetName(),
		types.ApplyPatchType, body, options)
	return err
}

// write applies an object, in earnest.
func (d *dryRunner) write(object *unstructured.Unstructured) error {
	return d.patch(object, metav1.PatchOptions{FieldManager: "e2e"})
}

// store writes one that has been read, in earnest.
func (d *dryRunner) store(object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := d.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	_, err = d.client.Resource(mapping.Resource).Namespace(object.GetNamespace()).Update(d.ctx, object, metav1.UpdateOptions{})
	return err
}

// pod tries one of a Deployment.
func (d *dryRunner) pod(object *unstructured.Unstructured) error {
	var deployment apps.Deployment
	body, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(body, &deployment)
	}
	if err != nil {
		return err
	}
	template := deployment.Spec.Template
	template.Name = deployment.Name
	_, err = d.Client.CoreV1().Pods(d.id).Create(d.ctx, &v1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// TestChartIsTaken: every object of every rendering passes the API server's validation, with no field
// that it does not know, and the pods pass Pod Security at its strictest.
func TestChartIsTaken(t *testing.T) {
	s := newStage(t)
	restricted := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	_, err := s.Client.CoreV1().Namespaces().Patch(s.ctx, s.id, types.MergePatchType, restricted, metav1.PatchOptions{})
	s.must(err)
	files, err := filepath.Glob(filepath.Join(valuesFolder, "*.yaml"))
	s.must(err)
	if len(files) < 25 {
		t.Fatalf("%d files of values", len(files))
	}
	d := s.dryRunner()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := s.helm("template", "evenkeel", chartFolder, "--values", file, "--kube-version", "1.36.0")
			if err != nil {
				t.Fatal(err)
			}
			pods := 0
			for _, object := range s.documents(text) {
				if object.GroupVersionKind().Group == "monitoring.coreos.com" {
					continue // kinds of Prometheus' operator; tests/packaging/test_alerts.sh has the rules read by Prometheus
				}
				if err := d.apply(object); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				if object.GetKind() != "Deployment" {
					continue
				}
				pods++
				err := d.pod(object)
				host, _, _ := unstructured.NestedBool(object.Object, "spec", "template", "spec", "hostNetwork")
				if host != (err != nil && strings.Contains(err.Error(), "host namespaces")) || (err != nil && !host) {
					t.Errorf("a pod of %s: %v", object.GetName(), err)
				}
			}
			if pods == 0 {
				t.Error("it has no Deployment")
			}
		})
	}
}

// installed is a release of the chart, a door of which runs as its pod would: the container's arguments, its
// files where it mounts them, its ServiceAccount's token.
type installed struct {
	*stage
	release  string
	objects  []*unstructured.Unstructured
	name     string // of the door's Deployment, and of its ServiceAccount
	settings []string
	port     int    // of the ops listener
	served   int    // of the door's own
	address  string // that its Service leads to; "": nowhere
}

// anyVersion is a copy of the chart for this control plane, which was built from modules and so says that
// it is v0.0.0.
func (s *stage) anyVersion(chart string) string {
	s.Helper()
	folder, err := os.MkdirTemp(s.dir, "chart")
	s.must(err)
	output, err := exec.Command("cp", "-rL", chart+"/.", folder).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, output)
	}
	file := filepath.Join(folder, "Chart.yaml")
	text, err := os.ReadFile(file)
	s.must(err)
	s.must(os.WriteFile(file, bytes.Replace(text, []byte("kubeVersion:"), []byte("# kubeVersion:"), 1), 0o644))
	return folder
}

func (s *stage) install(release, door string, more ...string) *installed {
	s.Helper()
	return s.installChart(chartFolder, release, door, more...)
}

func (s *stage) installChart(chart, release, door string, more ...string) *installed {
	s.Helper()
	c := &installed{stage: s, release: release, name: release + "-evenkeel-" + door}
	var err error
	c.served, err = process.FreePort()
	s.must(err)
	c.port, err = process.FreePort()
	s.must(err)
	c.settings = []string{s.anyVersion(chart), "--set", fmt.Sprintf("%s.port=%d,ops.port=%d", door, c.served, c.port)}
	c.settings = append(c.settings, more...)
	s.Cleanup(func() {
		_ = s.Client.Discovery().RESTClient().Delete().AbsPath(definitions, "topologypolicies.evenkeel.io").Do(s.ctx).Error()
	})
	c.helmed("install")
	return c
}

// helmed installs or upgrades it, and notes what was rendered.
func (c *installed) helmed(how string, more ...string) {
	c.Helper()
	_, err := c.helm(append(append([]string{how, c.release}, c.settings...), more...)...)
	c.must(err)
	text, err := c.helm("get", "manifest", c.release)
	c.must(err)
	c.objects = c.documents(text)
}

func (c *installed) object(kind, name string) *unstructured.Unstructured {
	c.Helper()
	for _, o := range c.objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	c.Fatalf("the release has no %s %s", kind, name)
	return nil
}

// As asPod, and with the configuration where the Deployment mounts it.
const asChartPod = `set -e
run=$(realpath /var/run)
mount -t tmpfs none "$run"
mkdir -p "$run/secrets/kubernetes.io/serviceaccount"
mount --bind "$1" "$run/secrets/kubernetes.io/serviceaccount"
mount -t tmpfs none /etc
mkdir /etc/evenkeel /etc/kube-scheduler
cp "$1/evenkeel.yaml" /etc/evenkeel/
cp "$1/scheduler.yaml" /etc/kube-scheduler/
shift
exec "$@"`

// pod returns what runs a command as the door's pod would: the program, its first arguments and its
// environment. The configuration is at its place.
func (c *installed) pod(command string) (program string, before, env []string) {
	c.Helper()
	folder := filepath.Join(c.dir, "pod")
	c.must(os.MkdirAll(folder, 0o755))
	seconds := int64(3600)
	token, err := c.Client.CoreV1().ServiceAccounts(c.id).CreateToken(c.ctx, c.name,
		&authentication.TokenRequest{Spec: authentication.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	c.must(err)
	texts, _, _ := unstructured.NestedStringMap(c.object("ConfigMap", c.name).Object, "data")
	for name, text := range map[string]string{
		"token": token.Status.Token, "ca.crt": string(c.CA.Cert), "namespace": c.id,
		"evenkeel.yaml": texts["evenkeel.yaml"], "scheduler.yaml": texts["scheduler.yaml"],
	} {
		c.must(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	address, err := url.Parse(c.URL())
	c.must(err)
	return "unshare", []string{"--mount", "--propagation", "private", "sh", "-c", asChartPod, "sh", folder, command},
		[]string{"KUBERNETES_SERVICE_HOST=" + address.Hostname(), "KUBERNETES_SERVICE_PORT=" + address.Port()}
}

func (c *installed) container(i int) map[string]any {
	c.Helper()
	containers, _, _ := unstructured.NestedSlice(c.object("Deployment", c.name).Object, "spec", "template", "spec", "containers")
	return containers[i].(map[string]any)
}

// run starts the container's command, and waits until its readiness probe says yes.
func (c *installed) run() *process.Process {
	c.Helper()
	arguments, _, _ := unstructured.NestedStringSlice(c.container(0), "args")
	path, _, _ := unstructured.NestedString(c.container(0), "readinessProbe", "httpGet", "path")
	program, before, env := c.pod(binary)
	p, err := process.Start(process.Spec{Name: "a pod of the chart", Path: program, Args: append(before, arguments...),
		Env: env, Log: filepath.Join(c.dir, "pod.log")})
	c.must(err)
	c.Cleanup(p.Kill)
	ctx, cancel := c.limit()
	defer cancel()
	c.must(p.WaitReady(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", c.port, path), nil)
		if err != nil {
			return err
		}
		request.Host = fmt.Sprintf("10.1.2.3:%d", c.port) // a kubelet names the pod's address
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, response.Status)
		}
		return nil
	}))
	return p
}

// checked is what `evenkeel check cluster` says, run in that pod.
func (c *installed) checked() []finding {
	c.Helper()
	program, before, env := c.pod(binary)
	command := exec.Command(program, append(before, "check", "cluster", "/etc/evenkeel/evenkeel.yaml", "-o", "json")...)
	command.Env = append(os.Environ(), env...)
	output, err := command.Output()
	var told struct{ Findings []finding }
	if json.Unmarshal(output, &told) != nil {
		c.Fatalf("check cluster: %v, it prints %q", err, output)
	}
	return told.Findings
}

// lacking is what it says of permissions.
func (c *installed) lacking() (found []string) {
	c.Helper()
	for _, f := range c.checked() {
		if f.Severity != "info" && strings.Contains(f.Problem, "may not") {
			found = append(found, f.Problem)
		}
	}
	return found
}

// log is what the release's pods have said.
func (c *installed) log() []byte {
	c.Helper()
	log, err := os.ReadFile(filepath.Join(c.dir, "pod.log"))
	c.must(err)
	return log
}

func (c *installed) noCallWasRefused() {
	c.Helper()
	c.noneWasRefused(c.log())
}

func (c *installed) noneWasRefused(log []byte) {
	c.Helper()
	for line := range strings.SplitSeq(string(log), "\n") {
		if strings.Contains(line, "status=403") || strings.Contains(strings.ToLower(line), "forbidden") {
			c.Errorf("a call was refused: %s", line)
		}
	}
}

func (c *installed) bundle() []byte {
	c.Helper()
	name := c.release + "-evenkeel." + c.id
	configuration, err := c.Client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(c.ctx, name, metav1.GetOptions{})
	c.must(err)
	return configuration.Webhooks[0].ClientConfig.CABundle
}

func (c *installed) certificate() []byte {
	c.Helper()
	secret, err := c.Client.CoreV1().Secrets(c.id).Get(c.ctx, c.release+"-evenkeel-webhook-tls", metav1.GetOptions{})
	c.must(err)
	return secret.Data["tls.crt"]
}

// left is what there is of the release: kinds and names.
func (c *installed) left() (found []string) {
	c.Helper()
	d := c.dryRunner()
	for _, o := range c.objects {
		kind := o.GroupVersionKind()
		mapping, err := d.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		c.must(err)
		_, err = d.client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Get(c.ctx, o.GetName(), metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			c.must(err)
			found = append(found, o.GetKind()+" "+o.GetName())
		}
	}
	slices.Sort(found)
	return found
}

// TestChartRuns: the container's own command gets ready with the rights that the chart gives it, makes its
// certificate and has API servers trust it; neither an upgrade nor an uninstallation while it is dead
// undoes more than it should, and it can be installed again.
func TestChartRuns(t *testing.T) {
	s := newStage(t)
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	s.zones(1, 1)
	shop := s.id + "-shop"
	_, err := s.Client.CoreV1().Namespaces().Create(s.ctx, &v1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: shop, Labels: map[string]string{"chart": s.id}}}, metav1.CreateOptions{})
	s.must(err)
	c := s.install("r", "webhook")
	if found := c.lacking(); len(found) > 0 {
		t.Errorf("the chart's rights lack: %s", strings.Join(found, "\n"))
	}
	p := c.run()
	c.until("API servers are to trust the certificate", func(context.Context) (bool, error) {
		return len(c.bundle()) > 0 && len(c.certificate()) > 0, nil
	})
	bundle, certificate := c.bundle(), c.certificate()

	// An upgrade leaves alone what Evenkeel has written.
	c.settings = append(c.settings, "--set", "webhook.failurePolicy=Fail,webhook.namespaceSelector.matchLabels.chart="+s.id)
	c.helmed("upgrade")
	c.helmed("upgrade")
	if !bytes.Equal(c.bundle(), bundle) || !bytes.Equal(c.certificate(), certificate) {
		t.Error("an upgrade has changed the caBundle or the certificate")
	}

	c.noCallWasRefused()

	// With Fail and nobody there no pod can be created; without the release it can.
	p.Kill()
	pod := s.newPod("after", "after", "nobody")
	pod.Namespace, pod.Spec.NodeSelector = shop, nil
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	c.until("the API server calls the webhook", func(ctx context.Context) (bool, error) {
		_, err := s.Client.CoreV1().Pods(shop).Create(ctx, pod, dry)
		return err != nil && strings.Contains(err.Error(), "pods.evenkeel.io"), err
	})
	_, err = s.helm("uninstall", "r")
	s.must(err)
	c.until("pods can be created", func(ctx context.Context) (bool, error) {
		_, err := s.Client.CoreV1().Pods(shop).Create(ctx, pod, dry)
		return err == nil, err
	})
	if left := c.left(); !slices.Equal(left, []string{"CustomResourceDefinition topologypolicies.evenkeel.io"}) {
		t.Errorf("what is left: %q", left)
	}

	// Installed again, and what the chart has laid out empty is deleted: Evenkeel makes it.
	c.helmed("install")
	s.must(s.Client.CoreV1().Secrets(s.id).Delete(s.ctx, "r-evenkeel-webhook-tls", metav1.DeleteOptions{}))
	s.must(s.Client.CoordinationV1().Leases(s.id).Delete(s.ctx, c.name+"-controllers", metav1.DeleteOptions{}))
	c.run()
	c.until("there are a Secret and a Lease", func(ctx context.Context) (bool, error) {
		lease, err := s.Client.CoordinationV1().Leases(s.id).Get(ctx, c.name+"-controllers", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && len(c.certificate()) > 0, err
	})
	c.noCallWasRefused()
	_, err = s.helm("uninstall", "r")
	s.must(err)
}

// TestChartRights: no rule of a door's roles is idle. Without any one of them `evenkeel check cluster` misses
// something. API servers take a moment to notice each rule that is gone, and the release's webhook has nobody
// behind it: so it has a control plane of its own, and waits there while other tests use theirs.
func TestChartRights(t *testing.T) {
	t.Parallel()
	cluster := ownControlPlane(t)
	for door, settings := range map[string]string{
		"webhook": "webhook.validating.enabled=true",
		"extender": "webhook.enabled=false,extender.enabled=true,extender.bind=true,extender.reservations.mode=SingleNode," +
			"extender.service.clusterIP=10.0.0.99",
	} {
		t.Run(door, func(t *testing.T) { newStageOn(t, cluster).everyRuleCounts(door, settings) })
	}
}

func (s *stage) everyRuleCounts(door, settings string) {
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		s.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	c := s.install("r", door, "--set", settings)
	s.Cleanup(func() {
		if _, err := s.helm("uninstall", "r"); err != nil {
			s.Error(err)
		}
	})
	if found := c.lacking(); len(found) > 0 {
		s.Fatalf("the chart's rights lack: %s", strings.Join(found, "\n"))
	}
	d := c.dryRunner()
	untilLacking := func(what string, lacks bool) {
		s.Helper()
		c.until(what, func(context.Context) (bool, error) { return (len(c.lacking()) > 0) == lacks, nil })
	}
	tried := 0
	for _, role := range c.objects {
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		for i, rule := range rules {
			tried++
			less := role.DeepCopy()
			s.must(unstructured.SetNestedSlice(less.Object, slices.Delete(slices.Clone(rules), i, i+1), "rules"))
			s.must(d.store(less))
			untilLacking(fmt.Sprintf("%s %s, without %v: something is missed", role.GetKind(), role.GetName(), rule), true)
			s.must(d.store(role))
			untilLacking("all is there again", false)
		}
	}
	if tried < 10 {
		s.Errorf("%d rules were tried", tried)
	}
}

// TestChartSchedules: of the door scheduler both containers run with the pod's rights. The kube-scheduler
// leads by its own Lease, asks the Evenkeel beside it, and neither is refused a call.
func TestChartSchedules(t *testing.T) {
	s := newStage(t)
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	s.zones(3, 2)
	c := s.install("r", "scheduler", "--set", "webhook.enabled=false,scheduler.enabled=true,scheduler.image.repository=x,"+
		"scheduler.image.tag=y,scheduler.ignorable=false,scheduler.bind=true,scheduler.name="+s.id)
	t.Cleanup(func() {
		if _, err := s.helm("uninstall", "r"); err != nil {
			t.Error(err)
		}
	})
	if found := c.lacking(); len(found) > 0 {
		t.Errorf("the chart's rights lack: %s", strings.Join(found, "\n"))
	}
	c.run()
	self, err := os.Executable()
	s.must(err)
	port, err := process.FreePort()
	s.must(err)
	command, _, _ := unstructured.NestedStringSlice(c.container(1), "command")
	program, before, env := c.pod(self)
	log := filepath.Join(s.dir, "kube-scheduler.log")
	p, err := process.Start(process.Spec{Name: "the chart's kube-scheduler", Path: program,
		Args: append(append(before, command[1:]...), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)),
		Env:  append(env, component.Variable(component.Scheduler)), Log: log})
	s.must(err)
	t.Cleanup(p.Kill)

	for i := range 9 {
		s.create(s.newPod(fmt.Sprintf("p%d", i), "web", s.id, constraint(zoneKey, 1, v1.DoNotSchedule, "web")))
	}
	c.until("all pods are placed", func(ctx context.Context) (bool, error) {
		if !p.Running() {
			t.Fatalf("kube-scheduler has ended: %s", p.Tail(20))
		}
		bound := 0
		for _, n := range s.perDomain(zoneKey, "web") {
			bound += n
		}
		return bound == 9, fmt.Errorf("%d of 9", bound)
	})
	for zone, n := range s.perDomain(zoneKey, "web") {
		if n != 3 {
			t.Errorf("%s has %d pods", zone, n)
		}
	}
	lease, err := s.Client.CoordinationV1().Leases(s.id).Get(s.ctx, c.name, metav1.GetOptions{})
	s.must(err)
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		t.Error("nobody holds the release's Lease")
	}
	c.noCallWasRefused()
	text, err := os.ReadFile(log)
	s.must(err)
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.Contains(line, "is forbidden") {
			t.Errorf("kube-scheduler was refused a call: %s", line)
		}
	}
}
