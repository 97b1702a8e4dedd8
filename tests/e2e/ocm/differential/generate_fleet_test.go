package differential

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// object is JSON: what a member's absence means, and null, is part of the question.
type object = map[string]any

const (
	foreign    = "ns2" // a namespace that is not the Placement's
	ourName    = "p"
	group      = "cluster.open-cluster-management.io"
	setLabel   = group + "/clusterset"
	ofLabel    = group + "/placement"
	indexLabel = group + "/decision-group-index"
	nameLabel  = group + "/decision-group-name"
)

var (
	setNames   = []string{"set1", "set2", "set3", "global"}
	taintKeys  = []string{"k1", "k2", group + "/unreachable"}
	taintWords = []string{"", "v1", "v2"}
	effects    = []string{"NoSelect", "PreferNoSelect", "NoSelectIfNew"}
	resources  = []string{"r1", "r2"}
	scoreNames = []string{"s1", "s2"}
)

// theme is what a case has more of than others; the empty one is nothing in particular.
type theme string

const (
	taints       theme = "taints"
	prioritizers theme = "prioritizers"
	groups       theme = "groups"
)

// fleet makes a case out of dice.
type fleet struct {
	dice
	now     time.Time
	wrong   bool // may have what makes a Placement misconfigured
	theme   theme
	home    string // the Placement's namespace
	names   []string
	items   []object
	amounts bool // of resources
}

// mostly raises a chance where that is the theme.
func (f *fleet) mostly(t theme, percent int) bool {
	if f.theme == t {
		percent = 95
	}
	return f.chance(percent)
}

func newObject(version, kind, namespace, name string) object {
	metadata := object{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return object{"apiVersion": group + "/" + version, "kind": kind, "metadata": metadata}
}

func metadataOf(o object) object { return o["metadata"].(object) }

// set sets a member to one of the values, or leaves it out.
func (f *fleet) set(o object, member string, percent int, values ...any) {
	if f.chance(percent) {
		o[member] = pick(f.dice, values...)
	}
}

// around is a time some seconds from now, often a limit of a toleration away; null is one, too.
func (f *fleet) around(offsets ...int) string {
	at := f.now.Add(time.Duration(pick(f.dice, offsets...)) * time.Second)
	switch f.IntN(12) {
	case 0:
		return at.In(time.FixedZone("", 2*60*60)).Format(time.RFC3339)
	case 1:
		return at.Format("2006-01-02T15:04:05.000000Z")
	}
	return at.Format(time.RFC3339)
}

func (f *fleet) size() int {
	switch n := f.IntN(200); {
	case n < 8:
		return 0
	case n < 24:
		return 1
	case n < 94:
		return f.between(2, 5)
	case n < 184:
		return f.between(6, 12)
	case n < 199:
		return f.between(13, 80)
	}
	return f.between(99, 230) // a PlacementDecision has 100 at most
}

// ---- clusters ----

func (f *fleet) addClusters() {
	f.amounts = f.mostly(prioritizers, 50)
	style := pick(f.dice, "c%d", "c%03d", "cluster-%d.east", "%d")
	for i := range f.size() {
		f.names = append(f.names, fmt.Sprintf(style, i+1))
	}
	for _, name := range f.names {
		f.items = append(f.items, f.cluster(name))
	}
}

func (f *fleet) cluster(name string) object {
	o := newObject("v1", "ManagedCluster", "", name)
	labels := object{}
	f.set(labels, setLabel, 88, "set1", "set1", "set1", "set1", "set2", "set2", "set3", "nowhere")
	f.set(labels, "env", 60, "prod", "dev", "")
	f.set(labels, "zone", 70, "a", "b", "c")
	f.set(labels, "vendor", 50, "OpenShift", "Other")
	if len(labels) > 0 || f.chance(50) {
		metadataOf(o)["labels"] = labels
	}
	if f.chance(5) {
		metadataOf(o)["deletionTimestamp"] = f.around(-10, 0, 10)
		metadataOf(o)["finalizers"] = []string{"cluster.open-cluster-management.io/api-resource-cleanup"}
	}
	spec := object{}
	f.set(spec, "hubAcceptsClient", 80, true, false)
	if f.theme == taints && f.chance(70) || f.chance(15) {
		spec["taints"] = several(f.dice, 0, 3, f.taint)
	}
	status := object{}
	if f.chance(50) {
		status["clusterClaims"] = several(f.dice, 0, 4, f.claim)
	}
	if f.amounts {
		f.addAmounts(status)
	}
	o["spec"], o["status"] = spec, status
	return o
}

func (f *fleet) taint() object {
	t := object{"key": pick(f.dice, taintKeys...), "effect": pick(f.dice, effects...)}
	f.set(t, "value", 70, "", "v1", "v2")
	switch f.IntN(6) {
	case 0: // none
	case 1:
		t["timeAdded"] = nil
	default:
		t["timeAdded"] = f.around(-3600, -11, -10, -9, -8, -1, 0, 1, 10)
	}
	return t
}

func (f *fleet) claim() object {
	return object{"name": pick(f.dice, "cloud", "cloud", "region", "zone", "id.k8s.io"),
		"value": pick(f.dice, "Amazon", "Google", "east", "a", "two words", "x")}
}

// addAmounts has many equal amounts in unequal forms.
func (f *fleet) addAmounts(status object) {
	for _, list := range []string{"allocatable", "capacity"} {
		if f.chance(4) {
			continue
		}
		amounts := object{}
		f.set(amounts, "cpu", 92, "0", "0", 0, "1", "1.5", "1500m", "2", 4, "0.1", "100m", "123456789n", "7u", "1e3",
			"1E3", "12345678.9", "-1", "3.14159265358979", "999999999999m", 7.5)
		f.set(amounts, "memory", 92, "0", "1Gi", "1024Mi", "1.5Gi", "15.5Gi", "16Gi", "16000000Ki", "100M", "1e9", "64Gi",
			"0.5Ki", "1.1Mi", "123456789", "2Ti", "1Pi", "3Ei", "9223372036854775807", "99999999999999999999", "500m", 4096)
		f.set(amounts, "nvidia.com/gpu", 20, "4")
		status[list] = amounts
	}
}

// ---- sets and bindings ----

func (f *fleet) addSets() {
	for _, name := range setNames {
		if f.chance(85) || name == "set1" && f.chance(90) {
			f.items = append(f.items, f.clusterSet(name))
		}
	}
	for _, name := range append(setNames, "unset") {
		if f.chance(65) || name == "set1" && f.chance(90) {
			f.items = append(f.items, f.binding(f.home, name))
		}
		if f.chance(20) {
			f.items = append(f.items, f.binding(foreign, name))
		}
	}
}

func (f *fleet) clusterSet(name string) object {
	o := newObject("v1beta2", "ManagedClusterSet", "", name)
	byLabel := object{"selectorType": "ExclusiveClusterSetLabel"}
	if name == "global" {
		o["spec"] = object{"clusterSelector": object{"selectorType": "LabelSelector", "labelSelector": object{}}}
	}
	switch f.IntN(12) {
	case 0: // none
	case 1:
		o["spec"] = object{}
	case 2, 3:
		s := object{"selectorType": "LabelSelector"}
		if f.chance(80) {
			s["labelSelector"] = pick[any](f.dice, nil, object{}, f.selector(), f.selector())
		}
		o["spec"] = object{"clusterSelector": s}
	case 4:
		byLabel["labelSelector"] = f.selector()
		o["spec"] = object{"clusterSelector": byLabel}
	case 5:
		if f.wrong && f.chance(20) {
			o["spec"] = object{"clusterSelector": object{"selectorType": "LabelSelector", "labelSelector": f.badSelector()}}
		}
	default:
		if name != "global" {
			o["spec"] = object{"clusterSelector": byLabel}
		}
	}
	return o
}

func (f *fleet) binding(namespace, set string) object {
	o := newObject("v1beta2", "ManagedClusterSetBinding", namespace, set)
	o["spec"] = object{"clusterSet": set}
	if f.chance(30) { // which OCM's scheduler does not read
		o["status"] = object{"conditions": []object{{"type": "Bound", "status": pick(f.dice, "True", "False"),
			"reason": "R", "message": "", "lastTransitionTime": f.around(0)}}}
	}
	return o
}

// ---- decisions and scores ----

func (f *fleet) addDecisions() {
	if f.mostly(taints, 55) {
		for i := range f.between(1, 3) {
			name := pick(f.dice, fmt.Sprintf("%s-decision-%d", ourName, i+1), fmt.Sprintf("%s-decision-%d", ourName, i+2), fmt.Sprintf("mine%d", i))
			f.addDecision(f.home, name, ourName)
		}
	}
	for i := range f.IntN(5) {
		f.addDecision(pick(f.dice, f.home, foreign), fmt.Sprintf("other%d", i), pick(f.dice, "", "q", "q", ourName+"1"))
	}
	if f.chance(20) {
		f.addDecision(foreign, "p-decision-1", ourName)
	}
	if f.chance(5) { // a name of ours, and nobody's label
		f.addDecision(f.home, "p-decision-1", "")
	}
}

func (f *fleet) addDecision(namespace, name, of string) {
	for _, other := range f.items {
		if other["kind"] == "PlacementDecision" && metadataOf(other)["name"] == name && metadataOf(other)["namespace"] == namespace {
			return
		}
	}
	o := newObject("v1beta1", "PlacementDecision", namespace, name)
	if of != "" {
		labels := object{ofLabel: of}
		f.set(labels, indexLabel, 70, "0", "1")
		f.set(labels, nameLabel, 70, "", "canary")
		metadataOf(o)["labels"] = labels
	}
	if f.chance(95) {
		o["status"] = object{"decisions": f.decided()}
	}
	f.items = append(f.items, o)
}

func (f *fleet) decided() []object {
	list := []object{}
	percent := pick(f.dice, 10, 30, 60)
	for _, name := range append(some(f.dice, percent, f.names...), some(f.dice, 10, "gone1", "gone2")...) {
		list = append(list, object{"clusterName": name, "reason": ""})
	}
	if len(list) > 0 && f.chance(10) {
		list = append(list, list[0])
	}
	return list[:min(len(list), 100)]
}

func (f *fleet) addScores() {
	if !f.mostly(prioritizers, 65) {
		return
	}
	for _, name := range append(f.names, "gone1") {
		for _, resource := range resources {
			if f.chance(70) {
				f.items = append(f.items, f.scores(name, resource))
			}
		}
	}
}

func (f *fleet) scores(cluster, resource string) object {
	o := newObject("v1alpha1", "AddOnPlacementScore", cluster, resource)
	if f.chance(5) {
		return o
	}
	status := object{}
	f.set(status, "validUntil", 35, nil, f.around(-3600, -1, 0, 1, 3600), f.around(-3600, 0, 3600))
	list := []object{}
	for _, name := range append(some(f.dice, 80, scoreNames...), some(f.dice, 10, scoreNames...)...) {
		list = append(list, object{"name": name, "value": pick(f.dice, -100, -99, -1, 0, 0, 1, 30, 40, 50, 50, 99, 100)})
	}
	status["scores"] = list
	o["status"] = status
	return o
}

// addOthers are objects that nobody may stumble over.
func (f *fleet) addOthers() {
	if f.chance(10) {
		f.items = append(f.items, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "x", "namespace": f.home}})
	}
	if f.chance(10) {
		q := newObject("v1beta1", "Placement", f.home, "q")
		q["spec"] = object{"numberOfClusters": 1}
		f.items = append(f.items, q)
	}
}

// ---- nulls ----

// emptied puts null in the place of some lists and objects, as YAML does that says nothing after a
// colon. To an API server it is as if they were not there.
func (f *fleet) emptied(o object) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch value := o[key].(type) {
		case object:
			f.emptyOne(o, key)
			f.emptied(value)
		case []object:
			f.emptyOne(o, key)
			for _, item := range value {
				f.emptied(item)
			}
		case []string:
			f.emptyOne(o, key)
		}
	}
}

func (f *fleet) emptyOne(o object, key string) {
	if key != "metadata" && key != "annotations" && f.chance(3) { // which switch spread policies off
		o[key] = nil
	}
}
