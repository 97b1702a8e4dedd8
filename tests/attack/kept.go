package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// What the daemon keeps of pods, and writes elsewhere, is what U writes. An API server takes 1.5 MB
// of an object.

const (
	largePodCount = 60
	largeRSS      = 64 // MiB that any number of such pods may take
	reportTime    = 40 * time.Second
)

// peak is the most that the process ever had resident, in MiB.
func (d *daemon) peak() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.process.Process.Pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.Atoi(string(found[1])) // digits
	return kib >> 10
}

// ---- names of owners ----

func ownedPod(i, replica int) object {
	pod := podOf("u", fmt.Sprintf("owned-%d-%d", i, replica), nil)
	pod["metadata"].(object)["ownerReferences"] = []object{{"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": true,
		"uid": fmt.Sprintf("owner-%d", i), "name": fmt.Sprintf("%03d", i) + strings.Repeat("n", 1000000)}}
	pod["spec"].(object)["nodeName"] = nodeName(i)
	return pod
}

func ownerNames(st *stage) error {
	for i := 0; i < largePodCount; i++ {
		for replica := 0; replica < 2; replica++ { // on one node: uneven, so they are among the worst
			st.api.tell(podsList, "ADDED", ownedPod(i, replica))
		}
	}
	return st.waitFor("evenkeel_workload_skew{namespace=\"u\"", func(value float64) bool { return value >= 2*largePodCount })
}

// waitFor waits until a metric, or the sum of those that begin so, is as wanted.
func (st *stage) waitFor(prefix string, is func(float64) bool) error {
	value := -1.0
	for until := time.Now().Add(reportTime); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		if value = st.daemon.metric(prefix); is(value) {
			return nil
		}
	}
	return fmt.Errorf("%s is %g after %v", prefix, value, reportTime)
}

func metricsAreSmall(st *stage) (faults []string) {
	for _, path := range []string{"/metrics", "/topology?by=" + zoneKey} {
		if status, text := st.daemon.get(path); status != http.StatusOK || len(text) >= 1<<20 {
			faults = append(faults, fmt.Sprintf("%s: %d, %d bytes", path, status, len(text)))
		}
	}
	return faults
}

// ---- labels ----

// labelled is a pod on a node whose labels take 1.2 MB, none of them another pod's.
func labelled(i int) object {
	labels := object{}
	for n := 0; n < 46000; n++ {
		labels[fmt.Sprintf("l%02d-%05d", i, n)] = fmt.Sprintf("v%02d-%05d", i, n)
	}
	pod := podOf("u", fmt.Sprintf("labelled-%d", i), labels)
	pod["spec"].(object)["nodeName"] = nodeName(i)
	return pod
}

const (
	labelBytes    = `evenkeel_cache_bytes{kind="labels"}`
	withoutLabels = "evenkeel_cache_pods_without_labels"
)

func labels(st *stage) error {
	st.base, st.kept = st.daemon.rss(), st.daemon.metric(labelBytes)
	pods := st.daemon.metric("evenkeel_cache_pods")
	for i := 0; i < largePodCount; i++ {
		st.api.tell(podsList, "ADDED", labelled(i))
	}
	return st.waitFor("evenkeel_cache_pods ", func(value float64) bool { return value >= pods+largePodCount-1 })
}

func labelsAreBounded(st *stage) (faults []string) {
	if grown := int(st.daemon.highest.Load()) - st.base; grown > largeRSS*slack {
		faults = append(faults, fmt.Sprintf("labels of %d pods took %d MiB, %d are allowed", largePodCount, grown, largeRSS*slack))
	}
	if now := st.daemon.metric(labelBytes); now <= st.kept {
		faults = append(faults, fmt.Sprintf("%s says nothing of them: %g", labelBytes, now))
	}
	if cut := st.daemon.metric(withoutLabels); cut <= 0 || cut >= largePodCount {
		faults = append(faults, fmt.Sprintf("%s is %g", withoutLabels, cut))
	}
	faults = append(faults, othersAreSeen(st)...)
	again, err := st.restarted()
	if err != nil {
		return append(faults, "a new replica: "+err.Error())
	}
	if peak := again.peak(); peak > st.base+largeRSS*slack {
		faults = append(faults, fmt.Sprintf("a new replica took %d MiB, %d are allowed", peak, st.base+largeRSS*slack))
	}
	if cut := again.metric(withoutLabels); cut <= 0 || cut >= largePodCount {
		faults = append(faults, fmt.Sprintf("%s of a new replica is %g", withoutLabels, cut))
	}
	if err := again.end(); err != nil {
		faults = append(faults, "a new replica: "+err.Error())
	}
	for i := 0; i < largePodCount; i++ {
		st.api.tell(podsList, "DELETED", labelled(i))
	}
	if err := st.waitFor(withoutLabels, func(value float64) bool { return value == 0 }); err != nil {
		faults = append(faults, err.Error())
	}
	if err := st.waitFor(labelBytes, func(value float64) bool { return value <= st.kept+1000 }); err != nil {
		faults = append(faults, "their labels are gone, and "+err.Error())
	}
	return faults
}
