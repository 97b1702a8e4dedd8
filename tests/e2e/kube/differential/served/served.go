// Package served runs the built Evenkeel on a state file, over plain HTTP, and asks it as
// kube-scheduler would.
package served

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/posted"
)

const deadline = 30 * time.Second // for what takes milliseconds

// FromRoot makes a path absolute that was written for the root of the repository.
func FromRoot(t testing.TB, path string) string {
	t.Helper()
	if filepath.IsAbs(path) {
		return path
	}
	root, err := os.Getwd() // that of the package under test
	if err != nil {
		t.Fatal(err)
	}
	for root != "/" {
		if _, err := os.Stat(filepath.Join(root, "Makefile")); err == nil {
			return filepath.Join(root, path)
		}
		root = filepath.Dir(root)
	}
	t.Fatal("not inside the repository")
	return ""
}

// Program is a built program of the repository; an environment variable may name another.
func Program(t testing.TB, variable, usual string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = usual
	}
	path = FromRoot(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not built (%s names another): %v", usual, variable, err)
	}
	return path
}

var servingLine = regexp.MustCompile(`serving.* extender=(\S+) webhook=(\S+)`)

// Daemon is an Evenkeel that serves.
type Daemon struct {
	URL     string // without a path
	Webhook string // address, "off" without one
	command *exec.Cmd
	exited  chan struct{} // closed when its log has ended
}

// Start returns when it serves. `arguments` follow those that this package needs.
func Start(binary string, arguments ...string) (*Daemon, error) {
	all := []string{"serve", "--insecure-extender", "--extender-listen", "127.0.0.1:0", "--ops-listen", "0"}
	all = append(all, arguments...)
	d := &Daemon{command: exec.Command(binary, all...), exited: make(chan struct{})}
	log, err := d.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.command.Start(); err != nil {
		return nil, err
	}
	serving := make(chan []string, 1)
	var text bytes.Buffer // belongs to the goroutine until exited is closed
	go func() {
		defer close(d.exited)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if found := servingLine.FindStringSubmatch(lines.Text()); found != nil {
				serving <- found
			}
			text.WriteString(lines.Text() + "\n")
		}
	}()
	select {
	case found := <-serving:
		d.URL, d.Webhook = "http://"+found[1], found[2]
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

// Post asks an extender, any one, and decodes what it answers.
func Post(url, verb string, args, answer any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/extender/v1/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	text, err := posted.Answer(http.DefaultClient, request)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
