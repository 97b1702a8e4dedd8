package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

// account is that of the documents' examples.
const account = "system:serviceaccount:evenkeel:evenkeel"

// door stands in front of a hub's API server, makes every caller the account of the documents, and keeps
// what was asked for.
type door struct {
	server *httptest.Server
	mutex  sync.Mutex
	asked  map[string]int // "GET /api/v1/nodes": the last status
}

func openDoor(t *testing.T, h *hub.Hub) *door {
	t.Helper()
	target, err := url.Parse(h.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(h.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{asked: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // watches
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Impersonate-User", account)
			r.Out.Header["Impersonate-Group"] = []string{"system:serviceaccounts", "system:authenticated"}
		},
		ModifyResponse: func(r *http.Response) error {
			d.note(r.Request.Method, r.Request.URL.Path, r.StatusCode)
			return nil
		},
	}
	d.server = httptest.NewServer(proxy)
	t.Cleanup(func() {
		d.server.CloseClientConnections()
		d.server.Close()
	})
	return d
}

func (d *door) note(method, path string, status int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.asked[method+" "+path] = status
}

func (d *door) kubeconfig(t *testing.T, file string) string {
	t.Helper()
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], "+
		"clusters: [{name: a, cluster: {server: %q}}], users: [{name: a, user: {}}]}\n", d.server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// requests of those paths that contain a text, as "METHOD PATH: STATUS"; of all with "".
func (d *door) requests(part string) []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var found []string
	for request, status := range d.asked {
		if strings.Contains(request, part) {
			found = append(found, fmt.Sprintf("%s: %d", request, status))
		}
	}
	slices.Sort(found)
	return found
}

// TestHubOnly runs a replica without a listener, with the rights of the documents and no others: it leads
// by its Lease at the hub, decides and records Events there, and asks for no node and no pod.
func TestHubOnly(t *testing.T) {
	dir := folder(t)
	h := newHub(t, dir, "fleet.yaml")
	for _, file := range []string{"rbac-hub.yaml", "rbac-ocm.yaml"} {
		if _, err := h.Kubectl(t.Context(), "apply", "-f", filepath.Join("../../../docs/examples/kubernetes", file)); err != nil {
			t.Fatal(err)
		}
	}
	d := openDoor(t, h)
	options := []string{"--hub-kubeconfig", d.kubeconfig(t, filepath.Join(dir, "kubeconfig")), "--leader-election",
		"--lease-namespace", "evenkeel"}
	replica, err := evenkeel.StartReplica(setting(t, "EVENKEEL"), filepath.Join(dir, "evenkeel.log"), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(replica.Kill)
	leads(t, h)
	w := newWorld(t, h, dir, "alone", "Owner")
	w.clusters("zone=a", "a", "b")
	w.clusters("zone=b", "c")
	w.place("spread", `{"numberOfClusters":2,`+zones("")+`}`)
	w.equals("spread")
	recorded(t, d, "evenkeel")
	if err := replica.Stop(); err != nil {
		t.Fatal(err)
	}
	asksForPlacements(t, d)
	checkCluster(t, options)
}

func leads(t *testing.T, h *hub.Hub) {
	t.Helper()
	if err := hub.Until(t.Context(), "somebody leads", func(ctx context.Context) (bool, error) {
		lease, err := h.Kube.CoordinationV1().Leases("evenkeel").Get(ctx, "evenkeel-ocm", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", err
	}); err != nil {
		t.Fatal(err)
	}
}

// recorded waits for an Event that was taken, about the Lease in its namespace.
func recorded(t *testing.T, d *door, namespace string) {
	t.Helper()
	wanted := "POST /apis/events.k8s.io/v1/namespaces/" + namespace + "/events"
	if err := hub.Until(t.Context(), "an Event is recorded", func(context.Context) (bool, error) {
		return slices.Contains(d.requests(wanted), wanted+": 201"), nil
	}); err != nil {
		t.Fatal(err, d.requests(""))
	}
}

func asksForPlacements(t *testing.T, d *door) {
	t.Helper()
	const group = "/apis/cluster.open-cluster-management.io/"
	for _, path := range []string{group + "v1/managedclusters", group + "v1beta2/managedclustersets",
		group + "v1beta2/managedclustersetbindings", group + "v1beta1/placements", group + "v1beta1/placementdecisions",
		group + "v1alpha1/addonplacementscores", "/api/v1/namespaces"} {
		if !slices.Contains(d.requests("GET "+path), "GET "+path+": 200") {
			t.Errorf("%s is not watched: %v", path, d.requests(path))
		}
	}
	for _, request := range d.requests("") {
		if strings.Contains(request, "/api/v1/") && !strings.HasPrefix(request, "GET /api/v1/namespaces:") {
			t.Errorf("it asks for more than Placements need: %s", request)
		}
		if strings.HasSuffix(request, ": 401") || strings.HasSuffix(request, ": 403") {
			t.Errorf("the documents do not grant what it does: %s", request)
		}
	}
}

// checkCluster finds nothing that is missing, either.
func checkCluster(t *testing.T, options []string) {
	t.Helper()
	arguments := append([]string{"check", "cluster", "--extender-listen", "0", "--webhook-listen", "0", "--ops-listen", "0", "--ocm"}, options...)
	output, err := exec.Command(setting(t, "EVENKEEL"), arguments...).CombinedOutput()
	if err != nil || strings.Contains(string(output), "may not") {
		t.Errorf("evenkeel check cluster: %v\n%s", err, output)
	}
	for _, text := range []string{"Placements have spec.spreadPolicy",
		"the version of Open Cluster Management is not known"} {
		if !strings.Contains(string(output), text) {
			t.Errorf("evenkeel check cluster does not say %q:\n%s", text, output)
		}
	}
}
