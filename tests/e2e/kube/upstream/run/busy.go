package main

import (
	"fmt"
	"os"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/process"
)

const (
	busyCommand   = "burn"
	busyProcesses = 2
)

// startBusy makes the machine busy until stop is called, and no longer than the limit and than this
// process lives.
func startBusy(log string, limit time.Duration) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var processes []*process.Process
	stop = func() {
		for _, p := range processes {
			p.Kill()
		}
	}
	for i := range busyProcesses {
		p, err := process.Start(process.Spec{
			Name: fmt.Sprintf("busy process %d", i), Path: self,
			Args: []string{busyCommand, limit.String()}, Env: []string{"GOMAXPROCS=1"}, Log: log,
		})
		if err != nil {
			stop()
			return nil, err
		}
		processes = append(processes, p)
	}
	return stop, nil
}

// burn is such a process. It returns the exit status.
func burn(text string) int {
	limit, err := time.ParseDuration(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	for end := time.Now().Add(limit); time.Now().Before(end); {
	}
	return 0
}
