package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// faulty is a stage with Evenkeel behind a proxy, and things going on.
type faulty struct {
	churn
	proxy    *proxy.Proxy
	evenkeel *evenkeel.Evenkeel
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	return newFaultyAs(t, usual)
}

func usual(*stage) cluster.Identity { return cluster.Evenkeel(0) }

// newFaultyAs lets the test say who Evenkeel is to the API server.
func newFaultyAs(t *testing.T, identity func(*stage) cluster.Identity) *faulty {
	t.Helper()
	return newStage(t).faulty(identity)
}

func (s *stage) faulty(identity func(*stage) cluster.Identity) *faulty {
	s.Helper()
	s.needsWatch()
	p := s.upstream()
	f := &faulty{churn: churn{stage: s}, proxy: p, evenkeel: s.evenkeel(s.throughAs(p, identity(s)))}
	f.round()
	f.agree()
	return f
}

func (f *faulty) agree() {
	f.Helper()
	f.churn.agree(f.evenkeel)
	if _, err := f.evenkeel.Ops(f.ctx, "/readyz"); err != nil {
		f.Errorf("Evenkeel is not ready: %v", err)
	}
}

// metric of the watch of a resource.
func (f *faulty) metric(name, resource string) float64 {
	f.Helper()
	metrics, err := f.evenkeel.Metrics(f.ctx)
	f.must(err)
	series := fmt.Sprintf("evenkeel_watch_%s{resource=%q}", name, resource)
	value, ok := metrics[series]
	if !ok {
		f.Fatalf("there is no metric %s", series)
	}
	return value
}

// ---- the server says that a version is gone ----

func TestExpiredWatch(t *testing.T) {
	t.Run("status", func(t *testing.T) {
		f := newFaulty(t)
		f.expire(proxy.Gone(), 0)
	})
	t.Run("event", func(t *testing.T) {
		f := newFaulty(t)
		f.expire(proxy.Events(proxy.GoneEvent()), 0)
	})
	t.Run("twice", func(t *testing.T) {
		f := newFaulty(t)
		f.expire(proxy.Gone(), 1)
	})
}

// expire ends the watch of pods and has the next one refused, and so many listings at a version, too.
// Evenkeel lists once for each refusal; in the end at the newest version, which is no version.
func (f *faulty) expire(answer func(*proxy.Stream), listings int) {
	f.Helper()
	before := f.metric("listings_total", "pods")
	watch := f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly("pods"), Times: 1, Answer: answer})
	var list *proxy.Injection
	if listings > 0 {
		list = f.proxy.Inject(proxy.Fault{Match: proxy.WatchList("pods"), Times: listings, Answer: answer})
	}
	f.proxy.ResetAll()
	f.round()
	f.waitHits(watch, 1)
	f.agree()
	if list != nil && list.Hits() != listings {
		f.Errorf("%d listings were refused, want %d", list.Hits(), listings)
	}
	if lists := f.metric("listings_total", "pods") - before; lists != float64(1+listings) {
		f.Errorf("%v listings, want %d", lists, 1+listings)
	}
	requests := f.proxy.Requests(proxy.WatchList("pods"))
	version := requests[len(requests)-1].URL.Query().Get("resourceVersion")
	if (version == "") != (listings > 0) {
		f.Errorf("the last listing was at version %q", version)
	}
}

// TestExpiredPage: a listing in pages whose second page comes too late is begun again in one answer.
func TestExpiredPage(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	p := s.upstream()
	unknown := proxy.Failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "sendInitialEvents is forbidden")
	refused := p.Inject(proxy.Fault{Match: proxy.WatchList(""), Answer: unknown})
	expired := p.Inject(proxy.Fault{Match: proxy.NextPage("pods"), Times: 1, Answer: proxy.Gone()})
	p.Inject(proxy.Fault{Match: proxy.List("pods"), Answer: proxy.Pages(2)})
	paged := p.Inject(proxy.Fault{Match: proxy.List("nodes"), Answer: proxy.Pages(1)})
	c := &churn{stage: s}
	c.round()
	e := s.evenkeel(s.through(p))
	c.agree(e)
	if expired.Hits() != 1 {
		t.Errorf("%d second pages of pods were asked for, want 1", expired.Hits())
	}
	if paged.Hits() < 2 {
		t.Errorf("%d pages of nodes were asked for", paged.Hits())
	}
	if refused.Hits() == 0 {
		t.Error("no watch-list was refused")
	}
	c.round()
	c.agree(e)
}

// ---- the server, or what is in front of it, is of no use ----

// TestBadAnswers: whatever a broken server says, it is asked ever less often, and once it is well
// again all is as it should be.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	internal := proxy.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, "broken")
	unavailable := proxy.Failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "starting")
	for _, c := range []struct {
		name   string
		answer func(*proxy.Stream)
		pause  time.Duration // the least between two requests
	}{
		{"429-retry-after", proxy.TooMany(3 * time.Second), 3 * time.Second},
		{"500", internal, 0},
		{"503", unavailable, 0},
		{"html", proxy.HTML(http.StatusBadGateway), 0},
		{"html-200", proxy.HTML(http.StatusOK), 0},
		{"empty-200", proxy.Empty(), 0},
		{"reset", proxy.Reset(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFaulty(t)
			fault := f.proxy.Inject(proxy.Fault{Match: proxy.Of("pods"), Answer: c.answer})
			f.proxy.ResetAll()
			f.waitHits(fault, 2)
			f.round()
			f.waitHits(fault, 4)
			f.checkPauses(proxy.Of("pods"), c.pause)
			fault.Remove()
			f.agree()
		})
	}
}

// checkPauses: between failures of one resource Evenkeel waits at least 0.8 s and then twice as long
// each time (client-go's rule), or as long as it was told.
func (f *faulty) checkPauses(which proxy.Match, told time.Duration) {
	f.Helper()
	var last time.Time
	least := 800 * time.Millisecond
	for _, r := range f.proxy.Requests(which) {
		if !r.Fault {
			continue
		}
		if !last.IsZero() {
			if pause := r.At.Sub(last); pause < max(least, told)*95/100 {
				f.Errorf("only %v between two requests, want %v", pause, max(least, told))
			}
			least *= 2
		}
		last = r.At
	}
}

// TestBriefWatches: watches that end as soon as they have begun are opened less and less often, but
// nothing is missed meanwhile, for listings come between them. A watch-list would go on as a watch
// that is not brief, so there is none.
func TestBriefWatches(t *testing.T) {
	f := newFaulty(t)
	unknown := proxy.Failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "sendInitialEvents is forbidden")
	refused := f.proxy.Inject(proxy.Fault{Match: proxy.WatchList("pods"), Answer: unknown})
	fault := f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly("pods"), Body: proxy.EndAfter(100 * time.Millisecond)})
	f.proxy.ResetAll()
	f.waitHits(fault, 4)
	f.checkPauses(proxy.WatchOnly("pods"), 0)
	f.round()
	f.agree()
	if refused.Hits() == 0 {
		f.Error("no watch-list was refused")
	}
	fault.Remove()
	f.round()
	f.agree()
}

// ---- connections break ----

// TestCutWatches cuts watches after so many bytes, wherever in an event that is.
func TestCutWatches(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	for _, size := range []int64{0, 1, 100, 1000, 3000, 10000} {
		fault := f.proxy.Inject(proxy.Fault{Match: proxy.Watch(""), Times: 4, Body: proxy.CutAfter(size)})
		f.proxy.ResetAll()
		f.waitHits(fault, 1)
		f.round()
		f.agree()
		fault.Remove()
	}
	f.round()
	f.agree()
}

// TestResets resets every connection again and again during 1,000 changes.
func TestResets(t *testing.T) {
	f := newFaulty(t)
	reset := 0
	for i := range 60 { // of 17 changes each
		f.round()
		if i%5 == 0 {
			reset += f.proxy.ResetAll()
		}
	}
	f.agree()
	if reset < 12 {
		t.Errorf("only %d connections were there to reset", reset)
	}
}

// TestSlowLink: everything is listed and watched at 1 Mbit/s.
func TestSlowLink(t *testing.T) {
	f := newFaulty(t)
	for range 10 {
		f.round()
	}
	slow := f.proxy.Inject(proxy.Fault{Match: proxy.Any, Body: proxy.Throttle(1e6 / 8)})
	f.must(f.evenkeel.Restart(f.ctx))
	f.agree()
	f.round()
	f.agree()
	if slow.Hits() == 0 {
		t.Error("nothing went over the slow link")
	}
}

// ---- what comes is odd ----

func TestOddStreams(t *testing.T) {
	for name, body := range map[string]func(*proxy.Stream){
		"byte-by-byte": proxy.ByteByByte(),
		"crlf": proxy.EachLine(func(line []byte) []byte {
			return bytes.Replace(line, []byte("\n"), []byte("\r\n"), 1)
		}),
		"empty-lines": proxy.EachLine(func(line []byte) []byte { return append([]byte("\n"), line...) }),
		"duplicates": proxy.EachEvent(func(line []byte, kind string, _ json.RawMessage) []byte {
			return append(line, line...)
		}),
		"unknown-types": proxy.EachEvent(func(line []byte, _ string, object json.RawMessage) []byte {
			return fmt.Appendf(line, "{\"type\":\"EXPLODED\",\"object\":%s}\n", object)
		}),
		"bookmarks": proxy.EachEvent(withBookmark),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t)
			odd := f.proxy.Inject(proxy.Fault{Match: proxy.Watch(""), Body: body})
			f.must(f.evenkeel.Restart(f.ctx))
			f.agree()
			f.round()
			f.agree()
			if odd.Hits() == 0 {
				t.Error("no watch was odd")
			}
		})
	}
	// Lines that belong together come together; the last of an odd number waits for the next.
	t.Run("two-in-one", func(t *testing.T) {
		f := newFaulty(t)
		fault := f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly(""), Body: proxy.InPairs()})
		f.proxy.ResetAll()
		f.waitHits(fault, 3)
		f.round()
		fault.Remove()
		f.proxy.ResetAll()
		f.agree()
	})
	t.Run("garbage", func(t *testing.T) {
		f := newFaulty(t)
		fault := f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly("pods"), Times: 1,
			Body: proxy.EachLine(func(line []byte) []byte { return append(line, "}{ garbage\n"...) })})
		f.proxy.ResetAll()
		f.waitHits(fault, 1)
		f.round()
		f.agree()
		if f.metric("errors_total", "pods") == 0 {
			t.Error("nobody noticed")
		}
	})
}

// A server may tell where it is at any time.
func withBookmark(line []byte, kind string, object json.RawMessage) []byte {
	var partial struct{ Metadata metav1.ObjectMeta }
	if kind == "BOOKMARK" || json.Unmarshal(object, &partial) != nil {
		return line
	}
	return fmt.Appendf(line, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":%q}}}\n",
		partial.Metadata.ResourceVersion)
}

// TestLargeEvents: an event of 5 MB is an event; one of 9 MB is over the limit, and costs its sender a
// listing, but nobody else anything.
func TestLargeEvents(t *testing.T) {
	for name, size := range map[string]int{"5-MB": 5 << 20, "9-MB": 9 << 20} {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t)
			swollen := false
			fault := f.proxy.Inject(proxy.Fault{Match: proxy.WatchOnly("pods"), Body: proxy.EachEvent(
				func(line []byte, kind string, object json.RawMessage) []byte {
					if swollen || kind != "ADDED" {
						return line
					}
					swollen = true
					return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", kind, swell(object, size))
				})})
			f.proxy.ResetAll()
			f.waitHits(fault, 1)
			f.round()
			f.agree()
			if !swollen {
				t.Error("no event was made larger")
			}
			f.round()
			f.agree()
		})
	}
}

// swell adds an annotation.
func swell(object json.RawMessage, size int) []byte {
	annotation := fmt.Sprintf(`"metadata":{"annotations":{"padding":%q},`, bytes.Repeat([]byte("x"), size))
	return bytes.Replace(object, []byte(`"metadata":{`), []byte(annotation), 1)
}
