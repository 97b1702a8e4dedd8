package differential

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"evenkeel.io/tests/e2e/ocm/internal/crds"
	"evenkeel.io/tests/e2e/ocm/internal/evenkeel"
	"evenkeel.io/tests/e2e/ocm/internal/state"
)

// spoiled has an object with another word for each member that has a list of words, by its path.
var spoiled = map[string]object{
	"ManagedCluster spec.taints[].effect": with("v1", "ManagedCluster", "c1",
		object{"hubAcceptsClient": true, "taints": []object{{"key": "k", "effect": "NoSelekt"}}}),
	"ManagedClusterSet spec.clusterSelector.selectorType": with("v1beta2", "ManagedClusterSet", "set1",
		object{"clusterSelector": object{"selectorType": "LabelSelektor"}}),
	"Placement spec.prioritizerPolicy.configurations[].scoreCoordinate.type": with("v1beta1", "Placement", ourName,
		object{"prioritizerPolicy": object{"configurations": []object{{"scoreCoordinate": object{"type": "BuildIn", "builtIn": "Balance"}}}}}),
	"Placement spec.spreadPolicy.spreadConstraints[].topologyKeyType": with("v1beta1", "Placement", ourName,
		object{"spreadPolicy": object{"spreadConstraints": []object{{"topologyKey": "zone", "topologyKeyType": "Labels"}}}}),
	"Placement spec.spreadPolicy.spreadConstraints[].whenUnsatisfiable": with("v1beta1", "Placement", ourName,
		object{"spreadPolicy": object{"spreadConstraints": []object{{"topologyKey": "zone", "topologyKeyType": "Label",
			"whenUnsatisfiable": "ScheduleAnyways"}}}}),
	"Placement spec.tolerations[].effect": with("v1beta1", "Placement", ourName,
		object{"tolerations": []object{{"key": "k", "operator": "Exists", "effect": "NoSelectIfNews"}}}),
}

func with(version, kind, name string, spec object) object {
	o := newObject(version, kind, "", name)
	o["spec"] = spec
	return o
}

// TestRefusals has a word that the definitions do not list in every place where they list some: it is
// refused, and the message has the word and its path.
func TestRefusals(t *testing.T) {
	schemas, err := crds.ReadSchemas()
	if err != nil {
		t.Fatal(err)
	}
	if listed, tried := schemas.Enums(), slices.Sorted(maps.Keys(spoiled)); !slices.Equal(listed, tried) {
		t.Errorf("the definitions have lists of words at\n%s\ntried are\n%s", strings.Join(listed, "\n"), strings.Join(tried, "\n"))
	}
	program := binary(t)
	for path, bad := range spoiled {
		t.Run(path, func(t *testing.T) {
			q := &question{placement: with("v1beta1", "Placement", ourName, object{}), now: now}
			if bad["kind"] == "Placement" {
				q.placement = bad
			} else {
				q.items = []object{bad}
			}
			files, err := q.asJSON()
			if err != nil {
				t.Fatal(err)
			}
			refused := state.Refused(schemas, files.Placement, files.State)
			if refused == nil {
				t.Error("the definition does not refuse it")
			}
			_, err = evenkeel.Simulate(program, t.TempDir(), files)
			if !errors.As(err, new(evenkeel.Refusal)) || !strings.Contains(err.Error(), memberOf(path)+": '") {
				t.Errorf("%v; the definition says %v", err, refused)
			}
		})
	}
}

// memberOf is the path as Evenkeel writes it: of the first item of each list.
func memberOf(path string) string {
	_, member, _ := strings.Cut(path, " ")
	return strings.ReplaceAll(member, "[]", "[0]")
}
