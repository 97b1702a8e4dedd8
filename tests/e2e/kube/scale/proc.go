package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// What Linux counts CPU time in, on every machine there is (USER_HZ).
const ticksPerSecond = 100

// cpuSeconds that the process has used so far, in all its threads.
func cpuSeconds(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in the second field may have spaces; the state behind it is field 3.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks := 0.0
	for _, field := range []int{14, 15} { // user and system
		n, err := strconv.ParseFloat(fields[field-3], 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return ticks / ticksPerSecond, nil
}

// memory of a process in bytes.
type memory struct {
	Now  int64 `json:"now"`
	Peak int64 `json:"peak"`
}

func memoryOf(pid int) (memory, error) {
	var m memory
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kib); n == 1 {
			m.Now = kib << 10
		}
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); n == 1 {
			m.Peak = kib << 10
		}
	}
	return m, lines.Err()
}

// How long memory must have stayed as it is to count as settled, and how long that may take.
const (
	settled     = 3 * time.Second
	settleLimit = 30 * time.Second
)

// settledMemory waits until the process has neither taken nor returned memory for a while.
func settledMemory(pid int) (memory, error) {
	last, err := memoryOf(pid)
	since, until := time.Now(), time.Now().Add(settleLimit)
	for tick := time.NewTicker(100 * time.Millisecond); err == nil; <-tick.C {
		var m memory
		if m, err = memoryOf(pid); m != last {
			last, since = m, time.Now()
		}
		if time.Since(since) > settled || time.Now().After(until) {
			break
		}
	}
	return last, err
}
