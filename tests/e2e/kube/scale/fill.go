package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fillResult says what the cluster has and what it took to make it.
type fillResult struct {
	Nodes         int     `json:"nodes"`
	Pods          int     `json:"pods"`
	FinishedPods  int     `json:"finishedPods"`
	StoredBytes   int64   `json:"storedBytes"`   // of nodes and pods in etcd
	StoreSeconds  float64 `json:"storeSeconds"`  // writing them
	ServerSeconds float64 `json:"serverSeconds"` // the API server's start with all of them
}

// fill makes the cluster: the few objects through the API, the many straight into etcd while there is
// no API server.
func (b *bench) fill(ctx context.Context) error {
	say("creating %d namespaces and %d workloads", namespaces, workloads)
	if err := b.createSmall(ctx); err != nil {
		return err
	}
	url, err := b.etcdURL()
	if err != nil {
		return err
	}
	if err := b.cluster.StopAPIServer(); err != nil {
		return err
	}
	say("writing %d nodes and %d pods into etcd", b.nodes, b.population.size())
	began := time.Now()
	if err := b.store(ctx, url); err != nil {
		return err
	}
	b.results.Fill.StoreSeconds = seconds(time.Since(began))
	began = time.Now()
	if err := b.cluster.StartAPIServer(ctx); err != nil {
		return err
	}
	b.results.Fill.ServerSeconds = seconds(time.Since(began))
	say("%.1f s for %.0f MB, and %.1f s for the API server to start with them", b.results.Fill.StoreSeconds,
		float64(b.results.Fill.StoredBytes)/1e6, b.results.Fill.ServerSeconds)
	return nil
}

// The control plane keeps etcd's address to itself, but tells the API server.
func (b *bench) etcdURL() (string, error) {
	for _, flag := range b.cluster.APIServer().Args {
		if url, ok := strings.CutPrefix(flag, "--etcd-servers="); ok {
			return url, nil
		}
	}
	return "", fmt.Errorf("the API server was started without --etcd-servers")
}

func (b *bench) store(ctx context.Context, url string) error {
	s, err := openStorage(url)
	if err != nil {
		return err
	}
	defer s.close()
	next := 0
	nodeBytes, err := s.write(ctx, b.nodes, func() item {
		next++
		return nodeItem(newNode(next - 1))
	})
	if err != nil {
		return err
	}
	podBytes, err := s.write(ctx, b.population.size(), func() item { return podItem(b.population.pod()) })
	b.results.Fill.Nodes, b.results.Fill.Pods = b.nodes, b.population.live
	b.results.Fill.FinishedPods = b.population.finished
	b.results.Fill.StoredBytes = nodeBytes + podBytes
	return err
}

func (b *bench) createSmall(ctx context.Context) error {
	err := each(namespaces, func(i int) error {
		namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName(i)}}
		_, err := b.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range priorities {
		class := &scheduling.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: priorityName(p)}, Value: p}
		if _, err := b.client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return each(workloads, func(i int) error { return b.createWorkload(ctx, i) })
}

func (b *bench) createWorkload(ctx context.Context, workload int) error {
	namespace := namespaceName(workload)
	_, err := b.client.CoreV1().Services(namespace).Create(ctx, newService(workload), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if isStateful(workload) {
		_, err = b.client.AppsV1().StatefulSets(namespace).Create(ctx, newStatefulSet(workload), metav1.CreateOptions{})
	} else {
		_, err = b.client.AppsV1().ReplicaSets(namespace).Create(ctx, newReplicaSet(workload), metav1.CreateOptions{})
	}
	return err
}
