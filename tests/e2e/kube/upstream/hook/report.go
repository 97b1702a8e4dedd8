package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Report is what happened to one kube-scheduler's extender, and its pods.
type Report struct {
	Asked   map[string]int `json:"asked,omitempty"` // requests that Evenkeel got, by verb
	CPU     float64        `json:"cpu,omitempty"`   // seconds of the extender
	Placed  []*Placed      `json:"placed,omitempty"`
	Problem string         `json:"problem,omitempty"`
}

// Verbs that are counted.
var verbs = []string{"filter", "prioritize", "preempt", "bind"}

const (
	metricsLimit = 5 * time.Second
	stopLimit    = 10 * time.Second
)

// ending is what is left to do when a kube-scheduler ends; what it does not have is nil.
type ending struct {
	dir, name string
	evenkeel  *evenkeel.Evenkeel
	process   *process.Process // of the extender
	zones     *zones
}

// finish asks what happened, ends the extender, and writes the report. No test is there any more that
// could fail: whoever started the tests reads reports.
func (e *ending) finish() {
	report := Report{Asked: map[string]int{}}
	var err error
	if e.evenkeel != nil {
		err = e.askVerbs(report.Asked)
		err = errors.Join(err, e.evenkeel.Stop())
	} else if e.process != nil {
		_ = e.process.Stop(stopLimit) // it knows no other end
	}
	if err != nil {
		report.Problem = fmt.Sprintf("evenkeel %s: %v", e.name, err)
	}
	if e.process != nil {
		report.CPU = e.process.CPU().Seconds()
	}
	if e.zones != nil {
		report.Placed = e.zones.all()
	}
	if err := appendReport(e.dir, report); err != nil {
		fmt.Fprintln(os.Stderr, "cannot write a report:", err)
	}
}

func (e *ending) askVerbs(asked map[string]int) error {
	ctx, cancel := context.WithTimeout(context.Background(), metricsLimit)
	defer cancel()
	metrics, err := e.evenkeel.Metrics(ctx)
	for _, verb := range verbs {
		prefix := fmt.Sprintf(`evenkeel_http_requests_total{listener="extender",verb=%q`, verb)
		asked[verb] = int(metrics.SumPrefix(prefix))
	}
	return err
}

func reportFile(dir string) string { return filepath.Join(dir, "reports.jsonl") }

func appendReport(dir string, report Report) error {
	line, err := json.Marshal(report)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(reportFile(dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

const longestReport = 64 << 20

// Reports reads those of a folder; there are none if no kube-scheduler was made.
func Reports(dir string) ([]Report, error) {
	file, err := os.Open(reportFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var reports []Report
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestReport)
	for lines.Scan() {
		var report Report
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		reports = append(reports, report)
	}
	return reports, lines.Err()
}
