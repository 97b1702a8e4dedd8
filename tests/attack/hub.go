package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The API server as a hub: it takes writes of the kinds that Placements are decided by. Objects have versions, which
// patches and deletions may name, and a status that is written apart from the rest.

const (
	setsList       = "/apis/" + ocmGroup + "/v1beta2/managedclustersets"
	bindingsList   = "/apis/" + ocmGroup + "/v1beta2/managedclustersetbindings"
	placementsList = "/apis/" + ocmGroup + "/v1beta1/placements"
	decisionsList  = "/apis/" + ocmGroup + "/v1beta1/placementdecisions"
	scoresList     = "/apis/" + ocmGroup + "/v1alpha1/addonplacementscores"
)

// place is where an object is: its list over all namespaces, and its name there.
type place struct {
	list, namespace, name string
}

// stored is an object in parts, so that a write of one does not read the others, which may be large.
type stored struct {
	kind, uid, version     string
	metadata, spec, status json.RawMessage // nil: there is none
}

func storedOf(o object) *stored {
	return &stored{kind: fmt.Sprintf(`"apiVersion":%q,"kind":%q`, o["apiVersion"], o["kind"]),
		metadata: partOf(o, "metadata"), spec: partOf(o, "spec"), status: partOf(o, "status")}
}

// partOf an object, which may be text already: then it is not copied.
func partOf(o object, name string) json.RawMessage {
	switch part := o[name].(type) {
	case nil:
		return nil
	case json.RawMessage:
		return part
	default:
		return encode(part)
	}
}

func (k *stored) text() json.RawMessage {
	text := append([]byte("{"+k.kind+`,"metadata":`), k.metadata...)
	if k.spec != nil {
		text = append(append(text, `,"spec":`...), k.spec...)
	}
	if k.status != nil {
		text = append(append(text, `,"status":`...), k.status...)
	}
	return append(text, '}')
}

// placeIn reads the path of a request: /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE[/NAME[/status]].
func placeIn(path string) (p place, status, known bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 6 || parts[1] != ocmGroup || parts[3] != "namespaces" {
		return p, false, false
	}
	p = place{list: "/" + strings.Join(append(parts[:3:3], parts[5]), "/"), namespace: parts[4]}
	if len(parts) > 6 {
		p.name = parts[6]
	}
	return p, len(parts) > 7, true
}

// put creates an object of a namespace, with its status.
func (s *apiServer) put(list string, o object) {
	metadata := o["metadata"].(object)
	p, k := place{list, metadata["namespace"].(string), metadata["name"].(string)}, storedOf(o)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.store(p, k)
}

// change merges a patch into an object, if there is one.
func (s *apiServer) change(list, namespace, name string, patch object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	p := place{list, namespace, name}
	if k := s.objects[p]; k != nil && k.merge(patch) {
		s.store(p, k)
	}
}

func (s *apiServer) remove(list, namespace, name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.drop(place{list, namespace, name})
}

// status returns what an object has; nil: there is none.
func (s *apiServer) status(list, namespace, name string) json.RawMessage {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if k := s.objects[place{list, namespace, name}]; k != nil {
		return k.status
	}
	return nil
}

// store keeps an object under a new version, and tells of it. It needs the mutex.
func (s *apiServer) store(p place, k *stored) {
	event, was := "MODIFIED", s.objects[p]
	if was == nil {
		event, k.uid = "ADDED", fmt.Sprintf("uid-%d", s.version)
	} else {
		k.uid = was.uid
	}
	s.version++
	k.version = strconv.Itoa(s.version)
	metadata := decoded(k.metadata)
	metadata["namespace"], metadata["uid"], metadata["resourceVersion"] = p.namespace, k.uid, k.version
	k.metadata = encode(metadata)
	s.objects[p] = k
	s.spread(p.list, event, item{k.uid, k.text()})
}

// drop needs the mutex.
func (s *apiServer) drop(p place) {
	if k := s.objects[p]; k != nil {
		s.version++
		s.spread(p.list, "DELETED", item{k.uid, k.text()})
		delete(s.objects, p)
	}
}

func decoded(text []byte) (o object) {
	if err := json.Unmarshal(text, &o); err != nil {
		panic(err) // it was made by encode()
	}
	return o
}

// merge applies a JSON merge patch (RFC 7386), and says whether that has changed anything. An apply patch is taken as
// one: Evenkeel's names all that its lists hold.
func (k *stored) merge(patch object) (changed bool) {
	for name, part := range map[string]*json.RawMessage{"metadata": &k.metadata, "spec": &k.spec, "status": &k.status} {
		with, given := patch[name].(object)
		if !given {
			continue
		}
		now := object{}
		if *part != nil {
			now = decoded(*part)
		}
		before := encode(now)
		mergeInto(now, with)
		if text := encode(now); !bytes.Equal(text, before) {
			*part, changed = text, true
		}
	}
	return changed
}

func mergeInto(into, patch object) {
	for key, value := range patch {
		part, isObject := value.(object)
		if value == nil {
			delete(into, key)
		} else if !isObject {
			into[key] = value
		} else {
			inner, was := into[key].(object)
			if !was {
				inner = object{}
				into[key] = inner
			}
			mergeInto(inner, part)
		}
	}
}

// takeWrite answers a request about one object, or the creation of one. It returns false for other requests.
func (s *apiServer) takeWrite(w http.ResponseWriter, r *http.Request) bool {
	p, status, known := placeIn(r.URL.Path)
	if !known {
		return false
	}
	text, _ := io.ReadAll(r.Body)
	body := object{}
	if len(text) > 0 && json.Unmarshal(text, &body) != nil {
		refuse(w, 400, "BadRequest")
		return true
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.Method != http.MethodGet {
		s.writes[p.list]++
	}
	switch {
	case r.Method == http.MethodPost && p.name == "":
		s.create(w, p, body)
	case s.objects[p] == nil:
		refuse(w, 404, "NotFound")
	case r.Method == http.MethodPatch:
		s.patch(w, p, status, body)
	case r.Method == http.MethodDelete:
		s.delete(w, p, body)
	default:
		_, _ = w.Write(s.objects[p].text())
	}
	return true
}

func (s *apiServer) create(w http.ResponseWriter, p place, o object) {
	p.name, _ = o["metadata"].(object)["name"].(string)
	if s.objects[p] != nil {
		s.conflicts[p.list]++
		refuse(w, 409, "AlreadyExists")
		return
	}
	delete(o, "status")
	s.store(p, storedOf(o))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(s.objects[p].text())
}

// isStale refuses what is of another version than the object. `metadata` may be that of a patch, or preconditions.
func (s *apiServer) isStale(w http.ResponseWriter, p place, metadata any) bool {
	with, _ := metadata.(object)
	wanted, given := with["resourceVersion"].(string)
	if !given || wanted == s.objects[p].version {
		return false
	}
	s.conflicts[p.list]++
	refuse(w, 409, "Conflict")
	return true
}

func (s *apiServer) patch(w http.ResponseWriter, p place, status bool, patch object) {
	if s.isStale(w, p, patch["metadata"]) {
		return
	}
	if status {
		patch = object{"status": patch["status"]}
	} else {
		delete(patch, "status")
	}
	if metadata, given := patch["metadata"].(object); given {
		delete(metadata, "resourceVersion")
	}
	k := s.objects[p]
	if k.merge(patch) {
		s.store(p, k)
	}
	_, _ = w.Write(k.text())
}

func (s *apiServer) delete(w http.ResponseWriter, p place, options object) {
	if !s.isStale(w, p, options["preconditions"]) {
		s.drop(p)
		_, _ = w.Write(encode(object{"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 200}))
	}
}

// ---- a fleet with tenants ----

const tenantZones = 3

// tenantFleet is a fleet of so many clusters, which all namespaces may use; nodes and pods are not needed beside it.
func tenantFleet(clusters int, namespaces ...string) func(*cluster) {
	return func(c *cluster) {
		delete(c.objects, nodesList)
		delete(c.objects, podsList)
		c.add(setsList, object{"metadata": object{"name": "s", "uid": "s"}})
		for _, namespace := range namespaces {
			c.add(bindingsList, object{"metadata": object{"name": "s", "namespace": namespace, "uid": "s-" + namespace},
				"spec": object{"clusterSet": "s"}})
		}
		for i := 0; i < clusters; i++ {
			c.add(clustersList, object{"metadata": object{"name": fmt.Sprintf("c%d", i), "uid": fmt.Sprintf("c%d", i), "labels": object{
				ocmGroup + "/clusterset": "s", "zone": strconv.Itoa(i % tenantZones)}}, "spec": object{"hubAcceptsClient": true}})
		}
	}
}

// tenantPlacement spreads over zones, and is decided by Evenkeel.
func tenantPlacement(namespace, name string, number int) object {
	return object{"apiVersion": ocmGroup + "/v1beta1", "kind": "Placement",
		"metadata": object{"name": name, "namespace": namespace, "annotations": object{"placements.evenkeel.io/mode": "Owner"}},
		"spec": object{"numberOfClusters": number, "spreadPolicy": object{"spreadConstraints": []object{
			{"topologyKey": "zone", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}}}}}
}

// placementReview is what an API server posts about a new Placement.
func placementReview(p object) []byte {
	metadata := p["metadata"].(object)
	return encode(object{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": object{
		"uid":  "3f0d6c1e-0000-4000-8000-000000000001",
		"kind": object{"group": ocmGroup, "version": "v1beta1", "kind": "Placement"}, "resource": object{"group": ocmGroup,
			"version": "v1beta1", "resource": "placements"},
		"name": metadata["name"], "namespace": metadata["namespace"], "operation": "CREATE", "dryRun": true, "object": p,
		"oldObject": nil, "userInfo": object{"username": "bob"}}})
}
