package live

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// estimator is an Evenkeel that answers for member clusters.
type estimator struct {
	*world.Program
	Address string

	binary, log string
	flags       []string
	unready     bool // ever
}

// freeAddress of this machine, which was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// everyMember is answered for by their administrators' kubeconfigs.
func everyMember() []string {
	var flags []string
	for i, name := range memberNames {
		flags = append(flags, "--estimator-member", name+"="+members[i].Kubeconfig)
	}
	return flags
}

// startEstimator returns when it is ready. It ends with the test, and that must go well.
func startEstimator(t *testing.T, flags ...string) *estimator {
	t.Helper()
	return startOne(t, &estimator{flags: flags})
}

// startUnready returns when it serves.
func startUnready(t *testing.T, flags ...string) *estimator {
	t.Helper()
	return startOne(t, &estimator{flags: flags, unready: true})
}

func startOne(t *testing.T, e *estimator) *estimator {
	t.Helper()
	e.Address, e.binary, e.log = cmp.Or(e.Address, "127.0.0.1:0"), setting(t, "EVENKEEL"), filepath.Join(folder(t), "evenkeel.log")
	e.start(t)
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("Evenkeel: %v", err)
		}
	})
	return e
}

var servingLine = regexp.MustCompile(`msg=serving .*\bops=(\S+) .*\bestimator=(\S+)`)

// start one, where the last was.
func (e *estimator) start(t *testing.T) {
	t.Helper()
	before, _ := os.ReadFile(e.log) // the first time, it is not there
	var err error
	e.Program, err = world.Run(e.log, e.binary, append([]string{"serve", "--extender-listen", "0", "--webhook-listen", "0",
		"--ops-listen", "127.0.0.1:0", "--shutdown-delay", "0s", "--estimator-listen", e.Address}, e.flags...)...)
	must(t, err)
	must(t, world.Until(t.Context(), "Evenkeel is ready: see "+e.log, func(context.Context) (bool, error) {
		log, err := os.ReadFile(e.log)
		if err != nil {
			return false, err
		}
		found := servingLine.FindSubmatch(log[len(before):])
		if e.Ended() {
			t.Fatalf("Evenkeel has ended: see %s", e.log)
		} else if found == nil {
			return false, nil
		}
		e.Address = string(found[2])
		if e.unready {
			return true, nil
		}
		return ready("http://" + string(found[1]))
	}))
}

func ready(ops string) (bool, error) {
	response, err := http.Get(ops + "/readyz")
	if err != nil {
		return false, err
	}
	_ = response.Body.Close() // its status is enough
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("/readyz says %s", response.Status)
	}
	return true, nil
}
