package differential

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestSpread: verdicts, raw and normalised scores of random pods in random clusters.
func TestSpread(t *testing.T) {
	binary, folders := evenkeelBinary(t), workerFolders(t)
	tally := newTally()
	forEachCase(t, len(folders), func(worker, number int) bool {
		q, err := diceFor(number).question()
		var plugin *answer
		var text string
		if err == nil {
			plugin, text, err = q.ask(binary, folders[worker])
		}
		if err != nil {
			t.Errorf("seed %d, case %d: %v", seed(), number, err)
			return false
		}
		if text != "" {
			reportDifference(t, q, number, binary, folders[worker])
			return false
		}
		tally.add(q, plugin)
		if number%ablateEvery == 0 {
			err = tally.ablate(q, plugin)
		}
		if err != nil {
			t.Errorf("seed %d, case %d: %v", seed(), number, err)
		}
		return err == nil
	})
	if !t.Failed() {
		tally.report(t)
	}
}

// workerFolders are for the files of as many workers as there are processors.
func workerFolders(t *testing.T) []string {
	t.Helper()
	folders := make([]string, runtime.GOMAXPROCS(0))
	for i := range folders {
		folders[i] = t.TempDir()
	}
	return folders
}

// reportDifference keeps the case as found and as small as it gets.
func reportDifference(t *testing.T, q *question, number int, binary, folder string) {
	t.Helper()
	whole, err := q.keep(binary, "evenkeel-differential")
	if err != nil {
		t.Errorf("cannot keep the case: %v", err)
	}
	small := q.shrink(func(smaller *question) bool {
		_, text, err := smaller.ask(binary, folder)
		return err == nil && text != ""
	})
	_, text, _ := small.ask(binary, folder)
	kept, err := small.keep(binary, "evenkeel-differential-small")
	if err != nil {
		t.Errorf("cannot keep the case: %v", err)
	}
	command, _ := os.ReadFile(filepath.Join(kept, "command.sh"))
	t.Errorf("seed %d, case %d differs:\n%s\nas small as it gets in %s, as found in %s;\n"+
		"the plugin's answer is in plugin.json, ours is that of\n%s",
		seed(), number, text, kept, whole, command)
}
