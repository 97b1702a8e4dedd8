package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

type object = map[string]any

// pair is a question and what is to be seen of its answer, member by member.
type pair struct {
	question, wanted object
	traits           []string // what the case is like, for the tally
}

// maker makes a case, with the answers of Karmada's code to its questions. It is called by one worker.
type maker func(d dice) ([]pair, error)

const batch = 100 // cases that one process is asked

// compareAll asks so many cases, made by a maker for each worker. Each of the traits must occur.
func compareAll(t *testing.T, count int, newMaker func() (maker, error), traits ...string) {
	t.Helper()
	t.Logf("seed %d; once more with -run %s -seed %d", seed(), t.Name(), seed())
	program, l := binary(t), newTally(traits)
	first, last := 0, count
	if *numberFlag >= 0 {
		first, last = *numberFlag, *numberFlag+1
	}
	var next atomic.Int64
	var failed atomic.Bool
	next.Store(int64(first))
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			ask, err := newMaker()
			if err != nil {
				t.Error(err)
				return
			}
			for from := int(next.Add(batch)) - batch; from < last && !failed.Load(); from = int(next.Add(batch)) - batch {
				if !compareBatch(t, program, l, ask, from, min(from+batch, last)) {
					failed.Store(true)
				}
			}
		})
	}
	running.Wait()
	if *numberFlag < 0 {
		l.report(t)
	}
}

// A question of a case that has a number.
type asked struct {
	number int
	pair
}

func compareBatch(t *testing.T, program string, l *tally, ask maker, from, to int) bool {
	var all []asked
	for number := from; number < to; number++ {
		pairs, err := ask(diceFor(number))
		if err != nil {
			t.Errorf("case %d of seed %d: Karmada: %v", number, seed(), err)
			return false
		}
		for _, p := range pairs {
			all = append(all, asked{number, p})
		}
	}
	questions := make([][]byte, len(all))
	for i, one := range all {
		line, err := json.Marshal(one.question)
		if err != nil {
			t.Error(err)
			return false
		}
		questions[i] = line
	}
	answers, err := evenkeel.Ask(program, questions)
	if err != nil {
		t.Error(err)
		return false
	}
	for i, one := range all {
		if text := differences(answers[i], one.wanted); text != "" {
			t.Errorf("case %d of seed %d:\n%s\nkept in %s", one.number, seed(), text, keep(t, one, answers[i], text))
			return false
		}
		l.add(one.traits)
	}
	return true
}

// differences names the members of an answer that are not as wanted.
func differences(answer json.RawMessage, wanted object) string {
	var ours, theirs object
	if err := decode(answer, &ours); err != nil {
		return fmt.Sprintf("%v: %s", err, answer)
	}
	text, err := json.Marshal(wanted)
	if err == nil {
		err = decode(text, &theirs)
	}
	if err != nil {
		return err.Error()
	}
	var lines []string
	for name := range theirs {
		if !reflect.DeepEqual(seen(name, ours[name]), seen(name, theirs[name])) {
			lines = append(lines, fmt.Sprintf("%s: %v, Karmada %v", name, ours[name], theirs[name]))
		}
	}
	if refusal, refused := ours["errorKind"]; refused && refusal == "Input" {
		lines = append(lines, fmt.Sprintf("refused: %v", ours["error"]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// seen is what of a member is compared: what is empty is as good as absent, and texts of a FitError are
// compared by what they say.
func seen(name string, value any) any {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil
		}
		if name == "error" {
			return fitErrorOf(v)
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	case map[string]any:
		kept := object{}
		for key, inner := range v {
			if inner = seen(key, inner); inner != nil {
				kept[key] = inner
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	}
	return value
}

// keep writes a question and both answers into a folder that stays.
func keep(t *testing.T, one asked, answer json.RawMessage, text string) string {
	t.Helper()
	folder := filepath.Join(fromRoot(t, "build/e2e/karmada"), fmt.Sprintf("%s-%d-%d", t.Name(), seed(), one.number))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Error(err)
	}
	question, _ := json.Marshal(one.question) // it was before
	wanted, _ := json.MarshalIndent(one.wanted, "", " ")
	for name, content := range map[string][]byte{"question.json": question, "karmada.json": wanted,
		"evenkeel.json": answer, "difference.txt": []byte(text)} {
		if err := os.WriteFile(filepath.Join(folder, name), append(content, '\n'), 0o644); err != nil {
			t.Error(err)
		}
	}
	return folder
}

func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("EVENKEEL")
	if path == "" {
		path = "build/evenkeel"
	}
	path = fromRoot(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("build/evenkeel is not built (EVENKEEL names another): %v", err)
	}
	return path
}

// fromRoot makes a path absolute that is written for the root of the repository.
func fromRoot(t *testing.T, path string) string {
	t.Helper()
	if filepath.IsAbs(path) {
		return path
	}
	root, err := os.Getwd() // that of the package under test
	if err != nil {
		t.Fatal(err)
	}
	for root != "/" {
		if _, err := os.Stat(filepath.Join(root, "Makefile")); err == nil {
			return filepath.Join(root, path)
		}
		root = filepath.Dir(root)
	}
	t.Fatal("not inside the repository")
	return ""
}
