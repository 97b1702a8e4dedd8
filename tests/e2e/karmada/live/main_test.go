package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// The control planes of all tests. Each test has an Evenkeel, a scheduler and Services of its own.
var (
	karmada *world.ControlPlane
	members [2]*world.ControlPlane
)

// Members: what their pods leave of four CPUs on a node, and how many replicas of two CPUs that is.
var (
	memberNames = [2]string{"member1", "member2"}
	taken       = [2][]int64{{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0}, {0, 0, 0}}
)

// By the nodes there is room for so many replicas of two CPUs; by the summaries for 7 and 6.
const fit1, fit2 = 2, 6

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir := os.Getenv("EVENKEEL_E2E_DIR")
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "evenkeel-karmada"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		_ = os.Setenv("EVENKEEL_E2E_DIR", dir) // the name is a good one
	}
	err := start(dir)
	code := 1
	if err == nil {
		code = m.Run()
	}
	for _, c := range []*world.ControlPlane{karmada, members[0], members[1]} {
		if c == nil {
			continue
		}
		if end := c.Stop(); err == nil {
			err = end
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// together runs all at the same time; the first error counts.
func together(all ...func() error) error {
	errors := make(chan error, len(all))
	var running sync.WaitGroup
	for _, one := range all {
		running.Go(func() { errors <- one() })
	}
	running.Wait()
	close(errors)
	for err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}

func start(dir string) error {
	ctx, program := context.Background(), os.Getenv("EVENKEEL_E2E_CONTROL_PLANE")
	if program == "" {
		return fmt.Errorf("EVENKEEL_E2E_CONTROL_PLANE is not set: tests/e2e/karmada.sh -live does it")
	}
	return together(
		func() (err error) {
			if karmada, err = world.StartControlPlane(filepath.Join(dir, "karmada"), program); err != nil {
				return err
			}
			if err := karmada.Define(ctx, filepath.Join("testdata", "clusters.yaml")); err != nil {
				return err
			}
			return joinMembers(ctx)
		},
		func() error { return startMember(ctx, dir, program, 0) },
		func() error { return startMember(ctx, dir, program, 1) })
}

// joinMembers makes Clusters whose summaries say how much their nodes have, and how much of it is taken.
func joinMembers(ctx context.Context) error {
	for i, name := range memberNames {
		nodes, cpus := int64(len(taken[i])), int64(0)
		for _, of := range taken[i] {
			cpus += of
		}
		if err := karmada.Join(ctx, name, world.Room(4*nodes, 110*nodes), world.Requests(cpus)); err != nil {
			return err
		}
	}
	return nil
}

func startMember(ctx context.Context, dir, program string, i int) error {
	c, err := world.StartControlPlane(filepath.Join(dir, memberNames[i]), program)
	if err != nil {
		return err
	}
	members[i] = c
	if err := c.CreateNamespace(ctx, "default"); err != nil {
		return err
	}
	return c.Fill(ctx, taken[i]...)
}

func setting(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("%s is not set: tests/e2e/karmada.sh -live does it", variable)
	}
	return value
}

// folder of a test's files.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(setting(t, "EVENKEEL_E2E_DIR"), t.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
