package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

const (
	clustersPath = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
	// Of the definition, what the API server goes by. Upstream's own has a schema, which nothing here needs.
	clusterDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: managedclusters.cluster.open-cluster-management.io}
spec:
  group: cluster.open-cluster-management.io
  scope: Cluster
  names: {kind: ManagedCluster, plural: managedclusters}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	knownClusters = `evenkeel_candidates{resource="managedclusters"}`
	hubIsSilent   = "[+] hub: not heard"
)

// hub is another control plane, the API server of which knows ManagedClusters.
type hub struct {
	*stage
	kubeconfig string
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{stage: newStageOn(t, ownControlPlane(t))}
	file := filepath.Join(h.dir, "managedclusters.yaml")
	h.must(os.WriteFile(file, []byte(clusterDefinition), 0o644))
	h.must(h.createDefinition(file))
	h.Cleanup(func() { // which deletes it
		if err := h.Revive(context.Background()); err != nil {
			h.Error(err)
		}
	})
	var err error
	h.kubeconfig, err = h.Kubeconfig(cluster.Evenkeel(0))
	h.must(err)
	return h
}

// joins creates a ManagedCluster, once its kind is served.
func (h *hub) joins(name, region string) {
	h.Helper()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
		"metadata": map[string]any{"name": name, "labels": map[string]string{"region": region}},
	})
	h.must(err)
	h.until("cluster "+name, func(ctx context.Context) (bool, error) {
		err := h.Client.Discovery().RESTClient().Post().AbsPath(clustersPath).
			SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
		return err == nil, err
	})
}

// allow gives Evenkeel the role that users are shown, and no other.
func (h *hub) allow() {
	h.Helper()
	text, err := os.ReadFile("../../../docs/examples/kubernetes/rbac-hub.yaml")
	h.must(err)
	for _, document := range strings.Split(string(text), "\n---\n") {
		var role rbac.ClusterRole
		h.must(yaml.Unmarshal([]byte(document), &role))
		if role.Kind != "ClusterRole" {
			continue
		}
		_, err := h.Client.RbacV1().ClusterRoles().Create(h.ctx, &role, metav1.CreateOptions{})
		h.must(err)
		_, err = h.Client.RbacV1().ClusterRoleBindings().Create(h.ctx, &rbac.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: cluster.EvenkeelUser}},
		}, metav1.CreateOptions{})
		h.must(err)
	}
}

// ofHub has Evenkeel watch the hub's clusters.
func ofHub(h *hub, o *evenkeel.Options) {
	o.Settings["fleet"] = map[string]any{"clusters": true}
	o.Settings["hub"] = map[string]any{"kubeconfig": h.kubeconfig, "staleAfter": "2s"}
}

// alone is an Evenkeel that knows the hub and nothing else: no door for pods, no certificate.
func (h *hub) alone() *evenkeel.Evenkeel {
	h.Helper()
	o := evenkeel.Options{Name: h.id + "-alone", Dir: h.dir, Binary: binary,
		Settings: map[string]any{"extender": map[string]any{"listen": "0"}}}
	ofHub(h, &o)
	e, err := evenkeel.New(o)
	h.must(err)
	return e
}

func (s *stage) untilClusters(e *evenkeel.Evenkeel, count float64) {
	s.Helper()
	s.until(fmt.Sprintf("%v clusters", count), func(ctx context.Context) (bool, error) {
		m, err := e.Metrics(ctx)
		return err == nil && m[knownClusters] == count, fmt.Errorf("%v: %v", m[knownClusters], err)
	})
}

// readyz is its text, also if it is not ready.
func readyz(ctx context.Context, e *evenkeel.Evenkeel) string {
	text, err := e.Ops(ctx, "/readyz")
	if err != nil {
		return err.Error()
	}
	return text
}

// untilSays waits for a line of /readyz.
func (s *stage) untilSays(e *evenkeel.Evenkeel, line string) {
	s.Helper()
	s.until(line, func(ctx context.Context) (bool, error) {
		text := readyz(ctx, e)
		return strings.Contains(text, line), fmt.Errorf("%s", text)
	})
}

// untilHeard has a cluster change, because a hub where nothing happens says something once a minute only.
func (h *hub) untilHeard(e *evenkeel.Evenkeel) {
	h.Helper()
	count := 0
	h.until("the hub to be heard", func(ctx context.Context) (bool, error) {
		count++
		patch := fmt.Sprintf(`{"metadata":{"labels":{"count":"%d"}}}`, count)
		err := h.Client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(clustersPath, "paris").
			Body([]byte(patch)).Do(ctx).Error()
		text := readyz(ctx, e)
		return err == nil && !strings.Contains(text, hubIsSilent), fmt.Errorf("%v %s", err, text)
	})
}

func (s *stage) logHas(e *evenkeel.Evenkeel, parts ...string) {
	s.Helper()
	text, err := os.ReadFile(e.Log)
	s.must(err)
	for line := range strings.Lines(string(text)) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return
		}
	}
	s.Errorf("no line of the log has %q", parts)
}

// TestHub: nodes are of this cluster and clusters of a hub, which is another API server. It is away and
// comes back, while one Evenkeel works for pods, and another one knows nothing but the hub.
func TestHub(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	h := newHub(t)
	s.zones(2, 1)
	h.joins("paris", "eu")
	h.joins("boston", "us")

	e := s.evenkeel(func(o *evenkeel.Options) { ofHub(h, o) })
	s.caughtUp(e)
	want := []string{
		"error may not list managedclusters in API group cluster.open-cluster-management.io",
		"error may not watch managedclusters in API group cluster.open-cluster-management.io",
	}
	if found := s.check(e); !slices.Equal(found, want) {
		t.Errorf("the hub grants nothing, and found is %q", found)
	}
	for _, f := range s.findings("cluster", e.ConfigFile) {
		if strings.Contains(f.Problem, "managedclusters") && f.Field != "hub.permissions" {
			t.Errorf("%+v does not name the hub", f)
		}
	}
	s.untilSays(e, hubIsSilent)
	s.logHas(e, "role=hub", "status=403")

	h.allow()
	s.untilClusters(e, 2)
	h.untilHeard(e)
	if found := s.check(e); slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "managed") }) {
		t.Errorf("all is granted, and found is %q", found)
	}
	listed, err := exec.Command(binary, "topology", "clusters", "--hub-kubeconfig", h.kubeconfig, "--by", "region").Output()
	s.must(err)
	if fields := strings.Fields(string(listed)); !slices.Equal(fields,
		[]string{"NAME", "region", "TAINTS", "boston", "us", "paris", "eu"}) {
		t.Errorf("evenkeel topology clusters prints %q", fields)
	}

	s.must(h.StopAPIServer())
	s.untilSays(e, hubIsSilent)
	if _, err := e.Ops(s.ctx, "/readyz"); err != nil {
		t.Errorf("pods need no hub: %v", err)
	}
	s.caughtUp(e)
	s.untilClusters(e, 2) // those that it listed last
	alone := h.alone()
	s.must(alone.Launch())
	t.Cleanup(func() {
		if err := alone.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.untilSays(alone, "[-] clusters: ")

	s.must(h.StartAPIServer(s.ctx))
	h.joins("osaka", "ap")
	for _, e := range []*evenkeel.Evenkeel{e, alone} {
		s.untilClusters(e, 3)
		h.untilHeard(e)
	}
	s.must(alone.WaitReady(s.ctx))
	m, err := alone.Metrics(s.ctx)
	s.must(err)
	if m.Sum("evenkeel_watch_opened_total") != m.SumPrefix(`evenkeel_watch_opened_total{resource="managedclusters"`) {
		t.Error("more is watched than clusters")
	}
	if all := m.Sum("rest_client_requests_total"); all == 0 || all != sumWith(m, "rest_client_requests_total{", `server="hub"`) {
		t.Errorf("%v requests, and not all of them to the hub", all)
	}
	s.must(h.StopAPIServer()) // both must end without it
}

// sumWith is that of all series that begin so and have a label.
func sumWith(m evenkeel.Metrics, prefix, label string) float64 {
	sum := 0.0
	for series, value := range m {
		if strings.HasPrefix(series, prefix) && strings.Contains(series, label) {
			sum += value
		}
	}
	return sum
}
