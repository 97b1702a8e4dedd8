package e2e

import (
	"testing"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// watching is a stage with Evenkeel on the API server itself.
func watching(t *testing.T) (*churn, *evenkeel.Evenkeel) {
	t.Helper()
	s := newStage(t)
	s.needsWatch()
	e := s.evenkeel(nil)
	c := &churn{stage: s}
	c.round()
	c.agree(e)
	return c, e
}

// TestAPIServerRestarts: Evenkeel stays ready and answers from what it knows while the API server is
// gone, and goes on when it is back.
func TestAPIServerRestarts(t *testing.T) {
	for name, end := range map[string]func(*stage){
		"killed":  func(s *stage) { s.KillAPIServer() },
		"stopped": func(s *stage) { s.must(s.StopAPIServer()) },
	} {
		t.Run(name, func(t *testing.T) {
			c, e := watching(t)
			zones := c.domains(zoneKey)
			before, err := c.passing(c.ctx, e, 1, zones)
			c.must(err)
			end(c.stage)
			if _, err := e.Ops(c.ctx, "/readyz"); err != nil {
				t.Errorf("not ready without the API server: %v", err)
			}
			after, err := c.passing(c.ctx, e, 1, zones)
			c.must(err)
			if len(before) != len(after) {
				t.Errorf("without the API server %d nodes pass, with it %d", len(after), len(before))
			}
			c.must(c.StartAPIServer(c.ctx))
			c.round()
			c.agree(e)
		})
	}
}

// TestAPIServerRestored goes back to an older copy of etcd. What was created since has never been, and
// new objects get versions that Evenkeel has seen before. The server goes away twice, so retries may have
// come to be a minute apart; and a watch that happens to be opened again just when the server is back
// learns of it as late as in the next test.
func TestAPIServerRestored(t *testing.T) {
	c, e := watching(t)
	c.patience = 5 * time.Minute
	c.restore(e, func() {})
}

// TestAPIServerRestoredUnseen: Evenkeel is told to wait while that happens, so it does not see the server
// go away: only that three bookmarks do not come. That takes minutes, so it has a control plane of its own,
// which goes back while other tests use theirs.
func TestAPIServerRestoredUnseen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes three minutes")
	}
	t.Parallel()
	f := newStageOn(t, ownControlPlane(t)).faulty(usual)
	f.patience = 5 * time.Minute
	var busy *proxy.Injection
	f.restore(f.evenkeel, func() {
		busy = f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly(""), Answer: proxy.TooMany(time.Second)})
		f.proxy.ResetAll()
		f.waitHits(busy, 3)
	}, func() { busy.Remove() })
}

// restore saves etcd, goes on, calls `before`, goes back, and calls the others.
func (c *churn) restore(e *evenkeel.Evenkeel, before func(), after ...func()) {
	c.Helper()
	saved := *c
	dir, err := c.SaveEtcd(c.ctx)
	c.must(err)
	for range 3 {
		c.round()
	}
	c.agree(e)
	before()
	c.must(c.RestoreEtcd(c.ctx, dir))
	for _, do := range after {
		do()
	}
	c.nodes, c.pods, c.rounds = saved.nodes, saved.pods, saved.rounds
	c.agree(e)
	c.round()
	c.agree(e)
}
