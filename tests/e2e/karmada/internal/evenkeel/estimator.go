package evenkeel

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

var (
	servingLine = regexp.MustCompile(`msg=serving `)
	member      = regexp.MustCompile(`(estimator|ops)=(\S+)`)
)

// Estimator is a running Evenkeel that answers as estimator of member clusters.
type Estimator struct {
	Address string
	ops     string // likewise
	command *exec.Cmd
	ended   chan struct{} // closed when its log has ended
}

// StartEstimator of a cluster whose objects are in a file.
func StartEstimator(binary, name, state string, arguments ...string) (*Estimator, error) {
	return Start(binary, append([]string{"--state", state, "--estimator-member", name}, arguments...)...)
}

// Start returns when it serves.
func Start(binary string, arguments ...string) (*Estimator, error) {
	e := &Estimator{ended: make(chan struct{}), command: exec.Command(binary, append([]string{"serve", "--extender-listen", "0",
		"--webhook-listen", "0", "--ops-listen", "127.0.0.1:0", "--shutdown-delay", "0s", "--estimator-listen", "127.0.0.1:0"}, arguments...)...)}
	e.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := e.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	serving := make(chan [][]string, 1)
	var text bytes.Buffer // belongs to the goroutine until `ended` is closed
	go func() {
		defer close(e.ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if servingLine.MatchString(lines.Text()) {
				serving <- member.FindAllStringSubmatch(lines.Text(), -1)
			}
			text.WriteString(lines.Text() + "\n")
		}
	}()
	select {
	case found := <-serving:
		for _, address := range found {
			if address[1] == "ops" {
				e.ops = address[2]
			} else {
				e.Address = address[2]
			}
		}
		return e, nil
	case <-e.ended:
	case <-time.After(30 * time.Second):
	}
	e.Stop()
	return nil, fmt.Errorf("evenkeel does not serve:\n%s", text.String())
}

// Pid of its process.
func (e *Estimator) Pid() int { return e.command.Process.Pid }

// Metrics, as text.
func (e *Estimator) Metrics() (string, error) {
	response, err := http.Get("http://" + e.ops + "/metrics")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// Stop ends it at once.
func (e *Estimator) Stop() {
	_ = e.command.Process.Kill() // it may have ended by itself
	<-e.ended
	_ = e.command.Wait() // it was killed
}
