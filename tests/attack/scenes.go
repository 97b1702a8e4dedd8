package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	podsList = "/api/v1/pods"
	hostKey  = "kubernetes.io/hostname"
	zoneKey  = "topology.kubernetes.io/zone"
)

var scenes = []scene{
	{name: "mounts", story: "U creates pods of 16,000 volumes and 16,000 mounts of a dataset", attack: mounts},
	{name: "terms", story: "U creates pods whose affinity must be merged with a dataset's, term by term", attack: terms},
	{name: "selectors", story: "U's pods have affinities of 390,000 values", attack: selectors},
	{name: "label-sets", story: "U has 3,000 pods with labels of their own, and selectors that count them", attack: labelSets},
	{name: "strange-pod", story: "U creates and deletes pods with 1,025 labels, and one too large to read", attack: strangePods, after: othersAreSeen},
	{name: "large-pages", story: "U has 50 pending pods of 1.4 MB; the API server has no watch lists",
		prepare: largePods, attack: nothing, after: othersAreSeen, rssBudget: 192},
	{name: "owner-names", story: "U's 60 workloads have names of 1 MB, as their pods say", attack: ownerNames, after: metricsAreSmall},
	{name: "labels", story: "U has 60 pods with 1.2 MB of labels each, and a replica starts anew", attack: labels, after: labelsAreBounded},
	{name: "require", story: "U has 5,000 sets of labels and 12 of 90,000, and such pods are validated, four at once", validates: true,
		prepare: bindingNamespace, attack: validations, mostWait: 300 * time.Millisecond},
	{name: "evasions", story: "U writes pods that evade a policy with mode Require", validates: true,
		prepare: bindingPolicy, attack: evasions},
	{name: "endless-list", story: "a list of pods has no end: it is a stream that never says that it is whole", relists: true,
		attack: endless(podsList, false), after: listIsRight(podsList, "evenkeel_cache_pods ", podCount)},
	{name: "endless-pages", story: "the same in pages that never end", relists: true,
		prepare: func(c *cluster) { c.noWatchList = true }, attack: endless(podsList, false), after: listIsRight(podsList, "evenkeel_cache_pods ", podCount)},
	{name: "endless-watch", story: "the list is good, and the watch after it adds pods without end", relists: true,
		attack: endless(podsList, true), after: listIsRight(podsList, "evenkeel_cache_pods ", podCount)},
	{name: "endless-nodes", story: "a list of nodes has no end", attack: endless(nodesList, false),
		after: listIsRight(nodesList, "evenkeel_cache_nodes", nodeCount)},
	{name: "endless-volumes", story: "the same of volumes", attack: endless(volumesList, false), after: listIsRight(volumesList, "", 0)},
	{name: "endless-hub", story: "the same of a fleet's clusters", hub: true, prepare: smallFleet,
		attack: endless(clustersList, false), after: listIsRight(clustersList, `evenkeel_candidates{resource="managedclusters"}`, fleetCount)},
	{name: "probe-slots", story: "N holds every slot of the ops listener it can get", attack: probeSlots},
	{name: "webhook-slots", story: "N holds connections of the webhook from four addresses", attack: webhookSlots},
	{name: "webhook-slots-open", story: "the same where no client CA is set", openDoors: true, attack: webhookSlots},
	{name: "handshakes", story: "N begins 16 handshakes with webhook and extender, and says no more", attack: handshakes},
	{name: "extender-slots", story: "N holds connections of the extender from four addresses", attack: extenderSlots},
	{name: "extender-slots-open", story: "the same where no client CA is set", openDoors: true, attack: extenderSlots},
	{name: "descriptors-open", story: "N holds connections of all listeners where 1,024 files may be open", openDoors: true, files: 1024, attack: descriptors},
	{name: "bind", story: "N asks for bindings and reviews without a certificate", attack: strangers, after: tokenUnused},
	{name: "bind-open", story: "the same where no client CA is set", openDoors: true, attack: strangers, after: tokenUnused},
	{name: "answers", story: "N asks for large answers and does not read them", attack: slowReaders},
	{name: "answers-open", story: "the same where no client CA is set", openDoors: true, attack: slowReaders, rssBudget: 256},
	{name: "webhook-bodies-open", story: "N sends 16 bodies that lack their last byte, as large as they may be", openDoors: true, attack: webhookBodies, rssBudget: 256},
	{name: "extender-bodies-open", story: "the same with four to the extender", openDoors: true, attack: extenderBodies, rssBudget: 256},
	{name: "preempt", story: "N asks what evicting 20,000 pods would help", openDoors: true, prepare: manyKeys, attack: preempts},
	{name: "placements", story: "U creates 1,000 Placements in its namespace of a hub, and changes them all the time", placements: true,
		prepare: tenantFleet(300, "u", "bob"), attack: manyPlacements},
	{name: "spread-groups", story: "U has 500 Placements with spread groups of 1,000 requirements", placements: true,
		prepare: tenantFleet(300, "u", "bob"), attack: spreadGroups},
	{name: "scored-placements", story: "U has 100 Placements of mode Scores (400 with LONG=1) on four clusters", placements: true,
		prepare: tenantFleet(scoredClusters, "u", "bob"), attack: scoredPlacements, after: scoresAreWritten},
	{name: "large-placements", story: "U has 100 MB of Placements (300 with LONG=1), and a replica starts anew", placements: true,
		prepare: tenantFleet(300, "u", "bob"), attack: fillNamespace, after: aReplicaDecides},
	{name: "costly-plans", story: "U has Placements of 12,000 predicates on a fleet of 5,000 clusters", placements: true,
		prepare: tenantFleet(5000, "u", "bob"), attack: costlyPlans},
	{name: "forged-decisions", story: "U writes PlacementDecisions that name 300,000 clusters", placements: true,
		prepare: tenantFleet(300, "u", "bob"), attack: forgedDecisions, after: forgedAreForgotten},
	{name: "fleet", story: "who may ask about fleets asks for 10,000 terms, of a million names, over 20,000 domains", attack: fleetQuestions, rssBudget: 512},
	{name: "divide", story: "the same asks for searches, divisions and estimates that have no end", attack: karmadaQuestions, rssBudget: 512},
	{name: "h2-resets", story: "N opens calls of an estimator and resets them", estimator: true, openDoors: true, attack: rapidResets},
	{name: "h2-frames", story: "N floods it with SETTINGS, PING, PRIORITY, WINDOW_UPDATE and empty DATA", estimator: true, openDoors: true, attack: frameFloods},
	{name: "h2-headers", story: "N sends headers without end, large ones, and ones that HPACK makes large", estimator: true, openDoors: true, attack: headerFloods},
	{name: "h2-streams", story: "N opens 1,000 calls on each of 200 connections, and ends none", estimator: true, openDoors: true, attack: openStreams},
	{name: "h2-answers", story: "N asks and takes no answers", estimator: true, openDoors: true, attack: answersLeft},
	{name: "h2-slots", story: "N holds connections of the estimator from four addresses", estimator: true, openDoors: true, attack: estimatorSlots},
	{name: "estimates", story: "N asks for sets of 300 components that differ, on 64 connections", estimator: true, openDoors: true, attack: largeQuestions},
	{name: "names", story: "N shows certificates that hold the scheduler's name in another place", attack: otherNames},
	{name: "web-page", story: "a web page reads explanations through a forwarded port", attack: webPage},
	{name: "smuggling", story: "N hides requests behind bodies", openDoors: true, attack: smuggled},
	{name: "ring", story: "U sends dry runs until nobody else's decision is kept", attack: flushRing, after: decisionKept},
}

func nothing(*stage) error { return nil }

// ---- U: what API servers send on its behalf ----

// asAPIServer posts bodies, a few at a time, and goes on until the scene's time is over. API servers
// send what U writes over the same kind of connection as everybody's.
func (st *stage) asAPIServer(bodies [][]byte, atOnce int) error {
	return st.post("https://"+st.daemon.webhook+"/webhooks/v1/pods", "kube-apiserver-webhook-client", bodies, atOnce)
}

func (st *stage) asScheduler(verb string, bodies [][]byte, atOnce int) error {
	return st.post("https://"+st.daemon.extender+"/extender/v1/"+verb, "system:kube-scheduler", bodies, atOnce)
}

func (st *stage) post(where, name string, bodies [][]byte, atOnce int) error {
	client := caller("127.0.0.5", st.authority.client(name, nil), atOnce)
	client.Timeout = 10 * time.Second // as API servers and kube-scheduler have one
	defer client.CloseIdleConnections()
	queue := make(chan []byte)
	var workers sync.WaitGroup
	for i := 0; i < atOnce; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for body := range queue {
				response, err := client.Post(where, "application/json", bytes.NewReader(body))
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body) // whatever it says: U cannot make others wait
					_ = response.Body.Close()
				}
			}
		}()
	}
	for _, body := range bodies {
		if !st.until() {
			break
		}
		queue <- body
	}
	close(queue)
	workers.Wait()
	return nil
}

func fluidPod(name string) object {
	pod := podOf("u", name, object{"fuse.serverful.fluid.io/inject": "true"})
	pod["spec"].(object)["volumes"] = []object{{"name": "v", "persistentVolumeClaim": object{"claimName": "images"}}}
	return pod
}

func mounts(st *stage) error {
	const many = 16000
	pod := fluidPod("mounts")
	var volumes, wanted []object
	for i := 0; i < many; i++ {
		volumes = append(volumes, object{"name": fmt.Sprintf("v%d", i), "persistentVolumeClaim": object{"claimName": "images"}})
		wanted = append(wanted, object{"name": fmt.Sprintf("v%d", many-1-i), "mountPath": "/m"})
	}
	spec := pod["spec"].(object)
	spec["volumes"] = volumes
	spec["containers"].([]object)[0]["volumeMounts"] = wanted
	body := reviewOf(pod, true)
	return st.asAPIServer([][]byte{body, body, body, body}, 2)
}

func values(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%c%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576%26)
	}
	return list
}

func terms(st *stage) error {
	pod := fluidPod("terms")
	var list []object
	for i := 0; i < 32; i++ {
		list = append(list, object{"matchExpressions": []object{{"key": fmt.Sprintf("k%d", i), "operator": "NotIn", "values": values(3800)}}})
	}
	pod["spec"].(object)["affinity"] = object{"nodeAffinity": object{
		"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": list}}}
	body := reviewOf(pod, true)
	return st.asAPIServer([][]byte{body, body, body, body}, 2)
}

// requirements says one thing in many words: none of these values, in pieces.
func requirements(key, operator string, all []string) (list []object) {
	const piece = 4000
	for ; len(all) > piece; all = all[piece:] {
		list = append(list, object{"key": key, "operator": operator, "values": all[:piece]})
	}
	return append(list, object{"key": key, "operator": operator, "values": all})
}

func selectors(st *stage) error {
	all := values(390601)
	var bodies [][]byte
	for i := 0; i < 60; i++ {
		pod := podOf("u", fmt.Sprintf("s%d", i), object{"n": fmt.Sprint(i)})
		all[0] = fmt.Sprintf("n%d", i)
		pod["spec"].(object)["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
			"nodeSelectorTerms": []object{{"matchExpressions": requirements(hostKey, "NotIn", all)}}}}}
		withSpread(pod, zoneKey, "DoNotSchedule", object{"n": fmt.Sprint(i)})
		bodies = append(bodies, filterOf(pod, []string{nodeName(i)}))
	}
	return st.asScheduler("filter", bodies, 1)
}

func labelSets(st *stage) error {
	for i := 0; i < 3000; i++ {
		pod := podOf("u", fmt.Sprintf("l%d", i), object{"x": values(3000)[i]})
		pod["spec"].(object)["nodeName"] = nodeName(i % nodeCount)
		st.api.tell(podsList, "ADDED", pod)
	}
	all := values(234000)
	var bodies [][]byte
	for i := 0; i < 4; i++ {
		pod := podOf("u", "counted", object{"x": "a"})
		all[0] = fmt.Sprintf("n%d", i)
		pod["spec"].(object)["topologySpreadConstraints"] = []object{{"maxSkew": 1, "topologyKey": zoneKey, "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": object{"matchExpressions": requirements("x", "NotIn", all)}}}
		bodies = append(bodies, filterOf(pod, []string{nodeName(i)}))
	}
	if err := st.asScheduler("filter", bodies, 1); err != nil {
		return err
	}
	for i := 0; i < 200; i++ { // and each new set of labels is held against what is remembered
		pod := podOf("u", fmt.Sprintf("m%d", i), object{"x": fmt.Sprintf("new%d", i)})
		pod["spec"].(object)["nodeName"] = nodeName(i)
		st.api.tell(podsList, "ADDED", pod)
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// ---- U: what is in its namespace ----

func manyLabels(n int) object {
	labels := object{}
	for i := 0; i < n; i++ {
		labels[fmt.Sprintf("l%d", i)] = "v"
	}
	return labels
}

func strangePods(st *stage) error {
	for i := 0; i < 5; i++ {
		pod := podOf("u", fmt.Sprintf("strange%d", i), manyLabels(1025))
		pod["spec"].(object)["nodeName"] = nodeName(i)
		st.api.tell(podsList, "ADDED", pod)
		time.Sleep(100 * time.Millisecond)
		st.api.tell(podsList, "DELETED", pod)
	}
	// Sidecars with as many resources as they like, and containers that come after them.
	var init []object
	requests := object{}
	for i := 0; i < 1000; i++ {
		requests[fmt.Sprintf("a/%d", i)] = "1"
	}
	init = append(init, object{"name": "s", "restartPolicy": "Always", "resources": object{"requests": requests}})
	for i := 0; i < 20000; i++ {
		init = append(init, object{"name": fmt.Sprint(i), "resources": object{"requests": object{"cpu": "1"}}})
	}
	pod := podOf("u", "large", nil)
	pod["spec"].(object)["initContainers"] = init
	pod["spec"].(object)["nodeName"] = nodeName(1)
	st.api.tell(podsList, "ADDED", pod)
	time.Sleep(500 * time.Millisecond)
	return nil
}

func largePods(c *cluster) {
	c.noWatchList = true
	for i := 0; i < 50; i++ {
		pod := podOf("u", fmt.Sprintf("pending%d", i), nil)
		pod["metadata"].(object)["annotations"] = object{"a": strings.Repeat("x", 1400000)}
		c.add(podsList, pod)
	}
}

// othersAreSeen creates a pod of another tenant and wants it counted within two seconds.
func othersAreSeen(st *stage) []string {
	before := st.daemon.metric("evenkeel_cache_pods")
	if before < 0 {
		return []string{"there is no metric evenkeel_cache_pods"}
	}
	pod := podOf("good", "new", object{"app": "web-1"})
	pod["spec"].(object)["nodeName"] = nodeName(3)
	st.api.tell(podsList, "ADDED", pod)
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if st.daemon.metric("evenkeel_cache_pods") > before {
			return nil
		}
	}
	return []string{"another tenant's pod was not seen for two seconds"}
}

// ---- N: connections ----

// hold opens connections to a listener, one after the other so that it is not the work of handshakes
// that is felt: half of them ask for something that is refused, the others say nothing. It keeps what
// it gets, and opens those that are closed again.
func (st *stage) hold(to string, secure bool, addresses, each int) error {
	const opening, held = 4 * time.Second, 2 * time.Second
	var all sync.WaitGroup
	end := time.Now().Add(opening + held)
	for i := 0; i < addresses*each; i++ {
		all.Add(1)
		go func(from string, ask bool) {
			defer all.Done()
			for time.Now().Before(end) {
				if st.holdOne(from, to, secure, ask, end) && ask {
					time.Sleep(5 * time.Second)
				}
				time.Sleep(200 * time.Millisecond)
			}
		}(fmt.Sprintf("127.0.%d.10", 1+i%addresses), i/addresses%2 == 0)
		time.Sleep(opening / time.Duration(addresses*each))
	}
	for time.Now().Before(end) { // bystanders that come anew must get in
		for _, b := range st.bystanders {
			b.client.CloseIdleConnections()
		}
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
	return nil
}

// holdOne says whether it was let in: then coming again at once would only cost handshakes.
func (st *stage) holdOne(from, to string, secure, ask bool, end time.Time) bool {
	conn, err := dial(from, to)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(end)
	if secure && ask {
		session := tls.Client(conn, st.authority.client("", nil))
		if session.Handshake() != nil {
			return false
		}
		conn = session
	}
	if ask {
		_, _ = conn.Write([]byte("GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	began := time.Now()
	_, _ = io.Copy(io.Discard, conn) // until it is closed, or the end
	return ask || time.Since(began) > time.Second
}

func probeSlots(st *stage) error { return st.hold(st.daemon.ops, false, 1, 140) }

func webhookSlots(st *stage) error { return st.hold(st.daemon.webhook, true, 4, 260) }

func extenderSlots(st *stage) error { return st.hold(st.daemon.extender, true, 4, 260) }

// descriptors takes more of them than there are, before any listener has as many connections as it
// may: who says nothing may stay for five seconds.
func descriptors(st *stage) error {
	const addresses, opening, held = 5, 2 * time.Second, 4 * time.Second
	var all sync.WaitGroup
	end := time.Now().Add(opening + held)
	hold := func(to string, each int) {
		for i := 0; i < addresses*each; i++ {
			all.Add(1)
			go func(from string) {
				defer all.Done()
				for time.Now().Before(end) {
					_ = st.holdOne(from, to, false, false, end)
					time.Sleep(200 * time.Millisecond)
				}
			}(fmt.Sprintf("127.0.%d.10", 1+i%addresses))
			time.Sleep(opening / time.Duration(addresses*each))
		}
	}
	for to, each := range map[string]int{st.daemon.extender: 120, st.daemon.webhook: 120, st.daemon.ops: 12} {
		all.Add(1)
		go func(to string, each int) {
			defer all.Done()
			hold(to, each)
		}(to, each)
	}
	for time.Now().Before(end) { // bystanders that come anew must get in
		for _, b := range st.bystanders {
			b.client.CloseIdleConnections()
		}
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
	return nil
}

// ---- N: questions ----

func (st *stage) stranger(from string) *http.Client {
	client := caller(from, st.authority.client("", nil), 64)
	client.Timeout = 10 * time.Second
	return client
}

func strangers(st *stage) error {
	client := st.stranger("127.0.0.6") // of a mesh's proxy: other loopback addresses are this machine's
	defer client.CloseIdleConnections()
	bind := []byte(`{"PodName":"attacker","PodNamespace":"victim","PodUID":"abc","Node":"node-0000"}`)
	pod := podOf("victim", "forged", object{"fuse.serverful.fluid.io/inject": "true"})
	pod["spec"].(object)["volumes"] = []object{{"name": "v", "persistentVolumeClaim": object{"claimName": "payroll"}}}
	for i := 0; i < 50; i++ {
		for where, body := range map[string][]byte{
			"https://" + st.daemon.extender + "/extender/v1/bind": bind,
			"https://" + st.daemon.webhook + "/webhooks/v1/pods":  reviewOf(pod, true),
		} {
			response, err := client.Post(where, "application/json", bytes.NewReader(body))
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}
	}
	return nil
}

// tokenUnused looks for what the daemon asked the API server for on a stranger's behalf.
func tokenUnused(st *stage) (faults []string) {
	for _, line := range st.api.asked("victim") {
		faults = append(faults, "a stranger had the API server asked with evenkeel's token: "+line)
		break
	}
	return faults
}

func slowReaders(st *stage) error {
	key := strings.Repeat("k", 60) + "." + strings.Repeat("d", 60) + "." + strings.Repeat("d", 60) + "." + strings.Repeat("d", 60) + "/" + strings.Repeat("n", 63)
	pod := withSpread(podOf("u", "long", object{"a": "b"}), key[len(key)-250:], "DoNotSchedule", object{"a": "b"})
	names := make([]string, 99000)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	body := filterOf(pod, names)
	head := fmt.Sprintf("POST /extender/v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	var all sync.WaitGroup
	for i := 0; i < 64; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			conn, err := dial("127.0.7.7", st.daemon.extender)
			if err != nil {
				return
			}
			defer conn.Close()
			session := tls.Client(conn, st.authority.client("", nil))
			_ = session.SetDeadline(time.Now().Add(6 * time.Second))
			_, _ = session.Write(append([]byte(head), body...))
			_, _ = session.Read(make([]byte, 1))
			time.Sleep(5 * time.Second)
		}()
		time.Sleep(10 * time.Millisecond)
	}
	all.Wait()
	return nil
}

// holdBodies has so many bodies of this size under way that never end, and begins another for each
// whose connection is closed.
func (st *stage) holdBodies(to, path string, count, size int) error {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, size)
	end, blanks := time.Now().Add(6*time.Second), bytes.Repeat([]byte(" "), size-1)
	var full atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < count; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				conn, err := dial("127.0.7.7", to)
				if err != nil {
					continue
				}
				session := tls.Client(conn, st.authority.client("", nil))
				_ = session.SetDeadline(end)
				_, _ = session.Write([]byte(head))
				if _, err := session.Write(blanks); err == nil {
					full.Add(1)
				}
				_, _ = io.Copy(io.Discard, session) // until it is closed, or the end
				_ = session.Close()
				time.Sleep(500 * time.Millisecond) // it is not the work that is to be felt
			}
		}()
	}
	all.Wait()
	if full.Load() == 0 {
		return errors.New("no body was ever sent")
	}
	return nil
}

func webhookBodies(st *stage) error {
	return st.holdBodies(st.daemon.webhook, "/webhooks/v1/pods", 16, 16<<20-1)
}

func extenderBodies(st *stage) error {
	return st.holdBodies(st.daemon.extender, "/extender/v1/filter", 4, 64<<20-1)
}

func keyOf(i int) string { return fmt.Sprintf("example.com/k%d", i) }

// manyKeys gives nodes labels of which each has a domain for every node.
func manyKeys(c *cluster) {
	for _, node := range c.objects["/api/v1/nodes"] {
		labels := node["metadata"].(object)["labels"].(object)
		for i := 0; i < 16; i++ {
			labels[keyOf(i)] = labels[hostKey]
		}
	}
}

func preempts(st *stage) error {
	pod := podOf("good", "preemptor", object{"app": "web-1"})
	var constraints []object
	for i := 0; i < 16; i++ { // none is the first to refuse, and all count every victim
		constraints = append(constraints, object{"maxSkew": 1000, "topologyKey": keyOf(i), "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": object{"matchExpressions": requirements("app", "NotIn", []string{fmt.Sprintf("other-%d", i)})}})
	}
	pod["spec"].(object)["topologySpreadConstraints"] = constraints
	victims := object{}
	for i := 0; i < podCount; i++ {
		node := nodeName(i * 7 % nodeCount) // where the pod is
		entry, _ := victims[node].(object)
		if entry == nil {
			entry = object{"Pods": []object{}, "NumPDBViolations": 0}
			victims[node] = entry
		}
		entry["Pods"] = append(entry["Pods"].([]object), object{"UID": fmt.Sprintf("good-web-%d", i)})
	}
	body := encode(object{"Pod": pod, "NodeNameToMetaVictims": victims})
	client := st.stranger("127.0.7.7")
	defer client.CloseIdleConnections()
	for i := 0; i < 8; i++ {
		response, err := client.Post("https://"+st.daemon.extender+"/extender/v1/preempt", "application/json", bytes.NewReader(body))
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}
	return nil
}

// ---- N: who is who ----

func otherNames(st *stage) error {
	const name = "system:kube-scheduler"
	right := caller("127.0.7.7", st.authority.client(name, nil), 1)
	defer right.CloseIdleConnections()
	response, err := right.Post("https://"+st.daemon.extender+"/extender/v1/filter", "application/json",
		bytes.NewReader(filterOf(podOf("good", "p", nil), []string{nodeName(1)})))
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the scheduler itself got %d", response.StatusCode)
	}
	for place, edit := range map[string]func(*x509.Certificate){
		"an e-mail address": func(c *x509.Certificate) { c.EmailAddresses = []string{name} },
		"a DNS name":        func(c *x509.Certificate) { c.DNSNames = []string{name} },
		"a URI":             func(c *x509.Certificate) { c.URIs = []*url.URL{must(url.Parse(name))} },
		"an organization":   func(c *x509.Certificate) { c.Subject.Organization = []string{name} },
	} {
		client := caller("127.0.7.7", st.authority.client("alice", edit), 1)
		response, err := client.Post("https://"+st.daemon.extender+"/extender/v1/filter", "application/json",
			bytes.NewReader(filterOf(podOf("good", "p", nil), []string{nodeName(1)})))
		if err != nil {
			return err // a refusal is an answer, too
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			st.notes = append(st.notes, "alice was taken for "+name+" because of "+place)
		}
		client.CloseIdleConnections()
	}
	return nil
}

// raw sends text to a listener and returns all that comes back until the end of the connection.
func (st *stage) raw(from, to string, secure bool, text string) string {
	conn, err := dial(from, to)
	if err != nil {
		return ""
	}
	defer conn.Close()
	if secure {
		conn = tls.Client(conn, st.authority.client("", nil))
	}
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	_, _ = conn.Write([]byte(text))
	answer, _ := io.ReadAll(bufio.NewReader(conn)) // until it is closed, or the deadline
	return string(answer)
}

// mustAnswer says whether raw brings a good request's answer back, once: an attack that gets nothing
// shows something only where others get theirs.
func (st *stage) mustAnswer(from, to string, secure bool, request string) error {
	answer := st.raw(from, to, secure, request)
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") || strings.Count(answer, "HTTP/1.1 ") != 1 {
		return fmt.Errorf("a good request got %.200q", answer)
	}
	return nil
}

func webPage(st *stage) error {
	if err := st.mustAnswer("127.0.0.1", st.daemon.ops, false, "GET /explain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	for _, try := range []struct{ from, headers string }{
		{"127.0.0.1", "Host: evil.example.com\r\n"},
		{"127.0.0.1", "Host: localhost\r\nOrigin: https://evil.example.com\r\n"},
		{"127.0.0.1", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"},
		{"127.0.0.6", "Host: localhost\r\n"},
		{"127.0.0.1", "Host: localhost\r\nHost: evil.example.com\r\n"},
	} {
		answer := st.raw(try.from, st.daemon.ops, false, "GET /explain HTTP/1.1\r\n"+try.headers+"Connection: close\r\n\r\n")
		if answer == "" {
			return fmt.Errorf("no answer to %s with %q", try.from, try.headers)
		}
		if strings.HasPrefix(answer, "HTTP/1.1 200") {
			st.notes = append(st.notes, fmt.Sprintf("decisions were told to %s with %q", try.from, try.headers))
		}
	}
	return nil
}

func smuggled(st *stage) error {
	hidden := "GET /nope HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\r\n"
	length := fmt.Sprint(len(hidden))
	good := string(filterOf(podOf("good", "p", nil), []string{nodeName(1)}))
	begin := "POST /extender/v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	if err := st.mustAnswer("127.0.7.7", st.daemon.extender, true,
		begin+fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n", len(good))+good); err != nil {
		return err
	}
	for _, head := range []string{
		"Content-Length : " + length, "Content-Length:\r\n " + length, "Transfer-Encoding : chunked",
		"Transfer-Encoding: chunked\x00x", "Transfer-Encoding:\r\n chunked", "Host: localhost\r\nContent-Length: 0\r\n Content-Length: " + length,
		"Content-Length: 0\r\nContent-Length: " + length, "Transfer-Encoding: xchunked", "X: y\nContent-Length: " + length,
	} {
		text := begin + head + "\r\n\r\n" + hidden
		if n := strings.Count(st.raw("127.0.7.7", st.daemon.extender, true, text), "HTTP/1.1 "); n != 1 {
			st.notes = append(st.notes, fmt.Sprintf("%d answers to a request that is hidden behind %q", n, head))
		}
	}
	return nil
}

// ---- U: what is remembered ----

func flushRing(st *stage) error {
	var bodies [][]byte
	for i := 0; i < 12000; i++ {
		bodies = append(bodies, reviewOf(podOf("u", fmt.Sprintf("dry%d", i), object{"app": "x"}), true))
	}
	for _, b := range st.bystanders { // whose own decisions would take their place
		b.paused.Store(true)
	}
	return st.asAPIServer(bodies, 4)
}

func decisionKept(st *stage) []string {
	if status, text := st.daemon.get("/explain/pods/good/web-new"); status != http.StatusOK {
		return []string{"another tenant's decision was pushed out: " + strings.TrimSpace(text)}
	}
	return nil
}
