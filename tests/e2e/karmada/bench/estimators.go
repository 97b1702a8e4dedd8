package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
)

// Estimators as processes: Karmada's (its server, v1.18.1) and Evenkeel list and watch the same made-up members, and
// callers in a process of their own ask both the same, over gRPC.

var (
	large = size{5000, 100000}
	small = size{500, 10000} // where sets do not take Karmada more than a second
	each  = size{1000, 20000}
)

const (
	memberName = "m"
	members    = 50
	syncLimit  = 5 * time.Minute
	rounds     = 3 // of ourSeconds, of which the best counts: others use the machine, too
	ourSeconds = 3
	crowd      = 1000
)

// side is one of the two.
type side struct {
	name, address string
	pid           int
	stop          func()
	synced        time.Duration // from its start until it answered
	listed        int           // KiB RSS then
	peak          int           // KiB until then
}

type comparison struct {
	binary, dir, api string // Evenkeel; a folder with certificates, for files; the API server's address
	callers          *process
}

// nameOf a member of so many.
func nameOf(i, count int) string {
	if count == 1 {
		return memberName
	}
	return fmt.Sprintf("m%02d", i)
}

func (c *comparison) startKarmada(s size) (*side, error) {
	config, err := kubeconfig(c.dir, c.api, s, memberName)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p, err := start("-as", "karmada", "-member", memberName, "-access", config, "-port", fmt.Sprint(port))
	if err != nil {
		return nil, err
	}
	k := &side{name: "Karmada", pid: p.command.Process.Pid, stop: p.stop, address: fmt.Sprintf("127.0.0.1:%d", port)}
	err = waitFor("Karmada's estimator", syncLimit, func() bool { // it listens when it has listed
		connection, err := net.Dial("tcp", k.address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
	return k.settled(began), err
}

func (c *comparison) startEvenkeel(count int, s size, options ...string) (*side, error) {
	for i := range count {
		name := nameOf(i, count)
		config, err := kubeconfig(c.dir, c.api, s, name)
		if err != nil {
			return nil, err
		}
		options = append(options, "--estimator-member", name+"="+config)
	}
	began := time.Now()
	e, err := evenkeel.Start(c.binary, options...)
	if err != nil {
		return nil, err
	}
	made := &side{name: "Evenkeel", pid: e.Pid(), stop: e.Stop, address: e.Address}
	err = waitFor("Evenkeel's members", syncLimit, func() bool {
		metrics, err := e.Metrics()
		return err == nil && strings.Contains(metrics, fmt.Sprintf("evenkeel_estimator_members{state=\"synced\"} %d\n", count))
	})
	return made.settled(began), err
}

func (s *side) settled(began time.Time) *side {
	s.synced = time.Since(began)
	s.listed, s.peak = kib(s.pid, "VmRSS"), kib(s.pid, "VmHWM")
	return s
}

// becomeIdle waits until it does nothing: Karmada's goes on with calls that nobody waits for any more.
func (s *side) becomeIdle() {
	const piece, most = 200 * time.Millisecond, 20 * time.Second
	for began, before := time.Now(), time.Duration(0); time.Since(began) < most; time.Sleep(piece) {
		now := cpu(s.pid)
		if now-before < piece/10 {
			return
		}
		before = now
	}
}

// load asks a side, and returns with it the CPU time of the side for a call.
func (c *comparison) load(s *side, what calling) (*called, time.Duration, error) {
	what.Address, what.Member = s.address, memberName
	s.becomeIdle()
	before := cpu(s.pid)
	result, err := c.callers.call(what)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.name, err)
	}
	return result, (cpu(s.pid) - before) / time.Duration(max(1, result.Calls)), nil
}

// best of some rounds, by the calls a second.
func (c *comparison) best(s *side, what calling) (*called, time.Duration, error) {
	var most *called
	var took time.Duration
	for range rounds {
		result, cpu, err := c.load(s, what)
		if err != nil {
			return nil, 0, err
		}
		if most == nil || result.PerSecond > most.PerSecond {
			most, took = result, cpu
		}
	}
	return most, took, nil
}

// agree has both asked everything once, and returns the answers.
func (c *comparison) agree(a, b *side, sets bool) ([]int32, error) {
	var answers [2][]int32
	for i, s := range []*side{a, b} {
		result, err := c.callers.call(calling{Address: s.address, Member: memberName, Sets: sets, Connections: 1, Seconds: 60})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		answers[i] = result.Answers
	}
	if !slices.Equal(answers[0], answers[1]) {
		return nil, fmt.Errorf("%s answers %v, %s %v", a.name, answers[0], b.name, answers[1])
	}
	return answers[0], nil
}

// ---- tables ----

func mib(kib int) string { return fmt.Sprintf("%.1f MiB", float64(kib)/1024) }

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", milliseconds(d)) }

// row of a table; what is more than 1 times as much is Karmada's.
func row(what, theirs, ours string, ratio float64) {
	fmt.Printf("| %s | %s | %s | %.3g x |\n", what, theirs, ours, ratio)
}

func heading(format string, arguments ...any) {
	fmt.Printf("\n"+format+"\n\n| what | Karmada | Evenkeel | ratio |\n|---|---|---|---|\n", arguments...)
}

func memoryRow(what string, theirs, ours int) {
	row(what, mib(theirs), mib(ours), float64(theirs)/float64(ours))
}

// number of theirs, and how many times ours it is; "" without any.
func number(what, unit string, theirs, ours, ratio float64) {
	if theirs == 0 {
		fmt.Printf("| %s | | %.4g%s | |\n", what, ours, unit)
		return
	}
	row(what, fmt.Sprintf("%.4g%s", theirs, unit), fmt.Sprintf("%.4g%s", ours, unit), ratio)
}

func loadRows(name string, theirs, ours *called, theirCPU, ourCPU time.Duration) {
	number(name+", calls a second", "", theirs.PerSecond, ours.PerSecond, ours.PerSecond/theirs.PerSecond)
	number(name+", p50", " ms", theirs.P50Ms, ours.P50Ms, theirs.P50Ms/ours.P50Ms)
	number(name+", p99", " ms", theirs.P99Ms, ours.P99Ms, theirs.P99Ms/ours.P99Ms)
	number(name+", CPU time of a call", " ms", milliseconds(theirCPU), milliseconds(ourCPU), float64(theirCPU)/float64(ourCPU))
	if late := theirs.Late + ours.Late; late > 0 {
		part := func(c *called) string { return fmt.Sprintf("%.0f %%", 100*float64(c.Late)/float64(max(1, c.Calls))) }
		fmt.Printf("| %s, later than the %s that karmada-scheduler waits | %s | %s | |\n", name, schedulerWaits, part(theirs), part(ours))
	}
}

// ---- what is compared ----

// compareEstimators prints the tables. What Karmada does not answer within its patience is not waited for.
func compareEstimators(binary, programs string, onlyOurs bool, patience time.Duration) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if text, err := exec.Command(binary, "certs", "init", "--dir", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%s certs init: %w: %s", binary, err, text)
	}
	c := &comparison{binary: binary, dir: dir}
	api, err := start("-as", "members", "-certs", dir)
	if err != nil {
		return err
	}
	defer api.stop()
	if c.api, err = api.line(); err != nil {
		return err
	}
	if c.callers, err = start("-as", "callers"); err != nil {
		return err
	}
	defer c.callers.stop()
	parts := []func() error{func() error { return c.oneMember(patience) }, c.overTLS, c.manyMembers, func() error { return alone(programs) }}
	if onlyOurs {
		parts = parts[1:]
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) oneMember(patience time.Duration) error {
	karmada, err := c.startKarmada(large)
	if err != nil {
		return err
	}
	defer karmada.stop()
	ours, err := c.startEvenkeel(1, large)
	if err != nil {
		return err
	}
	defer ours.stop()
	answers, err := c.agree(karmada, ours, false)
	if err != nil {
		return err
	}
	heading("A member of %d nodes and %d pods; equal answers to %d questions, over gRPC", large.nodes, large.pods, len(answers))
	row("from its start until it answers", fmt.Sprintf("%.1f s", karmada.synced.Seconds()), fmt.Sprintf("%.1f s", ours.synced.Seconds()),
		karmada.synced.Seconds()/ours.synced.Seconds())
	memoryRow("RSS then", karmada.listed, ours.listed)
	memoryRow("RSS, at its peak until then", karmada.peak, ours.peak)
	for _, load := range []struct {
		name                 string
		callers, connections int
		theirSeconds         float64 // which are a few of their calls; 0: they are not asked
	}{{"1 caller", 1, 1, 5}, {"200 callers on 1 connection", 200, 1, 20}, {"200 callers on 10 connections", 200, 10, 0}} {
		what := calling{Callers: load.callers, Connections: load.connections, Expected: answers, Seconds: load.theirSeconds}
		a, theirCPU := &called{}, time.Duration(0)
		if load.theirSeconds > 0 {
			if a, theirCPU, err = c.load(karmada, what); err != nil {
				return err
			}
		}
		what.Seconds = ourSeconds
		b, ourCPU, err := c.best(ours, what)
		if err != nil {
			return err
		}
		loadRows(load.name, a, b, theirCPU, ourCPU)
	}
	beside, _, err := c.best(ours, calling{Callers: 1, Connections: 1, Beside: crowd, Expected: answers, Seconds: ourSeconds})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("1 caller, while %d ask for component sets on another connection, ", crowd)
	number(name+"p50", " ms", 0, beside.P50Ms, 0)
	number(name+"p99", " ms", 0, beside.P99Ms, 0)
	memoryRow("RSS, after these", kib(karmada.pid, "VmRSS"), kib(ours.pid, "VmRSS"))
	memoryRow("RSS, at its peak", kib(karmada.pid, "VmHWM"), kib(ours.pid, "VmHWM"))
	return c.sets(karmada, ours, patience)
}

// sets are asked of a small member first, so that both answer, and then of the large one.
func (c *comparison) sets(karmada, ours *side, patience time.Duration) error {
	smallKarmada, err := c.startKarmada(small)
	if err != nil {
		return err
	}
	defer smallKarmada.stop()
	smallOurs, err := c.startEvenkeel(1, small)
	if err != nil {
		return err
	}
	defer smallOurs.stop()
	answers, err := c.agree(smallKarmada, smallOurs, true)
	if err != nil {
		return err
	}
	what := calling{Sets: true, Callers: 1, Connections: 1, Expected: answers, Seconds: 10}
	a, _, err := c.load(smallKarmada, what)
	if err != nil {
		return err
	}
	what.Seconds = ourSeconds
	b, _, err := c.best(smallOurs, what)
	if err != nil {
		return err
	}
	number(fmt.Sprintf("sets of JM + 3 TM on %d nodes (%d), p50", small.nodes, answers[0]), " ms", a.P50Ms, b.P50Ms, a.P50Ms/b.P50Ms)
	smallKarmada.stop()
	return c.largeSets(karmada, ours, patience)
}

func (c *comparison) largeSets(karmada, ours *side, patience time.Duration) error {
	what := calling{Address: ours.address, Member: memberName, Sets: true, Connections: 1, Callers: 1, Seconds: ourSeconds}
	first, err := c.callers.call(what)
	if err != nil {
		return err
	}
	what.Expected = first.Answers
	b, _, err := c.best(ours, what)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("sets of JM + 3 TM on %d nodes (%d), p50", large.nodes, first.Answers[0])
	what.Address, what.Expected, what.Seconds = karmada.address, nil, patience.Seconds()
	began := time.Now()
	theirs, err := c.callers.call(what)
	took := milliseconds(time.Since(began))
	if took >= milliseconds(patience) {
		fmt.Printf("| %s | not within %s | %.4g ms | > %.0f x |\n", name, patience, b.P50Ms, took/b.P50Ms)
		return nil
	}
	if err != nil {
		return err
	}
	if !slices.Equal(theirs.Answers, first.Answers) {
		return fmt.Errorf("sets: Karmada answers %v, Evenkeel %v", theirs.Answers, first.Answers)
	}
	number(name, " ms", took, b.P50Ms, took/b.P50Ms)
	return nil
}

// alone asks Evenkeel's store of a member without gRPC: tests/bench/members.c, of members as make_state makes them.
func alone(programs string) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	type timed struct {
		P50 float64 `json:"p50_us"`
		P99 float64 `json:"p99_us"`
	}
	fmt.Printf("\nA question without gRPC, CPU time in us, p50 (p99)\n\n| nodes | pods | of it kept | any node | nodes not asked for before | after a pod came or went | sets of JM + 3 TM |\n|---|---|---|---|---|---|---|\n")
	for _, s := range []size{each, large} {
		state, err := exec.Command(filepath.Join(programs, "make_state"), fmt.Sprint(s.nodes), fmt.Sprint(s.pods)).Output()
		if err != nil {
			return err
		}
		path := filepath.Join(dir, "state.json")
		if err := os.WriteFile(path, state, 0o600); err != nil {
			return err
		}
		var result struct {
			Heap  int   `json:"heap_bytes"`
			Any   timed `json:"any_node"`
			New   timed `json:"new_nodes"`
			After timed `json:"after_event"`
			Sets  timed `json:"sets"`
		}
		if err := ask(&result, filepath.Join(programs, "members"), path); err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %s |", s.nodes, s.pods, mib(result.Heap/1024))
		for _, t := range []timed{result.Any, result.New, result.After, result.Sets} {
			fmt.Printf(" %.1f (%.1f) |", t.P50, t.P99)
		}
		fmt.Println()
	}
	return nil
}

// overTLS has callers show certificates, too.
func (c *comparison) overTLS() error {
	at := func(name string) string { return filepath.Join(c.dir, name) }
	ours, err := c.startEvenkeel(1, large, "--estimator-cert-file", at("tls.crt"), "--estimator-key-file", at("tls.key"), "--estimator-client-ca-file", at("ca.crt"))
	if err != nil {
		return err
	}
	defer ours.stop()
	what := calling{Address: ours.address, Member: memberName, Certs: c.dir, Callers: 1, Connections: 1, Seconds: ourSeconds}
	first, err := c.callers.call(what)
	if err != nil {
		return err
	}
	fmt.Printf("\nEvenkeel alone, mutual TLS\n\n| callers | connections | calls a second | p50 | p99 | CPU time of a call |\n|---|---|---|---|---|---|\n")
	for _, load := range [][2]int{{1, 1}, {200, 1}, {200, 10}} {
		what.Callers, what.Connections, what.Expected = load[0], load[1], first.Answers
		result, cpu, err := c.best(ours, what)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %.0f | %.3f ms | %.3f ms | %s |\n", load[0], load[1], result.PerSecond, result.P50Ms, result.P99Ms, ms(cpu))
	}
	return nil
}

func (c *comparison) manyMembers() error {
	ours, err := c.startEvenkeel(members, each)
	if err != nil {
		return err
	}
	defer ours.stop()
	fmt.Printf("\nEvenkeel alone, %d members of %d nodes and %d pods each\n\n| from its start until all are synced | CPU time of that | RSS at its peak | RSS then | RSS, all asked |\n|---|---|---|---|---|\n",
		members, each.nodes, each.pods)
	took := cpu(ours.pid)
	for i := range members {
		if _, err := c.callers.call(calling{Address: ours.address, Member: nameOf(i, members), Connections: 1, Seconds: ourSeconds}); err != nil {
			return err
		}
	}
	fmt.Printf("| %.1f s | %.1f s | %s | %s | %s |\n", ours.synced.Seconds(), took.Seconds(), mib(ours.peak), mib(ours.listed), mib(kib(ours.pid, "VmRSS")))
	return nil
}
