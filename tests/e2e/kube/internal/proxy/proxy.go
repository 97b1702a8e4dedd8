// Package proxy stands between a client and a server, both speaking HTTP/1.1 over TLS, and does to
// their conversation what broken networks, load balancers and servers do. Faults are put in and
// taken out by calls and end by counting; nothing here depends on timing that a test did not ask
// for.
//
// TLS ends on both sides, so answers can be rewritten. A client's bearer token passes through; its
// certificate cannot.
package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// Options say what is on either side.
type Options struct {
	Target     string    // "https://127.0.0.1:6443"
	TargetCA   []byte    // PEM that the target's certificate is verified by
	TargetCert *pki.Pair // shown to the target, nil: none
	Serving    pki.Pair  // shown to clients
	ClientCA   []byte    // nil: clients need no certificate
	Listener   net.Listener
}

// Proxy passes requests on. All methods may be called from any goroutine.
type Proxy struct {
	target   *url.URL
	upstream *http.Transport
	server   *http.Server
	listener net.Listener

	mu         sync.Mutex
	injections []*Injection
	requests   []*Request
	serving    tls.Certificate
	conns      map[net.Conn]struct{}
	doomed     map[net.Conn]struct{} // about to be reset
	refusing   bool
	refusals   int
}

// Request is one that came by.
type Request struct {
	At            time.Time
	Method        string
	URL           *url.URL
	Authorization string
	Fault         bool // an injection took it
	Status        int  // of the target's answer; 0 while there is none
}

// Start listens on a free port of 127.0.0.1, or on the listener given.
func Start(o Options) (*Proxy, error) {
	target, err := url.Parse(o.Target)
	if err != nil {
		return nil, err
	}
	serving, err := o.Serving.TLS()
	if err != nil {
		return nil, err
	}
	upstream := &tls.Config{RootCAs: pki.Pool(o.TargetCA)}
	if o.TargetCert != nil {
		pair, err := o.TargetCert.TLS()
		if err != nil {
			return nil, err
		}
		upstream.Certificates = []tls.Certificate{pair}
	}
	if o.Listener == nil {
		if o.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	p := &Proxy{
		target:   target,
		serving:  serving,
		upstream: &http.Transport{TLSClientConfig: upstream, DisableCompression: true},
		listener: o.Listener,
		conns:    map[net.Conn]struct{}{},
		doomed:   map[net.Conn]struct{}{},
	}
	p.serve(o.ClientCA)
	return p, nil
}

func (p *Proxy) serve(clientCA []byte) {
	config := &tls.Config{NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true}
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		pair := p.serving
		return &pair, nil
	}
	if clientCA != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, pki.Pool(clientCA)
	}
	p.server = &http.Server{
		Handler:   http.HandlerFunc(p.handle),
		ConnState: p.connState,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		ErrorLog: log.New(errorLog{p}, "", 0),
	}
	go p.server.Serve(tls.NewListener(p.listener, config)) // ends with Close
}

type connKey struct{}

// URL that clients use instead of the target's.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Show makes new connections see another certificate.
func (p *Proxy) Show(serving pki.Pair) error {
	pair, err := serving.TLS()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serving = pair
	return nil
}

// Close ends it and every connection.
func (p *Proxy) Close() {
	p.server.Close()
	p.upstream.CloseIdleConnections()
}

// Requests that came by so far and, unless `match` is nil, match.
func (p *Proxy) Requests(match Match) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []Request
	for _, r := range p.requests {
		if match == nil || match(&http.Request{Method: r.Method, URL: r.URL}) {
			found = append(found, *r)
		}
	}
	return found
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if p.isDoomed(r) {
		panic(http.ErrAbortHandler)
	}
	injection := p.take(r)
	seen := p.note(r, injection != nil)
	if injection != nil && injection.fault.Answer != nil {
		injection.fault.Answer(p.stream(w, r, nil))
		return
	}
	response, err := p.upstream.RoundTrip(p.outgoing(r))
	if err != nil {
		p.stream(w, r, nil).Cut() // as if the target had done it
	}
	defer response.Body.Close()
	p.mu.Lock()
	seen.Status = response.StatusCode
	p.mu.Unlock()
	for key, values := range response.Header {
		w.Header()[key] = values
	}
	s := p.stream(w, r, response.Body)
	if injection != nil {
		w.Header().Del("Content-Length") // faults change lengths
		s.Status = response.StatusCode
		injection.fault.Body(s)
		return
	}
	w.WriteHeader(response.StatusCode)
	s.Pass()
}

func (p *Proxy) note(r *http.Request, fault bool) *Request {
	address := *r.URL
	seen := &Request{At: time.Now(), Method: r.Method, URL: &address,
		Authorization: r.Header.Get("Authorization"), Fault: fault}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, seen)
	return seen
}

func (p *Proxy) outgoing(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = p.target.Scheme, p.target.Host
	out.Host, out.RequestURI = "", ""
	return out
}

// Fetch asks the target for what the client asked for, with another query.
func (p *Proxy) Fetch(r *http.Request, query url.Values) ([]byte, error) {
	out := p.outgoing(r)
	out.URL.RawQuery = query.Encode()
	response, err := p.upstream.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", r.Method, out.URL, response.Status)
	}
	return body, err
}
