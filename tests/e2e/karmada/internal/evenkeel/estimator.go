package evenkeel

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

var servingLine = regexp.MustCompile(`msg=serving .*estimator=(\S+)`)

// Estimator is a running Evenkeel that answers as estimator of a cluster whose objects are in a file.
type Estimator struct {
	Address string
	command *exec.Cmd
	ended   chan struct{} // closed when its log has ended
}

// StartEstimator returns when it serves.
func StartEstimator(binary, name, state string, arguments ...string) (*Estimator, error) {
	e := &Estimator{ended: make(chan struct{}), command: exec.Command(binary, append([]string{"serve", "--extender-listen", "0",
		"--webhook-listen", "0", "--ops-listen", "0", "--shutdown-delay", "0s", "--state", state, "--estimator-listen", "127.0.0.1:0",
		"--estimator-member", name}, arguments...)...)}
	e.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := e.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	serving := make(chan string, 1)
	var text bytes.Buffer // belongs to the goroutine until `ended` is closed
	go func() {
		defer close(e.ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if found := servingLine.FindStringSubmatch(lines.Text()); found != nil {
				serving <- found[1]
			}
			text.WriteString(lines.Text() + "\n")
		}
	}()
	select {
	case e.Address = <-serving:
		return e, nil
	case <-e.ended:
	case <-time.After(30 * time.Second):
	}
	e.Stop()
	return nil, fmt.Errorf("evenkeel does not serve:\n%s", text.String())
}

// Stop ends it at once.
func (e *Estimator) Stop() {
	_ = e.command.Process.Kill() // it may have ended by itself
	<-e.ended
	_ = e.command.Wait() // it was killed
}
