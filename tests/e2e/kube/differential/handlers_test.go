package differential

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"evenkeel.io/tests/e2e/kube/differential/served"
)

// compileDriver compiles a C program of this folder with the library of the program under test.
func compileDriver(t testing.TB, source string, flags ...string) string {
	t.Helper()
	library := served.Program(t, "LIBEVENKEEL", "build/libevenkeel.a")
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	driver := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	sources := served.FromRoot(t, "src")
	arguments := []string{"-std=gnu11", "-D_GNU_SOURCE", "-O1", "-I" + filepath.Dir(sources), source, library}
	wings, err := filepath.Glob(filepath.Join(sources, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, wing := range wings {
		if filepath.Ext(wing) == "" {
			arguments = append(arguments, "-I"+wing)
		}
	}
	arguments = append(arguments, flags...)
	command := exec.Command(compiler, append(arguments, "-lm", "-pthread", "-o", driver)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the driver: %v\n%s", err, output)
	}
	return driver
}

// compileHandlers compiles the driver of handlers/handlers.c.
func compileHandlers(t testing.TB) string {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs",
		"libmicrohttpd", "gnutls", "openssl", "libcurl", "yaml-0.1", "libcjson").Output()
	if err != nil {
		t.Fatalf("pkg-config: %v", err)
	}
	return compileDriver(t, "handlers/handlers.c", strings.Fields(string(flags))...)
}

// handlers is a running driver: Evenkeel's handlers on a cluster of its own. It is for one goroutine.
type handlers struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startHandlers(t testing.TB, driver string) *handlers {
	t.Helper()
	h := &handlers{command: exec.Command(driver)}
	h.command.Stderr = os.Stderr
	in, err := h.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in, h.out = in, bufio.NewReaderSize(out, 64<<10)
	if err := h.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends at the end of its input
		_ = h.command.Wait()
	})
	return h
}

// run sends a command and returns the answer.
func (h *handlers) run(word string, body []byte) ([]byte, error) {
	message := append(fmt.Appendf(nil, "%s %d\n", word, len(body)), body...)
	if _, err := h.in.Write(message); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	var status, length int
	line, err := h.out.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(line, "%d %d", &status, &length)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the driver's answer %q: %w", word, line, err)
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(h.out, answer); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	if status != 200 {
		return nil, fmt.Errorf("%s: status %d: %s", word, status, answer)
	}
	return answer, nil
}

// ask calls a handler as kube-scheduler would.
func (h *handlers) ask(verb string, args, answer any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	text, err := h.run(verb, body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
