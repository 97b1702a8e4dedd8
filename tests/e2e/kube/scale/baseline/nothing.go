package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// serveNothing is an extender that has no opinion, over TLS with client certificates as Evenkeel. It
// does not decode its questions but cuts the names out of them, so that what it costs is what
// extending costs: kube-scheduler's writing, sending and reading.
func serveNothing(address, certFile, keyFile, caFile string, prioritize answer) error {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	listener, err := tls.Listen("tcp", address, &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	})
	if err != nil {
		return err
	}
	return serve(listener, prioritize)
}

func serve(listener net.Listener, prioritize answer) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /extender/v1/filter", answering(passAll))
	mux.HandleFunc("POST /extender/v1/prioritize", answering(prioritize))
	go func() {
		fmt.Fprintln(os.Stderr, http.Serve(listener, mux))
		os.Exit(1)
	}()
	return nil
}

// answer makes one of the names in a question, as they were written.
type answer func(names []byte) []byte

func answering(answer answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(r.Body)
		names, found := cutNames(question)
		if err != nil || !found {
			http.Error(w, "no NodeNames", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer(names)) // whoever asked has gone if it fails
	}
}

// cutNames returns what is between the brackets of NodeNames, which kube-scheduler writes last. Names
// of nodes have no brackets.
func cutNames(question []byte) (names []byte, found bool) {
	const key = `"NodeNames":[`
	at := bytes.LastIndex(question, []byte(key))
	if at < 0 {
		return nil, false
	}
	names, _, found = bytes.Cut(question[at+len(key):], []byte("]"))
	return names, found
}

func passAll(names []byte) []byte {
	return bytes.Join([][]byte{[]byte(`{"NodeNames":[`), names, []byte(`],"Error":""}`)}, nil)
}

func scoreNone(names []byte) []byte {
	if len(names) == 0 {
		return []byte("[]")
	}
	out := append(make([]byte, 0, 2*len(names)), '[')
	for name := range bytes.SplitSeq(names, []byte(",")) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `{"Host":`...)
		out = append(out, name...)
		out = append(out, `,"Score":0}`...)
	}
	return append(out, ']')
}

// kube-scheduler adds what it gets; of an empty list that is nothing.
func scoreNobody([]byte) []byte { return []byte("[]") }
