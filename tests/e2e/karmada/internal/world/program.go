package world

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Program runs, and its log goes into a file.
type Program struct {
	Log string

	command *exec.Cmd
	exited  chan struct{} // closed when it has ended
	end     error         // how it has
}

// Run starts one. A log that is there already is continued.
func Run(log, binary string, arguments ...string) (*Program, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Program{Log: log, command: exec.Command(binary, arguments...), exited: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = file, file
	// Ctrl-C is for the test alone.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		p.end = p.command.Wait()
	}()
	return p, nil
}

// Ended says whether it runs no more.
func (p *Program) Ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// LogHas says whether a text is in its log.
func (p *Program) LogHas(text string) bool {
	content, err := os.ReadFile(p.Log)
	return err == nil && bytes.Contains(content, []byte(text))
}

// Kill ends it at once.
func (p *Program) Kill() {
	_ = p.command.Process.Kill() // it may have ended by itself
	<-p.exited
}

// Stop ends it as a cluster does. An error: it has ended before, or does not end, or does it badly.
func (p *Program) Stop() error {
	if p.Ended() {
		return fmt.Errorf("it had ended already (%w): see %s", errors.Join(p.end), p.Log)
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.end
	case <-time.After(Patience):
		p.Kill()
		return fmt.Errorf("it does not end: see %s", p.Log)
	}
}
