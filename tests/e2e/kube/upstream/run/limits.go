package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"evenkeel.io/tests/e2e/kube/upstream/hook"
)

// limit is a case that no extender can pass in place of the plugin, whatever it answers. It must
// fail then; where the plugin stays it must pass.
type limit struct {
	pkg   pkg
	test  string
	cases string // what stands in front of the name below, as a part of the case's whole name
	file  string // in test/integration/scheduler
	line  int    // of it, where the case's name stands
	name  string
	why   string
}

const (
	noPreemption = "kube-scheduler's dry run of preemption asks in-tree filters only. None of them objects to the pod, " +
		"so it puts every victim back, is left with none, and never gets to the extender " +
		"(pkg/scheduler/framework/preemption/preemption.go:446)"
	noHints = "what only an extender rejected is marked with the name Extender (pkg/scheduler/schedule_one.go:714), " +
		"for which every event is reason enough to try again (pkg/scheduler/framework/runtime/framework.go:367), " +
		"even the update of the pod's own status: it does not stay in the unschedulable pods"
)

var limits = []limit{
	{filters, "TestPodTopologySpreadFilter", "", "filters/filters_test.go", 1862,
		"high priority pod can preempt others", noPreemption},
	enqueue(953, "Pods with PodTopologySpread should be requeued when a Pod with matching label is scheduled"),
	enqueue(979, "Pods with PodTopologySpread should be requeued when a scheduled Pod label is updated to match the selector"),
	enqueue(1004, "Pods with PodTopologySpread should be requeued when a scheduled Pod with matching label is deleted"),
	enqueue(1028, "Pods with PodTopologySpread should be requeued when a Node with topology label is created"),
	enqueue(1056, "Pods with PodTopologySpread should be requeued when a Node is updated to have the topology label"),
	enqueue(1093, "Pods with PodTopologySpread should be requeued when a Node with a topology label is deleted (QHint: enabled)"),
	enqueue(1147, "Pods with PodTopologySpread should be requeued when a NodeTaint of a Node with a topology label has been updated"),
}

func enqueue(line int, name string) limit {
	return limit{queueingHint, "TestCoreResourceEnqueue", "PodTopologySpread/", "queueing/queue.go", line, name, noHints}
}

// limitsOf are the names of the cases of a test that must fail in a job.
func limitsOf(j job, test string) map[string]bool {
	mode, err := hook.ParseMode(j.mode)
	if err != nil || !mode.PluginOut || !mode.Evenkeel {
		return nil
	}
	names := map[string]bool{}
	for _, l := range limits {
		if l.pkg == j.pkg && l.test == test {
			// As package testing writes it.
			names[l.test+"/"+l.cases+strings.ReplaceAll(l.name, " ", "_")] = true
		}
	}
	return names
}

// checkLimits is an error if a case does not stand where the list says.
func checkLimits(kubernetes string) error {
	for _, l := range limits {
		file := filepath.Join("test/integration/scheduler", l.file)
		text, err := lineOf(filepath.Join(kubernetes, file), l.line)
		if err != nil {
			return err
		}
		if !strings.Contains(text, `"`+l.name+`"`) {
			return fmt.Errorf("limits.go: %s:%d is not %q but %s", file, l.line, l.name, strings.TrimSpace(text))
		}
	}
	return nil
}

func lineOf(file string, number int) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if n == number {
			return lines.Text(), nil
		}
	}
	return "", lines.Err()
}
