package main

import (
	"fmt"
	"slices"
	"strings"
)

// table has a row for each workload, size and mode; of several rounds it has the median, and the most
// uneven end.
func table(runs []run) string {
	var text strings.Builder
	text.WriteString("| scheduler_perf | nodes | pods | kube-scheduler | pods/s | x stock | its own average | zones at the end | skew | CPU ms for a pod | of the extender |\n")
	text.WriteString("| " + strings.TrimSuffix(strings.Repeat("--- | ", 11), " ") + "\n")
	done := map[string]bool{}
	for _, r := range runs {
		same := alike(runs, r, r.Mode)
		key := fmt.Sprint(r.Workload, r.Nodes, r.Mode)
		if done[key] {
			continue
		}
		done[key] = true
		rate := middle(same, func(r run) float64 { return r.PodsPerSecond })
		beside := "-"
		if stock := middle(alike(runs, r, "stock"), func(r run) float64 { return r.PodsPerSecond }); stock > 0 {
			beside = fmt.Sprintf("%.2f", rate/stock)
		}
		worst := slices.MaxFunc(same, func(a, b run) int { return a.Skew - b.Skew })
		var skews []string
		for _, other := range same {
			skews = append(skews, fmt.Sprint(other.Skew))
		}
		perPod := func(of func(run) float64) float64 {
			return middle(same, func(r run) float64 { return 1000 * of(r) / float64(r.Pods) })
		}
		fmt.Fprintf(&text, "| %s | %d | %d | %s | %.0f | %s | %.0f | %s | %s | %.1f | %.2f |\n", describe(r.Workload),
			r.Nodes, r.Pods, modeText(r.Mode), rate, beside, middle(same, func(r run) float64 { return r.Average }),
			worst.zones(), strings.Join(skews, ", "), perPod(func(r run) float64 { return r.CPU }),
			perPod(func(r run) float64 { return r.ExtenderCPU }))
	}
	return text.String()
}

func alike(runs []run, r run, mode string) []run {
	var same []run
	for _, other := range runs {
		if other.Workload == r.Workload && other.Nodes == r.Nodes && other.Mode == mode {
			same = append(same, other)
		}
	}
	return same
}

func describe(name string) string {
	for _, w := range workloads {
		if w.name == name {
			return fmt.Sprintf("%s (%s)", name, w.what)
		}
	}
	return name
}

func modeText(mode string) string {
	text, bind := strings.CutSuffix(mode, "+bind")
	switch text {
	case "nothing":
		text = "do-nothing extender"
	case "out":
		text = "without the plugin"
	case "in-place":
		text = "Evenkeel in place of the plugin"
	case "beside":
		text = "Evenkeel beside it"
	}
	if bind {
		text += ", binding"
	}
	return text
}

// middle is the median; 0 of none.
func middle(runs []run, value func(run) float64) float64 {
	if len(runs) == 0 {
		return 0
	}
	var values []float64
	for _, r := range runs {
		values = append(values, value(r))
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}
