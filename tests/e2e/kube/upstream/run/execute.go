package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/process"
	"evenkeel.io/tests/e2e/kube/upstream/hook"
)

const (
	logName = "output.log"
	// The program says itself that it took too long; this is for one that does not even do that.
	grace = 30 * time.Second
)

// execute runs the program of a job to its end, with an etcd of its own. How it ended is not an error
// but the first result.
func (o options) execute(ctx context.Context, j job, dir string) (ending, err error) {
	// Short, because the path of a socket will be below it.
	temporary, err := os.MkdirTemp("", "evenkeel-upstream-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	p, err := process.Start(process.Spec{
		Name: j.pkg.binary(),
		Path: filepath.Join(o.bin, j.pkg.binary()),
		Args: []string{
			"-test.v=test2json", "-test.run=" + j.pattern(), fmt.Sprintf("-test.count=%d", j.count),
			"-test.timeout=" + j.limit().String(),
		},
		Env: []string{
			hook.ModeVariable + "=" + j.mode, hook.DirVariable + "=" + dir,
			// The framework takes an etcd that answers here; otherwise it starts the one in PATH.
			"KUBE_INTEGRATION_ETCD_URL=http://127.0.0.1:1",
			"PATH=" + o.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
			"TMPDIR=" + temporary,
		},
		Log: filepath.Join(dir, logName),
	})
	if err != nil {
		return nil, err
	}
	// Its etcd is in the same group.
	defer syscall.Kill(-p.PID(), syscall.SIGKILL)
	select {
	case <-p.Exited():
		return p.Err(), ctx.Err()
	case <-ctx.Done():
		p.Kill()
		return nil, ctx.Err()
	case <-time.After(j.limit() + grace):
		p.Kill()
		return errors.New("it had to be killed"), nil
	}
}
