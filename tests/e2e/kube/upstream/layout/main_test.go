package main

import (
	"strings"
	"testing"
)

func TestRedirectImports(t *testing.T) {
	out, err := redirectImports([]byte(`package p

import (
	"context"
	utils "k8s.io/kubernetes/test/integration/util" // theirs
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

var path = "k8s.io/kubernetes/pkg/scheduler"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `package p

import (
	"context"
	utils "evenkeel.io/tests/e2e/kube/upstream/laid/test/integration/util" // theirs
	"evenkeel.io/tests/e2e/kube/upstream/laid/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

var path = "k8s.io/kubernetes/pkg/scheduler"
`
	if string(out) != want {
		t.Errorf("%s", out)
	}
}

func TestEdit(t *testing.T) {
	e := edit{"here()", "\tbefore()\n"}
	out, err := e.apply([]byte("func f() {\n\there()\n}\n"))
	if err != nil || string(out) != "func f() {\n\tbefore()\n\there()\n}\n" {
		t.Errorf("%v: %s", err, out)
	}
	for _, text := range []string{"func f() {\n\tthere()\n}\n", "\there()\n\there()\n"} {
		if _, err := e.apply([]byte(text)); err == nil || !strings.Contains(err.Error(), "here()") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
