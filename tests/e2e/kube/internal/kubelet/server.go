package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// listen serves logs and exec to the API server, which shows a certificate.
func (k *kubelet) listen() (*http.Server, error) {
	ca, err := os.ReadFile(k.clientCAFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(k.address, strconv.Itoa(port)), &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pki.Pool(ca), ClientAuth: tls.RequireAndVerifyClientCert,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.serveExec)
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, nil
}

// find the container that a request is about.
func (k *kubelet) find(r *http.Request) (*container, error) {
	p := k.pods.find(r.PathValue("namespace"), r.PathValue("pod"))
	if p == nil {
		return nil, errors.New("the pod is not here")
	}
	for _, one := range p.containers() {
		if one.Name == r.PathValue("container") {
			return one, nil
		}
	}
	return nil, errors.New("the container does not run")
}

// serveLogs sends what the container has printed so far; it follows nothing.
func (k *kubelet) serveLogs(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("follow") == "true" {
		http.Error(w, "this kubelet does not follow logs", http.StatusNotImplemented)
		return
	}
	c, err := k.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	file, err := os.Open(c.log)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.Copy(w, file) // who does not read it does not want it
}

func (k *kubelet) serveExec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c, err := k.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	remotecommand.ServeExec(w, r, executor{c}, r.PathValue("pod"), "", c.Name, r.URL.Query()["command"], options,
		time.Hour, time.Minute, remotecommand.SupportedStreamingProtocols)
}

// executor runs commands in a container.
type executor struct{ *container }

func (e executor) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader,
	out, err io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if tty {
		return errors.New("this kubelet has no terminals")
	}
	cmd := e.exec(command)
	if in != nil {
		// Not cmd.Stdin: Wait would wait for somebody to close it.
		pipe, pipeErr := cmd.StdinPipe()
		if pipeErr != nil {
			return pipeErr
		}
		go func() {
			_, _ = io.Copy(pipe, in) // the command may end before it has read all
			_ = pipe.Close()
		}()
	}
	if out != nil {
		cmd.Stdout = out
	}
	if err != nil {
		cmd.Stderr = err
	}
	if startErr := cmd.Start(); startErr != nil {
		return startErr
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	ended := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(ended, &exit) {
		return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", exit.ExitCode()), Code: exit.ExitCode()}
	}
	return ended
}
