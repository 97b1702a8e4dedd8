package differential

import (
	"bytes"
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

// TestGenerator makes cases twice: a seed and a number are to be one case.
func TestGenerator(t *testing.T) {
	forEachOf(t, min(caseCount(), 300), runtime.NumCPU(), func(_, number int) bool {
		once, twice := questionOf(t, number), questionOf(t, number)
		if !bytes.Equal(once.Placement, twice.Placement) || !bytes.Equal(once.State, twice.State) {
			t.Errorf("case %d is another when it is made again", number)
		}
		return true
	})
}

func questionOf(t *testing.T, number int) evenkeel.Question {
	t.Helper()
	q, err := newQuestion(number, now).asJSON()
	if err != nil {
		t.Error(err)
	}
	return q
}

// TestSimulate asks `evenkeel simulate`, a process for every case; so it tries fewer.
func TestSimulate(t *testing.T) {
	program := binary(t)
	var doors []door
	for range runtime.NumCPU() {
		folder := t.TempDir()
		doors = append(doors, func(q evenkeel.Question) (*answer.Answer, error) {
			return evenkeel.Simulate(program, folder, q)
		})
	}
	compareAll(t, (caseCount()+9)/10, doors)
}

// TestSelect asks a daemon, over HTTP.
func TestSelect(t *testing.T) {
	daemon := startDaemon(t)
	var doors []door
	for range runtime.NumCPU() {
		doors = append(doors, daemon.Select)
	}
	compareAll(t, caseCount(), doors)
}

// startDaemon starts one that knows nothing; it ends with the test.
func startDaemon(t *testing.T) *evenkeel.Daemon {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte(`{"apiVersion":"v1","kind":"List","items":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon, err := evenkeel.Start(binary(t), "--state", empty)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(daemon.Stop)
	return daemon
}

// compareAll asks so many cases, through a door for each worker.
func compareAll(t *testing.T, count int, doors []door) {
	t.Helper()
	l, all := newTally(), referees(t, len(doors))
	forEachOf(t, count, len(doors), func(worker, number int) bool {
		q := questionOf(t, number)
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
