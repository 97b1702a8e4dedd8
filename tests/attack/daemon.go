package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// daemon is one `evenkeel serve` with all doors, and what it says of itself.
type daemon struct {
	process                *exec.Cmd
	ended                  chan error
	extender, webhook, ops string // addresses
	estimator              string // "off" without
	log                    string // a file
	highest                atomic.Int64
	stop                   chan struct{}
	over                   bool
}

const policy = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"TopologyPolicy","metadata":{"name":"spread"},
"spec":{"pods":{"spread":[{"topologyKey":"topology.kubernetes.io/zone","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"}]}}}`

func startDaemon(binary, folder string, s *scene, a *authority, kubeconfig string) (*daemon, error) {
	cert, key := a.issue("evenkeel", nil)
	certFile, keyFile := write(folder, "tls.crt", cert), write(folder, "tls.key", key)
	arguments := []string{"serve", "--kubeconfig", kubeconfig, "--extender-listen", "127.0.0.1:0",
		"--webhook-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--policy", write(folder, "policy.json", []byte(policy)),
		"--extender-cert-file", certFile, "--extender-key-file", keyFile,
		"--webhook-cert-file", certFile, "--webhook-key-file", keyFile, "--shutdown-delay", "0s"}
	// Commits before this option served bindings always.
	if help, err := exec.Command(binary, "serve", "--help").Output(); err == nil && strings.Contains(string(help), "--extender-bind") {
		arguments = append(arguments, "--extender-bind")
	}
	if s.hub {
		arguments = append(arguments, "--fleet-clusters", "--hub-kubeconfig", kubeconfig)
	}
	if s.placements {
		arguments = append(arguments, "--ocm", "--hub-kubeconfig", kubeconfig)
	}
	if !s.openDoors {
		ca := write(folder, "clients.crt", a.pem)
		arguments = append(arguments, "--extender-client-ca-file", ca, "--webhook-client-ca-file", ca,
			"--extender-allowed-subject", "system:kube-scheduler",
			"--webhook-allowed-subject", "kube-apiserver-webhook-client")
	}
	if s.estimator {
		arguments = append(arguments, "--estimator-listen", "127.0.0.1:0", "--estimator-member", memberName+"="+kubeconfig,
			"--estimator-cert-file", certFile, "--estimator-key-file", keyFile)
	}
	d := &daemon{log: filepath.Join(folder, "log"), ended: make(chan error, 1), stop: make(chan struct{})}
	log, err := os.Create(d.log)
	if err != nil {
		return nil, err
	}
	d.process = exec.Command(binary, append(arguments, s.options...)...)
	if s.files > 0 {
		limited := append([]string{"-c", `ulimit -n "$1" && shift && exec "$@"`, "sh", fmt.Sprint(s.files), binary}, arguments...)
		d.process = exec.Command("/bin/sh", append(limited, s.options...)...)
	}
	d.process.Stderr, d.process.Stdout = log, log
	d.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.process.Start(); err != nil {
		return nil, err
	}
	_ = log.Close() // the process has it
	go func() { d.ended <- d.process.Wait() }()
	if err := d.waitReady(30 * time.Second * time.Duration(slack)); err != nil {
		d.kill()
		return nil, fmt.Errorf("%w; its log ends with:\n%s", err, d.tail())
	}
	go d.watchMemory()
	return d, nil
}

var serving = regexp.MustCompile(`msg=serving .*`)

// findAddresses reads from the log where the daemon listens.
func (d *daemon) findAddresses() bool {
	text, err := os.ReadFile(d.log)
	if err != nil {
		return false
	}
	line := serving.FindString(string(text))
	for name, address := range map[string]*string{"extender": &d.extender, "webhook": &d.webhook, "ops": &d.ops} {
		found := regexp.MustCompile(` ` + name + `=(\S+)`).FindStringSubmatch(line)
		if found == nil {
			return false
		}
		*address = found[1]
	}
	if found := regexp.MustCompile(` estimator=(\S+)`).FindStringSubmatch(line); found != nil {
		d.estimator = found[1]
	}
	return true
}

func (d *daemon) waitReady(limit time.Duration) error {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-d.ended:
			d.over = true
			return fmt.Errorf("evenkeel ended at once: %v", err)
		default:
		}
		if !d.findAddresses() {
			continue
		}
		if status, _ := d.get("/readyz"); status == http.StatusOK {
			return nil
		}
	}
	return errors.New("evenkeel was not ready in time")
}

// get asks the ops listener over a connection of its own.
func (d *daemon) get(path string) (int, string) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + d.ops + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body) // what came is what counts
	return response.StatusCode, string(text)
}

// metric is the sum of the values of every line that begins so; -1: there is none.
func (d *daemon) metric(prefix string) float64 {
	_, text := d.get("/metrics")
	sum, found := 0.0, false
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		if value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64); err == nil {
			sum, found = sum+value, true
		}
	}
	if !found {
		return -1
	}
	return sum
}

// rss is the process's resident memory in MiB.
func (d *daemon) rss() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.process.Process.Pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.Atoi(string(found[1])) // digits
	return kib >> 10
}

func (d *daemon) watchMemory() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-tick.C:
			if rss := int64(d.rss()); rss > d.highest.Load() {
				d.highest.Store(rss)
			}
		}
	}
}

func (d *daemon) tail() string {
	text, _ := os.ReadFile(d.log)
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}

// end stops it gently and says what was wrong with how it ended.
func (d *daemon) end() error {
	if d.over {
		return nil
	}
	close(d.stop)
	d.over = true
	select {
	case err := <-d.ended:
		return fmt.Errorf("evenkeel died: %v; its log ends with:\n%s", err, d.tail())
	default:
	}
	_ = d.process.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-d.ended:
		if err != nil {
			return fmt.Errorf("evenkeel ended with %v; its log ends with:\n%s", err, d.tail())
		}
		return nil
	case <-time.After(25 * time.Second):
		d.kill()
		return errors.New("evenkeel did not end 25 s after SIGTERM")
	}
}

func (d *daemon) kill() {
	d.over = true
	_ = d.process.Process.Kill()
}

// dial opens a plain connection from an address of this machine.
func dial(from, to string) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 2 * time.Second}
	return dialer.Dial("tcp", to)
}
