// Package hub runs a hub for tests: etcd and a real kube-apiserver, OCM's CustomResourceDefinitions, and
// OCM's own placement controller in this process.
package hub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	listers "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"

	"evenkeel.io/tests/e2e/ocm/internal/crds"
)

// Patience is within what everything must come that a test waits for; so long only on a machine that
// is busy.
const Patience = 60 * time.Second

const startLimit = 3 * time.Minute

// Programs that a hub is made of.
type Programs struct {
	ControlPlane string // tests/e2e/kube/cmd/controlplane
	Kubectl      string // that of tests/tools
}

// Hub is a control plane that knows OCM's kinds. Its methods are for one goroutine, its clients for any.
type Hub struct {
	Kubeconfig string // an administrator's
	Config     *rest.Config
	Kube       kubernetes.Interface
	Clusters   clusterclient.Interface

	programs Programs
	objects  dynamic.Interface
	cached   listers.PlacementDecisionLister // what OCM's controller knows
	input    io.Closer
	exited   chan struct{} // closed when the control plane has ended
	end      error         // how it has
}

// Start makes one, with its files in `dir`, which must be empty.
func Start(ctx context.Context, dir string, programs Programs) (*Hub, error) {
	h := &Hub{programs: programs}
	if err := h.startControlPlane(dir); err != nil {
		return nil, err
	}
	err := h.connect()
	if err == nil {
		err = h.define(ctx)
	}
	if err != nil {
		_ = h.Stop() // the first error says more
		return nil, err
	}
	return h, nil
}

// Join makes a hub of a cluster that somebody else has started, and ends: it is not to be stopped, and has no
// kubectl.
func Join(ctx context.Context, kubeconfig string) (*Hub, error) {
	h := &Hub{Kubeconfig: kubeconfig}
	if err := h.connect(); err != nil {
		return nil, err
	}
	return h, h.define(ctx)
}

func (h *Hub) startControlPlane(dir string) error {
	files := filepath.Join(dir, "controlplane")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "controlplane.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(h.programs.ControlPlane, "-dir", files)
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test alone
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	h.input = input
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	h.Kubeconfig, err = firstLine(output)
	if err != nil {
		return fmt.Errorf("the control plane does not start: %w; see %s", err, log.Name())
	}
	h.exited = make(chan struct{})
	go func() {
		defer close(h.exited)
		h.end = command.Wait()
	}()
	return nil
}

// firstLine of what a program prints, which ends if the program does.
func firstLine(output io.ReadCloser) (string, error) {
	giveUp := time.AfterFunc(startLimit, func() { _ = output.Close() }) // which ends the reading
	defer giveUp.Stop()
	line, err := bufio.NewReader(output).ReadString('\n')
	return strings.TrimSpace(line), err
}

func (h *Hub) connect() error {
	var err error
	if h.Config, err = clientcmd.BuildConfigFromFlags("", h.Kubeconfig); err != nil {
		return err
	}
	// Tests are meant to push the server, not themselves.
	h.Config.QPS, h.Config.Burst = 2000, 4000
	if h.Kube, err = kubernetes.NewForConfig(h.Config); err != nil {
		return err
	}
	if h.Clusters, err = clusterclient.NewForConfig(h.Config); err != nil {
		return err
	}
	h.objects, err = dynamic.NewForConfig(h.Config)
	return err
}

// define creates OCM's kinds and waits until they are served.
func (h *Hub) define(ctx context.Context) error {
	client, err := apiextensions.NewForConfig(h.Config)
	if err != nil {
		return err
	}
	all, err := crds.Read()
	if err != nil {
		return err
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, definition := range all {
		if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, definition := range all {
		if err := Until(ctx, definition.Name+" is served", func(ctx context.Context) (bool, error) {
			now, err := definitions.Get(ctx, definition.Name, metav1.GetOptions{})
			return err == nil && established(now), err
		}); err != nil {
			return err
		}
	}
	return nil
}

func established(definition *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return true
		}
	}
	return false
}

// Until asks again and again until it is true, for as long as Patience. An error may go away.
func Until(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, last = ask(ctx)
		return done && last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waited in vain until %s: %w, last: %v", what, err, last)
	}
	return nil
}

// StoredBytes is how large the API server's storage is.
func (h *Hub) StoredBytes(ctx context.Context) (int, error) {
	text, err := h.Kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if found && strings.HasPrefix(name, "apiserver_storage_size_bytes{") {
			bytes, err := strconv.ParseFloat(value, 64)
			return int(bytes), err
		}
	}
	return 0, errors.New("the API server does not say how large its storage is")
}

// Exited is closed when the control plane has ended.
func (h *Hub) Exited() <-chan struct{} { return h.exited }

// Stop ends the control plane. OCM's controllers end with their contexts, which is to be before.
func (h *Hub) Stop() error {
	if err := h.input.Close(); err != nil {
		return err
	}
	<-h.exited
	return h.end
}
