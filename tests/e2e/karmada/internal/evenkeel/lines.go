// Package evenkeel asks the built Evenkeel questions of one line each.
package evenkeel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// Ask gives `evenkeel simulate --lines` questions, and returns an answer for each of them.
func Ask(binary string, questions [][]byte) ([]json.RawMessage, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(binary, "simulate", "--lines", "-")
	command.Stdin = bytes.NewReader(append(bytes.Join(questions, []byte("\n")), '\n'))
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // some are refused, and their answers say so
	}
	if err != nil {
		return nil, fmt.Errorf("%s simulate --lines: %w: %s", binary, err, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSuffix(stdout.Bytes(), []byte("\n")), []byte("\n"))
	if len(lines) != len(questions) {
		return nil, fmt.Errorf("%d answers to %d questions: %s", len(lines), len(questions), stderr.String())
	}
	answers := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		answers[i] = line
	}
	return answers, nil
}
