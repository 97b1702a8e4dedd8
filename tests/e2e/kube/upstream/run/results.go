package main

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// outcome of a test or a case, once.
type outcome struct {
	name    string // Test/case
	word    string // PASS, FAIL, SKIP
	seconds float64
	said    []string
}

// results are the runs of each test: its cases in the order in which they ended, itself last.
type results struct {
	runs map[string][][]outcome
	// Of tests that did not end, what has ended in them.
	pending map[string][]outcome
}

var (
	resultLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(([\d.]+)s\)$`)
	nameLine   = regexp.MustCompile(`^=== (?:RUN|NAME|CONT|PAUSE) +(\S*)$`)
	// What a test itself says; its servers say more.
	saidLine = regexp.MustCompile(`^\s+\S+\.go:\d+: `)
	// Its servers log through it, too.
	logLine = regexp.MustCompile(`^\s+\S+\.go:\d+: [IWEF]\d{4} `)
)

const longestLine = 64 << 20 // a server may log an object

// readResults reads what a program prints with -test.v=test2json.
func readResults(in io.Reader) (results, error) {
	r := results{runs: map[string][][]outcome{}, pending: map[string][]outcome{}}
	said := map[string][]string{}
	current := ""
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "\x16")
		if match := nameLine.FindStringSubmatch(line); match != nil {
			current = match[1]
			if _, known := r.pending[topOf(current)]; current != "" && !known {
				r.pending[topOf(current)] = nil
			}
			continue
		}
		match := resultLine.FindStringSubmatch(line)
		if match == nil {
			if saidLine.MatchString(line) && !logLine.MatchString(line) {
				said[current] = append(said[current], strings.TrimSpace(line))
			}
			continue
		}
		seconds, err := strconv.ParseFloat(match[3], 64)
		if err != nil {
			return r, err
		}
		name := match[2]
		top := topOf(name)
		r.pending[top] = append(r.pending[top], outcome{name, match[1], seconds, said[name]})
		delete(said, name)
		if name == top {
			r.runs[top] = append(r.runs[top], r.pending[top])
			delete(r.pending, top)
		}
	}
	return r, lines.Err()
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// failed says whether anything did.
func (r results) failed() bool {
	for _, runs := range r.runs {
		for _, run := range runs {
			if run[len(run)-1].word == "FAIL" {
				return true
			}
		}
	}
	return len(r.pending) > 0
}

// leaves are a run's cases: those that have none below them, and the test itself if it has no case
// that explains its failure.
func leaves(run []outcome) []outcome {
	var out []outcome
	explained := false
	top := run[len(run)-1]
	for _, o := range run[:len(run)-1] {
		if !slices.ContainsFunc(run, func(other outcome) bool { return strings.HasPrefix(other.name, o.name+"/") }) {
			out = append(out, o)
			explained = explained || o.word == "FAIL"
		}
	}
	if len(out) == 0 || top.word == "FAIL" && !explained {
		out = append(out, top)
	}
	return out
}
