package differential

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
)

func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("EVENKEEL")
	if path == "" {
		path = "build/evenkeel"
	}
	path = fromRoot(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("build/evenkeel is not built (EVENKEEL names another): %v", err)
	}
	return path
}

// TestGenerator asks OCM alone: that it takes every case and that they are not dull.
func TestGenerator(t *testing.T) {
	l, all := newTally(), referees(t, runtime.NumCPU())
	forEachCase(t, len(all), func(worker, number int) bool {
		q, err := newQuestion(number, now).asJSON()
		if err != nil {
			t.Error(err)
			return false
		}
		theirs, err := all[worker].ask(t.Context(), q)
		if err != nil {
			t.Errorf("case %d: %v; kept in %s", number, err, keep(t, number, q, nil, nil, err.Error()))
			return false
		}
		l.add(theirs)
		return true
	})
	l.report(t)
}

// TestSimulate asks `evenkeel simulate`, a process for every case.
func TestSimulate(t *testing.T) {
	program := binary(t)
	var doors []door
	for range runtime.NumCPU() {
		folder := t.TempDir()
		doors = append(doors, func(q evenkeel.Question) (*answer.Answer, error) {
			return evenkeel.Simulate(program, folder, q)
		})
	}
	compareAll(t, doors)
}

// TestSelect asks a daemon, over HTTP.
func TestSelect(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte(`{"apiVersion":"v1","kind":"List","items":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon, err := evenkeel.Start(binary(t), "--state", empty)
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Stop()
	var doors []door
	for range runtime.NumCPU() {
		doors = append(doors, daemon.Select)
	}
	compareAll(t, doors)
}

// compareAll asks through a door for each worker.
func compareAll(t *testing.T, doors []door) {
	t.Helper()
	l, all := newTally(), referees(t, len(doors))
	forEachCase(t, len(doors), func(worker, number int) bool {
		q, err := newQuestion(number, now).asJSON()
		if err != nil {
			t.Error(err)
			return false
		}
		theirs, ours, text, err := all[worker].compare(t.Context(), doors[worker], q)
		if err != nil {
			t.Errorf("case %d: %v; kept in %s", number, err, keep(t, number, q, theirs, ours, err.Error()))
			return false
		}
		if text != "" {
			t.Errorf("case %d of seed %d:\n%s\nkept in %s", number, seed(), text, keep(t, number, q, theirs, ours, text))
			return false
		}
		l.add(theirs)
		return true
	})
	l.report(t)
}
