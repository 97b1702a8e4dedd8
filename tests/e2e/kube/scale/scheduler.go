package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbase "k8s.io/component-base/config/v1alpha1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// One kube-scheduler has two profiles: one looks at as many nodes as it does by itself, the other at
// all of them.
const (
	someNodes = "scale-some"
	allNodes  = "scale-all"
)

// startScheduler starts kube-scheduler and does not wait; it begins with the pods that are there. There
// is no limit to its requests: that would be measured otherwise.
func (b *bench) startScheduler(extender *config.Extender) (*process.Process, error) {
	kubeconfig, err := b.cluster.Kubeconfig(cluster.SchedulerIdentity())
	if err != nil {
		return nil, err
	}
	file, err := b.writeSchedulerConfig(kubeconfig, extender)
	if err != nil {
		return nil, err
	}
	return component.Start(component.Scheduler, filepath.Join(b.dir, "scheduler.log"),
		"--config="+file, "--secure-port=0",
		// A pod that was refused and that nothing happens to is looked at again after half a minute
		// instead of five.
		"--pod-max-in-unschedulable-pods-duration=5s")
}

func (b *bench) writeSchedulerConfig(kubeconfig string, extender *config.Extender) (string, error) {
	c := config.KubeSchedulerConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: config.SchemeGroupVersion.String(), Kind: "KubeSchedulerConfiguration",
		},
		LeaderElection: componentbase.LeaderElectionConfiguration{LeaderElect: new(false)},
		ClientConnection: componentbase.ClientConnectionConfiguration{
			Kubeconfig: kubeconfig, QPS: 10000, Burst: 20000,
			ContentType: "application/vnd.kubernetes.protobuf", // its default only without a file
		},
		Profiles: []config.KubeSchedulerProfile{
			{SchedulerName: new(someNodes)},
			{SchedulerName: new(allNodes), PercentageOfNodesToScore: new(int32(100))},
		},
	}
	if extender != nil {
		c.Extenders = []config.Extender{*extender}
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, "scheduler.json")
	return file, os.WriteFile(file, text, 0o644)
}
