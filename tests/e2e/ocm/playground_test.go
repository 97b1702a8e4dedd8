package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

// TestPlayground starts what `make hub` does, has it show a Placement that is even beside one that is not, and ends
// it as Ctrl-C does: nothing is left.
func TestPlayground(t *testing.T) {
	dir := filepath.Join(folder(t), "hub")
	command := exec.Command(setting(t, "EVENKEEL_E2E_HUB"), "-dir", dir, "-evenkeel", setting(t, "EVENKEEL"),
		"-controlplane", setting(t, "EVENKEEL_E2E_CONTROL_PLANE"), "-kubectl", setting(t, "EVENKEEL_E2E_KUBECTL"))
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	giveUp := time.AfterFunc(3*hub.Patience, func() { _ = command.Process.Kill() })
	defer giveUp.Stop()
	var said strings.Builder
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "Ctrl-C stops everything") {
			must(t, command.Process.Signal(syscall.SIGINT))
		}
	}
	if err := command.Wait(); err != nil || complaints.Len() > 0 {
		t.Fatalf("it ends with %v: %s\n%s", err, complaints.String(), said.String())
	}
	rows := regexp.MustCompile(`(?m)^ +(east|north|west) +(east|north|west)-[12] +(\d) +(\d)$`).FindAllStringSubmatch(said.String(), -1)
	uneven := false
	for _, row := range rows {
		if row[3] != "1" {
			t.Errorf("web is not even: %s", row[0])
		}
		uneven = uneven || row[4] != "1"
	}
	if len(rows) != 6 || !uneven {
		t.Errorf("it shows %d zones, and plain is uneven: %t\n%s", len(rows), uneven, said.String())
	}
	for _, process := range processesOf(t, dir) {
		t.Errorf("it is left: %s", process)
	}
}

// processesOf are the command lines that name a folder.
func processesOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), dir) { // another one may have ended meanwhile
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}
