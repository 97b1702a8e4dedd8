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
)

// Report is what happened to one Evenkeel.
type Report struct {
	Asked   map[string]int `json:"asked"` // requests that kube-scheduler sent, by verb
	Problem string         `json:"problem,omitempty"`
}

// Verbs that are counted.
var Verbs = []string{"filter", "prioritize", "preempt", "bind"}

const metricsLimit = 5 * time.Second

// finish asks what happened, ends Evenkeel, and writes the report. No test is there any more that
// could fail: whoever started the tests reads reports.
func finish(dir string, e *evenkeel.Evenkeel) {
	report := Report{Asked: map[string]int{}}
	ctx, cancel := context.WithTimeout(context.Background(), metricsLimit)
	defer cancel()
	metrics, err := e.Metrics(ctx)
	for _, verb := range Verbs {
		prefix := fmt.Sprintf(`evenkeel_http_requests_total{listener="extender",verb=%q`, verb)
		report.Asked[verb] = int(metrics.SumPrefix(prefix))
	}
	if err = errors.Join(err, e.Stop()); err != nil {
		report.Problem = fmt.Sprintf("evenkeel %s: %v", e.Name, err)
	}
	if err := appendReport(dir, report); err != nil {
		fmt.Fprintln(os.Stderr, "cannot write a report:", err)
	}
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

// Reports reads those of a folder; there are none if no Evenkeel was started.
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
	for lines.Scan() {
		var report Report
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		reports = append(reports, report)
	}
	return reports, lines.Err()
}
