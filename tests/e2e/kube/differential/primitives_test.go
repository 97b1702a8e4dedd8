package differential

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// primitive is a question for the driver (see primitives/primitives.c) and the real answer.
type primitive struct {
	operation string
	fields    []string
	want      string
}

// verdictOf is the driver's answer to a question with yes and no.
func verdictOf(yes bool, err error) string {
	if err != nil {
		return "error"
	}
	return fmt.Sprint(yes)
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // only values made here
	}
	return string(text)
}

// askDriver returns an answer for each question.
func askDriver(t *testing.T, questions []primitive) []string {
	t.Helper()
	var input, output, stderr bytes.Buffer
	for _, q := range questions {
		input.WriteString(q.operation)
		for _, field := range q.fields {
			input.WriteString("\t" + hex.EncodeToString([]byte(field)))
		}
		input.WriteByte('\n')
	}
	command := exec.Command(compileDriver(t, "primitives/primitives.c"))
	command.Stdin, command.Stdout, command.Stderr = &input, &output, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("driver: %v: %s", err, stderr.String())
	}
	answers := strings.Split(strings.TrimSuffix(output.String(), "\n"), "\n")
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// comparePrimitives asks what `ask` makes of each case's dice, and reports the first differences.
// Every kind of answer in `kinds` must have come up; kindOf sorts them.
func comparePrimitives(t *testing.T, kinds []string, kindOf func(answer string) string, ask func(d dice) primitive) {
	t.Helper()
	var questions []primitive
	forEachCase(t, 1, func(_, number int) bool {
		questions = append(questions, ask(diceFor(number)))
		return true
	})
	const shown = 10
	count, wrong := map[string]int{}, 0
	for number, got := range askDriver(t, questions) {
		q := questions[number]
		count[kindOf(q.want)]++
		if agrees(got, q.want) {
			continue
		}
		if wrong++; wrong <= shown {
			t.Errorf("seed %d, case %d: %s %q: got %q, want %q", seed(), number, q.operation, q.fields, got, q.want)
		}
	}
	t.Logf("%d questions: %v; %d wrong", len(questions), count, wrong)
	for _, kind := range kinds {
		if count[kind] == 0 && *numberFlag < 0 {
			t.Errorf("no answer '%s' among %v: the cases are too dull", kind, slices.Collect(maps.Keys(count)))
		}
	}
}

// anything at the end of an expected answer agrees with all that is written there.
const anything = "*"

func agrees(got, want string) bool {
	if start, open := strings.CutSuffix(want, anything); open {
		return strings.HasPrefix(got, start)
	}
	return got == want
}

func itself(answer string) string { return answer }

var trueFalseError = []string{"true", "false", "error"}

// mutate changes a text in up to `changes` places, with characters that mean something in it.
func (d dice) mutate(text, alphabet string, changes int) string {
	bytes := []byte(text)
	for range d.IntN(changes + 1) {
		at := d.IntN(len(bytes) + 1)
		one := alphabet[d.IntN(len(alphabet))]
		switch {
		case at == len(bytes) || d.chance(40):
			bytes = slices.Insert(bytes, at, one)
		case d.chance(50):
			bytes[at] = one
		default:
			bytes = slices.Delete(bytes, at, min(at+1+d.IntN(3), len(bytes)))
		}
	}
	return string(bytes)
}
