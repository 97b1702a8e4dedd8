package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"
)

// stage is what a scene plays on: a cluster, its API server, the daemon and the bystanders.
type stage struct {
	cluster    *cluster
	authority  *authority
	api        *apiServer
	daemon     *daemon
	control    *httptest.Server // answers reviews at once
	bystanders []*bystander
	relists    int // of pods, before the attack
	deadline   time.Time
	notes      []string // what an attack got, gathered while it went on
	late       []string // the same of waits, which a machine that is busy may have made longer
	bobs       int      // Placements of bob's so far

	start func(folder string) (*daemon, error) // a replica more, as the first
	base  int                                  // MiB that were resident before the attack
	kept  float64                              // what a metric said then

	figure string // what an attack took, in words
}

const (
	quietTime  = 1500 * time.Millisecond
	settleTime = 300 * time.Millisecond
	goalRSS    = 64  // MiB, with 5,000 nodes and few pods
	budgetRSS  = 128 // MiB that requests and what is remembered may take beside it
	slower     = 3   // times the quiet p99
)

func openStage(s *scene, binary, folder string) (*stage, error) {
	st := &stage{cluster: newCluster(), authority: newAuthority()}
	if s.prepare != nil {
		s.prepare(st.cluster)
	}
	api, err := newAPIServer(st.cluster, st.authority)
	if err != nil {
		return nil, err
	}
	st.api = api
	st.start = func(folder string) (*daemon, error) {
		return startDaemon(binary, folder, s, st.authority, api.kubeconfig(st.authority, folder))
	}
	st.daemon, err = st.start(folder)
	if err != nil {
		api.close()
		return nil, err
	}
	st.control = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	good := withSpread(podOf("good", "web-new", object{"app": "web-1"}), "topology.kubernetes.io/zone", "DoNotSchedule", object{"app": "web-1"})
	st.bystanders = []*bystander{
		{name: "reviews", url: "https://" + st.daemon.webhook + "/webhooks/v1/pods", every: 10 * time.Millisecond, limit: 2 * time.Second,
			body:   reviewOf(podOf("good", "web-new", object{"app": "web-1"}), false),
			client: caller("127.0.0.2", st.callerTLS(s, "kube-apiserver-webhook-client"), 4)},
		{name: "filters", url: "https://" + st.daemon.extender + "/extender/v1/filter", every: 10 * time.Millisecond, limit: 5 * time.Second,
			body: filterOf(good, nodeNames()), client: caller("127.0.0.3", st.callerTLS(s, "system:kube-scheduler"), 4)},
		// A kubelet opens a connection for each probe, and gives it a second.
		{name: "probes", url: "http://" + st.daemon.ops + "/livez", every: 50 * time.Millisecond, limit: time.Second, client: caller("127.0.0.4", nil, 1)},
	}
	review := st.bystanders[0]
	if s.validates {
		review.url += "/validate"
	}
	if s.placements {
		p := tenantPlacement("bob", "reviewed", bobsNumber)
		review.url, review.body = "https://"+st.daemon.webhook+"/webhooks/v1/placements", placementReview(p)
		st.bystanders[1].url = "https://" + st.daemon.extender + "/clusters/v1/select"
		st.bystanders[1].body = encode(object{"placement": p})
	}
	if s.estimator {
		st.bystanders[1] = st.estimates()
	}
	st.bystanders = append(st.bystanders, &bystander{name: "control", url: st.control.URL, body: review.body, every: review.every,
		limit: review.limit, client: caller("127.0.0.2", st.control.Client().Transport.(*http.Transport).TLSClientConfig, 4)})
	for _, b := range st.bystanders {
		b.limit *= time.Duration(slack)
	}
	st.bystanders[2].client.Transport.(*http.Transport).DisableKeepAlives = true
	return st, nil
}

// restarted starts a replica more, which knows nothing but what the API server tells it.
func (st *stage) restarted() (*daemon, error) {
	folder, err := os.MkdirTemp("", "evenkeel-attack-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // its files are open, or read
	return st.start(folder)
}

func (st *stage) callerTLS(s *scene, name string) *tls.Config {
	if s.openDoors {
		name = ""
	}
	return st.authority.client(name, nil)
}

func (st *stage) take() (f figures) {
	for i, b := range st.bystanders {
		f[i] = b.take()
	}
	return f
}

// until is for attackers: false once their time is over.
func (st *stage) until() bool { return time.Now().Before(st.deadline) }

func runScene(s scene, binary string, verbose bool) (r result) {
	r.name = s.name
	folder, err := os.MkdirTemp("", "evenkeel-attack-")
	if err != nil {
		r.faults = []string{err.Error()}
		return r
	}
	if verbose {
		fmt.Printf("# %s: files in %s\n", s.name, folder)
	} else {
		defer os.RemoveAll(folder)
	}
	st, err := openStage(&s, binary, folder)
	if err != nil {
		r.faults = []string{"could not be set up: " + err.Error()}
		return r
	}
	defer st.api.close()
	defer st.control.Close()
	st.play(&s, &r)
	if err := st.daemon.end(); err != nil {
		r.faults = append(r.faults, err.Error())
	}
	return r
}

func (st *stage) play(s *scene, r *result) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, b := range st.bystanders {
		all.Add(1)
		go func(b *bystander) {
			defer all.Done()
			b.run(stop)
		}(b)
	}
	go st.change(stop)
	time.Sleep(settleTime) // connections are made, caches are warm
	st.take()
	time.Sleep(quietTime)
	r.quiet = st.take()
	st.relists = st.api.count(st.api.listed, "/api/v1/pods")
	st.daemon.highest.Store(0)
	st.deadline = time.Now().Add(attackTime)
	began := time.Now()
	if err := s.attack(st); err != nil {
		r.faults = append(r.faults, "the attack could not be carried out: "+err.Error())
	}
	if rest := quietTime - time.Since(began); rest > 0 {
		time.Sleep(rest) // enough answers for a p99
	}
	r.during = st.take()
	r.rss = int(st.daemon.highest.Load())
	r.relists = st.api.count(st.api.listed, "/api/v1/pods") - st.relists
	r.lock = st.daemon.metric("evenkeel_cache_write_seconds_max")
	if s.after != nil {
		r.faults = append(r.faults, s.after(st)...)
	}
	r.faults = append(append(r.faults, st.notes...), st.late...)
	r.slow += len(st.late)
	close(stop)
	all.Wait()
	st.judge(s, r)
}

// change has a pod of another tenant's come and go: where nothing changes nobody notices who keeps
// writers waiting.
func (st *stage) change(over <-chan struct{}) {
	pod := podOf("good", "coming-and-going", object{"app": "web-2"})
	pod["spec"].(object)["nodeName"] = nodeName(2)
	for {
		for _, event := range []string{"ADDED", "DELETED"} {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
				st.api.tell(podsList, event, pod)
			}
		}
	}
}

func (st *stage) judge(s *scene, r *result) {
	for i, b := range st.bystanders[:control] {
		quiet, during := r.quiet[i], r.during[i]
		if i == 0 && s.mostWait > 0 && during.lost <= quiet.lost {
			if most := s.mostWait * time.Duration(slack); during.most > max(most, slower*r.during[control].most) {
				r.slow++
				r.faults = append(r.faults, fmt.Sprintf("a review waited %.0f ms, %.0f are allowed", ms(during.most), ms(most)))
			}
			continue
		}
		if during.lost > quiet.lost {
			r.slow++
			r.faults = append(r.faults, fmt.Sprintf("%d of %d %s failed, the first with: %s", during.lost, during.count, b.name, during.failure))
		} else if during.p99 > patience*time.Duration(slack) && during.p99 > slower*max(quiet.p99, r.during[control].p99) {
			r.slow++
			r.faults = append(r.faults, fmt.Sprintf("%s waited %.1f ms (p99), %.1f ms before", b.name, ms(during.p99), ms(quiet.p99)))
		}
	}
	r.figure = st.figure
	if budget := (goalRSS + budgetRSS + s.rssBudget) * slack; r.rss > budget {
		r.faults = append(r.faults, fmt.Sprintf("it took %d MiB, %d are allowed", r.rss, budget))
	}
	if r.relists > 0 && !s.relists {
		r.faults = append(r.faults, fmt.Sprintf("pods were listed again %d times: their watch stopped", r.relists))
	}
}
