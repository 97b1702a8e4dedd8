package main

import (
	"fmt"
	"io"
	"strings"
)

// What Evenkeel is to reach.
const (
	memoryGoal   = 64 << 20
	ratioGoal    = 0.85
	parsingGoal  = 300 // MB of JSON for a second of CPU
	boundByOther = 1.1 // times what a client takes that only reads
)

// print writes Markdown tables.
func (r *results) print(out io.Writer) error {
	var text strings.Builder
	for _, part := range []func() string{r.goals, r.syncTable, r.eventTable, r.scheduleTable, r.cpuTable, r.facts} {
		fmt.Fprintln(&text, part())
	}
	_, err := io.WriteString(out, strings.TrimRight(text.String(), "\n")+"\n")
	return err
}

type table struct{ text strings.Builder }

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.row(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ",")...)
	return t
}

func (t *table) row(cells ...string) { fmt.Fprintf(&t.text, "| %s |\n", strings.Join(cells, " | ")) }

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**not met**"
}

func (r *results) goals() string {
	t := newTable("what", "goal", "measured", "")
	size := fmt.Sprintf("%s nodes and %s pods", thousands(r.Fill.Nodes), thousands(r.Fill.Pods))
	took := func(run syncRun) float64 { return run.Seconds }
	slower := median(r.syncs(evenkeelClient, took)) / median(r.syncs(plainReader, took))
	t.row("first sync beside a client that only reads", fmt.Sprintf("%.1f x", boundByOther),
		fmt.Sprintf("%.2f x", slower), verdict(slower <= boundByOther))
	parsed := median(r.syncs(plainReader, func(run syncRun) float64 { return float64(run.Bytes) })) / 1e6 /
		median(r.syncs(evenkeelClient, func(run syncRun) float64 { return run.CPU }))
	t.row("JSON read for a second of Evenkeel's CPU time, TLS included", fmt.Sprintf("%d MB", parsingGoal),
		fmt.Sprintf("%.0f MB", parsed), verdict(parsed >= parsingGoal))
	settled := median(r.syncs(evenkeelClient, func(run syncRun) float64 { return float64(run.Settled.Now) }))
	for what, bytes := range inOrder("RSS after the first sync, "+size, int64(settled),
		"RSS after scheduling, the most of all rounds", r.extenderMemory()) {
		t.row(what, fmt.Sprintf("%d MiB", memoryGoal>>20), fmt.Sprintf("%.1f MiB", mib(bytes)),
			verdict(bytes <= memoryGoal))
	}
	for _, variant := range []string{withFilter, withBind} {
		for i := range phases {
			ratio := r.ratio(variant, alone, i)
			t.row(fmt.Sprintf("kube-scheduler's pods/s with %s, %s", variant, phaseName(i)),
				fmt.Sprintf("%.0f %%", 100*ratioGoal), fmt.Sprintf("%.0f %%", 100*ratio), verdict(ratio >= ratioGoal))
		}
	}
	return t.text.String()
}

// inOrder yields two pairs.
func inOrder(name1 string, value1 int64, name2 string, value2 int64) func(func(string, int64) bool) {
	return func(yield func(string, int64) bool) {
		_ = yield(name1, value1) && yield(name2, value2)
	}
}

func phaseName(i int) string {
	nodes := "default share of nodes"
	if phases[i].Scheduler == allNodes {
		nodes = "all nodes"
	}
	return phases[i].Pods + ", " + nodes
}

func (r *results) syncTable() string {
	t := newTable("first sync", "s", "x plain reader", "CPU s", "API server's CPU s", "RSS MiB", "peak MiB")
	reader := median(r.syncs(plainReader, func(run syncRun) float64 { return run.Seconds }))
	for _, client := range syncClients {
		middle := func(value func(syncRun) float64) float64 { return median(r.syncs(client, value)) }
		took := middle(func(run syncRun) float64 { return run.Seconds })
		t.row(client, fmt.Sprintf("%.2f", took), fmt.Sprintf("%.2f", took/reader),
			fmt.Sprintf("%.2f", middle(func(run syncRun) float64 { return run.CPU })),
			fmt.Sprintf("%.2f", middle(func(run syncRun) float64 { return run.ServerCPU })),
			fmt.Sprintf("%.1f", middle(func(run syncRun) float64 { return mib(run.Settled.Now) })),
			fmt.Sprintf("%.1f", middle(func(run syncRun) float64 { return mib(run.Settled.Peak) })))
	}
	return t.text.String()
}

func (r *results) eventTable() string {
	e := r.Events
	t := newTable("since a request to create a pod", "p50 ms", "p99 ms")
	for _, row := range []struct {
		what string
		took spread
	}{
		{"client-go's watch tells, nobody asks Evenkeel", e.QuietWatch},
		{"the API server has answered", e.Created},
		{"client-go's watch tells", e.Watch},
		{"Evenkeel's filter knows", e.Answer},
		{"Evenkeel's filter after client-go's watch", e.Behind},
		{"one call of filter", e.AskedMS},
	} {
		t.row(row.what, fmt.Sprintf("%.2f", row.took.P50), fmt.Sprintf("%.2f", row.took.P99))
	}
	return t.text.String()
}

func (r *results) scheduleTable() string {
	t := newTable("pods", "nodes looked at", "kube-scheduler", "pods/s", "x alone", "x do-nothing")
	for i, phase := range phases {
		nodes := "default"
		if phase.Scheduler == allNodes {
			nodes = "all"
		}
		for _, variant := range variants {
			rate := median(r.phaseValues(variant, i, func(p phaseRun) float64 { return p.PodsPerSecond }))
			t.row(phase.Pods, nodes, variant, fmt.Sprintf("%.0f", rate),
				fmt.Sprintf("%.2f", r.ratio(variant, alone, i)), fmt.Sprintf("%.2f", r.ratio(variant, doNothing, i)))
		}
	}
	return t.text.String()
}

func (r *results) cpuTable() string {
	parts := []string{schedulerPart, extenderPart, serverPart}
	t := newTable(append([]string{"CPU ms for a pod", "nodes looked at", "kube-scheduler"}, parts...)...)
	for i, phase := range phases {
		nodes := "default"
		if phase.Scheduler == allNodes {
			nodes = "all"
		}
		for _, variant := range variants {
			row := []string{phase.Pods, nodes, variant}
			for _, part := range parts {
				used := median(r.phaseValues(variant, i, func(p phaseRun) float64 { return p.CPU[part] }))
				row = append(row, fmt.Sprintf("%.2f", used))
			}
			t.row(row...)
		}
	}
	return t.text.String()
}

func (r *results) facts() string {
	refused, skew := map[string]int{}, map[string]int{}
	for _, run := range r.Schedule {
		refused[run.Variant] = max(refused[run.Variant], run.Refused)
		skew[run.Variant] = max(skew[run.Variant], run.Skew)
	}
	var odd []string
	for _, variant := range variants {
		odd = append(odd, fmt.Sprintf("%s %d and %d", variant, refused[variant], skew[variant]))
	}
	f, m := r.Fill, r.Machine
	bytes := median(r.syncs(plainReader, func(run syncRun) float64 { return float64(run.Bytes) }))
	return fmt.Sprintf("The cluster: %s nodes, %s pods and %s finished ones; %.0f MB in etcd, written in %.1f s; "+
		"%.0f MB as JSON.\nThe API server started with them in %.1f s. %d rounds of %s pods of each sort, after a "+
		"warm-up; %d changes.\n\nTimes that a pod seemed to fit nowhere, and the largest skew at the end, in the worst "+
		"round: %s.\n\nMachine: %d x %s, Kubernetes %s, etcd %s, %s; load before the run %s; %.0f s in all.\n",
		thousands(f.Nodes), thousands(f.Pods), thousands(f.FinishedPods), float64(f.StoredBytes)/1e6, f.StoreSeconds,
		bytes/1e6, f.ServerSeconds, r.Rounds, thousands(r.Pending), r.Events.Count,
		strings.Join(odd, "; "), m.Cores, m.Processor, m.Kubernetes, m.Etcd, m.Go, m.Load, r.Seconds)
}
