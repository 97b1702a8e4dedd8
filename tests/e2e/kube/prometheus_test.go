package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Where Prometheus listens, in the network namespace of the host's machine, which no other test has.
const prometheusAt = "127.0.0.1:9090"

var (
	longWait  = regexp.MustCompile(`(?m)^( *for: [0-9]+)m$`)
	shortWait = regexp.MustCompile(`(?m)^ *for: [0-9]+s$`)
)

// alertRules are the chart's, as Prometheus reads them; but what must last for 5 minutes must last for 5 seconds.
func (h *host) alertRules(t *testing.T) string {
	t.Helper()
	rendered := h.shell(t, "set +x; helm template evenkeel charts/evenkeel --namespace evenkeel --kube-version 1.36.0"+
		" --set monitoring.rules.enabled=true "+h.doors+" --show-only templates/monitoring.yaml 2>/dev/null")
	_, groups, ok := strings.Cut(rendered, "\n  groups:")
	if !ok {
		t.Fatalf("no rules: %s", rendered)
	}
	rules := longWait.ReplaceAllString("groups:"+strings.ReplaceAll(groups, "\n  ", "\n"), "${1}s")
	if alerts := strings.Count(rules, "alert: "); alerts == 0 || alerts != len(shortWait.FindAllString(rules, -1)) {
		t.Fatalf("not all waits are shorter: %s", rules)
	}
	return rules
}

// startPrometheus has Debian's Prometheus scrape the API server and the chart's replicas. That one cannot look for
// pods in a cluster: see writeTargets.
func (h *host) startPrometheus(t *testing.T) {
	t.Helper()
	pair, err := h.CA.Client(cluster.Admin().Name, cluster.Admin().Groups...)
	h.must(err)
	h.must(pair.Write(h.dir, "prometheus"))
	file := func(name string) string { return filepath.Join(h.dir, name) }
	settings := `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
- job_name: apiserver
  scheme: https
  scrape_interval: 2s
  scrape_timeout: 2s
  tls_config: {ca_file: ` + h.CAFile() + `, cert_file: ` + file("prometheus.crt") + `, key_file: ` + file("prometheus.key") + `}
  static_configs: [{targets: ["` + strings.TrimPrefix(h.URL(), "https://") + `"]}]
- job_name: pods
  honor_labels: true
  file_sd_configs: [{files: [targets.json]}]
`
	h.must(h.writeTargets())
	h.must(os.WriteFile(file("rules.yaml"), []byte(h.alertRules(t)), 0o600))
	h.must(os.WriteFile(file("prometheus.yaml"), []byte(settings), 0o600))
	command := append(h.machine.Wrap(), "prometheus", "--config.file="+file("prometheus.yaml"), "--storage.tsdb.path="+file("tsdb"),
		"--web.listen-address="+prometheusAt)
	p, err := process.Start(process.Spec{Name: "prometheus", Path: command[0], Args: command[1:], Log: file("prometheus.log")})
	h.must(err)
	t.Cleanup(p.Kill)
	h.until("Prometheus scrapes the API server and two replicas", func(context.Context) (bool, error) {
		up, err := h.query(`up == 1`)
		return len(up) == 3, fmt.Errorf("%v, %v", up, err)
	})
}

// writeTargets names the replicas of now, with the labels that the chart's PodMonitor gives them.
func (h *host) writeTargets() error {
	pods, err := h.Client.CoreV1().Pods(release).List(h.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component"})
	if err != nil {
		return err
	}
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	groups := []group{}
	for _, pod := range pods.Items {
		if pod.Status.PodIP != "" {
			groups = append(groups, group{[]string{pod.Status.PodIP + ":8080"}, map[string]string{"namespace": release, "pod": pod.Name,
				"job": "evenkeel-" + pod.Labels["app.kubernetes.io/component"]}})
		}
	}
	text, err := json.Marshal(groups)
	if err != nil {
		return err
	}
	file := filepath.Join(h.dir, "targets.json")
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// query is the labels of the series that Prometheus answers with.
func (h *host) query(query string) ([]map[string]string, error) {
	if err := h.writeTargets(); err != nil {
		return nil, err
	}
	said, err := h.tryShell("set +x; curl -fsS --max-time 10 --data-urlencode 'query=" + query + "' http://" + prometheusAt + "/api/v1/query")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	_, text, _ := strings.Cut(said, "{") // behind what the shell says of its options
	if err := json.Unmarshal([]byte("{"+text), &answer); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	var series []map[string]string
	for _, r := range answer.Data.Result {
		series = append(series, r.Metric)
	}
	return series, nil
}

// firing says whether an alert is, whose labels match.
func (h *host) firing(alert, labels string) (bool, error) {
	series, err := h.query(`ALERTS{alertstate="firing",alertname="` + alert + `",` + labels + `}`)
	return len(series) > 0, err
}

// firstCommand is the first block of shell of an alert's runbook.
func (h *host) firstCommand(t *testing.T, alert string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.top, "docs/guides/alerts.md"))
	h.must(err)
	_, section, ok := strings.Cut(string(text), "\n## "+alert+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, command, found := strings.Cut(section, "```sh\n")
	command, _, _ = strings.Cut(command, "```")
	if !ok || !found {
		t.Fatalf("the runbook of %s has no command", alert)
	}
	return command
}
