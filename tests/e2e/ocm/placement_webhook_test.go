package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

var (
	casesFlag = flag.Int("cases", 500, "how many random Placements the webhook is asked about; an issue's acceptance takes 5000")
	seedFlag  = flag.Uint64("seed", 0, "what they are made of; 0 takes the time")
)

const (
	exampleWebhook = "../../../docs/examples/kubernetes/webhook-placements.yaml"
	injected       = "placements.evenkeel.io/injected"
	mode           = "placements.evenkeel.io/mode"
	disable        = "cluster.open-cluster-management.io/experimental-scheduling-disable"
	reviewed       = "reviewed" // the namespace whose Placements are
	plain          = "plain"    // and one whose are not
)

// ---- a hub that asks ----

// controlPlane is a hub without OCM's controller: nothing is to be decided.
func controlPlane(t *testing.T) *hub.Hub {
	t.Helper()
	h, err := hub.Start(t.Context(), folder(t), hub.Programs{
		ControlPlane: setting(t, "EVENKEEL_E2E_CONTROL_PLANE"), Kubectl: setting(t, "EVENKEEL_E2E_KUBECTL")})
	must(t, err)
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{reviewed, plain} {
		_, err := h.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{})
		must(t, err)
	}
	return h
}

// ask has the hub's API server ask this URL, as the shipped configuration says; but it fails if nobody
// answers, and one namespace is left out. It returns when a Placement is asked about.
func askAbout(t *testing.T, h *hub.Hub, url string, authority []byte, asked func() bool) {
	t.Helper()
	text, err := os.ReadFile(exampleWebhook)
	must(t, err)
	var c admission.MutatingWebhookConfiguration
	must(t, yaml.UnmarshalStrict(text, &c))
	fail := admission.Fail
	hook := &c.Webhooks[0]
	hook.FailurePolicy = &fail
	hook.ClientConfig = admission.WebhookClientConfig{URL: &url, CABundle: authority}
	hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: reviewed}}
	seconds := int32(20)
	hook.TimeoutSeconds = &seconds
	_, err = h.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &c, metav1.CreateOptions{})
	must(t, err)
	must(t, hub.Until(t.Context(), "the API server asks", func(ctx context.Context) (bool, error) {
		probe := placementOf(reviewed, "probe", oneTerm("ScheduleAnyway"))
		_, err := h.Clusters.ClusterV1beta1().Placements(reviewed).Create(ctx, probe, dryRun)
		return err == nil && asked(), err
	}))
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ---- Placements ----

func placementOf(namespace, name string, spread clusterv1beta1.SpreadPolicy) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: clusterv1beta1.PlacementSpec{SpreadPolicy: spread}}
}

func oneTerm(when clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadPolicy {
	return clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
		{TopologyKey: "zone", TopologyKeyType: "Label", MaxSkew: 1, WhenUnsatisfiable: when}}}
}

type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// random is a Placement with terms, of which every part may be there or not, in every form.
func (d dice) random(number int) *clusterv1beta1.Placement {
	p := placementOf(plain, fmt.Sprintf("p%d", number), clusterv1beta1.SpreadPolicy{})
	p.Annotations = map[string]string{mode: "Scores"}
	if d.chance(30) {
		p.Annotations["note"] = "x"
	}
	for range 1 + d.IntN(3) {
		when := []clusterv1beta1.UnsatisfiableMaxSkewAction{"ScheduleAnyway", "DoNotSchedule"}[d.IntN(2)]
		p.Spec.SpreadPolicy.SpreadConstraints = append(p.Spec.SpreadPolicy.SpreadConstraints, oneTerm(when).SpreadConstraints...)
	}
	if d.chance(60) {
		n := int32(d.IntN(6))
		p.Spec.NumberOfClusters = &n
	}
	for range d.IntN(4) {
		p.Spec.Predicates = append(p.Spec.Predicates, d.predicate())
	}
	if d.chance(60) {
		p.Spec.PrioritizerPolicy.Mode = []clusterv1beta1.PrioritizerPolicyModeType{"", "Additive", "Exact"}[d.IntN(3)]
		for range d.IntN(4) {
			p.Spec.PrioritizerPolicy.Configurations = append(p.Spec.PrioritizerPolicy.Configurations, d.prioritizer())
		}
	}
	return p
}

func (d dice) predicate() (p clusterv1beta1.ClusterPredicate) {
	s := &p.RequiredClusterSelector
	if d.chance(50) {
		s.LabelSelector.MatchLabels = map[string]string{"env": "prod"}
	}
	if d.chance(30) {
		s.ClaimSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "cloud", Operator: "Exists"}}
	}
	for range d.IntN(3) {
		s.CelSelector.CelExpressions = append(s.CelSelector.CelExpressions, `"a" in managedCluster.metadata.labels`)
	}
	return p
}

func (d dice) prioritizer() clusterv1beta1.PrioritizerConfig {
	c := clusterv1beta1.PrioritizerConfig{Weight: int32(d.IntN(21) - 10)}
	if d.chance(30) {
		c.ScoreCoordinate = &clusterv1beta1.ScoreCoordinate{Type: "AddOn",
			AddOn: &clusterv1beta1.AddOnScore{ResourceName: "demo", ScoreName: "cpu"}}
		return c
	}
	names := []string{"Balance", "Steady", "ResourceAllocatableCPU", "Spread", "Spread"}
	c.ScoreCoordinate = &clusterv1beta1.ScoreCoordinate{Type: "BuiltIn", BuiltIn: names[d.IntN(len(names))]}
	return c
}

// ---- what is ours, by this test's own reading ----

func isOurs(c clusterv1beta1.PrioritizerConfig) bool {
	return c.ScoreCoordinate.Type == "AddOn" && strings.HasPrefix(c.ScoreCoordinate.AddOn.ResourceName, "evenkeel-")
}

func isSpread(c clusterv1beta1.PrioritizerConfig) bool {
	return c.ScoreCoordinate.Type == "BuiltIn" && c.ScoreCoordinate.BuiltIn == "Spread"
}

// spreadWeight is what OCM would go by if it knew Spread: built-in ones are merged, the last counts.
func spreadWeight(p *clusterv1beta1.Placement) (weight int32) {
	for _, c := range p.Spec.PrioritizerPolicy.Configurations {
		if isSpread(c) {
			weight = c.Weight
		}
	}
	return weight
}

// theirs is what a Placement means without ours and without `builtIn: Spread`.
func theirs(p *clusterv1beta1.Placement) *clusterv1beta1.PlacementSpec {
	spec := p.Spec.DeepCopy()
	spec.PrioritizerPolicy.Configurations = nil
	for _, c := range p.Spec.PrioritizerPolicy.Configurations {
		if !isOurs(c) && !isSpread(c) {
			spec.PrioritizerPolicy.Configurations = append(spec.PrioritizerPolicy.Configurations, c)
		}
	}
	if spec.PrioritizerPolicy.Mode == "" {
		spec.PrioritizerPolicy.Mode = "Additive"
	}
	spec.Predicates = nil
	for _, predicate := range p.Spec.Predicates {
		kept := *predicate.DeepCopy()
		kept.RequiredClusterSelector.CelSelector.CelExpressions = nil
		for _, expression := range predicate.RequiredClusterSelector.CelSelector.CelExpressions {
			if !strings.Contains(expression, `scores("evenkeel-`) {
				kept.RequiredClusterSelector.CelSelector.CelExpressions = append(kept.RequiredClusterSelector.CelSelector.CelExpressions, expression)
			}
		}
		spec.Predicates = append(spec.Predicates, kept)
	}
	if len(spec.Predicates) == 1 && reflect.DeepEqual(spec.Predicates[0], clusterv1beta1.ClusterPredicate{}) {
		spec.Predicates = nil // it matches everything, as none does
	}
	return spec
}

// ---- the patches of mode Scores ----

type admitted struct {
	Allowed   bool
	Warnings  []string
	Patch     json.RawMessage
	Placement json.RawMessage
}

// simulate asks `evenkeel simulate --admit`; `old` nil: it is created.
func simulate(dir string, number int64, object, old []byte) (*admitted, error) {
	file := filepath.Join(dir, fmt.Sprintf("placement-%d.json", number))
	defer os.Remove(file)
	if err := os.WriteFile(file, object, 0o600); err != nil {
		return nil, err
	}
	arguments := []string{"simulate", "--admit", "-o", "json", "--placement", file}
	if old != nil {
		defer os.Remove(file + ".old")
		if err := os.WriteFile(file+".old", old, 0o600); err != nil {
			return nil, err
		}
		arguments = append(arguments, "--previous", file+".old")
	}
	output, err := exec.Command(os.Getenv("EVENKEEL"), arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("simulate: %w for %s", err, object)
	}
	a := &admitted{}
	return a, json.Unmarshal(output, a)
}

// simulatedWebhook answers an API server with what `evenkeel simulate` says, because no daemon injects
// scores before one publishes them. Its patches are the API server's to apply.
func simulatedWebhook(dir string, calls *atomic.Int64) *httptest.Server {
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		old := review.Request.OldObject.Raw
		if review.Request.Operation == admissionv1.Create {
			old = nil
		}
		a, err := simulate(dir, calls.Add(1), review.Request.Object.Raw, old)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		patchType := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: a.Allowed, Patch: a.Patch, PatchType: &patchType}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review) // the API server says so if it gets less
	}))
}

// TestPlacementPatches creates random Placements through the webhook, as dry runs, on a real API server.
// Every patch applies and its result is what the CustomResourceDefinition takes; it has what spread needs
// and nothing of the user's less; a second review adds nothing; and without terms everything goes again.
func TestPlacementPatches(t *testing.T) {
	h := controlPlane(t)
	dir := t.TempDir()
	var calls atomic.Int64
	server := simulatedWebhook(dir, &calls)
	defer server.Close()
	askAbout(t, h, server.URL+"/webhooks/v1/placements",
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), func() bool { return calls.Load() > 0 })
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	var gated, replaced int
	for number := range *casesFlag {
		wanted := dice{rand.New(rand.NewPCG(seed, uint64(number)))}.random(number)
		if text := checkPatches(t, h, dir, number, wanted, &gated, &replaced); text != "" {
			object, _ := json.Marshal(wanted)
			t.Fatalf("Placement %d: %s\n%s", number, text, object)
		}
	}
	t.Logf("%d of %d gated, builtIn Spread replaced in %d", gated, *casesFlag, replaced)
	if gated == 0 || gated == *casesFlag || replaced == 0 {
		t.Error("the cases are of one kind only")
	}
}

// checkPatches says what is wrong, or "".
func checkPatches(t *testing.T, h *hub.Hub, dir string, number int, wanted *clusterv1beta1.Placement, gated, replaced *int) string {
	t.Helper()
	placements := h.Clusters.ClusterV1beta1()
	came, err := placements.Placements(plain).Create(t.Context(), wanted, dryRun)
	must(t, err)
	wanted = wanted.DeepCopy()
	wanted.Namespace = reviewed
	got, err := placements.Placements(reviewed).Create(t.Context(), wanted, dryRun)
	if err != nil {
		return err.Error()
	}
	if text := checkInjected(came, got); text != "" {
		return text
	}
	if strings.Contains(got.Annotations[injected], `"gate"`) {
		*gated++
	}
	if spreadWeight(came) != 0 {
		*replaced++
	}
	return checkAgain(dir, int64(number), came, got)
}

// checkInjected holds what is stored against what came.
func checkInjected(came, got *clusterv1beta1.Placement) string {
	var note struct {
		Key, Resource string
		Weight        int32
	}
	if err := json.Unmarshal([]byte(got.Annotations[injected]), &note); err != nil {
		return "the annotation: " + err.Error()
	}
	if weight := spreadWeight(came); note.Weight != weight {
		return fmt.Sprintf("the weight of Spread is %d, and %d is kept", weight, note.Weight)
	}
	if spreadWeight(got) != 0 {
		return "builtIn Spread reaches OCM"
	}
	ours := 0
	for _, c := range got.Spec.PrioritizerPolicy.Configurations {
		if isOurs(c) {
			ours++
			if a := c.ScoreCoordinate.AddOn; a.ResourceName != note.Resource || a.ScoreName != note.Key || c.Weight != 10 {
				return "the prioritizer is another than the annotation says"
			}
		}
	}
	hard := false
	for _, term := range came.Spec.SpreadPolicy.SpreadConstraints {
		hard = hard || term.WhenUnsatisfiable == "DoNotSchedule"
	}
	gate := fmt.Sprintf(`managedCluster.scores(%q).exists(s, s.name == %q && s.value > 0)`, note.Resource, note.Key)
	for i, predicate := range got.Spec.Predicates {
		gates := 0
		for _, expression := range predicate.RequiredClusterSelector.CelSelector.CelExpressions {
			if expression == gate {
				gates++
			}
		}
		if gates == 1 != hard || gates > 1 {
			return fmt.Sprintf("predicate %d has %d gates", i, gates)
		}
	}
	switch {
	case ours == 0:
		return "there is no prioritizer"
	case hard && len(got.Spec.Predicates) == 0:
		return "there is no gate"
	case !reflect.DeepEqual(theirs(came), theirs(got)):
		return fmt.Sprintf("the user's own has changed: %+v", got.Spec)
	}
	return ""
}

// checkAgain reviews it once more, and then without terms.
func checkAgain(dir string, number int64, came, got *clusterv1beta1.Placement) string {
	stored, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	stored = []byte(strings.Replace(string(stored), `{"metadata"`,
		`{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement","metadata"`, 1))
	for _, old := range [][]byte{nil, stored} {
		again, err := simulate(dir, -number-1, stored, old)
		if err != nil {
			return err.Error()
		}
		if string(again.Patch) != "[]" {
			return fmt.Sprintf("a second review adds %s", again.Patch)
		}
	}
	less := map[string]any{}
	if err := json.Unmarshal(stored, &less); err != nil {
		return err.Error()
	}
	delete(less["spec"].(map[string]any), "spreadPolicy")
	text, err := json.Marshal(less)
	if err != nil {
		return err.Error()
	}
	removed, err := simulate(dir, -number-1, text, stored)
	if err != nil {
		return err.Error()
	}
	var left clusterv1beta1.Placement
	if err := json.Unmarshal(removed.Placement, &left); err != nil {
		return err.Error()
	}
	want := came.DeepCopy()
	want.Spec.SpreadPolicy = clusterv1beta1.SpreadPolicy{}
	switch {
	case strings.Contains(string(removed.Placement), "evenkeel-"), left.Annotations[injected] != "":
		return fmt.Sprintf("something of ours stays: %s", removed.Placement)
	case !reflect.DeepEqual(theirs(want), theirs(&left)):
		return fmt.Sprintf("without terms it is not what it was: %s", removed.Placement)
	case spreadWeight(&left) != spreadWeight(want):
		return fmt.Sprintf("builtIn Spread comes back with weight %d", spreadWeight(&left))
	}
	return ""
}

// ---- a daemon ----

// servingWebhook starts an Evenkeel that decides Placements of the hub, and returns the webhook's address.
func servingWebhook(t *testing.T, h *hub.Hub, certs string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String() // free again in a moment
	must(t, listener.Close())
	log, err := os.Create(filepath.Join(folder(t), "evenkeel.log"))
	must(t, err)
	command := exec.Command(setting(t, "EVENKEEL"), "serve", "--kubeconfig", h.Kubeconfig, "--ocm", "--extender-listen", "0",
		"--ops-listen", "0", "--webhook-listen", address, "--webhook-cert-file", filepath.Join(certs, "tls.crt"),
		"--webhook-key-file", filepath.Join(certs, "tls.key"))
	command.Stderr = log
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill() // it is of no use any more
		_ = command.Wait()         // it was killed
		_ = log.Close()            // for people only
	})
	must(t, hub.Until(t.Context(), "Evenkeel serves", func(context.Context) (bool, error) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			err = connection.Close()
		}
		return err == nil, err
	}))
	return address
}

// TestPlacementWebhook has a real API server ask a daemon about Placements.
func TestPlacementWebhook(t *testing.T) {
	h := controlPlane(t)
	certs := t.TempDir()
	if output, err := exec.Command(setting(t, "EVENKEEL"), "certs", "init", "--dir", certs).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	authority, err := os.ReadFile(filepath.Join(certs, "ca.crt"))
	must(t, err)
	address := servingWebhook(t, h, certs)
	placements := h.Clusters.ClusterV1beta1().Placements(reviewed)
	askAbout(t, h, "https://"+address+"/webhooks/v1/placements", authority, func() bool {
		probe := placementOf(reviewed, "negative", clusterv1beta1.SpreadPolicy{})
		n := int32(-1)
		probe.Spec.NumberOfClusters = &n
		_, err := placements.Create(t.Context(), probe, dryRun)
		return err != nil && strings.Contains(err.Error(), "spec.numberOfClusters: -1 is negative")
	})
	create := func(name, mode string, change func(*clusterv1beta1.Placement)) *clusterv1beta1.Placement {
		t.Helper()
		p := placementOf(reviewed, name, oneTerm("DoNotSchedule"))
		if mode != "" {
			p.Annotations = map[string]string{"placements.evenkeel.io/mode": mode}
		}
		if change != nil {
			change(p)
		}
		created, err := placements.Create(t.Context(), p, metav1.CreateOptions{})
		must(t, err)
		return created
	}
	for _, name := range []string{"by-annotation", "by-configuration"} {
		owner := map[string]string{"by-annotation": "Owner"}[name]
		p := create(name, owner, nil)
		if p.Annotations[disable] != "true" || p.Annotations["placements.evenkeel.io/disabled-ocm"] != "true" {
			t.Errorf("%s: OCM decides it: %v", name, p.Annotations)
		}
		// Evenkeel itself writes it meanwhile, so this names no version.
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:null,"again":"x"}}}`, disable)
		updated, err := placements.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		must(t, err)
		if _, there := updated.Annotations[disable]; there {
			t.Errorf("%s: its decisions are taken away when it is changed", name)
		}
	}
	off := create("off", "Off", nil)
	if len(off.Annotations) != 1 || len(off.Spec.Predicates) != 0 || len(off.Spec.PrioritizerPolicy.Configurations) != 0 {
		t.Errorf("Off: %+v %+v", off.Annotations, off.Spec)
	}
	// Whoever publishes its scores gives it its own key when they are there; until then nothing is selected.
	scored := create("scored", "Scores", nil)
	if len(scored.Spec.Predicates) != 1 || len(scored.Spec.PrioritizerPolicy.Configurations) != 1 {
		t.Errorf("Scores: %+v %+v", scored.Annotations, scored.Spec)
	}
	applyMistaken(t, h)
}

// applyMistaken has kubectl apply a Placement with a mistake: kubectl prints the finding as a warning, and the
// Placement is stored.
func applyMistaken(t *testing.T, h *hub.Hub) {
	t.Helper()
	apply := exec.Command(setting(t, "EVENKEEL_E2E_KUBECTL"), "--kubeconfig", h.Kubeconfig, "apply", "-f", "-")
	apply.Stdin = strings.NewReader(fmt.Sprintf(`{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement",
"metadata":{"name":"mistaken","namespace":%q},"spec":{"tolerations":[{"key":"gpu","operator":"Exist"}],"spreadPolicy":{"spreadConstraints":[
{"topologyKey":"zone","topologyKeyType":"Label","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"}]}}}`, reviewed))
	output, err := apply.CombinedOutput()
	must(t, err)
	const want = "Warning: spec.tolerations[0].operator: 'Exist' is no operator of a toleration. Write Exists\n"
	if !strings.Contains(string(output), want) || !strings.Contains(string(output), "/mistaken created") {
		t.Errorf("kubectl says %q, want %q", output, want)
	}
}
