package e2e

import (
	"context"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// upstream starts a proxy between Evenkeel and the API server.
func (s *stage) upstream() *proxy.Proxy {
	s.Helper()
	serving, err := s.CA.Server("127.0.0.1", cluster.ServerName)
	s.must(err)
	p, err := proxy.Start(proxy.Options{Target: s.URL(), TargetCA: s.CA.Cert, Serving: serving})
	s.must(err)
	s.Cleanup(p.Close)
	return p
}

// through makes Evenkeel see the API server through the proxy.
func (s *stage) through(p *proxy.Proxy) func(*evenkeel.Options) {
	return s.throughAs(p, cluster.Evenkeel(0))
}

func (s *stage) throughAs(p *proxy.Proxy, id cluster.Identity) func(*evenkeel.Options) {
	return func(o *evenkeel.Options) {
		id.Server = p.URL()
		var err error
		o.Kubeconfig, err = s.Kubeconfig(id)
		s.must(err)
	}
}

func hit(fault *proxy.Injection, hits int) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) { return fault.Hits() >= hits, nil }
}
