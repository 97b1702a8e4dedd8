package evenkeel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/ocm/internal/answer"
)

const deadline = 30 * time.Second // for what takes milliseconds

var servingLine = regexp.MustCompile(`serving.* extender=(\S+)`)

// Daemon is an Evenkeel that serves, over plain HTTP.
type Daemon struct {
	URL     string // without a path
	command *exec.Cmd
	exited  chan struct{} // closed when its log has ended
}

// Start returns when it serves. `arguments` follow those that say where.
func Start(binary string, arguments ...string) (*Daemon, error) {
	all := append([]string{"serve", "--insecure-extender", "--extender-listen", "127.0.0.1:0", "--ops-listen", "0"},
		arguments...)
	d := &Daemon{command: exec.Command(binary, all...), exited: make(chan struct{})}
	d.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := d.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.command.Start(); err != nil {
		return nil, err
	}
	serving := make(chan string, 1)
	var text bytes.Buffer // belongs to the goroutine until exited is closed
	go func() {
		defer close(d.exited)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if found := servingLine.FindStringSubmatch(lines.Text()); found != nil {
				serving <- found[1]
			}
			text.WriteString(lines.Text() + "\n")
		}
	}()
	select {
	case address := <-serving:
		d.URL = "http://" + address
		return d, nil
	case <-d.exited:
	case <-time.After(deadline):
	}
	d.Stop()
	return nil, fmt.Errorf("evenkeel does not serve:\n%s", text.String())
}

// Stop ends it at once.
func (d *Daemon) Stop() {
	_ = d.command.Process.Kill() // it may have ended by itself
	<-d.exited
	_ = d.command.Wait() // it was killed
}

// Select asks POST /clusters/v1/select.
func (d *Daemon) Select(q Question) (*answer.Answer, error) {
	a := &answer.Answer{}
	return a, d.Ask("select", q, a)
}

// Ask asks a verb, with the question's state in place of what the daemon knows.
func (d *Daemon) Ask(verb string, q Question, into any) error {
	body, err := json.Marshal(map[string]any{"placement": json.RawMessage(q.Placement),
		"state": json.RawMessage(q.State), "now": q.Now.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	text, err := d.Post(verb, body)
	if err != nil {
		return err
	}
	return decode(text, into)
}

// Post asks a verb of /clusters/v1 and returns what was answered.
func (d *Daemon) Post(verb string, body []byte) ([]byte, error) {
	response, err := http.Post(d.URL+"/clusters/v1/"+verb, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return text, nil
	case http.StatusBadRequest:
		return nil, Refusal{string(text)}
	}
	return nil, fmt.Errorf("%s says %s: %s", verb, response.Status, text)
}
