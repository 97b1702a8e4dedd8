// Attack plays attacks on a running evenkeel and measures what they cost others.
//
// Two attackers count. U may create pods in one namespace: it sends reviews and pods through an API
// server. N is any pod that reaches a port and has no credentials. While they attack, bystanders go
// on: an API server that sends good reviews, a kube-scheduler that asks for filters, a kubelet that
// probes. An attack has succeeded when a bystander waits for more than three times its quiet p99, for
// more than 20 ms and for more than three times what a server waits for that nobody attacks, when a probe fails, when the process takes more memory than its budget, when a
// watch stops, or when the attacker gets what is not its own.
//
// Everything is bounded in number and time and talks to 127.0.0.0/8 only.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

const usage = `usage: attack [-evenkeel BINARY] [-run PATTERN] [-list] [-v]
       attack [-evenkeel BINARY] -bodies N [-seed N]

Plays every scene against the binary and prints what it cost the others. Exit codes: 0 all held,
1 an attack succeeded, 2 wrong usage or the scene could not be set up. With PART=1/3 in the
environment every third scene is played, from number 1 on.

`

// Noise makes a bystander wait, too: an attack that hurts does so every time.
const tries = 5

// What everybody may wait for, whatever it was before.
var patience time.Duration

// So many times as much memory and time may everything take.
var slack int

// Attacks that take long are as large as they can be.
var full bool

// Part of the scenes: every `of`-th, from number `first` on.
type part struct{ first, of int }

// readPart reads one: "1/3" is every third, from number 1 on; an empty text means all.
func readPart(text string) (part, error) {
	if text == "" {
		return part{0, 1}, nil
	}
	var p part
	var rest string
	if n, _ := fmt.Sscanf(text+" .", "%d/%d %s", &p.first, &p.of, &rest); n != 3 || rest != "." || p.first < 0 || p.first >= p.of {
		return p, fmt.Errorf("PART=%s is not like 1/3, with the first number less than the second", text)
	}
	return p, nil
}

func main() {
	binary := flag.String("evenkeel", "build/evenkeel", "the binary to attack")
	pattern := flag.String("run", "", "only scenes whose name matches this regular expression")
	list := flag.Bool("list", false, "print the scenes and what they are, and end")
	count := flag.Int("bodies", 0, "play no scenes, but post so many mutated bodies")
	seed := flag.Int64("seed", time.Now().UnixNano(), "what the mutations follow from")
	flag.DurationVar(&patience, "patience", 20*time.Millisecond, "a wait that hurts nobody; more on a machine that others use")
	flag.IntVar(&slack, "slack", 1, "so many times as much memory and time is allowed: for a binary with sanitizers")
	flag.BoolVar(&full, "full", false, "what takes long is done at full size")
	verbose := flag.Bool("v", false, "keep the daemon's log and say where it is")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	chosen, err := regexp.Compile(*pattern)
	var asked part
	if err == nil {
		asked, err = readPart(os.Getenv("PART"))
	}
	if err != nil || flag.NArg() > 0 || slack < 1 {
		fmt.Fprintf(os.Stderr, "attack: %v %v\n", err, flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	if *list {
		for _, s := range scenes {
			fmt.Printf("%-20s %s\n", s.name, s.story)
		}
		return
	}
	if _, err := os.Stat(*binary); err != nil {
		fmt.Fprintf(os.Stderr, "attack: no binary to attack: %v; run make, or give -evenkeel\n", err)
		os.Exit(2)
	}
	if *count > 0 {
		os.Exit(playBodies(*binary, *count, *seed))
	}
	os.Exit(runAll(*binary, chosen, asked, *verbose))
}

func runAll(binary string, chosen *regexp.Regexp, asked part, verbose bool) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	passed, failed := 0, 0
	fmt.Println("p99 in ms, quiet > attacked; a control is answered by a server that nobody attacks; lock: the longest hold, ms")
	fmt.Printf("%-20s %-18s %-18s %-18s %-18s %5s %8s %6s\n", "scene", "review", "filter", "probe", "control", "RSS", "relists", "lock")
	for i, s := range scenes {
		if i%asked.of != asked.first || !chosen.MatchString(s.name) {
			continue
		}
		select {
		case <-stop:
			fmt.Println("interrupted")
			return 1
		default:
		}
		result := runScene(s, binary, verbose)
		for try := 1; try < tries && result.onlySlow(); try++ {
			result = runScene(s, binary, verbose)
		}
		fmt.Println(result)
		if len(result.faults) > 0 {
			failed++
		} else {
			passed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return 1
	}
	return 0
}

// A scene is one attack: how the daemon is set up, what is in the cluster, and what the attacker does
// until it has done it. A scene's time is bounded by attackTime.
type scene struct {
	name, story string
	options     []string              // of `evenkeel serve`, beside what every scene has
	files       int                   // that the daemon may have open; 0: as many as we may
	openDoors   bool                  // no client CA at extender and webhook
	hub         bool                  // the API server is a fleet's hub, too
	placements  bool                  // and Placements are decided there: reviews and questions are of these
	estimator   bool                  // the API server is a member cluster, too
	relists     bool                  // pods are listed again: that is the attack
	prepare     func(*cluster)        // before the daemon starts
	attack      func(*stage) error    // an error: the attack could not be carried out
	after       func(*stage) []string // what the attacker got that it should not have
	rssBudget   int                   // MiB beyond the goal; 0: none
	validates   bool                  // reviews are of pods as they will be stored
	mostWait    time.Duration         // of any review, in place of what its p99 says; 0: that says it
}

const attackTime = 20 * time.Second

type result struct {
	name          string
	quiet, during figures
	rss           int // MiB, the most while attacked
	relists       int
	lock          float64  // seconds for which a writer has held the cache's lock at most, with the start; < 0: not told
	figure        string   // what the attack took, if a scene says so
	faults        []string // what went wrong; empty: the daemon held
	slow          int      // how many of them say that somebody waited, perhaps in vain
}

func (r result) onlySlow() bool { return len(r.faults) > 0 && len(r.faults) == r.slow }

func (r result) String() string {
	text := fmt.Sprintf("%-20s", r.name)
	for i := range r.quiet {
		text += fmt.Sprintf(" %7.2f > %-8.2f", ms(r.quiet[i].p99), ms(r.during[i].p99))
	}
	text += fmt.Sprintf(" %5d %8d %6.1f", r.rss, r.relists, r.lock*1000)
	if r.figure != "" {
		text += "\n  " + r.figure
	}
	for _, fault := range r.faults {
		text += "\n  not held: " + fault
	}
	return text
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
