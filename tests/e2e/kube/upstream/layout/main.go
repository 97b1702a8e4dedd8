// Command layout makes packages of Kubernetes' own integration tests compilable with our hook in
// their kube-scheduler. Nothing of theirs is kept: it copies them out of the module cache.
//
//	layout -kubernetes DIR -module DIR -out DIR
//
// A copy belongs, for the compiler, to our module: OUT/overlay.json says that the folder laid/ stands in
// it, for `go test -overlay`. So what the copies import comes from the module cache, compiled once for
// everything else, and only what contains the hook or imports it is copied: pkg/scheduler itself and
// the tests.
//
// Every change that is made to a copy must find its place exactly once; otherwise this fails, and
// somebody looks at what the new Kubernetes has there.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	upstreamModule = "k8s.io/kubernetes/"
	laidFolder     = "upstream/laid" // of our module; it exists in the overlay only
	laidPackage    = "evenkeel.io/tests/e2e/kube/" + laidFolder + "/"
	hookPackage    = "evenkeel.io/tests/e2e/kube/upstream/hook"
	schedulerFile  = "pkg/scheduler/scheduler.go"
)

// Folders of Kubernetes that are copied, with their tests or without. Whatever imports one of them
// must be among them, or it would be linked twice.
var packages = []struct {
	folder string
	tests  bool
}{
	{"pkg/scheduler", false},
	{"test/integration/util", false},
	{"test/integration/scheduler/filters", true},
	{"test/integration/scheduler/scoring", true},
	{"test/integration/scheduler/preemption", true},
	{"test/integration/scheduler/preemption/misc", true},
	{"test/integration/scheduler/preemption/nominatednodename", true},
	{"test/integration/scheduler/extender", true},
	{"test/integration/scheduler/queueing", true},
	{"test/integration/scheduler/queueing/queueinghint", true},
	{"test/integration/scheduler_perf", false},
	{"test/integration/scheduler_perf/topology_spreading", true},
}

// An edit puts lines before the one line of a file that contains a text.
type edit struct{ before, insert string }

// Options are complete, profiles and extenders not used yet.
var schedulerEdits = []edit{
	{`"context"`, "\tevenkeelhook " + strconv.Quote(hookPackage) + "\n"},
	{"registry := frameworkplugins.NewInTreeRegistry()", `	if err := evenkeelhook.Attach(ctx, evenkeelhook.Scheduler{
		API: options.kubeConfig, Informers: informerFactory,
		Profiles: &options.profiles, Extenders: &options.extenders,
	}); err != nil {
		return nil, err
	}
`},
}

func main() {
	kubernetes := flag.String("kubernetes", "", "folder of the module k8s.io/kubernetes")
	module := flag.String("module", "", "folder of our module")
	out := flag.String("out", "", "folder for copies and overlay.json")
	flag.Parse()
	if err := run(*kubernetes, *module, *out); err != nil {
		fmt.Fprintln(os.Stderr, "layout:", err)
		os.Exit(1)
	}
}

func run(kubernetes, module, out string) error {
	if kubernetes == "" || module == "" || out == "" || flag.NArg() > 0 {
		return errors.New("usage: layout -kubernetes DIR -module DIR -out DIR")
	}
	sources := filepath.Join(out, "laid")
	if err := os.RemoveAll(sources); err != nil {
		return err
	}
	overlay := map[string]string{}
	for _, p := range packages {
		names, err := filepath.Glob(filepath.Join(kubernetes, filepath.FromSlash(p.folder), "*.go"))
		if err != nil {
			return err
		}
		copied := 0
		for _, name := range names {
			if !p.tests && strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := path.Join(p.folder, filepath.Base(name))
			text, err := prepare(name, file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			to := filepath.Join(sources, filepath.FromSlash(file))
			if err := write(to, text); err != nil {
				return err
			}
			overlay[filepath.Join(module, filepath.FromSlash(laidFolder), filepath.FromSlash(file))] = to
			copied++
		}
		if copied == 0 {
			return fmt.Errorf("this Kubernetes has no %s", p.folder)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": overlay}, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(out, "overlay.json"), text)
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// prepare returns the text of a file with its imports, and what else is to be changed, changed.
func prepare(name, file string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if text, err = redirectImports(text); err != nil {
		return nil, err
	}
	if file != schedulerFile {
		return text, nil
	}
	for _, e := range schedulerEdits {
		if text, err = e.apply(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// redirectImports makes a file import the copies of what is copied.
func redirectImports(text []byte) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var out []byte
	done := 0
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		folder, ours := strings.CutPrefix(imported, upstreamModule)
		if !ours || !isCopied(folder) {
			continue
		}
		begin, end := files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset
		out = append(out, text[done:begin]...)
		out = strconv.AppendQuote(out, laidPackage+folder)
		done = end
	}
	return append(out, text[done:]...), nil
}

func isCopied(folder string) bool {
	for _, p := range packages {
		if p.folder == folder {
			return true
		}
	}
	return false
}

func (e edit) apply(text []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(text), "\n")
	at := -1
	for i, line := range lines {
		if strings.TrimSpace(line) != e.before {
			continue
		}
		if at >= 0 {
			return nil, fmt.Errorf("more than one line %q", e.before)
		}
		at = i
	}
	if at < 0 {
		return nil, fmt.Errorf("no line %q: where is the hook to go in this Kubernetes?", e.before)
	}
	return []byte(strings.Join(slices.Insert(lines, at, e.insert), "")), nil
}
