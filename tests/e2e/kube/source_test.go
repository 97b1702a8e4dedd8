package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// watches says whether the binary can watch an API server itself.
var watches = sync.OnceValue(func() bool {
	help, _ := exec.Command(binary, "serve", "--help").CombinedOutput() // no help, no flag
	return strings.Contains(string(help), "--kubeconfig")
})

// needsWatch skips a test of the connection to the API server where there is none.
func (s *stage) needsWatch() {
	s.Helper()
	if !watches() {
		s.Skip("this Evenkeel only reads files")
	}
}

// source says where Evenkeel learns about the cluster, unless the options do.
func (s *stage) source(o *evenkeel.Options) {
	s.Helper()
	if o.Kubeconfig != "" || o.State != "" || o.Settings["kubernetes"] != nil {
		return
	}
	if watches() {
		var err error
		o.Kubeconfig, err = s.Kubeconfig(cluster.Evenkeel(0))
		s.must(err)
		return
	}
	o.State = s.keepDumping()
}

// caughtUp returns when Evenkeel knows as many nodes, bound pods and namespaces as the API server.
func (s *stage) caughtUp(e *evenkeel.Evenkeel) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	var last error
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		truth, err := s.truth(ctx)
		if err == nil {
			err = e.Knows(ctx, truth)
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			s.Fatalf("Evenkeel does not catch up: %v\n%s\n%s", last, watchMetrics(s.ctx, e), e.Tail(30))
		}
		last = err
	}
}

// watchMetrics is what Evenkeel says about its watches, for messages.
func watchMetrics(ctx context.Context, e *evenkeel.Evenkeel) string {
	text, err := e.Ops(ctx, "/metrics")
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "evenkeel_watch_") || strings.HasPrefix(line, "evenkeel_cache_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// truth is what Evenkeel should know, by the API server.
func (s *stage) truth(ctx context.Context) (map[string]int, error) {
	nodes, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := s.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	namespaces, err := s.Client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	bound := 0
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
			bound++
		}
	}
	return map[string]int{
		"evenkeel_cache_nodes": len(nodes.Items), "evenkeel_cache_pods": bound,
		"evenkeel_cache_namespaces": len(namespaces.Items),
	}, nil
}

// keepDumping writes what kubectl would print into a file, again and again until the test ends.
func (s *stage) keepDumping() string {
	s.Helper()
	file := filepath.Join(s.dir, "state.json")
	s.must(s.dump(file))
	stop, stopped := make(chan struct{}), make(chan struct{})
	s.Cleanup(func() {
		close(stop)
		<-stopped
	})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := s.dump(file); err != nil {
					s.Errorf("cannot dump the cluster: %v", err)
					return
				}
			}
		}
	}()
	return file
}

// dump writes nodes, pods and namespaces as one List. A reader sees the old or the new file.
func (s *stage) dump(file string) error {
	nodes, err := s.Client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := s.Client.CoreV1().Pods("").List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	namespaces, err := s.Client.CoreV1().Namespaces().List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	items := []any{}
	add := func(kind string, object runtime.Object) error {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		fields["apiVersion"], fields["kind"] = "v1", kind
		items = append(items, fields)
		return err
	}
	for i := range nodes.Items {
		err = add("Node", &nodes.Items[i])
	}
	for i := range pods.Items {
		err = add("Pod", &pods.Items[i])
	}
	for i := range namespaces.Items {
		err = add("Namespace", &namespaces.Items[i])
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return os.Rename(file+".new", file)
}
