package world

import (
	"io"
	"net"
	"sync"
	"time"
)

// Link is a way to a server that can be slow, and can be cut: then nothing arrives any more on either side, and
// nobody is told.
type Link struct {
	Address string

	server   string
	listener net.Listener
	lock     sync.Mutex
	healed   chan struct{} // closed while it is not cut
	delay    time.Duration // of what is sent, both ways
	open     map[net.Conn]struct{}
}

// NewLink must be closed, and not be cut then.
func NewLink(server string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	healed := make(chan struct{})
	close(healed)
	l := &Link{Address: listener.Addr().String(), server: server, listener: listener, healed: healed, open: map[net.Conn]struct{}{}}
	go l.accept()
	return l, nil
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // it is closed
		}
		go l.serve(client)
	}
}

func (l *Link) serve(client net.Conn) {
	defer client.Close()
	l.wait()
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer server.Close()
	l.lock.Lock()
	l.open[client], l.open[server] = struct{}{}, struct{}{}
	l.lock.Unlock()
	ended := make(chan struct{}, 2)
	go l.pass(server, client, ended)
	go l.pass(client, server, ended)
	<-ended
	l.lock.Lock()
	delete(l.open, client)
	delete(l.open, server)
	l.lock.Unlock()
}

func (l *Link) pass(to io.Writer, from io.Reader, ended chan<- struct{}) {
	defer func() { ended <- struct{}{} }()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		time.Sleep(l.wait())
		if err != nil {
			return // nor is the other side told of an end before it is healed
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

// wait returns when it is not cut, and says how slow it is.
func (l *Link) wait() time.Duration {
	l.lock.Lock()
	healed, delay := l.healed, l.delay
	l.lock.Unlock()
	<-healed
	return delay
}

// Slow delays what is sent.
func (l *Link) Slow(delay time.Duration) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.delay = delay
}

// Cut begins a partition.
func (l *Link) Cut() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.healed = make(chan struct{})
}

// Heal ends it. Connections from before are gone, and what was under way in them.
func (l *Link) Heal() {
	l.Drop()
	l.lock.Lock()
	defer l.lock.Unlock()
	close(l.healed)
}

// Drop closes its connections.
func (l *Link) Drop() {
	l.lock.Lock()
	defer l.lock.Unlock()
	for c := range l.open {
		_ = c.Close() // its end is what is wanted
	}
}

// Close ends it all.
func (l *Link) Close() {
	_ = l.listener.Close() // nothing depends on it
	l.Drop()
}
