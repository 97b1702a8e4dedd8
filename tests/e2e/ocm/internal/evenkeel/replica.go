package evenkeel

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Replica is an Evenkeel on a hub, which decides Placements there.
type Replica struct {
	command *exec.Cmd
	log     string
}

// StartReplica runs one without any listener; its log goes into a file.
func StartReplica(binary, log string, arguments ...string) (*Replica, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all := append([]string{"serve", "--extender-listen", "0", "--webhook-listen", "0", "--ops-listen", "0", "--ocm"}, arguments...)
	r := &Replica{command: exec.Command(binary, all...), log: log}
	r.command.Stderr = file
	r.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return r, r.command.Start()
}

// Kill ends it at once.
func (r *Replica) Kill() {
	_ = r.command.Process.Kill() // it may have ended by itself
	_ = r.command.Wait()         // it was killed
}

// Pause stops it where it is, until it is resumed.
func (r *Replica) Pause() error  { return r.command.Process.Signal(syscall.SIGSTOP) }
func (r *Replica) Resume() error { return r.command.Process.Signal(syscall.SIGCONT) }

// Stop ends it as a cluster does.
func (r *Replica) Stop() error {
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- r.command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("evenkeel ended with %w: see %s", err, r.log)
		}
		return nil
	case <-time.After(deadline):
		r.Kill()
		return fmt.Errorf("evenkeel does not end: see %s", r.log)
	}
}

// LogHas says whether a text is in its log.
func (r *Replica) LogHas(text string) bool {
	content, err := os.ReadFile(r.log)
	return err == nil && bytes.Contains(content, []byte(text))
}
