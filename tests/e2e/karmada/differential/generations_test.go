package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
)

// TestModels_1_17 and the next estimate by models as versions before v1.18 do, options.models 2. The
// programs are those of ../older.
func TestModels_1_17(t *testing.T) { compareOlder(t, "EVENKEEL_E2E_KARMADA_1_17") }

func TestModels_1_16(t *testing.T) { compareOlder(t, "EVENKEEL_E2E_KARMADA_1_16") }

func olderFile(t *testing.T, variable string) string {
	t.Helper()
	program := os.Getenv(variable)
	if program == "" {
		t.Fatalf("%s does not name a program; tests/e2e/karmada.sh builds it", variable)
	}
	return program
}

func olderProgram(t *testing.T, variable string) *older {
	t.Helper()
	o, err := startOlder(olderFile(t, variable))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func compareOlder(t *testing.T, variable string) {
	t.Helper()
	program := olderFile(t, variable)
	compareAll(t, (caseCount()+9)/10, func() (maker, error) {
		older, err := startOlder(program)
		return func(d dice) ([]pair, error) { return olderCase(d, older) }, err
	}, "replicas fit", "nothing fits", "a resource that no model has")
}

// older is a program that answers line by line; it ends with us.
type older struct {
	in  *json.Encoder
	out *json.Decoder
}

func startOlder(program string) (*older, error) {
	command := exec.Command(program)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &older{json.NewEncoder(in), json.NewDecoder(out)}, command.Start()
}

func (o *older) askFor(question object, answer any) error {
	if err := o.in.Encode(question); err != nil {
		return err
	}
	if err := o.out.Decode(answer); err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	return nil
}

func (o *older) ask(question object) (replicas int32, err error) {
	var answer struct {
		Replicas int32 `json:"replicas"`
	}
	err = o.askFor(question, &answer)
	return answer.Replicas, err
}

func olderCase(d dice, o *older) ([]pair, error) {
	cluster := d.modelled(true)
	completeModels(cluster)
	requirements := &workv1alpha2.ReplicaRequirements{ResourceRequest: d.request()}
	missing := simplify(requirements, cluster)
	question := object{"cluster": cluster, "requirements": requirements}
	replicas, err := o.ask(question)
	question["step"], question["options"] = "estimate", object{"models": 2}
	return []pair{{question, object{"replicas": replicas}, traitsOf(map[string]bool{
		"replicas fit": replicas > 0, "nothing fits": replicas == 0, "a resource that no model has": missing})}}, err
}

// completeModels orders models, and counts nodes of each: older versions find counts by their place.
func completeModels(c *clusterv1alpha1.Cluster) {
	slices.SortFunc(c.Spec.ResourceModels, func(a, b clusterv1alpha1.ResourceModel) int { return int(a.Grade) - int(b.Grade) })
	counted := map[uint]int{}
	for _, one := range c.Status.ResourceSummary.AllocatableModelings {
		counted[one.Grade] = one.Count
	}
	if len(c.Spec.ResourceModels) == 0 {
		return
	}
	c.Status.ResourceSummary.AllocatableModelings = nil
	for _, model := range c.Spec.ResourceModels {
		c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings,
			clusterv1alpha1.AllocatableModeling{Grade: model.Grade, Count: counted[model.Grade]})
	}
}

// simplify leaves one resource where no model has it, because older versions answer by the resource that a
// map has first; and makes sure that something is requested, without which they count beyond 64 bits.
func simplify(r *workv1alpha2.ReplicaRequirements, c *clusterv1alpha1.Cluster) (missing bool) {
	known := map[corev1.ResourceName]bool{}
	for _, model := range c.Spec.ResourceModels {
		for _, one := range model.Ranges {
			known[one.Name] = true
		}
	}
	for name, amount := range r.ResourceRequest {
		if amount.IsZero() {
			delete(r.ResourceRequest, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.ResourceRequest)) {
		if amount := r.ResourceRequest[name]; !known[name] {
			r.ResourceRequest = corev1.ResourceList{name: amount}
			return true
		}
	}
	if len(r.ResourceRequest) == 0 {
		r.ResourceRequest = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	}
	return false
}
