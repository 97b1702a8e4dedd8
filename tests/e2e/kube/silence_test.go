package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/netns"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// apart starts Evenkeel in a network namespace, or skips the test where that cannot be.
func apart(t *testing.T) (*churn, *evenkeel.Evenkeel, *netns.Namespace) {
	t.Helper()
	s := newStage(t)
	s.needsWatch()
	if err := netns.Available(); err != nil {
		t.Skipf("no network namespace to be had here: %v", err)
	}
	e := s.prepared(nil)
	// The paths of sockets must be short.
	dir, err := os.MkdirTemp("", "evenkeel-e2e-")
	s.must(err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	api := strings.TrimPrefix(s.URL(), "https://")
	n, err := netns.New(s.ctx, dir, component.Variable(component.Relay), api, e.Addresses()...)
	s.must(err)
	t.Cleanup(n.Close)
	e.Wrap = n.Wrap()
	s.launch(e)
	c := &churn{stage: s}
	c.round()
	c.agree(e)
	return c, e, n
}

// TestHalfOpen: every packet is lost in the middle of the watches, and nobody says so. Evenkeel notices
// within a minute, and goes on when packets arrive again.
func TestHalfOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	needsNft(t)
	t.Parallel()
	c, e, n := apart(t)
	c.patience = 2 * time.Minute
	opened := func() float64 {
		metrics, err := e.Metrics(c.ctx)
		c.must(err)
		return metrics[`evenkeel_watch_opened_total{resource="pods"}`]
	}
	before := opened()
	port := c.URL()[strings.LastIndexByte(c.URL(), ':')+1:]
	c.must(n.Run("nft", "add table inet lost; add chain inet lost output { type filter hook output priority 0; };"+
		" add rule inet lost output tcp dport "+port+" drop; add rule inet lost output tcp sport "+port+" drop"))
	began := time.Now()
	c.round()
	c.until("Evenkeel to watch anew", func(context.Context) (bool, error) { return opened() > before, nil })
	if took := time.Since(began); took > time.Minute {
		t.Errorf("noticed only after %v", took)
	}
	c.must(n.Run("nft", "delete table inet lost"))
	c.agree(e)
	c.round()
	c.agree(e)
}

func needsNft(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("there is no nft here (package nftables)")
	}
}

// TestPacketLoss: a tenth of all packets is lost, also while Evenkeel starts.
func TestPacketLoss(t *testing.T) {
	needsNft(t)
	t.Parallel()
	c, e, n := apart(t)
	c.patience = 3 * time.Minute
	c.must(n.Run("nft", "add table inet loss; add chain inet loss input { type filter hook input priority 0; };"+
		" add rule inet loss input numgen random mod 100 < 10 drop"))
	for range 5 {
		c.round()
	}
	c.agree(e)
	c.must(e.Restart(c.ctx))
	c.round()
	c.agree(e)
}

// TestSilentServer: somebody keeps our connections open and acknowledges every byte, but there is no
// server behind them any more. Three bookmarks missed, and Evenkeel looks for another one. Takes over
// three minutes, because that is how long bookmarks may be.
func TestSilentServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	t.Parallel()
	f := newFaulty(t)
	f.patience = 6 * time.Minute
	fault := f.proxy.Inject(proxy.Fault{Match: proxy.Watch(""), Body: proxy.HoldAfter(0)})
	f.proxy.ResetAll()
	f.waitHits(fault, 3) // nodes, pods and namespaces at least
	fault.Remove()
	f.round()
	f.agree()
}
