package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// A list without end: objects that nobody has seen before, on pages with a token of their own each,
// or in a stream that never marks the end of what there is; or a watch that adds such objects after a
// good list. An API server has none, but a proxy that pages wrongly, or one that plays an API server, may.

const (
	nodesList    = "/api/v1/nodes"
	volumesList  = "/api/v1/persistentvolumes"
	clustersList = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
	endlessRSS   = 64               // MiB that it may take
	endlessTime  = 60 * time.Second // to have given it up twice
	endlessToken = "endless"
	fleetCount   = 20
	recoverTime  = 90 * time.Second // a minute of back-off, and a listing
)

func smallFleet(c *cluster) {
	for i := 0; i < fleetCount; i++ {
		name := fmt.Sprintf("cluster-%d", i)
		c.add(clustersList, object{"metadata": object{"name": name, "uid": name}})
	}
}

// isEndless: has the list no end, or, if adding, the watch after it?
func (s *apiServer) isEndless(list string, adding bool) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.endless == list && s.adding == adding
}

func (s *apiServer) setEndless(list string, adding bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.endless, s.adding = list, adding
}

// endlessObject is the i-th object of such a list.
func endlessObject(list string, i int) string {
	spec := `{}`
	switch list {
	case podsList:
		spec = fmt.Sprintf(`{"nodeName":%q}`, nodeName(i%nodeCount))
	case volumesList:
		spec = `{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}`
	}
	return fmt.Sprintf(`{"metadata":{"name":"endless-%d","namespace":"u","uid":"endless-%d","resourceVersion":"1","labels":{"app":"x"}},"spec":%s}`,
		i, i, spec)
}

func (s *apiServer) endlessPage(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("continue"), endlessToken))
	if limit == 0 {
		limit = 500
	}
	if from == 0 {
		s.mutex.Lock()
		s.listed[r.URL.Path]++
		s.mutex.Unlock()
	}
	fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"999","continue":"%s%d"},"items":[`, endlessToken, from+limit)
	for i := from; i < from+limit; i++ {
		if i > from {
			_, _ = w.Write([]byte(","))
		}
		_, _ = w.Write([]byte(endlessObject(r.URL.Path, i)))
	}
	_, _ = w.Write([]byte("]}\n"))
}

func gone(w http.ResponseWriter) {
	fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`+"\n")
}

func (s *apiServer) endlessWatch(w http.ResponseWriter, r *http.Request, initial bool) {
	w.WriteHeader(http.StatusOK)
	if !initial {
		gone(w)
		return
	}
	s.mutex.Lock()
	s.listed[r.URL.Path]++
	s.mutex.Unlock()
	s.endlessEvents(w, r, false)
}

func (s *apiServer) endlessEvents(w http.ResponseWriter, r *http.Request, adding bool) {
	for i := 0; r.Context().Err() == nil && s.isEndless(r.URL.Path, adding); i++ {
		if _, err := fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", endlessObject(r.URL.Path, i)); err != nil {
			return
		}
	}
}

// endless has one list, or the watch after it, go on without end from now on, until it has been given up twice, and
// looks at what that took.
func endless(list string, adding bool) func(*stage) error {
	return func(st *stage) error {
		resource := list[strings.LastIndexByte(list, '/')+1:]
		st.base = st.daemon.rss()
		st.api.setEndless(list, adding)
		for until := time.Now().Add(endlessTime * time.Duration(slack)); st.daemon.gaveUp(resource) < 2; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(until) {
				st.notes = append(st.notes, fmt.Sprintf("what has no end was given up %d times, it should be twice", st.daemon.gaveUp(resource)))
				break
			}
		}
		grown := int(st.daemon.highest.Load()) - st.base
		st.figure = fmt.Sprintf("what has no end took %d MiB", grown)
		if grown > endlessRSS*slack {
			st.notes = append(st.notes, fmt.Sprintf("%s, %d are allowed", st.figure, endlessRSS*slack))
		}
		return nil
	}
}

// gaveUp is how often a list or a watch of the resource was given up because it has no end, as the log says.
func (d *daemon) gaveUp(resource string) (count int) {
	text, _ := os.ReadFile(d.log)
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, " resource="+resource+" ") && strings.Contains(line, "it does not end") {
			count++
		}
	}
	return count
}

// taken counts the ends of lists of the resource, and what comes after them: lists without end have neither.
func (d *daemon) taken(resource string) float64 {
	label := fmt.Sprintf("{resource=%q", resource)
	return d.metric("evenkeel_watch_opened_total"+label) + d.metric("evenkeel_watch_bookmarks_total"+label)
}

// listIsRight lets everything end again: then a list must be taken, and all must be known as it is.
func listIsRight(list, metric string, want float64) func(*stage) []string {
	return func(st *stage) []string {
		resource := list[strings.LastIndexByte(list, '/')+1:]
		before, value := st.daemon.taken(resource), -1.0
		st.api.setEndless("", false)
		for until := time.Now().Add(recoverTime * time.Duration(slack)); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
			if st.daemon.taken(resource) <= before {
				continue
			}
			if metric == "" {
				return nil
			}
			// pods come and go while this is asked
			if value = st.daemon.metric(metric); value >= want && value <= want+2 {
				return nil
			}
		}
		return []string{fmt.Sprintf("%v after it has an end again a list was not taken as it is: %q is %g, it should be %g",
			recoverTime*time.Duration(slack), metric, value, want)}
	}
}
