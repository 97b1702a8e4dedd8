package evenkeel

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func (e *Evenkeel) clockFile() string { return filepath.Join(e.Dir, "clock-"+e.Name) }

// What is preloaded is built beside the program: tests/shim/wall_clock.c.
func (e *Evenkeel) setUpClock() error {
	if !e.OwnClock {
		return nil
	}
	shim := filepath.Join(filepath.Dir(e.Binary), "wall_clock.so")
	if _, err := os.Stat(shim); err != nil {
		return fmt.Errorf("no clock for evenkeel %s, make e2e builds one: %w", e.Name, err)
	}
	e.Env = append(e.Env, "LD_PRELOAD="+shim, "WALL_CLOCK_FILE="+e.clockFile())
	return nil
}

// Command runs another command of the program with the same clock and kubeconfig, and returns what it
// prints, however it ends.
func (e *Evenkeel) Command(ctx context.Context, args ...string) string {
	command := exec.CommandContext(ctx, e.Binary, append(args, "--kubeconfig", e.Kubeconfig)...)
	command.Env = append(os.Environ(), e.Env...)
	output, err := command.CombinedOutput()
	return fmt.Sprintf("%s%v\n", output, err)
}

// Jump sets its wall clock ahead of everybody's (or, when negative, behind), from now on.
func (e *Evenkeel) Jump(ahead time.Duration) error {
	text := fmt.Sprintf("%d\n", int64(ahead/time.Second))
	if err := os.WriteFile(e.clockFile()+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(e.clockFile()+".new", e.clockFile())
}
