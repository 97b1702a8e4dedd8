package differential

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corehelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
)

// TestNodeAffinity: nodeSelector and required node affinity. An error is not compared: spreading
// takes a term that does not parse for one that does not match.
func TestNodeAffinity(t *testing.T) {
	comparePrimitives(t, []string{"true", "false"}, itself, func(d dice) primitive {
		pod := &corev1.Pod{}
		if d.chance(30) {
			pod.Spec.NodeSelector = d.labels(nodeLabels, 50)
		}
		if d.chance(90) {
			pod.Spec.Affinity = d.affinity()
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(d.IntN(6)), Labels: d.labels(nodeLabels, 80)}}
		if d.chance(50) {
			d.strangeNode(pod, node)
		}
		matches, _ := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
		spec := map[string]any{"nodeSelector": pod.Spec.NodeSelector, "affinity": pod.Spec.Affinity}
		return primitive{"node-affinity", []string{toJSON(spec), node.Name, toJSON(node.Labels)}, verdictOf(matches, nil)}
	})
}

// strangeNode puts values into the affinity and the labels that are hardly ever seen.
func (d dice) strangeNode(pod *corev1.Pod, node *corev1.Node) {
	numbers := []string{"0", "-0", "+1", "1", "01", "1.0", "1e3", "0x1", " 1", "",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808"}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels["size"] = pick(d, numbers...)
	q := &question{pod: pod}
	eachTerm(q, func(term *corev1.NodeSelectorTerm) {
		for i := range term.MatchExpressions {
			one := &term.MatchExpressions[i]
			if d.chance(60) {
				one.Key, one.Values = "size", some(d, 10, numbers...)
			}
			if d.chance(50) {
				one.Values = []string{pick(d, numbers...)}
			}
		}
		if d.chance(20) {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
				Key: pick(d, "metadata.name", "metadata.uid", ""), Operator: pick(d, nodeOperators...),
				Values: pick(d, nil, []string{""}, []string{node.Name}, []string{node.Name, node.Name})})
		}
	})
}

func TestTolerations(t *testing.T) {
	logger := klog.Background()
	comparePrimitives(t, []string{"true", "false"}, itself, func(d dice) primitive {
		var tolerations []corev1.Toleration
		var taints []corev1.Taint
		for range d.IntN(5) {
			tolerations = append(tolerations, d.anyToleration())
		}
		for range d.IntN(4) {
			taints = append(taints, d.anyTaint())
		}
		_, untolerated := corehelpers.FindMatchingUntoleratedTaint(logger, taints, tolerations,
			helper.DoNotScheduleTaintsFilterFunc(), false)
		return primitive{"tolerations", []string{toJSON(tolerations), toJSON(taints)}, verdictOf(!untolerated, nil)}
	})
}

func TestToleration(t *testing.T) {
	logger := klog.Background()
	comparePrimitives(t, []string{"true", "false"}, itself, func(d dice) primitive {
		toleration, taint := d.anyToleration(), d.anyTaint()
		tolerates := toleration.ToleratesTaint(logger, &taint, false)
		return primitive{"toleration", []string{toJSON([]any{toleration}), toJSON([]any{taint})}, verdictOf(tolerates, nil)}
	})
}

// anyToleration is of those that the API server accepts and of those that it does not.
func (d dice) anyToleration() corev1.Toleration {
	toleration := d.toleration()
	if d.chance(20) {
		toleration.Operator = pick[corev1.TolerationOperator](d, "exists", "equal", "In", " ", "Exists ")
	}
	if d.chance(10) {
		toleration.Effect = pick[corev1.TaintEffect](d, "noschedule", "NoSchedul", "*")
	}
	if d.chance(20) {
		toleration.TolerationSeconds = new(int64)
	}
	return toleration
}

func (d dice) anyTaint() corev1.Taint {
	taint := d.taint()
	if d.chance(10) {
		taint.Effect = pick[corev1.TaintEffect](d, "", "noschedule", "NoScheduleNoAdmit")
	}
	if d.chance(10) {
		taint.Key = ""
	}
	if d.chance(10) {
		taint.TimeAdded = &metav1.Time{}
	}
	return taint
}
