// Package netns puts a program into a network namespace of its own, where packets can be lost without
// anybody being told. The namespace has nothing but its loopback device; a relay inside joins it with
// the world outside by UNIX sockets. What the program connects to and listens on has the same
// addresses, of 127.0.0.1, on both sides.
package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Namespace lives until Close.
type Namespace struct {
	relay   *process.Process
	outside []net.Listener
}

// Available is an error that says why there can be none: it takes root, unshare, nsenter and ip.
func Available() error {
	for _, tool := range []string{"unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	output, err := exec.Command("unshare", "--net", "ip", "link", "set", "lo", "up").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// New makes one. `reach` is what exists outside and is reached from inside ("": nothing); `serve` is what exists
// inside and is reached from outside. `role` is the environment variable that makes this executable
// be RunRelay.
func New(ctx context.Context, dir, role, reach string, serve ...string) (*Namespace, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n := &Namespace{}
	out := filepath.Join(dir, "out.sock")
	if reach != "" {
		if err := n.listen("unix", out, "tcp", reach); err != nil {
			return nil, err
		}
	}
	var in []string
	for i, address := range serve {
		socket := filepath.Join(dir, fmt.Sprintf("in-%d.sock", i))
		in = append(in, socket+"="+address)
		if err := n.listen("tcp", address, "unix", socket); err != nil {
			n.Close()
			return nil, err
		}
	}
	n.relay, err = process.Start(process.Spec{
		Name: "relay", Path: "unshare", Log: filepath.Join(dir, "relay.log"), Env: []string{role},
		Args: []string{"--net", self, "--out=" + reach + "=" + out, "--in=" + strings.Join(in, ",")},
	})
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err = n.relay.WaitReady(ctx, func(context.Context) error {
			if !strings.Contains(n.relay.Output(), ready) {
				return errors.New("it has not said so")
			}
			return nil
		})
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *Namespace) listen(network, address, otherNetwork, otherAddress string) error {
	listener, err := pass(network, address, otherNetwork, otherAddress)
	if err == nil {
		n.outside = append(n.outside, listener)
	}
	return err
}

// Close ends the relay. What else runs in the namespace is its owner's.
func (n *Namespace) Close() {
	for _, listener := range n.outside {
		listener.Close()
	}
	if n.relay != nil {
		n.relay.Kill()
	}
}

// Dial connects to an IP address as a program inside would.
func (n *Namespace) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	var err error
	var dialled sync.WaitGroup
	dialled.Go(func() {
		// A socket is in the namespace of the thread that makes it. The thread ends with this goroutine, for it
		// is locked, so nobody else gets it.
		runtime.LockOSThread()
		var space *os.File
		if space, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", n.relay.PID())); err != nil {
			return
		}
		defer space.Close()
		if err = unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err == nil {
			conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		}
	})
	dialled.Wait()
	return conn, err
}

// Wrap goes in front of a command that shall run inside.
func (n *Namespace) Wrap() []string {
	return []string{"nsenter", "--net", "--target", strconv.Itoa(n.relay.PID())}
}

// Run a command inside, to its end.
func (n *Namespace) Run(command ...string) error {
	command = append(n.Wrap(), command...)
	output, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, output)
	}
	return nil
}
