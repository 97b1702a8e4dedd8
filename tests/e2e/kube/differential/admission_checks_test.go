package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/capabilities"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	kjson "sigs.k8s.io/json"
)

func init() { capabilities.Setup(true, 0) } // --allow-privileged, as where node agents run

// invalid is why the API server would not create the pod: it decodes, sets defaults, merges
// matchLabelKeys and validates. Unknown fields are no reason.
func invalid(pod []byte) error {
	decoded, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), pod)
	if err != nil {
		return err
	}
	created := decoded.(*core.Pod)
	if created.Name == "" && created.GenerateName != "" {
		created.Name = created.GenerateName + "x"
	}
	ctx := genericapirequest.WithNamespace(context.Background(), created.Namespace)
	podregistry.Strategy.PrepareForCreate(ctx, created)
	return podregistry.Strategy.Validate(ctx, created).ToAggregate()
}

// ---- only owned paths ----

type tree = map[string]any

func treeOf(pod []byte) (tree, error) {
	decoder := json.NewDecoder(bytes.NewReader(pod))
	decoder.UseNumber() // as they are written
	var t tree
	return t, decoder.Decode(&t)
}

func child(t tree, name string) tree {
	inner, _ := t[name].(tree) // nil has no members
	return inner
}

func list(t tree, name string) []any {
	inner, _ := t[name].([]any) // nil has no elements
	return inner
}

const usageKey = "fluid.io/datasets-in-use"

// owned: apart from what is Evenkeel's to write, the two pods are equal, and what the pod said itself
// about that is still there. Nothing that was added is unknown to the API server.
func owned(pod, patched []byte, tally *admissionTally) error {
	before, err := treeOf(pod)
	if err != nil {
		return err
	}
	after, err := treeOf(patched)
	if err != nil {
		return err
	}
	for _, check := range []func(before, after tree, tally *admissionTally) error{
		constraintsKept, affinityKept, annotationsKept, mountsKept,
	} {
		if err := check(before, after, tally); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("something else has changed: %s", toJSON(after))
	}
	return nothingUnknown(pod, patched)
}

// Each takes what it has looked at out of both trees.

func constraintsKept(before, after tree, tally *admissionTally) error {
	const name = "topologySpreadConstraints"
	was, is := list(child(before, "spec"), name), list(child(after, "spec"), name)
	if len(is) < len(was) || !reflect.DeepEqual(is[:len(was)], was[:]) && len(was) > 0 {
		return fmt.Errorf("constraints were %s and are %s", toJSON(was), toJSON(is))
	}
	for _, added := range is[len(was):] {
		key := added.(tree)["topologyKey"]
		if slices.ContainsFunc(was, func(own any) bool { return own.(tree)["topologyKey"] == key }) {
			return fmt.Errorf("the pod's own constraint on %v does not win", key)
		}
	}
	tally.count("constraints added", len(is) > len(was))
	delete(child(before, "spec"), name)
	delete(child(after, "spec"), name)
	return nil
}

func affinityKept(before, after tree, tally *admissionTally) error {
	was, is := child(before, "spec"), child(after, "spec")
	const preferred, required = "preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"
	wasNode, isNode := child(child(was, "affinity"), "nodeAffinity"), child(child(is, "affinity"), "nodeAffinity")
	own, all := list(wasNode, preferred), list(isNode, preferred)
	if len(all) < len(own) || len(own) > 0 && !reflect.DeepEqual(all[:len(own)], own) {
		return fmt.Errorf("preferred terms were %s and are %s", toJSON(own), toJSON(all))
	}
	tally.count("preferred terms added", len(all) > len(own))
	tally.count("required terms changed", !reflect.DeepEqual(wasNode[required], isNode[required]))
	for name, value := range wasNode {
		if name != preferred && name != required && !reflect.DeepEqual(value, isNode[name]) {
			return fmt.Errorf("nodeAffinity.%s was %s and is %s", name, toJSON(value), toJSON(isNode[name]))
		}
	}
	for _, spec := range []tree{was, is} {
		delete(child(spec, "affinity"), "nodeAffinity")
		if len(child(spec, "affinity")) == 0 {
			delete(spec, "affinity") // not there, null or empty: all the same
		}
	}
	return nil
}

func annotationsKept(before, after tree, tally *admissionTally) error {
	was, is := child(before, "metadata"), child(after, "metadata")
	tally.count("annotations changed", !reflect.DeepEqual(child(was, "annotations"), child(is, "annotations")))
	for _, metadata := range []tree{was, is} {
		delete(child(metadata, "annotations"), usageKey)
		if len(child(metadata, "annotations")) == 0 {
			delete(metadata, "annotations")
		}
	}
	return nil
}

func mountsKept(before, after tree, tally *admissionTally) error {
	for _, kind := range []string{"containers", "initContainers"} {
		was, is := list(child(before, "spec"), kind), list(child(after, "spec"), kind)
		if len(was) != len(is) {
			return errors.New("there are more or fewer containers")
		}
		for i := range was {
			if err := containerMountsKept(was[i].(tree), is[i].(tree), tally); err != nil {
				return err
			}
		}
	}
	return nil
}

func containerMountsKept(was, is tree, tally *admissionTally) error {
	const name = "mountPropagation"
	mounts, now := list(was, "volumeMounts"), list(is, "volumeMounts")
	for i := range mounts {
		own, _ := mounts[i].(tree)[name].(string) // "" and not there are the same
		if i >= len(now) || own != "" {
			continue // must be equal as it is
		}
		given, _ := now[i].(tree)[name].(string)
		if given != "" && given != string(corev1.MountPropagationHostToContainer) {
			return fmt.Errorf("mountPropagation %q", given)
		}
		tally.count("mounts changed", given != "")
		delete(mounts[i].(tree), name)
		delete(now[i].(tree), name)
	}
	return nil
}

// nothingUnknown: a strict decoder has no more to say about the result than about the original.
func nothingUnknown(pod, patched []byte) error {
	before, err := strictErrors(pod)
	if err != nil {
		return nil // no pod at all; there is nothing to compare
	}
	after, err := strictErrors(patched)
	if err != nil {
		return fmt.Errorf("the result is no pod: %w", err)
	}
	for _, one := range after {
		if !slices.Contains(before, one) {
			return fmt.Errorf("new in the result: %s", one)
		}
	}
	return nil
}

func strictErrors(pod []byte) (texts []string, err error) {
	strict, err := kjson.UnmarshalStrict(pod, &corev1.Pod{})
	for _, one := range strict {
		texts = append(texts, one.Error())
	}
	return texts, err
}

// ---- nothing is widened ----

// narrowed: a node that the result may run on is one that the original might.
func narrowed(d dice, pod, patched []byte, tally *admissionTally) error {
	var before, after corev1.Pod
	if json.Unmarshal(pod, &before) != nil || json.Unmarshal(patched, &after) != nil {
		return nil // the API server will not take it
	}
	was, is := nodeaffinity.GetRequiredNodeAffinity(&before), nodeaffinity.GetRequiredNodeAffinity(&after)
	for range 12 {
		node := d.admissionNode()
		may, err := is.Match(node)
		might, _ := was.Match(node) // a term that is none matches nothing
		tally.count("nodes excluded", might && !may)
		tally.count("nodes left", may)
		if err == nil && may && !might {
			return fmt.Errorf("it may now run on %s with %s", node.Name, toJSON(node.Labels))
		}
	}
	return nil
}
