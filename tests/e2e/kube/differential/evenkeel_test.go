package differential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"evenkeel.io/tests/e2e/kube/differential/served"
)

func evenkeelBinary(t testing.TB) string {
	t.Helper()
	return served.Program(t, "EVENKEEL", "build/evenkeel")
}

// simulation is one call of `evenkeel simulate`, its files in a folder of its own.
type simulation struct {
	binary, folder string
	arguments      []string
}

func newSimulation(binary, folder string) *simulation {
	s := &simulation{binary: binary, folder: folder}
	s.arguments = []string{"simulate", "-o", "json", "--state", s.path("state.json"),
		"--pod", s.path("pod.json"), "--filters", "PodTopologySpread"}
	return s
}

func (s *simulation) path(name string) string {
	return filepath.Join(s.folder, name)
}

func (s *simulation) write(name string, content []byte) error {
	return os.WriteFile(s.path(name), content, 0o600)
}

// command is what a person types to see the same.
func (s *simulation) command() string {
	return s.binary + " " + strings.Join(s.arguments, " ")
}

// refusal is Evenkeel saying that it cannot answer: what it wrote on standard error.
type refusal struct{ text string }

func (r refusal) Error() string { return "evenkeel refused: " + r.text }

// run returns what Evenkeel printed.
func (s *simulation) run() ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(s.binary, s.arguments...)
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, refusal{strings.TrimSpace(stderr.String())}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.command(), err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// printed is the JSON that simulate prints.
type printed struct {
	Filter map[string]struct {
		Verdict string
	}
	Score map[string]struct {
		Raw, Normalized *int64 // only where the extender has an opinion
	}
}

func (s *simulation) answer() (*answer, error) {
	output, err := s.run()
	if err != nil {
		return nil, err
	}
	var p printed
	if err := json.Unmarshal(output, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", s.command(), err)
	}
	a := &answer{Verdicts: map[string]string{}, Scores: map[string]score{}}
	for node, judged := range p.Filter {
		a.Verdicts[node] = judged.Verdict
	}
	for node, scored := range p.Score {
		if scored.Raw != nil {
			a.Scores[node] = score{*scored.Raw, *scored.Normalized}
		}
	}
	return a, nil
}
