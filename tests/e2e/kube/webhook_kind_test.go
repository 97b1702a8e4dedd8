package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestWebhookKind: the API server takes the shipped kind, its rules included, and the shipped
// policies are of it; what the rules forbid is refused, by Evenkeel's own decoder, too.
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
		if problem := s.problemOf(text); (problem == "") != lenient[name] {
			t.Errorf("%s: Evenkeel says %q:\n%s", name, problem, text)
		}
	}
	for name, spec := range accepted {
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: good}\nspec: " + spec
		if err := s.tryPolicy(text); err != nil {
			t.Errorf("%s: %v:\n%s", name, err, text)
		}
		if problem := s.problemOf(text); problem != "" {
			t.Errorf("%s: Evenkeel says %q:\n%s", name, problem, text)
		}
	}
	s.defaultsOfPlacements()
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

// Placements of so many different labels, and of one term.
func placementTerms(count int) string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("{topologyKey: k%d}", i)
	}
	return placements(strings.Join(keys, ", "))
}

func placements(items string) string { return "{placements: {spread: [" + items + "]}}" }

// What they take.
var accepted = map[string]string{
	"one Placement term":              placements("{topologyKey: region}"),
	"all of one":                      placements("{topologyKey: region, topologyKeyType: Claim, maxSkew: 1, minDomains: 1, whenUnsatisfiable: DoNotSchedule}"),
	"minDomains of a soft term":       placements("{topologyKey: region, minDomains: 2, whenUnsatisfiable: ScheduleAnyway}"),
	"a key as a label and a claim":    placements("{topologyKey: region}, {topologyKey: region, topologyKeyType: Claim}"),
	"seven terms":                     placementTerms(7),
	"eight terms":                     placementTerms(8),
	"the longest label":               placements("{topologyKey: " + strings.Repeat("a", 63) + "}"),
	"the longest claim":               placements("{topologyKey: " + strings.Repeat("a", 253) + ", topologyKeyType: Claim}"),
	"pods and Placements":             "{pods: {spread: [" + soft + "]}, placements: {spread: [{topologyKey: region}]}}",
	"what is null is not there":       "{pods: null, placements: {spread: [{topologyKey: region, topologyKeyType: null, maxSkew: null, minDomains: null, whenUnsatisfiable: null}]}}",
	"Placements of an audited policy": "{mode: Audit, match: {ownerKinds: [{group: cluster.open-cluster-management.io, kind: Placement}]}, placements: {spread: [{topologyKey: region}]}}",
	"known units":                     "{pods: {spread: [" + soft + "], groupBy: {unit: Auto}}}",
	"no units":                        "{pods: {spread: [" + soft + "], groupBy: {labels: [app], unit: Pod}}}",
	"a unit by its label":             "{pods: {spread: [" + soft + "], groupBy: {unit: jobset.sigs.k8s.io/jobset-name}}}",
	"a group of such ones":            "{pods: {spread: [" + soft + "], groupBy: {labels: [app], unit: shard}}}",
}

// What Evenkeel takes all the same.
var lenient = map[string]bool{"no tiers": true, "the scheduler twice": true}

// What the kind's rules refuse. Everything else of each is right.
var contradictions = map[string]string{
	"neither pods nor Placements":      "{pods: null, placements: null}",
	"Placements without spread":        "{placements: {}}",
	"Placements with spread null":      "{placements: {spread: null}}",
	"no Placement term":                placements(""),
	"pods that ask for nothing":        "{pods: {schedulerNames: [a]}, placements: {spread: [{topologyKey: region}]}}",
	"Placements that ask for nothing":  "{pods: {spread: [" + soft + "]}, placements: {}}",
	"nine terms":                       placementTerms(9),
	"a term without a key":             placements("{maxSkew: 1}"),
	"a term with an empty key":         placements("{topologyKey: \"\"}"),
	"a term by no label":               placements("{topologyKey: a b}"),
	"a term by no claim":               placements("{topologyKey: a b, topologyKeyType: Claim}"),
	"a label that is too long":         placements("{topologyKey: " + strings.Repeat("a", 64) + "}"),
	"a claim that is too long":         placements("{topologyKey: " + strings.Repeat("a", 254) + ", topologyKeyType: Claim}"),
	"a label twice":                    placements("{topologyKey: region}, {topologyKey: zone}, {topologyKey: region, topologyKeyType: Label, maxSkew: 2}"),
	"a claim twice":                    placements("{topologyKey: region, topologyKeyType: Claim}, {topologyKey: region, topologyKeyType: Claim}"),
	"a type of key that is none":       placements("{topologyKey: region, topologyKeyType: Property}"),
	"a term that is neither":           placements("{topologyKey: region, whenUnsatisfiable: Perhaps}"),
	"a term with maxSkew 0":            placements("{topologyKey: region, maxSkew: 0}"),
	"a term with minDomains 0":         placements("{topologyKey: region, minDomains: 0}"),
	"a term with too many minDomains":  placements("{topologyKey: region, minDomains: 2147483648}"),
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

// problemOf is why Evenkeel itself would not take a policy, "" if it would.
func (s *stage) problemOf(text string) string {
	s.Helper()
	folder := s.TempDir()
	policy, state := filepath.Join(folder, "policy.yaml"), filepath.Join(folder, "state.yaml")
	s.must(os.WriteFile(policy, []byte(text), 0o600))
	s.must(os.WriteFile(state, []byte("{apiVersion: v1, kind: Node, metadata: {name: a}}"), 0o600))
	var answer struct {
		Policies []struct {
			Ready struct{ Status, Message string }
		}
	}
	output, err := exec.Command(binary, "check", "policy", policy, "--state", state, "-o", "json").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(string(exit.Stderr), "policy.yaml") {
		return string(exit.Stderr)
	}
	if json.Unmarshal(output, &answer) != nil || len(answer.Policies) != 1 {
		s.Fatalf("%v, %s", err, output)
	}
	if answer.Policies[0].Ready.Status != "True" {
		return answer.Policies[0].Ready.Message
	}
	return ""
}

// defaultsOfPlacements: the API server fills in what docs/guides/pods.md says.
func (s *stage) defaultsOfPlacements() {
	s.Helper()
	var stored struct {
		Spec struct {
			Placements struct{ Spread []map[string]any }
		}
	}
	text := "{apiVersion: evenkeel.io/v1alpha1, kind: TopologyPolicy, metadata: {name: good}, spec: " +
		placements("{topologyKey: region}") + "}"
	body, err := yaml.YAMLToJSON([]byte(text))
	s.must(err)
	answer, err := s.createPolicy(body, "Strict")
	s.must(err)
	s.must(json.Unmarshal(answer, &stored))
	want := []map[string]any{{"topologyKey": "region", "topologyKeyType": "Label", "maxSkew": 1.0,
		"whenUnsatisfiable": "ScheduleAnyway"}}
	if !reflect.DeepEqual(stored.Spec.Placements.Spread, want) {
		s.Errorf("stored as %v, expected %v", stored.Spec.Placements.Spread, want)
	}
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
	if err == nil {
		_, err = s.createPolicy(body, validation)
	}
	return err
}

// createPolicy returns the policy as it would be stored.
func (s *stage) createPolicy(body []byte, validation string) ([]byte, error) {
	ctx, cancel := s.limit()
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		result := s.Client.Discovery().RESTClient().Post().AbsPath("/apis/evenkeel.io/v1alpha1/topologypolicies").
			Param("fieldValidation", validation).Param("dryRun", metav1.DryRunAll).
			SetHeader("Content-Type", "application/json").Body(body).Do(ctx)
		err := result.Error() // that of Raw() does not say what the API server says
		if err == nil {
			return result.Raw()
		}
		if !apierrors.IsNotFound(err) || ctx.Err() != nil {
			return nil, err
		}
	}
}
