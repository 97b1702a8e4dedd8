// Package program runs a compiled package of Kubernetes' own tests with the hook in it.
package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/process"
	"evenkeel.io/tests/e2e/kube/upstream/hook"
)

// Spec says what to run.
type Spec struct {
	Bin  string // folder of the programs, etcd among them
	Name string // of the program there
	Args []string
	Env  []string // added to ours
	Work string   // its working folder; ours if empty
	Dir  string   // folder for everything that is written
	Mode string   // for the hook
	// Limit is when it is killed. It should have given up by itself before.
	Limit time.Duration
}

// LogName is the file in Dir with what it says.
const LogName = "output.log"

// Ending is how a program ended.
type Ending struct {
	Err error         // nil: with status 0
	CPU time.Duration // its own and that of processes that it waited for: etcd
}

// Run runs the program to its end, with an etcd of its own. How it ended is not an error.
func Run(ctx context.Context, s Spec) (Ending, error) {
	// Short, because the path of a socket will be below it.
	temporary, err := os.MkdirTemp("", "evenkeel-upstream-")
	if err != nil {
		return Ending{}, err
	}
	defer os.RemoveAll(temporary)
	p, err := process.Start(process.Spec{
		Name: s.Name, Path: filepath.Join(s.Bin, s.Name), Args: s.Args, Dir: s.Work,
		Env: append([]string{
			hook.ModeVariable + "=" + s.Mode, hook.DirVariable + "=" + s.Dir,
			// The framework takes an etcd that answers here; otherwise it starts the one in PATH.
			"KUBE_INTEGRATION_ETCD_URL=http://127.0.0.1:1",
			"PATH=" + s.Bin + string(os.PathListSeparator) + os.Getenv("PATH"),
			"TMPDIR=" + temporary,
		}, s.Env...),
		Log: filepath.Join(s.Dir, LogName),
	})
	if err != nil {
		return Ending{}, err
	}
	// Its etcd is in the same group.
	defer syscall.Kill(-p.PID(), syscall.SIGKILL)
	var ending Ending
	select {
	case <-p.Exited():
		ending.Err = p.Err()
	case <-ctx.Done():
		p.Kill()
	case <-time.After(s.Limit):
		p.Kill()
		ending.Err = errors.New("it had to be killed")
	}
	ending.CPU = p.CPU()
	return ending, ctx.Err()
}
