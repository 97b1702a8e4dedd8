package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
)

const (
	ocmGuide       = "docs/guides/ocm.md"
	exampleHub     = "docs/examples/fleet/hub.yaml"
	ocmDisabled    = "cluster.open-cluster-management.io/experimental-scheduling-disable"
	disabledByOurs = "placements.evenkeel.io/disabled-ocm"
	injectedByOurs = "placements.evenkeel.io/injected"
)

// TestInstalledOnHub types what the guide says for a hub of Open Cluster Management: OCM's own placement controller
// runs beside, unchanged, and the clusters are those of the example. From nothing to an even decision, with replicas
// that die, and back to OCM without a cluster that moves.
func TestInstalledOnHub(t *testing.T) {
	h := &hubHost{host: newHost(t)}
	h.doors = "--set webhook.enabled=false,ocm.enabled=true,placements.enabled=true"
	h.startController(t)
	h.story(t, []storyStep{
		{"guide", h.guide},
		{"killed", h.leaderKilled},
		{"alerts", h.alerts},
		{"leaving", h.leaving},
		{"given back", h.givenBack},
		{"left behind", h.leftBehind},
	})
}

type hubHost struct {
	*host
	client dynamic.Interface
}

// startController makes the cluster a hub, and ends with the test.
func (h *hubHost) startController(t *testing.T) {
	program, err := filepath.Abs(setting("EVENKEEL_E2E_OCM_CONTROLLER", "../../../build/e2e/ocm-controller"))
	h.must(err)
	kubeconfig, err := h.Kubeconfig(cluster.Admin())
	h.must(err)
	log, err := os.Create(filepath.Join(h.dir, "ocm-controller.log"))
	h.must(err)
	defer log.Close()
	command := exec.Command(program, "-kubeconfig", kubeconfig, "-objects", filepath.Join(h.top, exampleHub))
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	input, err := command.StdinPipe()
	h.must(err)
	output, err := command.StdoutPipe()
	h.must(err)
	if err := command.Start(); err != nil {
		t.Fatalf("%v: run tests/e2e/run.sh, which builds it", err)
	}
	t.Cleanup(func() {
		_ = input.Close() // which ends it
		if err := command.Wait(); err != nil {
			t.Errorf("OCM's controller: %v; see %s", err, log.Name())
		}
	})
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatalf("OCM's controller says %q, %v; see %s", line, err, log.Name())
	}
	h.client, err = dynamic.NewForConfig(h.Config)
	h.must(err)
}

func (h *hubHost) of(resource string) dynamic.ResourceInterface {
	return h.client.Resource(runtimeschema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1beta1",
		Resource: resource}).Namespace("shop")
}

// decided clusters of the Placement, by name.
func (h *hubHost) decided(ctx context.Context) ([]string, error) {
	list, err := h.of("placementdecisions").List(ctx, metav1.ListOptions{LabelSelector: "cluster.open-cluster-management.io/placement=web"})
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range list.Items {
		all = append(all, clustersOf(&list.Items[i])...)
	}
	slices.Sort(all)
	return all, nil
}

func clustersOf(object *unstructured.Unstructured) (names []string) {
	decisions, _, _ := unstructured.NestedSlice(object.Object, "status", "decisions")
	for _, one := range decisions {
		if decision, good := one.(map[string]any); good {
			names = append(names, fmt.Sprint(decision["clusterName"]))
		}
	}
	slices.Sort(names)
	return names
}

func (h *hubHost) annotations(t *testing.T) map[string]string {
	t.Helper()
	placement, err := h.of("placements").Get(h.ctx, "web", metav1.GetOptions{})
	h.must(err)
	return placement.GetAnnotations()
}

func (h *hubHost) patch(t *testing.T, patch string) {
	t.Helper()
	_, err := h.of("placements").Patch(h.ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	h.must(err)
}

// simulated is what `evenkeel simulate` selects from what kubectl prints of the hub.
func (h *hubHost) simulated(ctx context.Context) ([]string, error) {
	const kinds = "managedclusters,managedclustersets,managedclustersetbindings,placements,placementdecisions,addonplacementscores,namespaces"
	text, err := h.tryShell("set +x; kubectl get " + kinds + " -A -o yaml >" + h.dir + "/hub.yaml\n" +
		"kubectl get placement web -n shop -o yaml >" + h.dir + "/web.yaml\n" +
		binary + " simulate --state " + h.dir + "/hub.yaml --placement " + h.dir + "/web.yaml -o json")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	var answer struct{ Selected []string }
	err = json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &answer)
	slices.Sort(answer.Selected)
	return answer.Selected, err
}

// untilSimulated waits until what is decided is what is simulated, of so many clusters.
func (h *hubHost) untilSimulated(t *testing.T, number int) {
	t.Helper()
	h.until("what is decided is what is simulated", func(ctx context.Context) (bool, error) {
		wanted, err := h.simulated(ctx)
		if err != nil {
			return false, err
		}
		decided, err := h.decided(ctx)
		if err != nil || len(decided) != number || !slices.Equal(decided, wanted) {
			return false, fmt.Errorf("decided %v, simulated %v, %v", decided, wanted, err)
		}
		return true, nil
	})
}

var evenByGuide = regexp.MustCompile(`(?m)^region: skew [01], maxSkew 1; claim zone: skew [01], maxSkew 1; [0-9]+ clusters$`)

// guide: the commands of "Install it on a hub", four at most, and those that show where the clusters are.
func (h *hubHost) guide(t *testing.T) {
	count, even := 0, false
	for _, line := range linesOf(h.typed(t, ocmGuide, "ocm.enabled=true")) {
		count += commandsIn(line)
		said := h.shell(t, line)
		t.Logf("%s", said)
		even = evenByGuide.MatchString(said)
	}
	if !even || count > 4 {
		t.Errorf("after %d commands the Placement is even: %t", count, even)
	}
	shown := h.shell(t, h.typed(t, ocmGuide, "kubectl get placementdecisions -n shop"))
	if n := len(regexp.MustCompile(`(?m)^\S+\tspread by region=\S+, zone=\S+$`).FindAllString(shown, -1)); n != 4 {
		t.Errorf("%d clusters have a reason: %s", n, shown)
	}
	h.untilSimulated(t, 4)
	why := h.shell(t, h.typed(t, ocmGuide, "explain placement web"))
	if !strings.Contains(why, "shop/web: 4 selected, 0 unscheduled") || !regexp.MustCompile(`(?m)^TIME +REASON`).MatchString(why) {
		t.Errorf("explain says %s", why)
	}
	said := h.shell(t, h.typed(t, ocmGuide, "evenkeel check cluster /etc"))
	if !strings.Contains(said, "Placements have spec.spreadPolicy") || strings.Contains(said, "\nerror") {
		t.Errorf("check cluster says %s", said)
	}
	// The API server asks about new ones: what Evenkeel will decide has OCM's annotation before it is stored.
	h.until("a new Placement is reviewed", func(ctx context.Context) (bool, error) {
		text, err := h.tryShell("sed 's/name: web,/name: new,/' docs/examples/fleet/web.yaml | kubectl create --dry-run=server -o yaml -f -")
		return err == nil && strings.Contains(text, ocmDisabled) && strings.Contains(text, disabledByOurs), err
	})
	h.noneRefused(t)
}

// leaderKilled: a replica that decides dies without a word, a cluster is lost, and another replica decides.
func (h *hubHost) leaderKilled(t *testing.T) {
	lease, err := h.Client.CoordinationV1().Leases(release).Get(h.ctx, "evenkeel-ocm", metav1.GetOptions{})
	h.must(err)
	leader := ""
	for _, pod := range h.podsIn(t, release, "app.kubernetes.io/component=ocm") {
		if lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, pod.Name) {
			leader = pod.Name
		}
	}
	if leader == "" {
		t.Fatalf("no pod is the leader: %v", lease.Spec.HolderIdentity)
	}
	before, err := h.decided(h.ctx)
	h.must(err)
	h.shell(t, "kubectl -n evenkeel delete pod --grace-period=0 --force "+leader)
	h.shell(t, "kubectl patch managedcluster "+before[0]+` --type merge -p '{"spec": {"taints": [{"key": "lost", "effect": "NoSelect", "timeAdded": null}]}}'`)
	h.until("another replica takes the lost cluster away", func(ctx context.Context) (bool, error) {
		now, err := h.decided(ctx)
		return err == nil && !slices.Contains(now, before[0]), err
	})
	h.untilSimulated(t, 4)
	h.rolledOut(t, "evenkeel-ocm")
	h.shell(t, "kubectl patch managedcluster "+before[0]+` --type merge -p '{"spec": {"taints": null}}'`)
	h.noneRefused(t)
}

// alerts of a hub, by their real faults, and what the first command of each one's runbook says; as in TestAlerts.
func (h *hubHost) alerts(t *testing.T) {
	h.startPrometheus(t)
	// More clusters than one for each zone.
	h.shell(t, "sed 's/name: web,/name: many,/; s/numberOfClusters: 4/numberOfClusters: 7/' docs/examples/fleet/web.yaml | kubectl create -f -")
	h.fires(t, "EvenkeelPlacementsSkewed", `job="evenkeel-ocm"`, `(?m)^shop +many +False +\S+ +\S`, nil)

	h.shell(t, "kubectl get clusterrole evenkeel-ocm.evenkeel -o yaml >"+h.dir+"/role.yaml\n"+
		"sed '/placementdecisions\\/status/d' "+h.dir+"/role.yaml | kubectl replace -f -")
	h.patch(t, `{"spec": {"numberOfClusters": 3}}`)
	h.fires(t, "EvenkeelDecisionsNotWritten", `job="evenkeel-ocm",what="placementdecisions"`, `were not written.*placement=shop/web.*status=403`, nil)
	said, err := h.tryShell("kubectl -n evenkeel exec deployment/evenkeel-ocm -- evenkeel check cluster /etc/evenkeel/evenkeel.yaml")
	if err == nil || !strings.Contains(said, "may not patch placementdecisions/status") {
		t.Errorf("check cluster says %v: %s", err, said)
	}
	h.shell(t, "sed '/resourceVersion:/d' "+h.dir+"/role.yaml | kubectl replace -f -")
	h.untilSimulated(t, 3)

	h.shell(t, "kubectl -n evenkeel scale deployment evenkeel-ocm --replicas=0")
	probe := "sed 's/name: web,/name: probe,/' docs/examples/fleet/web.yaml | kubectl create --dry-run=server -f -"
	h.fires(t, "EvenkeelPlacementsUnreviewed", `name="placements.evenkeel.io"`, `endpoints: (null|\[\])|ready: false`,
		func(context.Context) { _, _ = h.tryShell(probe) })
	h.fires(t, "EvenkeelReplicaSilent", `job="evenkeel-ocm"`, `No resources found`, nil)
	h.shell(t, "kubectl -n evenkeel scale deployment evenkeel-ocm --replicas=2\nkubectl -n shop delete placement many")
	h.rolledOut(t, "evenkeel-ocm")
	h.patch(t, `{"spec": {"numberOfClusters": 4}}`)
	h.untilSimulated(t, 4)
}

// unmoved begins a watch of what is decided; what it returns ends it, and fails the test if a cluster came or went.
func (h *hubHost) unmoved(t *testing.T) (end func()) {
	t.Helper()
	before, err := h.decided(h.ctx)
	h.must(err)
	ctx, stop := context.WithCancel(h.ctx)
	list, err := h.of("placementdecisions").List(ctx, metav1.ListOptions{})
	h.must(err)
	events, err := h.of("placementdecisions").Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	h.must(err)
	var moved []string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range events.ResultChan() {
			object, good := event.Object.(*unstructured.Unstructured)
			if ctx.Err() != nil {
				return
			}
			if !good || event.Type != watch.Modified || !slices.Equal(clustersOf(object), before) {
				moved = append(moved, fmt.Sprintf("%s %v", event.Type, event.Object))
			}
		}
	}()
	return func() {
		t.Helper()
		after, err := h.decided(h.ctx)
		h.must(err)
		stop()
		<-ended
		if len(moved) > 0 || !slices.Equal(before, after) {
			t.Errorf("clusters moved from %v to %v: %v", before, after, moved)
		}
	}
}

// goesOn fails the test unless OCM alone decides the Placement again: it has so many clusters, and no annotation.
func (h *hubHost) goesOn(t *testing.T, number int) {
	t.Helper()
	for _, name := range []string{ocmDisabled, disabledByOurs, "placements.evenkeel.io/mode"} {
		if value, there := h.annotations(t)[name]; there {
			t.Errorf("the Placement has %s: %s", name, value)
		}
	}
	h.patch(t, fmt.Sprintf(`{"spec": {"numberOfClusters": %d}}`, number))
	h.until("OCM has decided", func(ctx context.Context) (bool, error) {
		decided, err := h.decided(ctx)
		return err == nil && len(decided) == number, fmt.Errorf("%v, %w", decided, err)
	})
}

// uninstalled fails the test when something of the release is left but the kind TopologyPolicy.
func (h *hubHost) uninstalled(t *testing.T) {
	t.Helper()
	left := h.shell(t, "set +x; kubectl get deployments,services,leases,mutatingwebhookconfigurations,clusterroles,clusterrolebindings,roles -A"+
		" -l app.kubernetes.io/part-of=evenkeel -o name")
	if strings.TrimSpace(strings.ReplaceAll(left, "+ set +x", "")) != "" {
		t.Errorf("what is left: %s", left)
	}
}

func (h *hubHost) ocmPods(t *testing.T) int {
	t.Helper()
	pods, err := h.Client.CoreV1().Pods(release).List(h.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=ocm"})
	h.must(err)
	return len(pods.Items)
}

// leaving: the guide's commands, after which OCM decides, and until then no cluster has moved.
func (h *hubHost) leaving(t *testing.T) {
	end := h.unmoved(t)
	h.shell(t, h.typed(t, ocmGuide, "helm uninstall evenkeel"))
	end()
	h.uninstalled(t)
	if pods := h.ocmPods(t); pods > 0 {
		t.Errorf("%d replicas are left", pods)
	}
	if condition := h.spreadSatisfied(t); condition != nil {
		t.Errorf("the Placement still has %v", condition)
	}
	h.goesOn(t, 5)
}

func (h *hubHost) spreadSatisfied(t *testing.T) (found map[string]any) {
	t.Helper()
	placement, err := h.of("placements").Get(h.ctx, "web", metav1.GetOptions{})
	h.must(err)
	conditions, _, err := unstructured.NestedSlice(placement.Object, "status", "conditions")
	h.must(err)
	for _, one := range conditions {
		if condition, good := one.(map[string]any); good && condition["type"] == "SpreadSatisfied" {
			found = condition
		}
	}
	return found
}

// installAgain is the guide's command, with the right to write scores: in mode Owner the chart grants none.
func (h *hubHost) installAgain(t *testing.T) {
	t.Helper()
	lines := linesOf(h.typed(t, ocmGuide, "ocm.enabled=true"))
	install := lines[slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "helm install") })]
	h.shell(t, install+" --set config.ocm.scores=true")
	h.until("Evenkeel decides again", func(ctx context.Context) (bool, error) {
		condition := h.spreadSatisfied(t)
		return condition != nil && h.annotations(t)[disabledByOurs] == "true", fmt.Errorf("%v", condition)
	})
}

// givenBack: helm uninstall alone gives the Placement back before it removes anything, also where no replica runs.
func (h *hubHost) givenBack(t *testing.T) {
	for _, replicas := range []int{2, 0} {
		h.installAgain(t)
		h.shell(t, fmt.Sprintf("kubectl -n evenkeel scale deployment/evenkeel-ocm --replicas=%d", replicas))
		h.until("there are as many replicas", func(ctx context.Context) (bool, error) { return h.ocmPods(t) == replicas, nil })
		end := h.unmoved(t)
		h.shell(t, "helm uninstall evenkeel --namespace evenkeel --wait")
		end()
		h.uninstalled(t)
		if left := strings.TrimSpace(h.shell(t, "set +x; kubectl get job,serviceaccount,clusterrole,clusterrolebinding -A"+
			" -l app.kubernetes.io/component=give-back -o name")); strings.Contains(left, "/") {
			t.Errorf("what is left of the hook: %s", left)
		}
		if condition := h.spreadSatisfied(t); condition != nil && replicas > 0 {
			t.Errorf("the Placement still has %v", condition)
		}
		h.until("its pods are gone", func(ctx context.Context) (bool, error) { return h.ocmPods(t) == 0, nil })
		h.shell(t, "kubectl annotate placement web -n shop placements.evenkeel.io/mode-")
		h.goesOn(t, 3+replicas)
	}
}

// leftBehind: installed again it takes the Placement over where it is, and moves what is uneven, and one in mode Scores
// gets what tells OCM; uninstalled without a word the decisions stay; and what the guide has for this gives both back.
func (h *hubHost) leftBehind(t *testing.T) {
	h.installAgain(t)
	h.untilSimulated(t, 3)
	// where scores are written; OCM's registration makes them, which does not run here
	h.shell(t, "kubectl get managedclusters -o jsonpath='{.items[*].metadata.name}' | xargs -n 1 kubectl create namespace")
	h.shell(t, "sed 's/name: web,/name: scored,/' docs/examples/fleet/web.yaml | kubectl create -f -\n"+
		"kubectl annotate placement scored -n shop placements.evenkeel.io/mode=Scores --overwrite")
	h.until("one in mode Scores has a gate and a condition", func(ctx context.Context) (bool, error) {
		said, err := h.tryShell("set +x; kubectl get placement scored -n shop -o json")
		return strings.Contains(said, injectedByOurs) && strings.Contains(said, ".exists(s, s.name ==") &&
			strings.Contains(said, `"SpreadSatisfied"`), fmt.Errorf("%w, %s", err, said)
	})
	end := h.unmoved(t)
	h.shell(t, "helm uninstall evenkeel --namespace evenkeel --no-hooks --wait")
	h.until("its pods are gone", func(ctx context.Context) (bool, error) { return h.ocmPods(t) == 0, nil })
	if h.annotations(t)[ocmDisabled] != "true" {
		t.Error("it has not left the Placement behind")
	}
	h.shell(t, h.typed(t, ocmGuide, "while read -r placement"))
	end()
	if condition := h.spreadSatisfied(t); condition != nil {
		t.Errorf("the Placement still has %v", condition)
	}
	said := h.shell(t, "set +x; kubectl get placement scored -n shop -o json")
	for _, ours := range []string{injectedByOurs, disabledByOurs, ocmDisabled, "evenkeel-0", ".exists(s,", "SpreadSatisfied"} {
		if strings.Contains(said, ours) {
			t.Errorf("%s is left in the Placement of mode Scores: %s", ours, said)
		}
	}
	h.shell(t, "kubectl delete placement scored -n shop")
	h.goesOn(t, 3)
}
