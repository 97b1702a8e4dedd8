package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is this program again, as something else, and ends with it.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func start(arguments ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(self, arguments...)}
	p.command.Stderr = os.Stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.command.Start()
}

func (p *process) stop() {
	_ = p.command.Process.Kill() // it may have ended by itself
	_ = p.command.Wait()         // it was killed
}

// line that it prints next, within a limit that nothing here comes near.
func (p *process) line() (string, error) {
	text, err := p.out.ReadString('\n')
	return strings.TrimSpace(text), err
}

// call has the callers' process ask.
func (p *process) call(c calling) (*called, error) {
	if err := json.NewEncoder(p.in).Encode(c); err != nil {
		return nil, err
	}
	text, err := p.line()
	if err != nil {
		return nil, fmt.Errorf("the callers have ended: %w", err)
	}
	var result called
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		return nil, err
	}
	if result.Failed != "" {
		return nil, fmt.Errorf("%s", result.Failed)
	}
	return &result, nil
}

// kib of a line of a process' status: VmRSS, or VmHWM, the most that it was.
func kib(pid int, name string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it has ended: 0
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			value, _ := strconv.Atoi(strings.Fields(rest)[0])
			return value
		}
	}
	return 0
}

// cpu that a process has taken, in user's and system's time.
func cpu(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const ticksASecond = 100
	return time.Duration(user+system) * time.Second / ticksASecond
}

// freePort may be another's by the time that it is used, which then says so.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// waitFor asks until it is so.
func waitFor(what string, limit time.Duration, isSo func() bool) error {
	for began := time.Now(); !isSo(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > limit {
			return fmt.Errorf("%s: not within %s", what, limit)
		}
	}
	return nil
}
