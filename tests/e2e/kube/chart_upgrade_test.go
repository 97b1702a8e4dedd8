package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// The chart as it was before the extender made its certificates, before what monitors, and before the
// webhook that validates: what a release that is upgraded came from.
const earlierChart = "e78a5975d612980806662f69ae5f7811e7e3683b"

// chartOf is the chart of an earlier commit, from the history of this clone.
func (s *stage) chartOf(commit string) string {
	s.Helper()
	packed := filepath.Join(s.dir, "earlier.tar")
	for _, command := range [][]string{
		{"git", "-c", "safe.directory=*", "-C", "../../..", "archive", "-o", packed, commit, "charts/evenkeel", "docs/examples/kubernetes"},
		{"tar", "-xf", packed, "-C", s.dir},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			s.Fatalf("The chart of %s cannot be had: this test needs a clone with its whole history (git fetch --unshallow). %v: %s",
				commit, err, output)
		}
	}
	return filepath.Join(s.dir, "charts", "evenkeel")
}

// reachable has the release's Service lead to its pod, as kube-proxy would: to a loopback address of its
// own, whose port 443 is passed on. Helm writes the Service anew whenever it is asked for something.
func (c *installed) reachable() {
	c.Helper()
	if c.address == "" {
		c.address = fmt.Sprintf("127.77.%d.%d", c.port>>8, c.port&255)
		listener, err := net.Listen("tcp", c.address+":443")
		c.must(err)
		c.Cleanup(func() { _ = listener.Close() })
		go passOn(listener, fmt.Sprintf("127.0.0.1:%d", c.served))
	}
	patch := fmt.Sprintf(`{"spec": {"type": "ExternalName", "externalName": %q, "clusterIP": null, "clusterIPs": null}}`, c.address)
	_, err := c.Client.CoreV1().Services(c.id).Patch(c.ctx, c.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	c.must(err)
}

func passOn(listener net.Listener, address string) {
	for {
		here, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer here.Close()
			there, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer there.Close()
			go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
			_, _ = io.Copy(here, there) // either end may go at any time
		}()
	}
}

// policy makes the release's policy what is wanted, in this mode.
func (c *installed) policy(mode string) {
	c.Helper()
	object := &unstructured.Unstructured{}
	c.must(yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: %[1]s}
spec:
  mode: %[2]s
  match: {namespaceSelector: {matchLabels: {chart: %[1]s}}}
  pods: {replaceDefaults: true, schedulerNames: [nobody], spread: [{topologyKey: %[3]s, whenUnsatisfiable: DoNotSchedule}]}
`, c.id, mode, zoneKey), &object.Object))
	c.until("the policy is taken", func(context.Context) (bool, error) {
		d := c.dryRunner() // which has to know the kind
		err := d.write(object)
		return err == nil, err
	})
}

// shop makes a namespace whose pods the release is asked about, and returns a pod of it.
func (s *stage) shop() *v1.Pod {
	s.Helper()
	name := s.id + "-shop"
	_, err := s.Client.CoreV1().Namespaces().Create(s.ctx, &v1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"chart": s.id}}}, metav1.CreateOptions{})
	s.must(err)
	pod := s.newPod("pod", "web", "nobody")
	pod.Namespace, pod.Spec.NodeSelector = name, nil
	return pod
}

// TestChartUpgrades: pods can be created, and get what their policy says, after an installation, a second
// one, an upgrade from an earlier chart, a downgrade, and an uninstallation with nobody there; with
// failurePolicy Fail throughout. Only the kind is left, and with it the policies.
func TestChartUpgrades(t *testing.T) {
	s := newStage(t)
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	s.zones(3, 1)
	pod := s.shop()
	evading := pod.DeepCopy()
	evading.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(zoneKey, 9, v1.DoNotSchedule, "web")}
	selected := "webhook.namespaceSelector.matchLabels.chart=" + s.id
	c := s.installChart(s.chartOf(earlierChart), "r", "webhook", "--set", "webhook.failurePolicy=Fail,"+selected)
	earlier := c.objects
	spreads := func(when string) {
		s.Helper()
		c.until("pods are created and spread "+when, func(ctx context.Context) (bool, error) {
			created, err := s.try(ctx, pod)
			return err == nil && len(created.Spec.TopologySpreadConstraints) == 1, err
		})
	}
	denied := func(when string, wanted bool) {
		s.Helper()
		c.until(fmt.Sprintf("pods that evade the policy are denied %s: %v", when, wanted), func(ctx context.Context) (bool, error) {
			_, err := s.try(ctx, evading)
			return wanted == (err != nil && strings.Contains(err.Error(), "ConstraintWeaker")), err
		})
	}
	p := c.run()
	c.reachable()
	c.policy("Require")
	spreads("after the installation")
	denied("without the webhook that validates", false)
	bundle, certificate := c.bundle(), c.certificate()

	// Twice: under its own name, under another one, and under another one with the kind left alone.
	for _, again := range []struct{ release, set, refused string }{
		{"r", "crd.install=true", "cannot re-use a name"},
		{"second", "crd.install=true", "invalid ownership metadata"},
		{"second", "crd.install=false", ""},
	} {
		_, err := s.helm("install", again.release, s.anyVersion(chartFolder), "--set", again.set+","+selected)
		if (err == nil) != (again.refused == "") || (err != nil && !strings.Contains(err.Error(), again.refused)) {
			t.Errorf("%s once more with %s: %v", again.release, again.set, err)
		}
		spreads("after another installation")
	}
	_, err := s.helm("uninstall", "second")
	s.must(err)
	spreads("after the other one is gone")

	// To today's chart. The certificate and whom API servers trust stay, and the new pod takes both over.
	c.settings[0] = s.anyVersion(chartFolder)
	c.helmed("upgrade", "--reset-then-reuse-values", "--set", "webhook.validating.enabled=true,webhook.validating.failurePolicy=Ignore")
	c.reachable()
	spreads("after the upgrade")
	p.Kill()
	before := len(c.log()) // today's program may ask for more than the earlier chart allows
	p = c.run()
	spreads("by a new pod")
	denied("after the upgrade", true)
	if !bytes.Equal(c.bundle(), bundle) || !bytes.Equal(c.certificate(), certificate) {
		t.Error("the upgrade has changed the caBundle or the certificate")
	}
	c.noneWasRefused(c.log()[before:])
	if found := c.lacking(); len(found) > 0 {
		t.Errorf("the chart's rights lack: %s", strings.Join(found, "\n"))
	}
	today := c.objects

	// And back.
	_, err = s.helm("rollback", "r", "1")
	s.must(err)
	c.objects = earlier
	c.reachable()
	spreads("after the downgrade")
	p.Kill()
	p = c.run()
	spreads("by a pod of the downgrade")
	denied("after the downgrade", false)
	if !bytes.Equal(c.bundle(), bundle) || !bytes.Equal(c.certificate(), certificate) {
		t.Error("the downgrade has changed the caBundle or the certificate")
	}

	// Forward once more, and out, while nobody is there.
	c.helmed("upgrade", "--reset-then-reuse-values", "--set", "webhook.validating.enabled=true,webhook.validating.failurePolicy=Fail")
	p.Kill()
	c.until("without anybody there nothing is created", func(ctx context.Context) (bool, error) {
		_, err := s.try(ctx, pod)
		return err != nil && strings.Contains(err.Error(), "pods.evenkeel.io"), err
	})
	_, err = s.helm("uninstall", "r")
	s.must(err)
	c.until("pods can be created", func(ctx context.Context) (bool, error) {
		_, err := s.try(ctx, pod)
		return err == nil, err
	})
	c.objects = append(slices.Clone(earlier), today...)
	left := slices.Compact(c.left())
	if !slices.Equal(left, []string{"CustomResourceDefinition topologypolicies.evenkeel.io"}) {
		t.Errorf("what is left: %q", left)
	}
	s.must(s.Client.Discovery().RESTClient().Get().AbsPath("/apis/evenkeel.io/v1alpha1/topologypolicies/" + s.id).Do(s.ctx).Error())
}

// TestChartBinds: with the webhook that validates, API servers trust it without anybody's help, and a
// policy with mode Require binds; without, `evenkeel check cluster` says that it does not. That nobody is
// there keeps no pod from being created, unless its own failurePolicy says so.
func TestChartBinds(t *testing.T) {
	s := newStage(t)
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	s.zones(3, 1)
	pod := s.shop()
	c := s.install("r", "webhook", "--set", "webhook.namespaceSelector.matchLabels.chart="+s.id)
	t.Cleanup(func() {
		if _, err := s.helm("uninstall", "r"); err != nil {
			t.Error(err)
		}
	})
	c.policy("Require")
	said := func() string {
		s.Helper()
		for _, f := range c.checked() {
			if f.Field == "policies" {
				return f.Problem
			}
		}
		return ""
	}
	if problem := said(); !strings.Contains(problem, "mode Require ("+s.id+") may bind nobody") {
		t.Errorf("without the webhook that validates it is said: %q", problem)
	}
	c.settings = append(c.settings, "--set", "webhook.validating.enabled=true")
	c.helmed("upgrade")
	if problem := said(); problem != "" {
		t.Errorf("with it, it is said: %q", problem)
	}
	trusted := func() bool {
		name := c.release + "-evenkeel." + c.id
		configuration, err := c.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(c.ctx, name, metav1.GetOptions{})
		s.must(err)
		bundle := c.bundle() // read once: the one written between two readings is not what the other had
		return len(bundle) > 0 && bytes.Equal(configuration.Webhooks[0].ClientConfig.CABundle, bundle)
	}
	p := c.run()
	c.until("API servers are to trust it", func(context.Context) (bool, error) { return trusted(), nil })
	c.noCallWasRefused()
	p.Kill()
	open := c.counter("apiserver_admission_webhook_fail_open_count", `name="pods.evenkeel.io"`)
	unbound := c.counter("apiserver_admission_webhook_fail_open_count", `name="validate.pods.evenkeel.io"`)
	if _, err := s.try(s.ctx, pod); err != nil {
		t.Errorf("nobody is there, and a pod is refused: %v", err)
	}
	open.grows()
	unbound.grows()
	refused := c.counter("apiserver_admission_webhook_rejection_count", `name="validate.pods.evenkeel.io"`, `error_type="calling_webhook_error"`)
	c.settings = append(c.settings, "--set", "webhook.validating.failurePolicy=Fail")
	c.helmed("upgrade")
	if !trusted() {
		t.Error("an upgrade has taken the caBundle away")
	}
	c.until("with Fail no pod is created", func(ctx context.Context) (bool, error) {
		_, err := s.try(ctx, pod)
		return err != nil && strings.Contains(err.Error(), "validate.pods.evenkeel.io"), err
	})
	refused.grows()
}

// counter is one of the API server's that the chart's alerts go by. Other tests may make it grow, too.
type counter struct {
	c      *installed
	metric string
	labels []string
	before float64
}

// counter remembers how much the API server counts now, in all series with these labels.
func (c *installed) counter(metric string, labels ...string) *counter {
	c.Helper()
	found := &counter{c: c, metric: metric, labels: labels}
	found.before = found.now()
	return found
}

func (k *counter) now() float64 {
	k.c.Helper()
	text, err := k.c.Client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(k.c.ctx)
	k.c.must(err)
	sum := 0.0
	for line := range strings.SplitSeq(string(text), "\n") {
		if !strings.HasPrefix(line, k.metric+"{") ||
			slices.ContainsFunc(k.labels, func(label string) bool { return !strings.Contains(line, label) }) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		k.c.must(err)
		sum += value
	}
	return sum
}

// grows fails the test when the API server counts no more than before.
func (k *counter) grows() {
	k.c.Helper()
	if now := k.now(); now <= k.before {
		k.c.Errorf("%s with %q was %v and is %v", k.metric, k.labels, k.before, now)
	}
}
