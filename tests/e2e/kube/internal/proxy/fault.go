package proxy

import (
	"net/http"
	"strings"
)

// Match picks requests by method and URL.
type Match func(*http.Request) bool

// Fault is what happens to requests that match: exactly one of Answer and Body is set.
type Fault struct {
	Match  Match
	Times  int           // how many requests it takes; 0: all of them until it is removed
	Answer func(*Stream) // instead of the target, which is not asked
	Body   func(*Stream) // passes the target's answer on, or not
}

// Injection is a fault in place.
type Injection struct {
	proxy *Proxy
	fault Fault
	hits  int
	gone  bool
}

// Inject puts a fault in. Of several that match the oldest one takes a request.
func (p *Proxy) Inject(f Fault) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := &Injection{proxy: p, fault: f}
	p.injections = append(p.injections, i)
	return i
}

// Remove takes it out; what it has begun goes on.
func (i *Injection) Remove() {
	i.proxy.mu.Lock()
	defer i.proxy.mu.Unlock()
	i.gone = true
}

// Hits is how many requests it has taken.
func (i *Injection) Hits() int {
	i.proxy.mu.Lock()
	defer i.proxy.mu.Unlock()
	return i.hits
}

func (p *Proxy) take(r *http.Request) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken *Injection
	for _, i := range p.injections {
		if !i.gone && (i.fault.Times == 0 || i.hits < i.fault.Times) && i.fault.Match(r) {
			i.hits++
			taken = i
			break
		}
	}
	return taken
}

// ---- which requests ----

// Any request.
func Any(*http.Request) bool { return true }

// Of requests for a resource, "pods" say; "" means any.
func Of(resource string) Match {
	return func(r *http.Request) bool { return isResource(r, resource) }
}

// Watch requests for a resource, also those that begin with a listing.
func Watch(resource string) Match {
	return func(r *http.Request) bool { return isWatch(r) && isResource(r, resource) }
}

// WatchList is a watch that begins with a listing.
func WatchList(resource string) Match {
	return func(r *http.Request) bool {
		return isWatch(r) && isResource(r, resource) && r.URL.Query().Has("sendInitialEvents")
	}
}

// WatchOnly is a watch that begins where another request ended.
func WatchOnly(resource string) Match {
	return func(r *http.Request) bool {
		return isWatch(r) && isResource(r, resource) && !r.URL.Query().Has("sendInitialEvents")
	}
}

// List requests for a resource.
func List(resource string) Match {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && !isWatch(r) && isResource(r, resource)
	}
}

// NextPage is a list request that goes on where another one stopped.
func NextPage(resource string) Match {
	list := List(resource)
	return func(r *http.Request) bool { return list(r) && r.URL.Query().Has("continue") }
}

// Binding is the request that puts a pod on a node.
func Binding(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/binding")
}

// Verb is a kube-scheduler's call of an extender.
func Verb(verb string) Match {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/"+verb) }
}

func isWatch(r *http.Request) bool {
	watch := r.URL.Query().Get("watch")
	return r.Method == http.MethodGet && (watch == "1" || watch == "true")
}

func isResource(r *http.Request, resource string) bool {
	return resource == "" || strings.HasSuffix(r.URL.Path, "/"+resource)
}
