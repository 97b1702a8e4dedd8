// Package evenkeel asks the built Evenkeel about a Placement: `evenkeel simulate`, and a daemon that
// serves.
package evenkeel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
)

// Question is a Placement and a List of what a hub has, as JSON, at a time.
type Question struct {
	Placement, State []byte
	Now              time.Time
}

// Refusal is Evenkeel saying that the question cannot be answered, and why.
type Refusal struct{ Text string }

func (r Refusal) Error() string { return "evenkeel refused: " + r.Text }

// Simulate writes the question's files into a folder and asks `evenkeel simulate` about them.
func Simulate(binary, folder string, q Question) (*answer.Answer, error) {
	for name, content := range map[string][]byte{"placement.json": q.Placement, "state.json": q.State} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return Run(binary, append(Files(filepath.Join(folder, "placement.json"), filepath.Join(folder, "state.json")),
		"--now", q.Now.Format(time.RFC3339))...)
}

// Files are the arguments of a question whose parts are in files.
func Files(placement, state string) []string {
	return []string{"simulate", "--placement", placement, "--state", state, "-o", "json"}
}

// Run asks with such arguments.
func Run(binary string, arguments ...string) (*answer.Answer, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(binary, arguments...)
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, Refusal{strings.TrimSpace(stderr.String())}
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", binary, strings.Join(arguments, " "), err, stderr.String())
	}
	a := &answer.Answer{}
	return a, decode(stdout.Bytes(), a)
}

func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}
