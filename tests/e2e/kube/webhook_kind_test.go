package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestWebhookKind: the API server takes the shipped kind, its rules included, and the shipped
// policies are of it; what the rules forbid is refused.
func TestWebhookKind(t *testing.T) {
	s := newStage(t)
	s.must(s.createDefinition("../../../docs/examples/kubernetes/crd-topologypolicy.yaml"))
	text, err := os.ReadFile(examplePolicies)
	s.must(err)
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if err := s.tryPolicy(document); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
	}
	for name, spec := range contradictions {
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: bad}\nspec: " + spec
		if err := s.tryPolicy(text); !apierrors.IsInvalid(err) {
			t.Errorf("%s: not refused as invalid (%v):\n%s", name, err, text)
		}
	}
	for name, spec := range accepted {
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: good}\nspec: " + spec
		if err := s.tryPolicy(text); err != nil {
			t.Errorf("%s: %v:\n%s", name, err, text)
		}
	}
	former := "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: old}\nspec: {targets: [Pod], spread: [" + soft + "]}"
	for validation, part := range map[string]string{"Strict": `unknown field "spec.spread"`, "Ignore": "were in spec itself"} {
		if err := s.tryPolicyAs(former, validation); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the former form, with validation %s: %v; expected %s", validation, err, part)
		}
	}
	s.everyFieldIsDescribed()
}

const (
	soft = "{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
	hard = "{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"
)

// What they take.
var accepted = map[string]string{
	"known units":          "{pods: {spread: [" + soft + "], groupBy: {unit: Auto}}}",
	"no units":             "{pods: {spread: [" + soft + "], groupBy: {labels: [app], unit: Pod}}}",
	"a unit by its label":  "{pods: {spread: [" + soft + "], groupBy: {unit: jobset.sigs.k8s.io/jobset-name}}}",
	"a group of such ones": "{pods: {spread: [" + soft + "], groupBy: {labels: [app], unit: shard}}}",
}

// What the kind's rules refuse. Everything else of each is right.
var contradictions = map[string]string{
	"no pods":                          "{priority: 1}",
	"nothing asked for":                "{pods: {schedulerNames: [a]}}",
	"no constraint":                    "{pods: {spread: []}}",
	"minDomains of a soft constraint":  "{pods: {spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}}",
	"neither hard nor soft":            "{pods: {spread: [{topologyKey: zone, whenUnsatisfiable: Perhaps}]}}",
	"the same twice":                   "{pods: {spread: [" + hard + "," + soft + "," + hard + "]}}",
	"no label key":                     "{pods: {spread: [{topologyKey: a b, whenUnsatisfiable: DoNotSchedule}]}}",
	"maxSkew 0":                        "{pods: {spread: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 0}]}}",
	"a policy for taints that is none": "{pods: {spread: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Perhaps}]}}",
	"groupBy without spread":           "{pods: {locality: {}, groupBy: {labels: [app]}}}",
	"the same label twice":             "{pods: {spread: [" + soft + "], groupBy: {labels: [app, app]}}}",
	"a unit that is none":              "{pods: {spread: [" + soft + "], groupBy: {unit: pod}}}",
	"a unit by no label key":           "{pods: {spread: [" + soft + "], groupBy: {unit: a b}}}",
	"a unit that is a group by itself": "{pods: {spread: [" + soft + "], groupBy: {labels: [app, shard], unit: shard}}}",
	"replaceDefaults without spread":   "{pods: {locality: {}, replaceDefaults: true}}",
	"no locality, with tiers":          "{pods: {locality: {mode: Disabled, tiers: [{topologyKey: zone, weight: 1}]}}}",
	"no locality, but others kept off": "{pods: {locality: {mode: Disabled, keepOthersOffCacheNodes: {}}}}",
	"locality off by a word of YAML":   "{pods: {locality: {mode: Off}}}",
	"the same tier twice":              "{pods: {locality: {tiers: [{topologyKey: zone, weight: 1}, {topologyKey: zone, weight: 2}]}}}",
	"no tiers":                         "{pods: {locality: {tiers: []}}}",
	"a tier that weighs too much":      "{pods: {locality: {tiers: [{topologyKey: zone, weight: 101}]}}}",
	"others kept off without a mode":   "{pods: {locality: {keepOthersOffCacheNodes: true}}}",
	"weights of nothing":               "{pods: {weights: {spread: 0, locality: 0}}}",
	"a mode that is none":              "{mode: Warn, pods: {spread: [" + soft + "]}}",
	"an exclusion of everything":       "{match: {exclude: {objectSelector: {}}}, pods: {spread: [" + soft + "]}}",
	"an exclusion of all namespaces":   "{match: {exclude: {namespaceSelector: {matchLabels: {}}}}, pods: {spread: [" + soft + "]}}",
	"an owner without a kind":          "{match: {ownerKinds: [{group: apps}]}, pods: {spread: [" + soft + "]}}",
	"In without values":                "{match: {objectSelector: {matchExpressions: [{key: a, operator: In}]}}, pods: {spread: [" + soft + "]}}",
	"values that must not be":          "{match: {exclude: {objectSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}}, pods: {spread: [" + soft + "]}}",
	"the scheduler twice":              "{pods: {spread: [" + soft + "], schedulerNames: [a, a]}}",
}

// everyFieldIsDescribed reads what kubectl explain reads: the API server's own schema of the kind.
func (s *stage) everyFieldIsDescribed() {
	s.Helper()
	text, err := s.Client.Discovery().RESTClient().Get().AbsPath("/openapi/v3/apis/evenkeel.io/v1alpha1").Do(s.ctx).Raw()
	s.must(err)
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	s.must(json.Unmarshal(text, &document))
	kind, found := document.Components.Schemas["io.evenkeel.v1alpha1.TopologyPolicy"]
	if !found {
		s.Fatalf("no schema of the kind: %.400s", text)
	}
	if fields := s.describe("TopologyPolicy", kind); fields < 50 {
		s.Errorf("only %d fields were looked at", fields)
	}
}

type schema struct {
	Description string
	Properties  map[string]schema
	Items       *schema
	AllOf       []any // metadata is another schema, with descriptions of its own
}

func (s *stage) describe(path string, of schema) int {
	if of.Description == "" && of.AllOf == nil {
		s.Errorf("%s has no description", path)
	}
	fields := 1
	for name, field := range of.Properties {
		fields += s.describe(path+"."+name, field)
	}
	if of.Items != nil && of.Items.Properties != nil {
		fields += s.describe(path+"[]", *of.Items)
	}
	return fields
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// createDefinition has the API server serve a kind of its own, until the test ends.
func (s *stage) createDefinition(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &meta); err != nil {
		return err
	}
	client := s.Client.Discovery().RESTClient()
	err = client.Post().AbsPath(definitions).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").Body(body).Do(s.ctx).Error()
	if err != nil {
		return err
	}
	s.Cleanup(func() {
		if err := client.Delete().AbsPath(definitions, meta.Name).Do(s.ctx).Error(); err != nil {
			s.Error(err)
		}
	})
	return nil
}

// tryPolicy creates one without storing it. The API server serves a new kind after a moment.
func (s *stage) tryPolicy(text string) error { return s.tryPolicyAs(text, "Strict") }

func (s *stage) tryPolicyAs(text, validation string) error {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	ctx, cancel := s.limit()
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		err := s.Client.Discovery().RESTClient().Post().AbsPath("/apis/evenkeel.io/v1alpha1/topologypolicies").
			Param("fieldValidation", validation).Param("dryRun", metav1.DryRunAll).
			SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
		if !apierrors.IsNotFound(err) || ctx.Err() != nil {
			return err
		}
	}
}
