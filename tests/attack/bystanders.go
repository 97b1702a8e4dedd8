package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// A bystander asks the same good question again and again, one at a time, as Go clients do: over
// connections that are kept, with a time limit, and with one more try when a kept connection turns
// out to be closed. What it waits for is written down.
type bystander struct {
	name        string
	url         string
	body        []byte // nil: GET
	every       time.Duration
	limit       time.Duration
	client      *http.Client
	check       func(response *http.Response, body []byte) error // of an answer 200; may be nil
	contentType string                                           // "": JSON
	paused      atomic.Bool
	mutex       sync.Mutex
	waits       []time.Duration
	failure     string // the first answer that was none
	lost        int
}

type figure struct {
	p50, p99 time.Duration
	most     time.Duration
	count    int
	lost     int
	failure  string
}

// Of the reviews, the filters, the probes, and of reviews of a server that nobody attacks: what these
// wait for is the machine's doing, and the attacker's for being on the same one.
type figures [4]figure

const control = 3

// caller is an HTTP client that comes from this address of the machine.
func caller(from string, config *tls.Config, connections int) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: config,
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true}}
}

func (b *bystander) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	method := http.MethodPost
	if b.body == nil {
		method = http.MethodGet
	}
	request := must(http.NewRequestWithContext(ctx, method, b.url, bytes.NewReader(b.body)))
	request.Header.Set("Content-Type", cmp.Or(b.contentType, "application/json"))
	request.Header["Idempotency-Key"] = nil // both API servers and kube-scheduler may ask again
	began := time.Now()
	response, err := b.client.Do(request)
	failure := ""
	if err != nil {
		failure = err.Error()
	} else {
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK && b.check != nil {
			err = b.check(response, text)
		}
		if err != nil || response.StatusCode != http.StatusOK {
			failure = fmt.Sprintf("%d %v %.200s", response.StatusCode, err, text)
		}
	}
	wait := time.Since(began)
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if failure != "" {
		b.lost++
		if b.failure == "" {
			b.failure = failure
		}
		wait = b.limit
	}
	b.waits = append(b.waits, wait)
}

func (b *bystander) run(stop <-chan struct{}) {
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if !b.paused.Load() {
				b.ask()
			}
		}
	}
}

// take returns what was seen since the last call.
func (b *bystander) take() figure {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	waits := b.waits
	b.waits = nil
	f := figure{count: len(waits), lost: b.lost, failure: b.failure}
	b.lost, b.failure = 0, ""
	if len(waits) == 0 {
		return f
	}
	sort.Slice(waits, func(i, j int) bool { return waits[i] < waits[j] })
	f.p50, f.p99, f.most = waits[len(waits)/2], waits[(len(waits)-1)*99/100], waits[len(waits)-1]
	return f
}
