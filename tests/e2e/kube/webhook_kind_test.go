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
	for _, spec := range []string{
		"spread: []",
		"spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
		"spread: [{topologyKey: zone, whenUnsatisfiable: Perhaps}]",
		"spread: [{topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
		"{targets: [Node], spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
	} {
		spec = "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: bad}\nspec:\n  " + spec
		if err := s.tryPolicy(spec); !apierrors.IsInvalid(err) {
			t.Errorf("not refused as invalid (%v):\n%s", err, spec)
		}
	}
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
func (s *stage) tryPolicy(text string) error {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	ctx, cancel := s.limit()
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		err := s.Client.Discovery().RESTClient().Post().AbsPath("/apis/evenkeel.io/v1alpha1/topologypolicies").
			Param("fieldValidation", "Strict").Param("dryRun", metav1.DryRunAll).
			SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
		if !apierrors.IsNotFound(err) || ctx.Err() != nil {
			return err
		}
	}
}
