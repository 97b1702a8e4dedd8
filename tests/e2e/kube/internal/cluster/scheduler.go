package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbase "k8s.io/component-base/config/v1alpha1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// SchedulerOptions say how a kube-scheduler is configured.
type SchedulerOptions struct {
	Name      string // schedulerName of the pods it is for
	Plugins   *config.Plugins
	Arguments []config.PluginConfig
	Extenders []config.Extender
}

// Scheduler is a running kube-scheduler.
type Scheduler struct {
	*process.Process
	ConfigFile string
}

// StartScheduler starts one and waits until it has seen the cluster. The caller stops it.
func (c *Cluster) StartScheduler(ctx context.Context, o SchedulerOptions) (*Scheduler, error) {
	kubeconfig, err := c.Kubeconfig(SchedulerIdentity())
	if err != nil {
		return nil, err
	}
	file, err := c.writeSchedulerConfig(o, kubeconfig)
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	p, err := component.Start(component.Scheduler, c.LogFile("scheduler-"+o.Name),
		"--config="+file, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--authorization-always-allow-paths=/readyz", "--v=2",
		// A pod that nothing happens to is looked at again after this (or half a minute, which is how
		// often that is checked) instead of five minutes.
		"--pod-max-in-unschedulable-pods-duration=5s")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	// Its certificate is of its own making.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}, Timeout: 5 * time.Second}
	err = p.WaitReady(ctx, func(ctx context.Context) error {
		return getOK(ctx, client, fmt.Sprintf("https://127.0.0.1:%d/readyz", port))
	})
	if err != nil {
		p.Kill()
		return nil, err
	}
	return &Scheduler{Process: p, ConfigFile: file}, nil
}

// End stops it gently. It always ends with status 1 then ("finished without leader elect").
func (s *Scheduler) End() {
	_ = s.Process.Stop(stopLimit) // see above
}

func (c *Cluster) writeSchedulerConfig(o SchedulerOptions, kubeconfig string) (string, error) {
	no, all, backoff, maxBackoff := false, int32(100), int64(1), int64(2)
	text, err := json.MarshalIndent(config.KubeSchedulerConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: config.SchemeGroupVersion.String(), Kind: "KubeSchedulerConfiguration",
		},
		LeaderElection:   componentbase.LeaderElectionConfiguration{LeaderElect: &no},
		ClientConnection: componentbase.ClientConnectionConfiguration{Kubeconfig: kubeconfig, QPS: 1000, Burst: 2000},
		// Hard constraints that only an extender knows need every node to be looked at.
		PercentageOfNodesToScore: &all,
		PodInitialBackoffSeconds: &backoff,
		PodMaxBackoffSeconds:     &maxBackoff, // a test should not wait for ten seconds
		Profiles: []config.KubeSchedulerProfile{{
			SchedulerName: &o.Name, Plugins: o.Plugins, PluginConfig: o.Arguments,
		}},
		Extenders: o.Extenders,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(c.Dir, "scheduler-"+o.Name+".json")
	return file, os.WriteFile(file, text, 0o644)
}
