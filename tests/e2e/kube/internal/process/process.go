// Package process runs programs beside the tests: output to a file, signals by process, and never
// one that outlives us.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Spec says what to start.
type Spec struct {
	Name string   // for messages
	Path string   // of the program
	Args []string // without the program's own name
	Env  []string // added to ours
	Dir  string   // its working folder; ours if empty
	Log  string   // file that standard output and error are appended to
}

// Process is a program that was started. All methods may be called from any goroutine.
type Process struct {
	Spec
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended; err is set before
	err    error
}

// Start runs the program. The kernel kills it when this process dies, however that happens.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{Spec: spec, cmd: exec.Command(spec.Path, spec.Args...), exited: make(chan struct{})}
	p.cmd.Dir = spec.Dir
	p.cmd.Env = append(os.Environ(), spec.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", spec.Name, err)
	}
	return p, nil
}

// Pdeathsig means the death of the thread that forked, so that thread is kept until the program has
// ended.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.exited)
}

// Exited is closed when the program has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err says how it ended, once it has: nil is status 0.
func (p *Process) Err() error { return p.err }

// CPU is the processor time that it took, once it has ended, with that of its children that it
// waited for.
func (p *Process) CPU() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// Running says whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// PID of the program, also after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends one; a program that has ended is no error.
func (p *Process) Signal(signal syscall.Signal) error {
	err := p.cmd.Process.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Kill ends it without a chance to clean up (SIGKILL) and waits for that.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL) // fails only if it is gone
	<-p.exited
}

// Stop sends SIGTERM, then SIGKILL after the limit. An error says that it took SIGKILL, or how it
// ended otherwise than with status 0.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
	case <-time.After(limit):
		p.Kill()
		return fmt.Errorf("%s did not stop within %v of SIGTERM", p.Name, limit)
	}
	if p.err != nil {
		return fmt.Errorf("%s ended badly: %w", p.Name, p.err)
	}
	return nil
}

// WaitReady calls `ready` until it returns nil, and gives up when ctx ends or the program does.
func (p *Process) WaitReady(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended while starting (%v); its log: %s", p.Name, p.err, p.Tail(20))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its log: %s", p.Name, err, p.Tail(20))
		case <-tick.C:
		}
	}
}
