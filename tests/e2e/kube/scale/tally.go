package main

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// tally follows the phases of a round. It is called with the watch locked.
type tally struct {
	parts   map[string]int // process ids
	marks   map[int]*marks
	left    int                   // pods without a node
	perZone [workloads][zones]int // pods that count for spreading, of the whole cluster
	zones   map[string]int        // by node name
	err     error
}

// marks are the beginning and the end of what is measured of a phase.
type marks struct {
	bound      int
	began      mark
	ended      mark
	first, end int // how many pods are bound then
}

type mark struct {
	at  time.Time
	cpu map[string]float64 // seconds, by part
}

func (b *bench) newTally(parts map[string]int) *tally {
	t := &tally{
		parts: parts, marks: map[int]*marks{}, perZone: b.population.perZone, zones: map[string]int{},
	}
	for node := range b.nodes {
		t.zones[nodeName(node)] = zoneOf(node)
	}
	t.left = b.phasePods(warmUp)
	for phase := range phases {
		count := b.phasePods(phase)
		edge := count / 20
		t.marks[phase] = &marks{first: max(edge, 1), end: count - edge}
		t.left += count
	}
	return t
}

// note takes a pod that was bound.
func (t *tally) note(pod *v1.Pod, at time.Time) {
	t.left--
	number, err := strconv.Atoi(pod.Labels[pendingKey])
	if err != nil {
		t.err = fmt.Errorf("pod %s: %w", pod.Name, err)
		return
	}
	if workload := 0; pod.Labels["app"] != "plain" {
		if _, err := fmt.Sscanf(pod.Labels["app"], "svc-%d", &workload); err != nil {
			t.err = fmt.Errorf("pod %s: %w", pod.Name, err)
			return
		}
		t.perZone[workload][t.zones[pod.Spec.NodeName]]++
	}
	m := t.marks[number-1]
	if m == nil {
		return // warming up
	}
	m.bound++
	if m.bound == m.first {
		m.began = t.mark(at)
	}
	if m.bound == m.end {
		m.ended = t.mark(at)
	}
}

func (t *tally) mark(at time.Time) mark {
	m := mark{at: at, cpu: map[string]float64{}}
	for part, pid := range t.parts {
		used, err := cpuSeconds(pid)
		if err != nil {
			t.err = fmt.Errorf("%s: %w", part, err)
		}
		m.cpu[part] = used
	}
	return m
}

// skew between the zones of the most uneven workload among those whose pods were placed.
func (t *tally) skew() int {
	worst := 0
	for i := range waitingOwners {
		counts := t.perZone[waitingWorkload(i)]
		least, most := counts[0], counts[0]
		for _, count := range counts {
			least, most = min(least, count), max(most, count)
		}
		worst = max(worst, most-least)
	}
	return worst
}

func (t *tally) phases() ([]phaseRun, error) {
	var runs []phaseRun
	for i, phase := range phases {
		m := t.marks[i]
		pods := float64(m.end - m.first)
		run := phaseRun{
			Pods: phase.Pods, Scheduler: phase.Scheduler, CPU: map[string]float64{},
			PodsPerSecond: pods / seconds(m.ended.at.Sub(m.began.at)),
		}
		for part := range maps.Keys(t.parts) {
			run.CPU[part] = 1000 * (m.ended.cpu[part] - m.began.cpu[part]) / pods
		}
		runs = append(runs, run)
	}
	return runs, t.err
}
