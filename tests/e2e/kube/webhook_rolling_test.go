package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// TestWebhookRolling replaces two replicas behind a Service again and again while pods are created,
// with failurePolicy Fail: no creation fails, and every replica ends well.
func TestWebhookRolling(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	b := w.balance(3 * time.Second)
	var replicas []*backend
	for range 2 {
		replicas = append(replicas, b.backend(nil))
	}
	w.register(s.id, webhookURL(b.listener.Addr().String()), failClosed)
	w.untilPatched()

	rollouts := number(t, "EVENKEEL_E2E_ROLLOUTS", 20)
	tried := w.load(4, func() {
		for range rollouts {
			for k, old := range replicas {
				replicas[k] = b.backend(nil)
				b.end(old)
			}
		}
		b.ended.Wait()
	})
	t.Logf("e2e: %d pods during %d rollouts of %d replicas", tried, rollouts, len(replicas))
}

// TestWebhookReady: whoever is told that it is ready finds the webhook there. Its policies come through
// a pipe, so that it gets no further than to read them.
func TestWebhookReady(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	policies, err := os.ReadFile(w.policies)
	s.must(err)
	s.must(os.Remove(w.policies))
	s.must(syscall.Mkfifo(w.policies, 0o600))
	pipe, err := os.OpenFile(w.policies, os.O_RDWR, 0) // somebody has it open for writing
	s.must(err)
	var address string
	e := s.prepared(func(o *evenkeel.Options) {
		address = w.listen(o)
		o.State = exampleState
		o.Settings["state"] = map[string]any{"paths": []string{o.State}, "pollInterval": "1h"}
	})
	s.must(e.Launch())
	s.Cleanup(e.Kill)
	s.until("it reads its policies", func(context.Context) (bool, error) {
		folder := fmt.Sprintf("/proc/%d/fd", e.PID())
		files, err := os.ReadDir(folder)
		return slices.ContainsFunc(files, func(file os.DirEntry) bool {
			name, err := os.Readlink(filepath.Join(folder, file.Name()))
			return err == nil && name == w.policies // one may have been closed by now
		}), err
	})
	if _, err := e.Ops(s.ctx, "/readyz"); err == nil {
		t.Errorf("it is ready, and the webhook does not listen")
	}
	_, err = pipe.Write(policies)
	s.must(errors.Join(err, pipe.Close()))
	s.must(e.WaitReady(s.ctx))
	conn, err := net.Dial("tcp", address)
	s.must(err)
	s.must(conn.Close())
}

// balancer is what a Service is to its clients: each connection goes to one of the replicas that were
// ready some time ago, and nobody tries another one if that does not answer.
type balancer struct {
	*webhook
	listener net.Listener
	late     time.Duration // how long a replica that is not ready any more still gets connections
	started  int
	ended    sync.WaitGroup

	mu       sync.Mutex
	backends []*backend // guarded by mu, as is the rest
	next     int
}

type backend struct {
	*evenkeel.Evenkeel
	address string
}

func (w *webhook) balance(late time.Duration) *balancer {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	b := &balancer{webhook: w, listener: listener, late: late}
	w.Cleanup(func() { listener.Close() })
	w.Cleanup(b.ended.Wait) // when all have been killed: a test that has ended must not fail any more
	go b.serve()
	return b
}

// backend starts one and returns when it gets connections, which is as soon as it is ready; `change`
// (may be nil) sees its options.
func (b *balancer) backend(change func(*evenkeel.Options)) *backend {
	b.Helper()
	r := &backend{}
	r.Evenkeel = b.prepared(func(o *evenkeel.Options) {
		r.address = b.listen(o)
		b.started++
		o.Name = fmt.Sprintf("%s-%d", b.id, b.started)
		// Time for everybody to notice, and a little more.
		o.Settings["shutdown"] = map[string]any{"delay": (b.late + time.Second).String()}
		if change != nil {
			change(o)
		}
	})
	b.must(r.Launch())
	b.Cleanup(r.Kill)
	b.must(r.WaitReady(b.ctx))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, r)
	return r
}

// end sends SIGTERM and goes on; whoever waits for b.ended knows that it has ended well.
func (b *balancer) end(r *backend) {
	b.Helper()
	b.must(r.Signal(syscall.SIGTERM))
	b.ended.Go(func() {
		if err := r.waitUnready(b.ctx); err != nil {
			b.Error(err)
		}
		<-time.After(b.late) // the news travels slowly
		b.mu.Lock()
		b.backends = slices.DeleteFunc(b.backends, func(one *backend) bool { return one == r })
		b.mu.Unlock()
		if err := r.ended(); err != nil {
			b.Error(err)
		}
	})
}

// waitUnready returns when /readyz says no.
func (r *backend) waitUnready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if _, err := r.Ops(ctx, "/readyz"); err != nil {
			return ctx.Err()
		}
	}
}

// ended waits for the end, and says if that was not a good one.
func (r *backend) ended() error {
	select {
	case <-r.Exited():
	case <-time.After(stopLimit):
	}
	return r.Process.Stop(stopLimit) // a second signal only if the first did not do
}

const stopLimit = 30 * time.Second

func (b *balancer) serve() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return // closed
		}
		go b.forward(conn)
	}
}

func (b *balancer) forward(conn net.Conn) {
	defer conn.Close()
	to, err := net.Dial("tcp", b.pick())
	if err != nil {
		return // the client sees a connection that ends, and we see that a pod was not created
	}
	defer to.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{conn, to}, {to, conn}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])         // ends when either side does
			_ = way[1].(*net.TCPConn).CloseWrite() // it may be closed
		})
	}
	both.Wait()
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return b.backends[b.next%len(b.backends)].address
}
