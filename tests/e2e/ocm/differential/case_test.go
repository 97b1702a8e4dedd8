package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
	"evenkeel.io/tests/e2e/ocm/internal/crds"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/peer"
	"evenkeel.io/tests/e2e/ocm/internal/state"
)

// now is what time it is in every case, to both.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	peer.SetClock(clocktesting.NewFakeClock(now))
	os.Exit(m.Run())
}

// referee is one worker's OCM.
type referee struct {
	schemas crds.Schemas
	world   *peer.World
}

func referees(t *testing.T, count int) []*referee {
	t.Helper()
	schemas, err := crds.ReadSchemas()
	if err != nil {
		t.Fatal(err)
	}
	var all []*referee
	for range count {
		all = append(all, &referee{schemas, peer.NewWorld(t.Context())})
	}
	return all
}

// expected is what OCM makes of a case: an answer, or the controller's error.
type expected struct {
	*answer.Answer
	failed string // why there is no answer
}

func (r *referee) ask(ctx context.Context, q evenkeel.Question) (*expected, error) {
	s, err := state.Read(r.schemas, q.Placement, q.State)
	if err != nil {
		return nil, err
	}
	d, err := r.world.Decide(ctx, s)
	if err != nil {
		return nil, err
	}
	if d.Failed {
		return &expected{failed: d.Error}, nil
	}
	a, err := answer.Of(s, d, q.Now)
	return &expected{Answer: a}, err
}

// asJSON are the files of a case.
func (q *question) asJSON() (evenkeel.Question, error) {
	placement, err := json.MarshalIndent(q.placement, "", " ")
	if err != nil {
		return evenkeel.Question{}, err
	}
	list, err := json.MarshalIndent(object{"apiVersion": "v1", "kind": "List", "items": q.items}, "", " ")
	return evenkeel.Question{Placement: placement, State: list, Now: q.now}, err
}

// door is a way to ask Evenkeel.
type door func(q evenkeel.Question) (*answer.Answer, error)

// compare asks both. The text says how they differ.
func (r *referee) compare(ctx context.Context, ask door, q evenkeel.Question) (theirs *expected, ours *answer.Answer, text string, err error) {
	if theirs, err = r.ask(ctx, q); err != nil {
		return nil, nil, "", fmt.Errorf("OCM: %w", err)
	}
	ours, err = ask(q)
	if refused := (evenkeel.Refusal{}); errors.As(err, &refused) {
		if !r.mayRefuse(theirs, q) {
			text = refused.Error()
		}
		return theirs, nil, text, nil
	}
	if err != nil {
		return nil, nil, "", err
	}
	if theirs.failed != "" && ours.Error != "" {
		return theirs, ours, "", nil
	}
	if theirs.failed != "" {
		return theirs, ours, "no error, but OCM's controller fails: " + theirs.failed, nil
	}
	text = answer.Differences(ours, theirs.Answer)
	if theirs.Misconfigured() != "" && ours.Misconfigured() != theirs.Misconfigured() {
		theirs, text, err = r.another(ctx, ours, theirs, text, q)
	}
	return theirs, ours, text, err
}

// mayRefuse says whether a refusal is an answer: OCM's controller fails, or no hub would have such
// objects.
func (r *referee) mayRefuse(theirs *expected, q evenkeel.Question) bool {
	return theirs.failed != "" || state.Refused(r.schemas, q.Placement, q.State) != nil
}

const drawings = 64 // of messages of which there are a few

// another asks OCM again: of several things that are misconfigured it names the one that a map
// happens to have first, so every one of them is right.
func (r *referee) another(ctx context.Context, ours *answer.Answer, theirs *expected, text string,
	q evenkeel.Question) (*expected, string, error) {
	for range drawings {
		again, err := r.ask(ctx, q)
		if err != nil || again.failed != "" {
			return nil, "", fmt.Errorf("OCM answers otherwise when it is asked again: %w, %q", err, again.failed)
		}
		if again.Misconfigured() == ours.Misconfigured() {
			return again, answer.Differences(ours, again.Answer), nil
		}
	}
	return theirs, text, nil
}

// keep writes what there is of a case into a folder that stays.
func keep(t *testing.T, number int, q evenkeel.Question, theirs *expected, ours *answer.Answer, text string) string {
	t.Helper()
	folder := filepath.Join(fromRoot(t, "build/e2e/ocm"), fmt.Sprintf("%s-%d-%d", t.Name(), seed(), number))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Error(err)
	}
	for name, content := range map[string]any{
		"placement.json": q.Placement, "state.json": q.State, "difference.txt": []byte(text + "\n"),
		"ocm.json": theirs, "evenkeel.json": ours,
	} {
		bytes, written := content.([]byte)
		if !written {
			bytes, _ = json.MarshalIndent(content, "", " ") // its types are the answer's
		}
		if err := os.WriteFile(filepath.Join(folder, name), bytes, 0o644); err != nil {
			t.Error(err)
		}
	}
	return folder
}

// fromRoot makes a path absolute that is written for the root of the repository.
func fromRoot(t *testing.T, path string) string {
	t.Helper()
	if filepath.IsAbs(path) {
		return path
	}
	root, err := os.Getwd() // that of the package under test
	if err != nil {
		t.Fatal(err)
	}
	for root != "/" {
		if _, err := os.Stat(filepath.Join(root, "Makefile")); err == nil {
			return filepath.Join(root, path)
		}
		root = filepath.Dir(root)
	}
	t.Fatal("not inside the repository")
	return ""
}
