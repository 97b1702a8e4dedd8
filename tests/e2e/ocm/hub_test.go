// Package e2e runs Evenkeel beside a real hub: kube-apiserver with OCM's kinds, and OCM's own placement
// controller. Environment, all but the last set by tests/e2e/ocm.sh:
//
//	EVENKEEL                   the binary
//	EVENKEEL_E2E_CONTROL_PLANE the program of tests/e2e/kube/cmd/controlplane
//	EVENKEEL_E2E_KUBECTL       kubectl
//	EVENKEEL_E2E_HUB           the program of cmd/hub
//	EVENKEEL_E2E_DIR           where logs and other files are kept; default: a folder that goes at the end
//	EVENKEEL_E2E_FLEET         how large the fleet of TestFleetScale is, see there
package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

func setting(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("%s is not set: tests/e2e/ocm.sh -hub does it", variable)
	}
	return value
}

// folder of a test's files.
func folder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EVENKEEL_E2E_DIR")
	if dir == "" {
		return t.TempDir()
	}
	dir = filepath.Join(dir, t.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newHub starts one with the objects of a file and OCM's controller, which end with the test.
func newHub(t *testing.T, dir, file string) *hub.Hub {
	t.Helper()
	h, err := hub.Start(t.Context(), dir, hub.Programs{
		ControlPlane: setting(t, "EVENKEEL_E2E_CONTROL_PLANE"), Kubectl: setting(t, "EVENKEEL_E2E_KUBECTL")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Create(t.Context(), documents(t, file)...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := h.RunPlacementController(ctx)
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := hub.Documents(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestStateFromHub asks `evenkeel simulate` about what kubectl prints of a hub, and OCM about the same
// Placements on that hub. Each Placement is asked about before it is created, and once more after OCM has
// decided it: what has been decided is part of the state then.
func TestStateFromHub(t *testing.T) {
	binary, dir := setting(t, "EVENKEEL"), folder(t)
	h := newHub(t, dir, "fleet.yaml")
	for _, placement := range documents(t, "placements.yaml") {
		t.Run(placement.GetName(), func(t *testing.T) {
			before := ask(t, binary, dir, h, placement, "before")
			if err := h.Create(t.Context(), placement); err != nil {
				t.Fatal(err)
			}
			decided, err := h.Decided(t.Context(), placement.GetNamespace(), placement.GetName())
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "before it is created", before, decided, nil)
			compare(t, "after", ask(t, binary, dir, h, placement, "after"), decided, decided.Clusters())
		})
	}
}

// ask saves the state of the hub and asks about a Placement on it.
func ask(t *testing.T, binary, dir string, h *hub.Hub, placement *unstructured.Unstructured, when string) *answer.Answer {
	t.Helper()
	text, err := json.MarshalIndent(placement, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, placement.GetName()+"-"+when)
	if err := os.WriteFile(name+".json", text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.SaveState(t.Context(), name+"-state.yaml"); err != nil {
		t.Fatal(err)
	}
	a, err := evenkeel.Run(binary, append(evenkeel.Files(name+".json", name+"-state.yaml"),
		"--now", time.Now().Format(time.RFC3339))...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func compare(t *testing.T, when string, ours *answer.Answer, decided *hub.Decision, current []string) {
	t.Helper()
	groups, err := answer.Groups(decided.Objects, decided.Placement.Status)
	if err != nil {
		t.Fatal(err)
	}
	theirs := &answer.Answer{Selected: decided.Clusters(), Current: current, Groups: groups,
		Conditions: answer.Conditions(decided.Placement.Status)}
	reduced := &answer.Answer{Selected: slices.Sorted(slices.Values(ours.Selected)), Current: ours.Current,
		Groups: ours.Groups, Conditions: ours.Conditions}
	if text := answer.Differences(reduced, theirs); text != "" {
		t.Errorf("%s:\n%s", when, text)
	}
	if len(theirs.Selected) == 0 {
		t.Errorf("%s: OCM has selected nothing", when)
	}
}
