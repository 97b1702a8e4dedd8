package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"regexp"
	"sync"
	"time"
)

// playBodies posts that many mutated bodies to every verb. Each gets an answer that is meant for it,
// a good one is JSON, and the daemon lives: with sanitizers it would say what it has done wrong.
func playBodies(binary string, count int, seed int64) int {
	folder, err := os.MkdirTemp("", "evenkeel-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 2
	}
	defer os.RemoveAll(folder)
	s := scene{name: "bodies", openDoors: true, prepare: bindingPolicy}
	st, err := openStage(&s, binary, folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 2
	}
	defer st.api.close()
	defer st.control.Close()
	fmt.Printf("%d mutated bodies, seed %d\n", count, seed)
	b := &bodies{stage: st, seeds: st.goodBodies(), statuses: map[int]int{}}
	b.play(count, seed)
	if err := st.daemon.end(); err != nil {
		b.complain(err.Error())
	}
	if text, err := os.ReadFile(st.daemon.log); err != nil {
		b.complain(err.Error())
	} else if found := sanitizer.Find(text); found != nil {
		b.complain(string(found))
	}
	fmt.Println("answers by status:", b.statuses)
	for _, complaint := range b.complaints {
		fmt.Println("not held:", complaint)
	}
	fmt.Printf("%d passed, %d failed\n", count-len(b.complaints), len(b.complaints))
	return min(len(b.complaints), 1)
}

var sanitizer = regexp.MustCompile(`(?m)^.*(Sanitizer|runtime error|Assertion).*$`)

type question struct {
	url  string
	body []byte
}

type bodies struct {
	stage      *stage
	seeds      []question
	mutex      sync.Mutex
	statuses   map[int]int
	complaints []string
}

func (st *stage) goodBodies() []question {
	pod := withSpread(fluidPod("p"), zoneKey, "DoNotSchedule", object{"app": "web-1"})
	pod["spec"].(object)["tolerations"] = []object{{"key": "a", "operator": "Exists", "tolerationSeconds": 5}}
	pod["spec"].(object)["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
		"nodeSelectorTerms": []object{{"matchExpressions": requirements(zoneKey, "NotIn", []string{"zone-03", "\u00fc"})}}}}}
	gated := object{"spec": object{"schedulingGates": []object{{"name": "example.com/wait"}}}}
	extender, names := "https://"+st.daemon.extender+"/extender/v1/", nodeNames()[:20]
	victims := object{}
	for _, name := range names {
		victims[name] = object{"Pods": []object{{"UID": "good-web-1"}}, "NumPDBViolations": 0}
	}
	return []question{
		{extender + "filter", filterOf(pod, names)},
		{extender + "prioritize", filterOf(pod, names)},
		{extender + "preempt", encode(object{"Pod": pod, "NodeNameToMetaVictims": victims})},
		{extender + "bind", []byte(`{"PodName":"p","PodNamespace":"u","PodUID":"u-p","Node":"node-0001"}`)},
		{"https://" + st.daemon.webhook + "/webhooks/v1/pods", reviewOf(pod, true)},
		{"https://" + st.daemon.webhook + "/webhooks/v1/pods/validate", reviewBy("alice", pod, nil, true)},
		{"https://" + st.daemon.webhook + "/webhooks/v1/pods/validate", reviewBy("alice", pod, gated, true)},
	}
}

func (b *bodies) complain(what string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.complaints) < 20 { // more would say no more
		b.complaints = append(b.complaints, what)
	}
}

func (b *bodies) play(count int, seed int64) {
	const atOnce = 8
	var all sync.WaitGroup
	for i := 0; i < atOnce; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			random := rand.New(rand.NewSource(seed + int64(i)))
			client := caller("127.0.0.5", b.stage.authority.client("", nil), 1)
			client.Timeout = 30 * time.Second // a sanitizer takes its time
			defer client.CloseIdleConnections()
			for n := i; n < count; n += atOnce {
				q := b.seeds[random.Intn(len(b.seeds))]
				b.ask(client, question{q.url, mutated(random, q.body)})
			}
		}(i)
	}
	all.Wait()
}

func (b *bodies) ask(client *http.Client, q question) {
	response, err := client.Post(q.url, "application/json", bytes.NewReader(q.body))
	if err != nil {
		b.complain(fmt.Sprintf("no answer from %s: %v, to %.400q", q.url, err, q.body))
		return
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	good := response.StatusCode != http.StatusOK || json.Valid(text)
	if err != nil || !good || response.StatusCode >= 500 && response.StatusCode != http.StatusServiceUnavailable {
		b.complain(fmt.Sprintf("%d %v %.200s from %s, to %.400q", response.StatusCode, err, text, q.url, q.body))
	}
	b.mutex.Lock()
	b.statuses[response.StatusCode]++
	b.mutex.Unlock()
}

var tokens = []string{`null`, `{}`, `[]`, `""`, `-1`, `9223372036854775808`, `1e400`, `"\u0000"`, `"\ud800"`, `true`,
	`{"a":{"a":{"a":{}}}}`, `,`, `:`, `}`, `]`, "\x00", "\xff\xfe"}

// mutated changes a body in a few places: bytes, pieces left out, doubled or moved, values replaced.
func mutated(random *rand.Rand, body []byte) []byte {
	text := bytes.Clone(body)
	for n := 1 + random.Intn(4); n > 0 && len(text) > 2; n-- {
		at := random.Intn(len(text))
		end := min(len(text), at+1+random.Intn(40))
		switch random.Intn(6) {
		case 0:
			text[at] ^= 1 << random.Intn(8)
		case 1:
			text = append(text[:at:at], text[end:]...)
		case 2:
			text = append(text[:end:end], text[at:]...)
		case 3:
			text = bytes.Join([][]byte{text[:at], []byte(tokens[random.Intn(len(tokens))]), text[end:]}, nil)
		case 4: // a whole value, so that the rest stays JSON
			if colon := bytes.IndexByte(text[at:], ':'); colon >= 0 {
				from := at + colon + 1
				if stop := bytes.IndexAny(text[from:], ",}]"); stop >= 0 {
					text = bytes.Join([][]byte{text[:from], []byte(tokens[random.Intn(len(tokens))]), text[from+stop:]}, nil)
				}
			}
		case 5:
			text = text[:end]
		}
	}
	return text
}
