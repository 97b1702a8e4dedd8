package evenkeel

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Replica is an Evenkeel on a hub, which decides Placements there.
type Replica struct {
	command *exec.Cmd
	binary  string
	log     string
}

// StartReplica runs one that listens to nobody but Explain; its log goes into a file.
func StartReplica(binary, log string, arguments ...string) (*Replica, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all := append([]string{"serve", "--extender-listen", "0", "--webhook-listen", "0", "--ops-listen", "127.0.0.1:0", "--ocm"}, arguments...)
	r := &Replica{command: exec.Command(binary, all...), binary: binary, log: log}
	r.command.Stderr = file
	r.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return r, r.command.Start()
}

// Kill ends it at once.
func (r *Replica) Kill() {
	_ = r.command.Process.Kill() // it may have ended by itself
	_ = r.command.Wait()         // it was killed
}

// Pause stops it where it is, until it is resumed.
func (r *Replica) Pause() error  { return r.command.Process.Signal(syscall.SIGSTOP) }
func (r *Replica) Resume() error { return r.command.Process.Signal(syscall.SIGCONT) }

// Stop ends it as a cluster does.
func (r *Replica) Stop() error {
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- r.command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("evenkeel ended with %w: see %s", err, r.log)
		}
		return nil
	case <-time.After(deadline):
		r.Kill()
		return fmt.Errorf("evenkeel does not end: see %s", r.log)
	}
}

// LogHas says whether a text is in its log.
func (r *Replica) LogHas(text string) bool {
	content, err := os.ReadFile(r.log)
	return err == nil && bytes.Contains(content, []byte(text))
}

var opsAddress = regexp.MustCompile(`msg=serving .*\bops=(\S+)`)

// Server is the URL of its ops listener.
func (r *Replica) Server() (string, error) {
	content, err := os.ReadFile(r.log)
	if err != nil {
		return "", err
	}
	found := opsAddress.FindSubmatch(content)
	if found == nil {
		return "", fmt.Errorf("%s does not say where it listens", r.log)
	}
	return "http://" + string(found[1]), nil
}

// Explain asks the replicas about an object, as a person would, and returns the JSON.
func Explain(kind, name string, replicas ...*Replica) ([]byte, error) {
	arguments := []string{"explain", kind, name, "-o", "json"}
	for _, r := range replicas {
		server, err := r.Server()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, "--server", server)
	}
	var errors bytes.Buffer
	command := exec.Command(replicas[0].binary, arguments...)
	command.Stderr = &errors
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("evenkeel explain: %w: %s", err, errors.String())
	}
	return output, nil
}

// Metrics are its series by name with labels, as they stand in the text.
func (r *Replica) Metrics() (map[string]float64, error) {
	server, err := r.Server()
	if err != nil {
		return nil, err
	}
	response, err := http.Get(server + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	series := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if number, err := strconv.ParseFloat(value, 64); found && err == nil {
			series[name+"}"] = number
		}
	}
	return series, nil
}

// Memory that is resident, now and at most, in bytes.
func (r *Replica) Memory() (now, peak int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.command.Process.Pid))
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kibibytes, _ := strconv.Atoi(fields[1]) // the others are no numbers
		switch fields[0] {
		case "VmRSS:":
			now = kibibytes << 10
		case "VmHWM:":
			peak = kibibytes << 10
		}
	}
	return now, peak, err
}
