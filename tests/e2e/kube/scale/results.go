package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// results is the file of --json.
type results struct {
	At       time.Time     `json:"at"`
	Seconds  float64       `json:"seconds"` // of the whole run
	Machine  machine       `json:"machine"`
	Pending  int           `json:"pending"`
	Rounds   int           `json:"rounds"`
	Fill     fillResult    `json:"fill"`
	Sync     []syncRun     `json:"sync"`
	Events   eventResults  `json:"events"`
	Schedule []scheduleRun `json:"schedule"`
}

type machine struct {
	Cores      int    `json:"cores"`
	Processor  string `json:"processor"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd"`
	Load       string `json:"loadBefore"` // of the last minute: others were running if it is not about 0
}

func newResults(o options) results {
	m := machine{Cores: runtime.NumCPU(), Processor: processor(), Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			switch module.Path {
			case "k8s.io/kubernetes":
				m.Kubernetes = module.Version
			case "go.etcd.io/etcd/server/v3":
				m.Etcd = module.Version
			}
		}
	}
	text, _ := os.ReadFile("/proc/loadavg") // empty where there is none
	m.Load, _, _ = strings.Cut(string(text), " ")
	return results{At: time.Now().UTC(), Machine: m, Pending: o.pending, Rounds: o.rounds}
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "?"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "?"
}

// write does nothing without a file name.
func (r *results) write(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// ---- looking things up ----

// syncs are the values of one client's runs.
func (r *results) syncs(client string, value func(syncRun) float64) []float64 {
	var values []float64
	for _, run := range r.Sync {
		if run.Client == client {
			values = append(values, value(run))
		}
	}
	return values
}

// phaseValues of one variant, a value per round.
func (r *results) phaseValues(variant string, phase int, value func(phaseRun) float64) []float64 {
	var values []float64
	for _, run := range r.Schedule {
		if run.Variant == variant {
			values = append(values, value(run.Phases[phase]))
		}
	}
	return values
}

// ratio of pods a second to another variant's, by round, in the middle. Variants of a round follow
// one another, so that what disturbs the machine disturbs both.
func (r *results) ratio(variant, to string, phase int) float64 {
	byRound := map[int]float64{}
	for _, run := range r.Schedule {
		if run.Variant == to {
			byRound[run.Round] = run.Phases[phase].PodsPerSecond
		}
	}
	var ratios []float64
	for _, run := range r.Schedule {
		if run.Variant == variant && byRound[run.Round] > 0 {
			ratios = append(ratios, run.Phases[phase].PodsPerSecond/byRound[run.Round])
		}
	}
	return median(ratios)
}

// extenderMemory is the most that Evenkeel ever had after a round.
func (r *results) extenderMemory() int64 {
	most := int64(0)
	for _, run := range r.Schedule {
		if run.Variant != doNothing && run.Extender != nil {
			most = max(most, run.Extender.Now)
		}
	}
	return most
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
