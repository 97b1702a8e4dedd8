package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/history"
)

// stage is what one test plays on: a namespace and nodes that no other test has. Pods choose their
// stage's nodes by label, so tests do not see each other's domains.
type stage struct {
	*testing.T
	*cluster.Cluster
	ctx context.Context
	dir string // for files
	id  string // namespace, and the value of poolLabel of its nodes

	patience time.Duration // for whatever is waited for
}

const poolLabel = "e2e.evenkeel.io/pool"

// newStage makes the namespace. What was made on the stage is deleted when the test has ended.
func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageOn(t, controlPlane(t))
}

// newStageOn makes it on a control plane of the test's own.
func newStageOn(t *testing.T, c *cluster.Cluster) *stage {
	t.Helper()
	s := &stage{T: t, Cluster: c, id: freshID(t.Name()), patience: patience}
	ctx, cancel := context.WithCancel(context.Background())
	s.ctx = ctx
	s.dir = filepath.Join(dir, s.id)
	s.must(os.MkdirAll(s.dir, 0o755))
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.id}}
	_, err := s.Client.CoreV1().Namespaces().Create(s.ctx, namespace, metav1.CreateOptions{})
	s.must(err)
	t.Cleanup(func() {
		s.clean()
		cancel()
	})
	return s
}

var stages = struct {
	sync.Mutex
	made map[string]int // by slug of their names
}{made: map[string]int{}}

// A test that is run again needs a namespace, and a folder, of another name: nobody here would delete the first.
func freshID(name string) string {
	id := slug(name)
	stages.Lock()
	defer stages.Unlock()
	stages.made[id]++
	if stages.made[id] > 1 {
		id += "-" + strconv.Itoa(stages.made[id])
	}
	return id
}

func slug(name string) string {
	name = strings.TrimPrefix(strings.ToLower(name), "test")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}

// Without a node controller nobody else would, and counts are compared over the whole cluster.
func (s *stage) clean() {
	if err := s.Revive(s.ctx); err != nil {
		s.Error(err)
		return
	}
	s.deletePods(metav1.ListOptions{})
	err := s.Client.CoreV1().Nodes().DeleteCollection(s.ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: poolLabel + "=" + s.id})
	if err != nil {
		s.Errorf("cannot delete the nodes: %v", err)
	}
}

// deletePods at once: there is no kubelet that would end them.
func (s *stage) deletePods(which metav1.ListOptions) {
	s.Helper()
	now := int64(0)
	err := s.Client.CoreV1().Pods(s.id).DeleteCollection(s.ctx,
		metav1.DeleteOptions{GracePeriodSeconds: &now}, which)
	if err != nil {
		s.Errorf("cannot delete the pods: %v", err)
	}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// limit is a context for something that must come soon.
func (s *stage) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.patience)
}

// evenkeel starts one that watches the cluster; `change` (may be nil) sees its options first.
func (s *stage) evenkeel(change func(*evenkeel.Options)) *evenkeel.Evenkeel {
	s.Helper()
	e := s.prepared(change)
	s.launch(e)
	return e
}

// prepared has everything but the process.
func (s *stage) prepared(change func(*evenkeel.Options)) *evenkeel.Evenkeel {
	s.Helper()
	o := evenkeel.Options{Name: s.id, Dir: s.dir, Binary: binary, Settings: map[string]any{}}
	if change != nil {
		change(&o)
	}
	s.source(&o)
	e, err := evenkeel.New(o)
	s.must(err)
	return e
}

// launch starts it, and stops it when the test ends, which must not be the first time it stops.
func (s *stage) launch(e *evenkeel.Evenkeel) {
	s.Helper()
	s.must(e.Launch())
	s.Cleanup(func() {
		if err := e.Stop(); err != nil {
			s.Error(err)
		}
	})
	s.must(e.WaitReady(s.ctx))
}

// scheduler starts one for pods with schedulerName `name`.
func (s *stage) scheduler(name string, plugins *config.Plugins, extenders ...config.Extender) *cluster.Scheduler {
	s.Helper()
	p, err := s.StartScheduler(s.ctx, cluster.SchedulerOptions{
		Name: name, Plugins: plugins, Extenders: extenders,
	})
	s.must(err)
	s.Cleanup(p.End)
	if len(extenders) > 0 {
		s.unobjectionable(p.ConfigFile)
	}
	return p
}

// unobjectionable fails the test when `evenkeel check kube-scheduler-config` complains of what the tests
// know to work, except for what it says rightly of a configuration that is for a test.
func (s *stage) unobjectionable(configFile string) {
	s.Helper()
	meant := []string{
		"extenders[0].ignorable",                  // a test wants to see that Evenkeel was asked
		"extenders[0].httpTimeout",                // how long a call may hang is what a test is about
		"profiles[0].plugins.multiPoint.disabled", // see withoutSpread()
	}
	for _, f := range s.findings("kube-scheduler-config", configFile, "--extender-bind") {
		if f.Severity != "info" && !slices.Contains(meant, f.Field) {
			s.Errorf("check kube-scheduler-config: %+v", f)
		}
	}
}

// withoutSpread leaves spreading to the extender alone.
func withoutSpread() *config.Plugins {
	return &config.Plugins{MultiPoint: config.PluginSet{
		Disabled: []config.Plugin{{Name: "PodTopologySpread"}},
	}}
}

// record watches the stage's pods until the test ends.
func (s *stage) record() *history.Recorder {
	s.Helper()
	r, err := history.Record(s.ctx, s.Client, s.id)
	s.must(err)
	s.Cleanup(r.Stop)
	return r
}

// waitBound returns the events up to the one that bound the count-th pod.
func (s *stage) waitBound(r *history.Recorder, count int) []history.Event {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	err := r.WaitFor(ctx, func(events []history.Event) bool { return history.Bound(events) >= count })
	events, _ := r.Events()
	if err != nil {
		s.Fatalf("%d of %d pods are bound: %v\n%s", history.Bound(events), count, err, s.pending())
	}
	return events
}

// pending says which pods have no node, and why.
func (s *stage) pending() string {
	pods, err := s.Client.CoreV1().Pods(s.id).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			continue
		}
		fmt.Fprintf(&text, "pod %s is pending", pod.Name)
		for _, condition := range pod.Status.Conditions {
			fmt.Fprintf(&text, " (%s: %s)", condition.Reason, condition.Message)
		}
		fmt.Fprintln(&text)
	}
	return text.String()
}
