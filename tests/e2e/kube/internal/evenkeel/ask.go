package evenkeel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	extender "k8s.io/kube-scheduler/extender/v1"

	"evenkeel.io/tests/e2e/kube/internal/posted"
)

// OpsURL is where health and metrics are.
func (e *Evenkeel) OpsURL() string { return fmt.Sprintf("http://127.0.0.1:%d", e.port) }

// Ops gets a page of the ops listener. An answer that is not 200 is an error.
func (e *Evenkeel) Ops(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.OpsURL()+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s says %s: %s", path, response.Status, body)
	}
	return string(body), nil
}

// Metrics by series as they are written: `name` or `name{label="value"}`.
type Metrics map[string]float64

// Metrics reads /metrics.
func (e *Evenkeel) Metrics(ctx context.Context) (Metrics, error) {
	text, err := e.Ops(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	metrics := Metrics{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		space := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || space < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics line %q: %w", line, err)
		}
		metrics[line[:space]] = value
	}
	return metrics, lines.Err()
}

// Sum of all series of a metric.
func (m Metrics) Sum(name string) float64 { return m[name] + m.SumPrefix(name+"{") }

// SumPrefix is that of all series whose text begins so: `name{label="value"`.
func (m Metrics) SumPrefix(prefix string) float64 {
	sum := 0.0
	for series, value := range m {
		if strings.HasPrefix(series, prefix) {
			sum += value
		}
	}
	return sum
}

// Filter asks as kube-scheduler would.
func (e *Evenkeel) Filter(ctx context.Context, args *extender.ExtenderArgs) (*extender.ExtenderFilterResult, error) {
	var result extender.ExtenderFilterResult
	if err := e.post(ctx, "filter", args, &result); err != nil {
		return nil, err
	}
	if result.Error != "" {
		return nil, fmt.Errorf("filter: %s", result.Error)
	}
	return &result, nil
}

// Prioritize asks as kube-scheduler would.
func (e *Evenkeel) Prioritize(ctx context.Context, args *extender.ExtenderArgs) (extender.HostPriorityList, error) {
	var result extender.HostPriorityList
	err := e.post(ctx, "prioritize", args, &result)
	return result, err
}

// Bind asks as kube-scheduler would; what Evenkeel says in Error is an error.
func (e *Evenkeel) Bind(ctx context.Context, args *extender.ExtenderBindingArgs) error {
	var result extender.ExtenderBindingResult
	if err := e.post(ctx, "bind", args, &result); err != nil {
		return err
	}
	if result.Error != "" {
		return fmt.Errorf("bind: %s", result.Error)
	}
	return nil
}

func (e *Evenkeel) post(ctx context.Context, verb string, args, result any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.ExtenderURL()+"/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	text, err := posted.Answer(e.client, request)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// Knows is an error that names the first metric which differs from what is wanted.
func (e *Evenkeel) Knows(ctx context.Context, want map[string]int) error {
	metrics, err := e.Metrics(ctx)
	if err != nil {
		return err
	}
	for name, value := range want {
		if got, ok := metrics[name]; !ok || got != float64(value) {
			return fmt.Errorf("%s is %v, want %d", name, got, value)
		}
	}
	return nil
}
