// Command cluster keeps a control plane with Evenkeel in it running until it is interrupted: etcd,
// kube-apiserver, kube-scheduler, sample nodes in three regions, and sample pods.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

func main() {
	component.RunIfAsked()
	dir := flag.String("dir", "", "where its files go; emptied first")
	binary := flag.String("evenkeel", "", "the binary to run")
	flag.Parse()
	if *dir == "" || *binary == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *dir, *binary); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playground is everything that runs.
type playground struct {
	*cluster.Cluster
	evenkeel   *evenkeel.Evenkeel
	scheduler  *cluster.Scheduler
	kubeconfig string
	binary     string
}

func run(ctx context.Context, dir, binary string) error {
	p := playground{binary: binary}
	defer p.stop()
	if err := p.start(ctx, dir, binary); err != nil {
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
		fmt.Println("\n== stopping")
		return nil
	case <-p.APIServer().Exited():
		return fmt.Errorf("kube-apiserver has ended: see %s", p.LogFile(component.APIServer))
	case <-p.evenkeel.Exited():
		return fmt.Errorf("Evenkeel has ended: see %s", p.evenkeel.Log)
	case <-p.scheduler.Exited():
		return fmt.Errorf("kube-scheduler has ended: see %s", p.LogFile("scheduler-default-scheduler"))
	}
}

func (p *playground) start(ctx context.Context, dir, binary string) (err error) {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	fmt.Println("== starting etcd and kube-apiserver")
	if p.Cluster, err = cluster.Start(ctx, dir); err != nil {
		return err
	}
	fmt.Println("== starting Evenkeel and kube-scheduler")
	config, err := p.Kubeconfig(cluster.Evenkeel(0))
	if err != nil {
		return err
	}
	p.evenkeel, err = evenkeel.Start(ctx, evenkeel.Options{
		Name: "playground", Dir: dir, Binary: binary, Kubeconfig: config, Settings: settings(),
	})
	if err != nil {
		return err
	}
	entry := p.evenkeel.Extender()
	entry.BindVerb = "bind"
	entry.HTTPTimeout = metav1.Duration{Duration: 5 * time.Second}
	p.scheduler, err = p.StartScheduler(ctx, cluster.SchedulerOptions{
		Name: "default-scheduler", Extenders: []configExtender{entry},
	})
	if err != nil {
		return err
	}
	check := exec.Command(binary, "check", "kube-scheduler-config", p.scheduler.ConfigFile,
		"--config", p.evenkeel.ConfigFile)
	if complaints, err := check.Output(); err != nil {
		return fmt.Errorf("evenkeel check kube-scheduler-config: %w\n%s", err, complaints)
	}
	written, err := p.Kubeconfig(cluster.Admin())
	if err != nil {
		return err
	}
	p.kubeconfig = filepath.Join(dir, "kubeconfig")
	return os.Rename(written, p.kubeconfig)
}

// stop ends what was started, last things first. What happens then is nobody's concern any more.
func (p *playground) stop() {
	if p.scheduler != nil {
		p.scheduler.End()
	}
	if p.evenkeel != nil {
		_ = p.evenkeel.Stop()
	}
	if p.Cluster != nil {
		_ = p.Cluster.Stop()
	}
}
