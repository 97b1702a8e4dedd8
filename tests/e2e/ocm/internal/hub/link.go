package hub

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// Link is a way to the API server that can be slow, and can be cut: then nothing arrives any more on either side,
// and nobody is told.
type Link struct {
	Kubeconfig string // an administrator's, by this way

	server   string
	listener net.Listener
	lock     sync.Mutex
	healed   chan struct{} // closed while it is not cut
	delay    time.Duration // of what is asked
	open     map[net.Conn]struct{}
}

// Link makes one. Its file is in `dir`.
func (h *Hub) Link(dir string) (*Link, error) {
	config, err := clientcmd.LoadFromFile(h.Kubeconfig)
	if err != nil {
		return nil, err
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	healed := make(chan struct{})
	close(healed)
	l := &Link{Kubeconfig: filepath.Join(dir, "link.kubeconfig"), server: server.Host, listener: listener,
		healed: healed, open: map[net.Conn]struct{}{}}
	server.Host = listener.Addr().String()
	cluster.Server = server.String()
	if err := clientcmd.WriteToFile(*config, l.Kubeconfig); err != nil {
		_ = listener.Close() // the first error counts
		return nil, err
	}
	if err := os.Chmod(l.Kubeconfig, 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	go l.accept()
	return l, nil
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
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
	go l.pass(server, client, true, ended)
	go l.pass(client, server, false, ended)
	<-ended
	l.lock.Lock()
	delete(l.open, client)
	delete(l.open, server)
	l.lock.Unlock()
}

func (l *Link) pass(to io.Writer, from io.Reader, asks bool, ended chan<- struct{}) {
	defer func() { ended <- struct{}{} }()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			l.lock.Lock()
			delay := l.delay
			l.lock.Unlock()
			if asks {
				time.Sleep(delay)
			}
			l.wait()
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			l.wait() // the other side is not told of an end either
			return
		}
	}
}

// wait returns when it is not cut.
func (l *Link) wait() {
	l.lock.Lock()
	healed := l.healed
	l.lock.Unlock()
	<-healed
}

// Slow delays what is asked.
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
	l.lock.Lock()
	defer l.lock.Unlock()
	for c := range l.open {
		_ = c.Close() // its end is what is wanted
	}
	l.delay = 0
	close(l.healed)
}

// Close ends it all. It must not be cut.
func (l *Link) Close() {
	_ = l.listener.Close() // nothing depends on it
	l.lock.Lock()
	defer l.lock.Unlock()
	for c := range l.open {
		_ = c.Close()
	}
}
