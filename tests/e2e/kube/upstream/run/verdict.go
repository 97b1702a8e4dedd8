package main

import (
	"fmt"
	"strings"
)

// verdict on one test in one mode, over all runs.
type verdict struct {
	name                 string
	runs, wanted, good   int
	cases, passed, known int // of all runs; known: failed as they must
	seconds              float64
	problems             []string
}

func (v verdict) failed() bool { return len(v.problems) > 0 }

const (
	problemLimit = 10 // that are printed
	saidLimit    = 6  // lines of what a failed case has said
)

func (v verdict) text() string {
	word := "ok"
	if v.failed() {
		word = "FAIL"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-5s %-72s %7.1f s", word, v.name, v.seconds)
	if v.wanted > 0 {
		fmt.Fprintf(&text, "  %d of %d runs, %d of %d cases", v.good, v.wanted, v.passed, v.cases)
	}
	if v.known > 0 {
		fmt.Fprintf(&text, ", %d no extender can pass", v.known)
	}
	text.WriteByte('\n')
	for i, problem := range v.problems {
		if i == problemLimit {
			fmt.Fprintf(&text, "    and %d more\n", len(v.problems)-i)
			break
		}
		fmt.Fprintf(&text, "    %s\n", problem)
	}
	return text.String()
}

// judge compares what happened with what must happen.
func judge(j job, test string, results results) verdict {
	v := verdict{name: fmt.Sprintf("%s/%s %s", j.pkg.name(), test, j.round), wanted: j.count}
	expected := limitsOf(j, test)
	counts := map[string]int{} // of problems
	add := func(problem string) {
		if counts[problem]++; counts[problem] == 1 {
			v.problems = append(v.problems, problem)
		}
	}
	for _, run := range results.runs[test] {
		v.runs++
		v.seconds += run[len(run)-1].seconds
		if v.count(run, expected, add) {
			v.good++
		}
	}
	for i, problem := range v.problems {
		if n := counts[problem]; v.wanted > 1 {
			v.problems[i] = fmt.Sprintf("%s (%d of %d runs)", problem, n, v.wanted)
		}
	}
	if v.runs < v.wanted {
		v.problems = append(v.problems, fmt.Sprintf("only %d of %d runs ended", v.runs, v.wanted))
	}
	return v
}

// count adds one run and says whether it went as it must.
func (v *verdict) count(run []outcome, expected map[string]bool, add func(string)) (good bool) {
	good = true
	bad := func(format string, args ...any) {
		good = false
		add(fmt.Sprintf(format, args...))
	}
	seen := map[string]bool{}
	for _, o := range leaves(run) {
		seen[o.name] = true
		v.cases++
		switch {
		case o.word == "FAIL" && expected[o.name]:
			v.known++
		case o.word == "FAIL":
			bad("%s%s", o.name, quote(o.said))
		case expected[o.name]:
			bad("%s: limits.go says that no extender can pass, but: %s", o.name, o.word)
		default:
			v.passed++
		}
	}
	for name := range expected {
		if !seen[name] {
			bad("%s: it is in limits.go but was not run", name)
		}
	}
	return good
}

func quote(said []string) string {
	if len(said) > saidLimit {
		said = said[len(said)-saidLimit:]
	}
	if len(said) == 0 {
		return ": said nothing"
	}
	return ": " + strings.Join(said, "\n        ")
}
