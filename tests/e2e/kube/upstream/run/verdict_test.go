package main

import (
	"strings"
	"testing"
)

// What a program prints, shortened: \x16 stands before what package testing says.
func TestResults(t *testing.T) {
	r, err := readResults(strings.NewReader(`I1122 some server's log
` + "\x16" + `=== RUN   TestA
` + "\x16" + `=== RUN   TestA/one/two_three
` + "\x16" + `--- PASS: TestA/one/two_three (0.10s)
` + "\x16" + `=== RUN   TestA/four
    a_test.go:12: it is 1, should be 0
noise
` + "\x16" + `--- FAIL: TestA/four (0.20s)
` + "\x16" + `=== NAME  TestA
` + "\x16" + `--- FAIL: TestA (0.30s)
` + "\x16" + `=== RUN   TestA
` + "\x16" + `--- PASS: TestA (0.30s)
` + "\x16" + `=== RUN   TestB
panic: too long
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.runs["TestA"]) != 2 || len(r.runs["TestB"]) != 0 || !r.failed() {
		t.Fatalf("%+v", r)
	}
	first := leaves(r.runs["TestA"][0])
	if len(first) != 2 || first[0].name != "TestA/one/two_three" || first[1].said[0] != "a_test.go:12: it is 1, should be 0" {
		t.Errorf("%+v", first)
	}
	if second := leaves(r.runs["TestA"][1]); len(second) != 1 || second[0].name != "TestA" {
		t.Errorf("%+v", second)
	}
}

func outcomes(words ...string) []outcome {
	var run []outcome
	for _, word := range words {
		name, result, _ := strings.Cut(word, "=")
		run = append(run, outcome{name: name, word: result})
	}
	return run
}

func TestJudge(t *testing.T) {
	const test, must = "TestPodTopologySpreadFilter", "TestPodTopologySpreadFilter/high_priority_pod_can_preempt_others"
	for _, c := range []struct {
		what, mode string
		count      int
		run        []outcome
		good       bool
	}{
		{"all pass beside the plugin", "beside", 1, outcomes(must+"=PASS", test+"=PASS"), true},
		{"the known failure in its place", "in-place", 1, outcomes(test+"/x=PASS", must+"=FAIL", test+"=FAIL"), true},
		{"with a binding, too", "in-place+bind", 1, outcomes(must+"=FAIL", test+"=FAIL"), true},
		{"it fails beside the plugin", "beside", 1, outcomes(must+"=FAIL", test+"=FAIL"), false},
		{"it fails with nothing in place", "out", 1, outcomes(must+"=FAIL", test+"=FAIL"), false},
		{"it passes in place", "in-place", 1, outcomes(must+"=PASS", test+"=PASS"), false},
		{"it is skipped in place", "in-place", 1, outcomes(must+"=SKIP", test+"=PASS"), false},
		{"it is gone", "in-place", 1, outcomes(test+"/x=PASS", test+"=PASS"), false},
		{"another one fails, too", "in-place", 1, outcomes(test+"/x=FAIL", must+"=FAIL", test+"=FAIL"), false},
		{"the test itself fails", "beside", 1, outcomes(must+"=PASS", test+"=FAIL"), false},
		{"too few runs", "beside", 2, outcomes(must+"=PASS", test+"=PASS"), false},
	} {
		j := job{pkg: filters, round: round{c.mode, calm, c.count}, tests: []string{test}}
		v := judge(j, test, results{runs: map[string][][]outcome{test: {c.run}}})
		if v.failed() == c.good {
			t.Errorf("%s: %s", c.what, v.text())
		}
	}
}

// One program may run several tests, but none that are run otherwise.
func TestJobs(t *testing.T) {
	t.Setenv("PART", "") // of whoever runs this
	o, err := parse([]string{"-tests", "misc/|Default", "-modes", "beside,stock", "-count", "4"})
	if err != nil {
		t.Fatal(err)
	}
	jobs := o.jobs()
	if len(jobs) != 4 {
		t.Fatalf("%+v", jobs)
	}
	for _, j := range jobs {
		if j.count != 4 || j.load != calm || (len(j.tests) == 1) != (j.pkg == scoring) {
			t.Errorf("%+v", j)
		}
	}
	for _, arguments := range [][]string{{"-modes", "besides"}, {"-loads", "x"}, {"-count", "-1"}, {"more"}} {
		if _, err := parse(arguments); err == nil {
			t.Errorf("%v is no error", arguments)
		}
	}
}
