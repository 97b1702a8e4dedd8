package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// asker asks filter over one connection that stays, with requests that were written before.
type asker struct {
	address string
	conn    *tls.Conn
	answers *bufio.Reader
}

const askLimit = 10 * time.Second

func newAsker(e *evenkeel.Evenkeel) (*asker, error) {
	client, ca, err := e.Identity()
	if err != nil {
		return nil, err
	}
	pair, err := client.TLS()
	if err != nil {
		return nil, err
	}
	address := strings.TrimPrefix(e.Address(), "https://")
	dialer := &net.Dialer{Timeout: askLimit}
	conn, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{
		RootCAs: pki.Pool(ca), Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"},
	})
	if err != nil {
		return nil, err
	}
	return &asker{address: address, conn: conn, answers: bufio.NewReader(conn)}, nil
}

func (a *asker) close() { _ = a.conn.Close() } // nothing is under way

// question is whether the pod may run on these nodes, as bytes to send.
func (a *asker) question(pod *v1.Pod, nodes ...string) ([]byte, error) {
	pod.Spec.NodeName = ""
	body, err := json.Marshal(extender.ExtenderArgs{Pod: pod, NodeNames: &nodes})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "POST /extender/v1/filter HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", a.address, len(body), body)
	return text.Bytes(), nil
}

// ask sends a question and says whether the node was refused; the others must pass.
func (a *asker) ask(question []byte, node string) (refused bool, err error) {
	if err := a.conn.SetDeadline(time.Now().Add(askLimit)); err != nil {
		return false, err
	}
	if _, err := a.conn.Write(question); err != nil {
		return false, err
	}
	response, err := http.ReadResponse(a.answers, nil)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return false, err
	}
	var result extender.ExtenderFilterResult
	if err := json.Unmarshal(body, &result); err != nil {
		return false, fmt.Errorf("%s: %q: %w", response.Status, body, err)
	}
	_, refused = result.FailedNodes[node]
	if result.Error != "" || len(result.FailedAndUnresolvableNodes) > 0 || refused != (len(result.FailedNodes) == 1) {
		return false, fmt.Errorf("filter answers %s", body)
	}
	return refused, nil
}
