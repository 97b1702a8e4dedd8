package differential

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
)

// template is a pod as a controller sends it that made it from what a well-known chart or operator
// says: see testdata/templates. Its data are our own, its shape is theirs.
type template struct {
	name string
	pod  *corev1.Pod // not to be changed
}

// templates panics if one is no pod or has a field that pods have not: that is a mistake of ours.
var templates = sync.OnceValue(func() []*template {
	files, err := filepath.Glob("testdata/templates/*.yaml")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("no templates: %v", err))
	}
	var all []*template
	for _, file := range files {
		some, err := templatesIn(file)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file, err))
		}
		all = append(all, some...)
	}
	return all
})

func templatesIn(file string) (found []*template, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		one, err := templateFrom(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(found), err)
		}
		found = append(found, one)
	}
}

func templateFrom(document []byte) (*template, error) {
	text, err := yaml.ToJSON(document)
	if err != nil {
		return nil, err
	}
	one := &template{pod: &corev1.Pod{}}
	strict, err := kjson.UnmarshalStrict(text, one.pod)
	if err == nil {
		err = errors.Join(strict...)
	}
	one.name = one.pod.Namespace + "/" + one.pod.Name
	if one.pod.Name == "" {
		one.name = one.pod.Namespace + "/" + one.pod.GenerateName
	}
	return one, err
}

// TestTemplates asks about every template as it stands, in its own namespace and in one that has a
// policy for all of its pods, with the very review that an API server sends. The pod is one that the
// API server takes; and is patched in the latter unless its place is settled, or it says itself how it
// is to be spread.
func TestTemplates(t *testing.T) {
	w := startWebhook(t)
	names, sizes := map[string]bool{}, []int{}
	for number, one := range templates() {
		if names[one.name] {
			t.Errorf("there are two templates %s", one.name)
		}
		names[one.name] = true
		for _, namespace := range []string{one.pod.Namespace, "shop"} {
			pod := one.pod.DeepCopy()
			pod.Namespace = namespace
			size, err := w.admitTemplate(diceFor(number), pod)
			if err != nil {
				t.Errorf("seed %d, %s in %s: %v", seed(), one.name, namespace, err)
			}
			if namespace == one.pod.Namespace {
				sizes = append(sizes, size)
			}
		}
	}
	slices.Sort(sizes)
	at := func(percent int) int { return sizes[(len(sizes)-1)*percent/100] }
	t.Logf("%d templates; bytes of a review: at least %d, median %d, p90 %d, at most %d",
		len(names), at(0), at(50), at(90), at(100))
}

// admitTemplate returns how long the review was.
func (w *webhook) admitTemplate(d dice, pod *corev1.Pod) (size int, err error) {
	attributes, err := theAPIServer().handOn(pod)
	if err != nil {
		return 0, fmt.Errorf("the API server refuses it: %w", err)
	}
	handedOn := attributes.VersionedObject.(*corev1.Pod)
	if len(handedOn.ManagedFields) != 1 || handedOn.Spec.Priority == nil {
		return 0, errors.New("it is not as an API server hands it on")
	}
	object := []byte(toJSON(handedOn))
	if err := invalid(object); err != nil {
		return 0, fmt.Errorf("the API server refuses it: %w", err)
	}
	review, err := reviewOf(attributes)
	if err != nil {
		return 0, err
	}
	answer, err := w.post(review)
	if err != nil {
		return len(review), err
	}
	if reason := leftAlone(pod); (answer.Patch == nil) != (reason != "") && pod.Namespace == "shop" {
		return len(review), fmt.Errorf("left alone because %q, but patched: %v", reason, answer.Patch != nil)
	}
	err = w.judge(d, object, answer, &admissionTally{})
	if err == nil && answer.Patch != nil {
		err = groupHasSiblings(object, answer.Patch)
	}
	return len(review), err
}

// distinguishing are labels that differ between pods of one controller.
var distinguishing = []string{"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name",
	"batch.kubernetes.io/job-completion-index", "spark-exec-id", "training.kubeflow.org/replica-index",
	"strimzi.io/pod-name", "cnpg.io/instanceName"}

// groupHasSiblings: another pod of the controller is counted by each constraint that was added;
// otherwise the constraint would spread nothing.
func groupHasSiblings(pod, patch []byte) error {
	text, err := apply(pod, patch)
	if err != nil {
		return err
	}
	var before, after corev1.Pod
	if err := errors.Join(json.Unmarshal(pod, &before), json.Unmarshal(text, &after)); err != nil {
		return err
	}
	sibling := labels.Set(maps.Clone(after.Labels))
	for _, key := range distinguishing {
		if _, has := sibling[key]; has {
			sibling[key] = "another"
		}
	}
	for _, added := range after.Spec.TopologySpreadConstraints[len(before.Spec.TopologySpreadConstraints):] {
		selector, err := metav1.LabelSelectorAsSelector(added.LabelSelector)
		if err != nil {
			return err
		}
		if !selector.Matches(sibling) {
			return fmt.Errorf("a constraint on %s counts %s, which a pod with the labels %s is none of", added.TopologyKey, selector, sibling)
		}
	}
	return nil
}

// leftAlone is why nothing is to be added to a template in the namespace shop, or "".
func leftAlone(pod *corev1.Pod) string {
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case pod.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "it is a mirror pod"
	case owner != nil && owner.Kind == "DaemonSet":
		return "it is one of a DaemonSet"
	case pod.Labels["jobset.sigs.k8s.io/jobset-name"] != "" && pod.Labels["batch.kubernetes.io/job-completion-index"] != "0":
		return "it is not the first pod of its Job in a JobSet"
	case pod.Annotations["kueue.x-k8s.io/podset-required-topology"] != "":
		return "Kueue's topology-aware scheduling chooses its node"
	case pod.Annotations["scheduling.k8s.io/group-name"] != "":
		return "it is of a PodGroup of Volcano"
	case slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(own corev1.TopologySpreadConstraint) bool {
		return own.TopologyKey == hostnameKey
	}):
		return "it says itself how to spread"
	}
	return ""
}

// TestRepeatable: a case is a function of the seed and its number, whatever is random in an API server.
func TestRepeatable(t *testing.T) {
	for number := range 20 * len(templates()) {
		first, _ := diceFor(number).podToAdmit()
		second, template := diceFor(number).podToAdmit()
		if !bytes.Equal(first, second) {
			t.Fatalf("seed %d, case %d, template %q: %s\nand then %s", seed(), number, template, first, second)
		}
	}
}
