package proxy

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
)

// errorLog counts clients that did not like our certificate. Everything else that the server would
// log is the purpose here.
type errorLog struct{ *Proxy }

func (l errorLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("remote error: tls")) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refusals++
	}
	return len(line), nil
}

// Refusals is how many TLS handshakes clients gave up because of the certificate they saw.
func (p *Proxy) Refusals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusals
}

func (p *Proxy) connState(conn net.Conn, state http.ConnState) {
	p.mu.Lock()
	refuse := p.refusing && state == http.StateNew
	switch state {
	case http.StateNew:
		p.conns[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, conn)
		delete(p.doomed, conn)
	}
	p.mu.Unlock()
	if refuse {
		reset(conn)
	}
}

// Refuse makes every new connection end at once, until it is called with false. Open ones are not
// touched.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing = refuse
}

// ResetAll ends every open connection with a TCP reset and says how many there were. What a client sends after the
// first of them on one whose turn is still to come is not seen, nor does it meet a fault: it will be sent again.
func (p *Proxy) ResetAll() int {
	p.mu.Lock()
	conns := make([]net.Conn, 0, len(p.conns))
	for conn := range p.conns {
		conns = append(conns, conn)
		p.doomed[conn] = struct{}{}
	}
	p.mu.Unlock()
	for _, conn := range conns {
		reset(conn)
	}
	return len(conns)
}

func (p *Proxy) isDoomed(r *http.Request) bool {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, doomed := p.doomed[conn]
	return doomed
}

// Closing without lingering makes the kernel send RST and forget what was not sent.
func reset(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only if it is closed already
	}
	_ = conn.Close() // the same
}
