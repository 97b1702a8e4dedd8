package differential

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // registers the kinds with legacyscheme
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// accepted says why Evenkeel takes what the API server refuses. It judges one field at a time, and
// only those that it could not count by otherwise: its pods come from an API server, which has
// judged the whole.
func accepted(e *field.Error) (why string) {
	switch {
	case e.Type == field.ErrorTypeDuplicate:
		return "two constraints with the same key and effect: each is counted, as the plugin does"
	case strings.Contains(e.Detail, "can only use minDomains if"):
		return "minDomains on a soft constraint: without effect"
	case strings.HasSuffix(e.Field, ".matchLabelKeys") && e.Type == field.ErrorTypeForbidden:
		return "matchLabelKeys without a selector: without effect"
	case strings.Contains(e.Field, ".matchLabelKeys[") && e.Type == field.ErrorTypeInvalid:
		return "matchLabelKeys with a key that no label has: ignored like others the pod lacks"
	case e.Detail == "exists in both matchLabelKeys and labelSelector":
		return "a key both selected and in matchLabelKeys: one more requirement"
	}
	return ""
}

// refusals are the API server's reasons not to create the pod, as far as spreading goes: it
// decodes, sets defaults, merges matchLabelKeys and validates.
func refusals(pod []byte) field.ErrorList {
	decoded, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), pod)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath(spreadField), "", err.Error())}
	}
	created := decoded.(*core.Pod)
	ctx := genericapirequest.WithNamespace(context.Background(), created.Namespace)
	podregistry.Strategy.PrepareForCreate(ctx, created)
	var refused field.ErrorList
	for _, e := range podregistry.Strategy.Validate(ctx, created) {
		if strings.HasPrefix(e.Field, spreadField) {
			refused = append(refused, e)
		}
	}
	return refused
}

const spreadField = "spec.topologySpreadConstraints"

// expected sorts the refusals: Evenkeel must refuse, must accept, or must accept although.
func expected(refused field.ErrorList) (refuse bool, although []string) {
	for _, e := range refused {
		why := accepted(e)
		if why == "" {
			return true, nil
		}
		although = append(although, why)
	}
	return false, although
}

// TestValidation: `evenkeel simulate` refuses the constraints that the API server refuses, but for
// those of accepted().
func TestValidation(t *testing.T) {
	var simulations []*simulation
	for _, folder := range workerFolders(t) {
		s := newSimulation(evenkeelBinary(t), folder)
		s.arguments = append(s.arguments, "--candidates", nodeName(0))
		if err := s.write("state.json", []byte(oneNode)); err != nil {
			t.Fatal(err)
		}
		simulations = append(simulations, s)
	}
	var mutex sync.Mutex
	count := map[string]int{}
	forEachCase(t, len(simulations), func(worker, number int) bool {
		pod := diceFor(number).podToCreate()
		refused := refusals(pod)
		text, err := compareRefusals(simulations[worker], pod, refused)
		mutex.Lock()
		defer mutex.Unlock()
		refuse, although := expected(refused)
		count[fmt.Sprintf("refused: %v", refuse)]++
		for _, why := range although {
			count[why]++
		}
		if err != nil || text != "" {
			t.Errorf("seed %d, case %d: %s%v\n%s", seed(), number, text, err, pod)
			return false
		}
		return true
	})
	for _, what := range sortedKeys(count) {
		t.Logf("%7d %s", count[what], what)
	}
	if kinds := 2 + 5; len(count) < kinds && caseCount() >= 5000 && *numberFlag < 0 && !t.Failed() {
		t.Errorf("only %d kinds of answers: the cases are too dull", len(count))
	}
}

const oneNode = `{"kind":"List","items":[{"kind":"Node","metadata":{"name":"node-a"}}]}`

// compareRefusals says how Evenkeel's answer is not the one expected.
func compareRefusals(s *simulation, pod []byte, refused field.ErrorList) (text string, err error) {
	if err := s.write("pod.json", pod); err != nil {
		return "", err
	}
	refuse, _ := expected(refused)
	_, err = s.run()
	var ours refusal
	if err != nil && !errors.As(err, &ours) {
		return "", err
	}
	if refuse != (err != nil) {
		return fmt.Sprintf("evenkeel: %v; API server: %v ", err, refused), nil
	}
	return "", nil
}

// ---- pods that might be refused ----

type object map[string]any

func (d dice) podToCreate() []byte {
	constraints := []object{}
	for range pick(d, 1, 1, 1, 2, 3) {
		constraints = append(constraints, d.constraintToValidate())
	}
	return []byte(toJSON(object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": "incoming", "namespace": "default", "labels": d.labels(podLabels, 60)},
		"spec": object{
			"containers":                []object{{"name": "main", "image": "example.com/image"}},
			"topologySpreadConstraints": constraints,
		},
	}))
}

type absent struct{} // the member is left out

// constraintToValidate has at most a few members that are out of the ordinary.
func (d dice) constraintToValidate() object {
	c := object{}
	set := func(name string, usual any, others ...any) {
		value := usual
		if d.chance(6) {
			value = pick(d, others...)
		}
		if value != (absent{}) {
			c[name] = value
		}
	}
	set("maxSkew", pick(d, 1, 2), 0, -1, 2147483647, 2147483648, "1", 1.5, nil, absent{}, true, []int{1})
	set("topologyKey", pick(d, zoneKey, rackKey), "", "a b/c//!", nil, absent{}, 1)
	when := pick(d, "DoNotSchedule", "ScheduleAnyway")
	set("whenUnsatisfiable", when, "", "donotschedule", "ScheduleAnyway ", nil, absent{}, 1)
	usual := any(absent{})
	if when == "DoNotSchedule" && d.chance(30) {
		usual = 1 + d.IntN(3)
	}
	set("minDomains", usual, 0, -1, 1, 2147483647, 2147483648, nil, "1", 1.5)
	set("nodeAffinityPolicy", pick[any](d, absent{}, "Honor", "Ignore"), nil, "", "honor", 1)
	set("nodeTaintsPolicy", pick[any](d, absent{}, "Honor", "Ignore"), nil, "", "ignore", false)
	set("labelSelector", d.labelSelector(), nil, absent{}, d.anyLabelSelector(), "app=web", []int{},
		object{"matchLabels": object{"app": 1}}, object{"matchLabels": nil, "matchExpressions": nil, "other": 1})
	set("matchLabelKeys", d.usualMatchLabelKeys(), nil, []string{}, []string{"app"}, []string{"/x"},
		[]string{""}, "app", []int{1}, []any{nil})
	set("unknown", absent{}, 1, nil, object{})
	return c
}

func (d dice) usualMatchLabelKeys() any {
	if d.chance(70) {
		return absent{}
	}
	return some(d, 50, hashKey, "on-no-pod")
}
