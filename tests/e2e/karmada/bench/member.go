package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// apiServer is that of any number of member clusters, which stand still: lists, page by page, and watches,
// with their initial events where they are asked for. A member is a part of the path, /NODESxPODS/NAME.
type apiServer struct{}

type kind struct{ name, apiVersion string }

var kinds = map[string]kind{"/api/v1/nodes": {"Node", "v1"}, "/api/v1/pods": {"Pod", "v1"},
	"/apis/apps/v1/deployments": {"Deployment", "apps/v1"}, "/apis/apps/v1/replicasets": {"ReplicaSet", "apps/v1"}}

const (
	pieceBytes = 64 << 10
	heartbeat  = 20 * time.Second
	staysAt    = "1000" // their resourceVersion
)

func (apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var s size
	w.Header().Set("Content-Type", "application/json")
	parts := strings.SplitN(r.URL.Path, "/", 4) // "", size, name, the rest
	if len(parts) == 4 {
		_, _ = fmt.Sscanf(parts[1], "%dx%d", &s.nodes, &s.pods) // no such size: 0
	}
	k, known := kind{}, false
	if s.nodes > 0 {
		k, known = kinds["/"+parts[3]]
	}
	switch query := r.URL.Query(); {
	case !known:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		watch(w, r, s, k)
	default:
		from, _ := strconv.Atoi(query.Get("continue"))
		limit, _ := strconv.Atoi(query.Get("limit"))
		listPage(w, s, k, from, limit)
	}
}

func listPage(w http.ResponseWriter, s size, k kind, from, limit int) {
	end, more := s.count(k.name), ""
	if limit > 0 && from+limit < end {
		end = from + limit
		more = fmt.Sprintf(`,"continue":"%d"`, end)
	}
	piece := fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":%q%s},"items":[`, k.name, k.apiVersion, staysAt, more)
	for i := from; i < end; i++ {
		if i > from {
			piece = append(piece, ',')
		}
		piece = flush(w, s.appendObject(piece, k.name, i))
	}
	_, _ = w.Write(append(piece, "]}\n"...)) // who has gone wants nothing
}

func flush(w http.ResponseWriter, piece []byte) []byte {
	if len(piece) < pieceBytes {
		return piece
	}
	_, _ = w.Write(piece)
	return piece[:0]
}

func watch(w http.ResponseWriter, r *http.Request, s size, k kind) {
	var piece []byte
	bookmark := func(annotations string) {
		piece = fmt.Appendf(piece, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":%q%s}}}`+"\n", k.name, k.apiVersion, staysAt, annotations)
		_, _ = w.Write(piece)
		w.(http.Flusher).Flush()
		piece = piece[:0]
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for i := range s.count(k.name) {
			piece = append(s.appendObject(append(piece, `{"type":"ADDED","object":`...), k.name, i), "}\n"...)
			piece = flush(w, piece)
		}
		bookmark(`,"annotations":{"k8s.io/initial-events-end":"true"}`)
	}
	w.(http.Flusher).Flush()
	for tick := time.NewTicker(heartbeat); ; bookmark("") {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// serveMembers prints its address, and serves until it is ended.
func serveMembers(certs string) error {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: apiServer{}, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	return server.ServeTLS(listener, "", "")
}

// kubeconfig of a member.
func kubeconfig(dir, address string, s size, name string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("%dx%d-%s.kubeconfig", s.nodes, s.pods, name))
	return path, os.WriteFile(path, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"m",
"clusters":[{"name":"m","cluster":{"server":"https://%s/%dx%d/%s","certificate-authority":%q}}],
"users":[{"name":"m","user":{"token":"t"}}],"contexts":[{"name":"m","context":{"cluster":"m","user":"m"}}]}`,
		address, s.nodes, s.pods, name, filepath.Join(dir, "ca.crt")), 0o600)
}
