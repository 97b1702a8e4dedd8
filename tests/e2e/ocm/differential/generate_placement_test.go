package differential

import (
	"math"
	"time"
)

// question is a case.
type question struct {
	placement object
	items     []object
	now       time.Time
}

// newQuestion makes the case of that number.
func newQuestion(number int, now time.Time) *question {
	f := &fleet{dice: diceFor(number), now: now}
	f.wrong = f.chance(15)
	f.home = pick(f.dice, "ns1", "ns1", "ns1", "default")
	f.theme = pick(f.dice, "", "", taints, prioritizers, groups)
	f.addClusters()
	f.addSets()
	f.addDecisions()
	f.addScores()
	f.addOthers()
	q := &question{placement: f.placement(), now: now}
	if f.chance(10) {
		f.emptied(q.placement)
		for _, item := range f.items {
			f.emptied(item)
		}
	}
	if f.chance(30) { // the state may have the Placement, too; what is asked about is the file
		f.items = append(f.items, pick(f.dice, q.placement, f.placement()))
	}
	f.Shuffle(len(f.items), func(i, j int) { f.items[i], f.items[j] = f.items[j], f.items[i] })
	q.items = f.items
	return q
}

func (f *fleet) placement() object {
	o := newObject("v1beta1", "Placement", f.home, ourName)
	if f.home == "default" && f.chance(50) { // it is where there is no other
		delete(metadataOf(o), "namespace")
	}
	annotations, spec := object{}, object{}
	f.set(metadataOf(o), "labels", 20, object{"app": "shop"})
	if f.chance(25) {
		spec["clusterSets"] = some(f.dice, 60, append([]string{"set1", "set2", "nowhere"}, setNames...)...)
	}
	f.set(spec, "numberOfClusters", 65, nil, 0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 10, f.between(0, len(f.names)+2),
		f.between(0, len(f.names)+2), math.MaxInt32)
	if f.theme == prioritizers && len(f.names) > 0 {
		spec["numberOfClusters"] = f.between(1, (len(f.names)+1)/2)
	}
	if f.chance(50) {
		spec["predicates"] = several(f.dice, 0, 3, f.predicate)
	}
	if f.mostly(prioritizers, 70) {
		spec["prioritizerPolicy"] = f.prioritizerPolicy()
	}
	if f.mostly(taints, 40) {
		spec["tolerations"] = several(f.dice, 0, 4, f.toleration)
	}
	if f.mostly(groups, 35) {
		spec["decisionStrategy"] = f.decisionStrategy()
	}
	switch f.IntN(6) {
	case 0:
		spec["spreadPolicy"] = f.spreadPolicy()
		annotations["placements.evenkeel.io/mode"] = "Off"
	case 1:
		spec["spreadPolicy"] = pick[any](f.dice, nil, object{}, object{"spreadConstraints": []object{}})
	}
	f.set(annotations, "note", 10, "x")
	if len(annotations) > 0 || f.chance(10) {
		metadataOf(o)["annotations"] = annotations
	}
	o["spec"] = spec
	return o
}

// ---- selectors ----

func (f *fleet) selector() object {
	s := object{}
	if f.chance(50) {
		labels := object{}
		f.set(labels, "env", 50, "prod", "dev", "")
		f.set(labels, "zone", 40, "a", "b")
		f.set(labels, "vendor", 20, "OpenShift")
		s["matchLabels"] = labels
	}
	if f.chance(50) {
		s["matchExpressions"] = several(f.dice, 0, 2, func() object {
			return f.expression(pick(f.dice, "env", "zone", "vendor", "missing"), "prod", "dev", "", "a", "b")
		})
	}
	return s
}

func (f *fleet) expression(key string, values ...string) object {
	operator := pick(f.dice, "In", "In", "NotIn", "Exists", "DoesNotExist")
	e := object{"key": key, "operator": operator}
	if operator == "In" || operator == "NotIn" {
		e["values"] = append(some(f.dice, 30, values...), pick(f.dice, values...))
	} else if f.chance(30) {
		e["values"] = []string{}
	}
	return e
}

// badExpression is one that no selector is made of.
func (f *fleet) badExpression() object {
	return pick(f.dice,
		object{"key": "env", "operator": "In"},
		object{"key": "env", "operator": "NotIn", "values": []string{}},
		object{"key": "env", "operator": "Exists", "values": []string{"prod"}},
		object{"key": "env", "operator": "DoesNotExist", "values": []string{"prod", "dev"}},
		object{"key": "env", "operator": "Like", "values": []string{"prod"}},
		object{"key": "env", "operator": "in", "values": []string{"prod"}},
		object{"key": "env", "operator": ""},
		object{"key": "", "operator": "Exists"},
		object{"key": "a b", "operator": "Exists"},
		object{"key": "a/b/c", "operator": "Exists"},
		object{"key": "env", "operator": "In", "values": []string{"prod", "two words"}},
	)
}

func (f *fleet) badSelector() object {
	if f.chance(20) {
		return object{"matchLabels": pick(f.dice, object{"env": "two words"}, object{"a b": "x"}, object{"/x": "y"})}
	}
	return object{"matchExpressions": []object{f.badExpression()}}
}

func (f *fleet) predicate() object {
	p := object{}
	if f.chance(3) {
		return p
	}
	s := object{}
	if f.chance(70) {
		s["labelSelector"] = f.selector()
	}
	if f.wrong && f.chance(8) {
		s["labelSelector"] = f.badSelector()
	}
	if f.chance(35) {
		s["claimSelector"] = f.claimSelector()
	}
	p["requiredClusterSelector"] = s
	return p
}

func (f *fleet) claimSelector() object {
	if f.wrong && f.chance(8) {
		return object{"matchExpressions": []object{f.badExpression()}}
	}
	s := object{}
	if f.chance(90) {
		s["matchExpressions"] = several(f.dice, 0, 2, func() object {
			return f.expression(pick(f.dice, "cloud", "cloud", "region", "zone"), "Amazon", "Google", "east", "a", "x")
		})
	}
	return s
}

// ---- prioritizers ----

func (f *fleet) prioritizerPolicy() object {
	p := object{}
	f.set(p, "mode", 75, "Additive", "Exact", "Exact", "")
	if f.wrong {
		f.set(p, "mode", 5, "additive", "Strict")
	}
	if f.mostly(prioritizers, 80) {
		fewest := 0
		if f.theme == prioritizers {
			fewest = 2
		}
		p["configurations"] = several(f.dice, fewest, fewest+3, f.configuration)
	}
	return p
}

func (f *fleet) configuration() object {
	c := object{}
	f.set(c, "weight", 85, -10, -3, -1, 0, 0, 1, 1, 2, 3, 10, f.between(-10, 10), nil)
	c["scoreCoordinate"] = f.coordinate()
	if f.wrong && f.chance(4) {
		f.set(c, "scoreCoordinate", 50, nil)
		if c["scoreCoordinate"] != nil {
			delete(c, "scoreCoordinate")
		}
	}
	return c
}

func (f *fleet) coordinate() object {
	s := object{}
	addOn := object{"resourceName": pick(f.dice, append(resources, "r3")...), "scoreName": pick(f.dice, append(scoreNames, "s3")...)}
	if f.chance(40) {
		s["type"], s["addOn"] = "AddOn", addOn
		f.set(s, "builtIn", 5, "Balance", "", "x")
		if f.wrong && f.chance(8) {
			delete(s, "addOn")
		}
		return s
	}
	f.set(s, "type", 70, "BuiltIn")
	s["builtIn"] = pick(f.dice, "Balance", "Steady", "ResourceAllocatableCPU", "ResourceAllocatableCPU",
		"ResourceAllocatableMemory", "ResourceAllocatableMemory")
	f.set(s, "addOn", 3, addOn)
	if f.wrong {
		f.set(s, "builtIn", 10, "Spread", "balance", "", "ResourceAllocatable", "Steady ")
	}
	return s
}

// ---- tolerations ----

func (f *fleet) toleration() object {
	t := object{}
	f.set(t, "key", 85, "k1", "k1", "k2", "k2", taintKeys[2], "k3")
	f.set(t, "operator", 80, "Exists", "Exists", "Equal", "Equal", "")
	operator, given := t["operator"]
	if !given || operator == "Equal" || operator == "" {
		f.set(t, "value", 70, "", "v1", "v2")
		if _, given := t["key"]; !given {
			t["key"] = pick(f.dice, taintKeys...)
		}
	}
	f.set(t, "effect", 40, "NoSelect", "NoSelect", "NoSelectIfNew", "PreferNoSelect")
	f.set(t, "tolerationSeconds", 45, nil, -1, 0, 1, 7, 8, 9, 10, 10, 11, 3600, 100000, 9223372036, 9223372037,
		-9223372037, 18446744074, 27670116111, int64(math.MaxInt64), int64(math.MinInt64)) // some overflow to less than a second
	if f.wrong {
		f.spoilToleration(t)
	}
	return t
}

func (f *fleet) spoilToleration(t object) {
	switch f.IntN(40) {
	case 0:
		delete(t, "key")
		t["operator"] = pick(f.dice, "Equal", "", "Foo")
	case 1:
		t["operator"], t["value"] = "Exists", "v1"
	case 2, 3:
		t["operator"] = pick(f.dice, "Foo", "exists", "Lt")
	case 4:
		t["key"] = ""
	}
}

// ---- groups and spread ----

func (f *fleet) decisionStrategy() object {
	if f.chance(5) {
		return object{}
	}
	s := object{}
	f.set(s, "clustersPerDecisionGroup", 75, 0, 1, 2, 2, 3, 5, 100, -1, "1%", "10%", "25%", "28%", "33%", "50%", "67%", "99%",
		"100%")
	if f.wrong {
		f.set(s, "clustersPerDecisionGroup", 10, "5", "abc", "abc%", "%", "0%", "150%", "33.3%", "-5%", "+5%", "1e1%", " 5%", "")
	}
	if f.chance(65) {
		s["decisionGroups"] = several(f.dice, 0, 3, f.decisionGroup)
	}
	return object{"groupStrategy": s}
}

func (f *fleet) decisionGroup() object {
	s := object{}
	if f.chance(85) {
		s["labelSelector"] = f.selector()
	}
	if f.chance(25) {
		s["claimSelector"] = f.claimSelector()
	}
	if f.wrong && f.chance(8) {
		s["labelSelector"] = f.badSelector()
	}
	return object{"groupName": pick(f.dice, "canary", "group1", "group2"), "groupClusterSelector": s}
}

func (f *fleet) spreadPolicy() object {
	return object{"spreadConstraints": several(f.dice, 0, 3, func() object {
		t := object{"topologyKey": pick(f.dice, "zone", "env", "region"), "topologyKeyType": pick(f.dice, "Label", "Claim")}
		f.set(t, "maxSkew", 60, 1, 2)
		f.set(t, "whenUnsatisfiable", 60, "DoNotSchedule", "ScheduleAnyway")
		return t
	})}
}
