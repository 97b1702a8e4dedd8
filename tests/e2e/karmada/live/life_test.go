package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"os/exec"
	"testing"
	"time"

	"github.com/karmada-io/karmada/pkg/util/grpcconnection"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// untilScheduled makes bindings until one is decided so.
func untilScheduled(t *testing.T, name string, wanted map[string]int32) {
	t.Helper()
	count := 0
	must(t, world.Until(t.Context(), name, func(context.Context) (bool, error) {
		count++
		one := fmt.Sprintf("%s-%d", name, count)
		bind(t, one, fit1+fit2, weighted())
		if got, _ := scheduled(t, one); !maps.Equal(got, wanted) {
			time.Sleep(100 * time.Millisecond) // the scheduler's connection comes back by itself, a second later
			return false, fmt.Errorf("%s: %v instead of %v", one, got, wanted)
		}
		return true, nil
	}))
}

// TestRestart ends Evenkeel and starts it again: the scheduler does without it, and then has its answers again.
func TestRestart(t *testing.T) {
	t.Parallel()
	nodes := map[string]int32{memberNames[0]: fit1, memberNames[1]: fit2}
	summaries := map[string]int32{memberNames[0]: 4, memberNames[1]: 4}
	e := startEstimator(t, everyMember()...)
	startScheduler(t, e.Address)
	bind(t, "before", fit1+fit2, weighted())
	expect(t, "before", nodes)
	must(t, e.Stop())
	bind(t, "stopped", fit1+fit2, weighted())
	expect(t, "stopped", summaries)
	e.start(t)
	untilScheduled(t, "again", nodes)
	e.Kill()
	bind(t, "killed", fit1+fit2, weighted())
	expect(t, "killed", summaries)
	e.start(t)
	untilScheduled(t, "once-more", nodes)
}

// TestOtherMembers restarts Evenkeel with another list of members.
func TestOtherMembers(t *testing.T) {
	t.Parallel()
	e := startEstimator(t, everyMember()...)
	a := newAsker(t, e.Address, grpcconnection.ClientConfig{})
	until := func(place int, answer int32) {
		t.Helper()
		must(t, world.Until(t.Context(), "it answers again", func(context.Context) (bool, error) {
			got, err := a.askFor(replicas(2), place)
			if err == nil && got[place] != answer {
				t.Fatalf("%s has %d instead of %d", memberNames[place], got[place], answer)
			}
			return err == nil, err
		}))
	}
	until(0, fit1)
	until(1, fit2)
	must(t, e.Stop())
	all := e.flags
	e.flags = all[:2] // the first
	e.start(t)
	until(0, fit1)
	if got, err := a.askFor(replicas(2), 1); err == nil {
		t.Errorf("%s is no member any more, and has %d", memberNames[1], got[1])
	}
	must(t, e.Stop())
	e.flags = all
	e.start(t)
	until(1, fit2)
	until(0, fit1)
}

// shown is the serial number of the certificate that a new connection is shown.
func shown(t *testing.T, address string) string {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	must(t, err)
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestRotation renews the server's certificate on disk, twice: connections that are there stay, new ones see it.
func TestRotation(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t, "certs")
	e := startEstimator(t, asksForCertificates(certs)...)
	config := grpcconnection.ClientConfig{ServerAuthCAFile: certs + "/ca.crt", CertFile: certs + "/client.crt", KeyFile: certs + "/client.key"}
	a := newAsker(t, e.Address, config)
	right := func(a *asker) {
		t.Helper()
		if got, err := a.askFor(replicas(2), 0, 1); err != nil || got[0] != fit1 || got[1] != fit2 {
			t.Errorf("%v (%v) instead of %d and %d", got, err, fit1, fit2)
		}
	}
	right(a)
	for range 2 {
		before := shown(t, e.Address)
		if output, err := exec.Command(setting(t, "EVENKEEL"), "certs", "init", "--dir", certs).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		must(t, world.Until(t.Context(), "another certificate is shown", func(context.Context) (bool, error) {
			right(a)
			return shown(t, e.Address) != before, nil
		}))
		right(newAskerAgain(t, config))
	}
	right(a)
}
