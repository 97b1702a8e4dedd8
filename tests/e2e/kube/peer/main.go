// Command peer is what Evenkeel is measured beside: kube-scheduler's own PodTopologySpread plugin
// as a scheduler extender behind Go's net/http, on the same state and the same wire. It also answers
// reviews of pods, which it allows as they are.
//
//	peer --listen 127.0.0.1:0 --cert tls.crt --key tls.key --state state.json
//
// The state is what `kubectl get nodes,pods,... -A -o json` printed; it is read once, at the start.
// One line on standard error then says where it serves and what its memory depends on. SIGINT and
// SIGTERM end it.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

type options struct {
	listen, cert, key, state string
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to serve on, `host:port`")
	flag.StringVar(&o.cert, "cert", "", "certificate chain in PEM, `file`")
	flag.StringVar(&o.key, "key", "", "its private key in PEM, `file`")
	flag.StringVar(&o.state, "state", "", "what kubectl printed of the cluster, `file`")
	flag.Parse()
	if o.cert == "" || o.key == "" || o.state == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintf(os.Stderr, "peer: %v\n", err)
		os.Exit(1)
	}
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	certificate, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return err
	}
	handler, what, err := load(ctx, o.state)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute, // scheduler's clients keep idle connections for 90 s
	}
	fmt.Fprintf(os.Stderr, "peer: serving extender=%s %s %s\n", listener.Addr(), what, settings())
	return serve(ctx, server, listener)
}

// load makes the handler of a state, and says how large that is.
func load(ctx context.Context, path string) (http.Handler, string, error) {
	objects, err := intree.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	cluster, err := intree.NewCluster(ctx, objects, intree.SystemDefaulting())
	if err != nil {
		return nil, "", err
	}
	what := fmt.Sprintf("nodes=%d pods=%d", len(objects.Nodes), len(objects.Pods))
	debug.FreeOSMemory() // what only reading needed is no part of what serving needs
	return newExtender(cluster), what, nil
}

// settings are what speed and resident memory of a Go program depend on.
func settings() string {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	limit := "off"
	if bytes := debug.SetMemoryLimit(-1); bytes != math.MaxInt64 {
		limit = fmt.Sprint(bytes)
	}
	return fmt.Sprintf("go=%s gomaxprocs=%d gogc=%d gomemlimit=%s",
		runtime.Version(), runtime.GOMAXPROCS(0), percent, limit)
}

// serve returns when ctx is done and requests under way have been answered.
func serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(soon); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
