// Command hub keeps a hub with Evenkeel in it running until it is interrupted: etcd, kube-apiserver, Open Cluster
// Management's own placement controller, and a dozen clusters in three regions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

func main() {
	dir := flag.String("dir", "", "where its files go; emptied first")
	binary := flag.String("evenkeel", "", "the binary to run")
	controlPlane := flag.String("controlplane", "", "the program of tests/e2e/kube/cmd/controlplane")
	kubectl := flag.String("kubectl", "", "that of tests/tools")
	flag.Parse()
	if *dir == "" || *binary == "" || *controlPlane == "" || *kubectl == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := &playground{dir: *dir, binary: *binary, kubectl: *kubectl}
	err := p.run(ctx, hub.Programs{ControlPlane: *controlPlane, Kubectl: *kubectl})
	if interrupted := ctx.Err() != nil; interrupted {
		fmt.Println("\n== stopping")
		err = nil
	}
	if err := errors.Join(err, p.stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playground is everything that runs.
type playground struct {
	dir, binary, kubectl string
	kubeconfig           string // an administrator's
	hub                  *hub.Hub
	evenkeel             *evenkeel.Hub
	end                  context.CancelFunc // of OCM's controller
	ocm                  <-chan error
	log                  *os.File // of OCM's controller
}

func (p *playground) run(ctx context.Context, programs hub.Programs) error {
	if err := p.start(ctx, programs); err != nil {
		return err
	}
	if err := p.fill(ctx); err != nil {
		return err
	}
	if err := p.show(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-p.hub.Exited():
		return fmt.Errorf("kube-apiserver has ended: see %s", filepath.Join(p.dir, "controlplane.log"))
	case <-p.evenkeel.Exited():
		return fmt.Errorf("Evenkeel has ended: see %s", p.evenkeel.Log)
	case err := <-p.ocm:
		return fmt.Errorf("OCM's placement controller has ended: %v; see %s", err, p.log.Name())
	}
}

func (p *playground) start(ctx context.Context, programs hub.Programs) (err error) {
	if err := os.RemoveAll(p.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	if err := p.startLog(); err != nil {
		return err
	}
	fmt.Println("== starting etcd and kube-apiserver")
	if p.hub, err = hub.Start(ctx, p.dir, programs); err != nil {
		return err
	}
	p.kubeconfig = filepath.Join(p.dir, "kubeconfig")
	if err := os.Rename(p.hub.Kubeconfig, p.kubeconfig); err != nil {
		return err
	}
	p.hub.Kubeconfig = p.kubeconfig
	fmt.Println("== starting OCM's placement controller and Evenkeel")
	// OCM's controller ends after everything that is interrupted.
	var controller context.Context
	controller, p.end = context.WithCancel(context.Background())
	p.ocm = p.hub.RunPlacementController(controller)
	if p.evenkeel, err = evenkeel.StartOnHub(ctx, p.binary, p.dir, p.hub.Kubeconfig); err != nil {
		return err
	}
	return p.hub.Ask(ctx, p.evenkeel.Webhook, p.evenkeel.Authority)
}

// startLog has OCM's controller, and what it is made of, write into a file, errors too.
func (p *playground) startLog() (err error) {
	if p.log, err = os.Create(filepath.Join(p.dir, "ocm.log")); err != nil {
		return err
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	klog.SetOutput(p.log)
	return errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "FATAL"))
}

// stop ends what was started, last things first.
func (p *playground) stop() error {
	var all []error
	if p.evenkeel != nil {
		p.evenkeel.Stop()
	}
	if p.end != nil {
		p.end()
		<-p.ocm // an end that was asked for
	}
	if p.hub != nil {
		all = append(all, p.hub.Stop())
	}
	return errors.Join(all...)
}
