// Command bench measures, in one run, what OCM's Schedule() takes and what Evenkeel's whole answer takes,
// over HTTP, for the same Placement on the same fleet: with the prioritizers alone, and with two spread
// terms, of which OCM takes no notice. It prints medians and their ratios, as a table of Markdown.
//
//	bench -evenkeel build/evenkeel [-decide build/bench/decide] [-plan build/bench/plan]
//
// -decide adds what the decision with the terms takes of a core without HTTP and JSON, and -plan what the
// plan alone takes, by the programs of tests/bench.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"evenkeel.io/tests/e2e/ocm/internal/crds"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/peer"
	"evenkeel.io/tests/e2e/ocm/internal/state"
)

// size of a case. Zones are the leaves of the tree that the two terms make.
type size struct {
	clusters, zones, number int
}

var sizes = []size{{5000, 30, 50}, {5000, 30, 2500}, {5000, 220, 50}, {5000, 220, 2500}, {50000, 220, 50}}

// rounds are fewer where a call takes long.
func (s size) rounds() int { return 41 * 5000 / s.clusters }

func main() {
	klog.SetOutput(io.Discard) // of clients; what OCM logs goes to a context's logger
	klog.LogToStderr(false)
	binary := flag.String("evenkeel", "build/evenkeel", "the binary")
	decide := flag.String("decide", "", "the program that measures decisions alone; empty: none")
	plan := flag.String("plan", "", "the program that measures plans alone; empty: none")
	flag.Parse()
	if err := run(*binary, *decide, *plan); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(binary, decide, plan string) error {
	schemas, err := crds.ReadSchemas()
	if err != nil {
		return err
	}
	plans, err := readPlans(plan)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| clusters | zones | N | OCM's Schedule() p50 | Evenkeel over HTTP p50 | OCM / Evenkeel | with two terms | OCM / Evenkeel | the decision, CPU p50 | OCM / decision | plan alone, CPU p50 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range sizes {
		if err := measure(binary, decide, dir, schemas, s, plans); err != nil {
			return fmt.Errorf("%d of %d clusters: %w", s.number, s.clusters, err)
		}
	}
	fmt.Printf("\nMedians of calls that take turns, on %d processors.\n", runtime.NumCPU())
	return nil
}

// contestant is one way to answer, timed.
type contestant struct {
	call  func() error
	times []time.Duration
}

func (c *contestant) p50() time.Duration {
	slices.Sort(c.times)
	return c.times[len(c.times)/2]
}

func measure(binary, decide, dir string, schemas crds.Schemas, s size, plans map[size]float64) error {
	fleet := newFleet(s)
	file := filepath.Join(dir, "state.json")
	if err := os.WriteFile(file, fleet, 0o600); err != nil {
		return err
	}
	daemon, err := evenkeel.Start(binary, "--fleet-clusters", "--state", file)
	if err != nil {
		return err
	}
	defer daemon.Stop()
	plain, spread := newPlacement(s, false), newPlacement(s, true)
	schedule, err := scheduling(schemas, plain, fleet, s)
	if err != nil {
		return err
	}
	all := []*contestant{{call: schedule}}
	for _, placement := range [][]byte{plain, spread} {
		ask, err := asking(daemon, placement, s)
		if err != nil {
			return err
		}
		all = append(all, &contestant{call: ask})
	}
	if err := race(all, s.rounds()); err != nil {
		return err
	}
	theirs, ours, oursSpread := all[0].p50(), all[1].p50(), all[2].p50()
	alone, times, err := deciding(decide, dir, file, spread, s, theirs)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %d | %d | %s | %s | %.1f x | %s | %.1f x | %s | %s | %s |\n", s.clusters, s.zones, s.number, ms(theirs), ms(ours),
		ratio(theirs, ours), ms(oursSpread), ratio(theirs, oursSpread), alone, times, planText(plans, s))
	return nil
}

// race has each of them called in turn; two rounds are for caches.
func race(all []*contestant, rounds int) error {
	const warm = 2
	for round := range rounds + warm {
		runtime.GC() // none of the last case's
		for _, c := range all {
			began := time.Now()
			if err := c.call(); err != nil {
				return err
			}
			if round >= warm {
				c.times = append(c.times, time.Since(began))
			}
		}
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// ---- OCM ----

func scheduling(schemas crds.Schemas, placement, fleet []byte, s size) (func() error, error) {
	objects, err := state.Read(schemas, placement, fleet)
	if err != nil {
		return nil, err
	}
	ctx := klog.NewContext(context.Background(), logr.Discard())
	schedule, err := peer.NewWorld(ctx).Scheduling(objects)
	if err != nil {
		return nil, err
	}
	clusters := slices.Clone(objects.Clusters)
	return func() error {
		copy(clusters, objects.Clusters) // sorted by the call; without the copy the next has less to do
		result, status := schedule(ctx, clusters)
		if status.AsError() != nil || len(result.Decisions()) != s.number {
			return fmt.Errorf("OCM selects %d clusters: %w", len(result.Decisions()), status.AsError())
		}
		return nil
	}, nil
}

// ---- Evenkeel ----

// asking checks one answer, and then takes any that is as long as that was.
func asking(daemon *evenkeel.Daemon, placement []byte, s size) (func() error, error) {
	body, err := json.Marshal(map[string]any{"placement": json.RawMessage(placement)})
	if err != nil {
		return nil, err
	}
	text, err := daemon.Post("select", body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Selected []string `json:"selected"`
		Error    string   `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if len(answer.Selected) != s.number {
		return nil, fmt.Errorf("Evenkeel selects %d clusters: %s", len(answer.Selected), answer.Error)
	}
	return func() error {
		again, err := daemon.Post("select", body)
		if err == nil && len(again) != len(text) {
			err = errors.New("Evenkeel's answer has changed")
		}
		return err
	}, nil
}

// ---- the decision alone ----

// deciding returns what the decision takes of a core, and how often that fits into what OCM takes.
func deciding(program, dir, file string, placement []byte, s size, theirs time.Duration) (string, string, error) {
	if program == "" {
		return "", "", nil
	}
	path := filepath.Join(dir, "placement.json")
	if err := os.WriteFile(path, placement, 0o600); err != nil {
		return "", "", err
	}
	text, err := exec.Command(program, file, path).Output()
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", program, err)
	}
	var answer struct {
		Clusters, Selected int
		P50                float64 `json:"p50_us"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", "", fmt.Errorf("%s: %w", program, err)
	}
	if answer.Clusters != s.clusters || answer.Selected != s.number {
		return "", "", fmt.Errorf("%s selects %d of %d clusters", program, answer.Selected, answer.Clusters)
	}
	p50 := time.Duration(answer.P50 * float64(time.Microsecond))
	return ms(p50), fmt.Sprintf("%.0f x", ratio(theirs, p50)), nil
}

// ---- the plan alone ----

func readPlans(program string) (map[size]float64, error) {
	if program == "" {
		return nil, nil
	}
	text, err := exec.Command(program).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	var list []struct {
		Clusters, Leaves, Number, Weight int
		P50                              float64 `json:"p50_us"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	plans := map[size]float64{}
	for _, p := range list {
		if p.Weight == 0 {
			plans[size{p.Clusters, p.Leaves, p.Number}] = p.P50
		}
	}
	return plans, nil
}

func planText(plans map[size]float64, s size) string {
	us, measured := plans[s]
	if !measured {
		return ""
	}
	return ms(time.Duration(us * float64(time.Microsecond)))
}
