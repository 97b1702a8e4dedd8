package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// apiServer answers lists page by page and watches, as far as the daemon asks for them, and writes
// down what it was asked with whose token. It does no more than an API server must for the daemon to
// believe it: hostile objects are served as a real one would, which has admitted them.
type apiServer struct {
	mutex    sync.Mutex
	lists    map[string][]item   // by path
	changes  map[string][]change // since the start: scenes are short
	version  int
	watchers map[string]map[chan struct{}]bool // told that there are more changes
	listed   map[string]int                    // first pages asked for
	watched  map[string]int
	others   []string          // "POST /api/v1/namespaces/..." and GETs of single objects
	noWatch  bool              // no watch lists, as older servers
	endless  string            // the list that has no end from now on; "": none has
	adding   bool              // it has, and the watch after it has none
	objects  map[place]*stored // of a hub: what can be written
	server   *http.Server
	address  string

	writes, conflicts map[string]int // of the daemon, by list
}

type item struct {
	uid  any
	text json.RawMessage
}

type change struct {
	version int
	line    []byte
}

const token = "token-of-evenkeel"

func newAPIServer(c *cluster, a *authority) (*apiServer, error) {
	s := &apiServer{lists: map[string][]item{}, changes: map[string][]change{},
		watchers: map[string]map[chan struct{}]bool{}, listed: map[string]int{}, watched: map[string]int{},
		writes: map[string]int{}, conflicts: map[string]int{},
		noWatch: c.noWatchList, version: 1000, objects: map[place]*stored{}}
	for list, objects := range c.objects {
		for _, o := range objects {
			s.lists[list] = append(s.lists[list], s.encoded(o))
		}
	}
	cert, key := a.issue("kube-apiserver", nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = listener.Addr().String()
	s.server = &http.Server{Handler: s, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{must(tls.X509KeyPair(cert, key))}}}
	go func() { _ = s.server.ServeTLS(listener, "", "") }() // ends with close()
	return s, nil
}

func (s *apiServer) close() { _ = s.server.Close() }

func (s *apiServer) kubeconfig(a *authority, folder string) string {
	ca := write(folder, "api-ca.crt", a.pem)
	return write(folder, "kubeconfig", []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"a",
"clusters":[{"name":"a","cluster":{"server":"https://%s","certificate-authority":%q}}],
"users":[{"name":"a","user":{"token":%q}}],
"contexts":[{"name":"a","context":{"cluster":"a","user":"a","namespace":"evenkeel"}}]}`, s.address, ca, token)))
}

func (s *apiServer) encoded(o object) item {
	s.version++
	metadata := o["metadata"].(object)
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	return item{metadata["uid"], encode(o)}
}

// tell adds, changes ("MODIFIED") or deletes an object and tells every watch of its list.
func (s *apiServer) tell(list, event string, o object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.spread(list, event, s.encoded(o))
}

// spread does that with what is encoded, and needs the mutex.
func (s *apiServer) spread(list, event string, told item) {
	kept := s.lists[list]
	if event != "ADDED" {
		kept = nil
		for _, other := range s.lists[list] {
			if other.uid != told.uid {
				kept = append(kept, other)
			}
		}
	}
	if event != "DELETED" {
		kept = append(kept, told)
	}
	s.lists[list] = kept
	line := []byte(fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", event, told.text))
	s.changes[list] = append(s.changes[list], change{s.version, line})
	for watcher := range s.watchers[list] {
		select {
		case watcher <- struct{}{}:
		default: // it knows already
		}
	}
}

func (s *apiServer) count(of map[string]int, list string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return of[list]
}

func (s *apiServer) asked(part string) (found []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, line := range s.others {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	known := s.isList(r.URL.Path)
	if !known && s.takeWrite(w, r) {
		return
	}
	switch {
	case r.Method == http.MethodGet && known && query.Get("watch") != "":
		if query.Get("sendInitialEvents") != "" && s.noWatch {
			refuse(w, 422, "Invalid")
			return
		}
		s.watch(w, r)
	case r.Method == http.MethodGet && known:
		s.list(w, r)
	default:
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // of a request of the daemon's own
		s.mutex.Lock()
		s.others = append(s.others, fmt.Sprintf("%s %s %s %.300s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
		s.mutex.Unlock()
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write(body)
			return
		}
		refuse(w, 404, "NotFound")
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_, _ = w.Write(encode(object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
		"message": reason, "code": code}))
}

// Lists end in a plural and have no name behind it; those that hold nothing exist as well.
func (s *apiServer) isList(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return parts[0] == "api" && len(parts) == 3 || parts[0] == "apis" && len(parts) == 4
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request) {
	if s.isEndless(r.URL.Path, false) {
		s.endlessPage(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Query().Get("continue"), endlessToken) {
		refuse(w, 410, "Expired")
		return
	}
	s.mutex.Lock()
	items, version := s.lists[r.URL.Path], s.version
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if from == 0 {
		s.listed[r.URL.Path]++
	}
	s.mutex.Unlock()
	if from > len(items) {
		from = len(items)
	}
	end := len(items)
	metadata := object{"resourceVersion": strconv.Itoa(version)}
	if limit > 0 && from+limit < end {
		end = from + limit
		metadata["continue"] = strconv.Itoa(end)
	}
	fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":%s,"items":[`, encode(metadata))
	for i, item := range items[from:end] {
		if i > 0 {
			_, _ = w.Write([]byte(","))
		}
		_, _ = w.Write(item.text)
	}
	_, _ = w.Write([]byte("]}\n"))
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	more := make(chan struct{}, 1)
	list := r.URL.Path
	seen, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	initial := r.URL.Query().Get("sendInitialEvents") != ""
	if s.isEndless(list, false) {
		s.endlessWatch(w, r, initial)
		return
	}
	s.mutex.Lock()
	s.watched[list]++
	if s.watchers[list] == nil {
		s.watchers[list] = map[chan struct{}]bool{}
	}
	s.watchers[list][more] = true
	items := s.lists[list]
	if initial {
		s.listed[list]++
		seen = s.version
	}
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		delete(s.watchers[list], more)
		s.mutex.Unlock()
	}()
	w.WriteHeader(http.StatusOK)
	if initial {
		for _, item := range items {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", item.text)
		}
		bookmark(w, seen, true)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, line := range s.since(list, &seen) {
			_, _ = w.Write(line)
		}
		w.(http.Flusher).Flush()
		select {
		case <-more:
		case <-tick.C:
			if s.isEndless(list, false) {
				gone(w)
				return
			}
			if s.isEndless(list, true) {
				s.endlessEvents(w, r, true)
				gone(w)
				return
			}
			bookmark(w, seen, false)
		case <-r.Context().Done():
			return
		}
	}
}

// since returns what changed after a version, and sets that to the last one.
func (s *apiServer) since(list string, version *int) (lines [][]byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	changes := s.changes[list]
	first := sort.Search(len(changes), func(i int) bool { return changes[i].version > *version })
	for _, c := range changes[first:] {
		lines = append(lines, c.line)
		*version = c.version
	}
	return lines
}

func bookmark(w io.Writer, version int, initialEnd bool) {
	metadata := object{"resourceVersion": strconv.Itoa(version)}
	if initialEnd {
		metadata["annotations"] = object{"k8s.io/initial-events-end": "true"}
	}
	fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":"Object","apiVersion":"v1","metadata":%s}}`+"\n", encode(metadata))
}
