package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	must := []string{"-bin", "b", "-kubernetes", "k", "-dir", "d"}
	o, err := parse(append(must, "-sizes", "500x3,5000x1", "-modes", "stock,beside+bind"))
	if err != nil || !slices.Equal(o.sizes, []size{{500, 3}, {5000, 1}}) || len(o.modes) != 2 ||
		len(o.workloads) != len(workloads) {
		t.Errorf("%+v: %v", o, err)
	}
	for _, bad := range [][]string{{"-sizes", "500"}, {"-sizes", "500x0"}, {"-sizes", "7x1"}, {"-modes", "x"},
		{"-workloads", "x"}, {"more"}} {
		if _, err := parse(append(must, bad...)); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
}

func TestParseWorkloads(t *testing.T) {
	o, err := parse([]string{"-bin", "b", "-kubernetes", "k", "-dir", "d", "-workloads", "TopologySpreading"})
	if err != nil || len(o.workloads) != 1 || o.workloads[0].name != "TopologySpreading" {
		t.Errorf("%+v: %v", o, err)
	}
}

// Five pods are too few for the first twentieth to be one: all intervals count.
const reports = `{"placed":[{"namespace":"first","zones":{"a":9},"bound":[0]},` +
	`{"namespace":"measured","zones":{"a":1,"b":4},"bound":[0,0.5,1,1.5,2]}],"cpu":0.25,"asked":{"filter":5}}
`

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "reports.jsonl"), []byte(reports), 0o644); err != nil {
		t.Fatal(err)
	}
	var r run
	if err := r.read(dir); err != nil {
		t.Fatal(err)
	}
	if r.Pods != 5 || r.Skew != 3 || r.zones() != "1/4" || r.PodsPerSecond != 2 || r.ExtenderCPU != 0.25 {
		t.Errorf("%+v", r)
	}
	if err := r.read(t.TempDir()); err == nil {
		t.Error("no report is no error")
	}
}

func TestTable(t *testing.T) {
	one := run{Workload: "TopologySpreading", Nodes: 500, Mode: "stock", Pods: 100, PodsPerSecond: 50,
		Zones: map[string]int{"a": 50, "b": 50}, CPU: 2}
	other := one
	other.Mode, other.PodsPerSecond, other.Zones, other.Skew = "beside", 40, map[string]int{"a": 48, "b": 52}, 4
	even := other
	even.PodsPerSecond, even.Zones, even.Skew = 30, one.Zones, 0
	text := table([]run{one, other, even})
	for _, want := range []string{
		"| stock | 50 | 1.00 | 0 | 50/50 | 0 | 20.0 | 0.00 |\n",
		"| Evenkeel beside it | 35 | 0.70 | 0 | 48/52 | 4, 0 | 20.0 | 0.00 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
