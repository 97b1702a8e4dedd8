package e2e

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestWebhookFindings: a client gets the findings about its pod as warnings of the API server, at most
// eight, and the pod is created all the same. The last case has a value that the API server refuses: its
// own reason follows the warning.
func TestWebhookFindings(t *testing.T) {
	s := newStage(t)
	w := s.newWebhook()
	_, url := w.start(nil)
	w.register(s.id, url, nil)
	w.untilPatched()
	const misses = "spec.topologySpreadConstraints[%d].labelSelector: the labelSelector does not select the pod itself, " +
		"which has no label 'app: wbe': the constraint counts none of these pods. Select labels that the pod has, or give the pod this label"

	for _, c := range []struct {
		name    string
		change  func(*v1.PodSpec)
		want    []string
		refused bool
	}{
		{name: "right", change: func(spec *v1.PodSpec) {
			spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(zoneKey, 1, v1.DoNotSchedule, "web")}
		}},
		{name: "misses", change: func(spec *v1.PodSpec) {
			spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{constraint(zoneKey, 1, v1.DoNotSchedule, "web"),
				constraint(hostKey, 1, v1.ScheduleAnyway, "wbe")}
		}, want: []string{fmt.Sprintf(misses, 1)}},
		{name: "many", change: func(spec *v1.PodSpec) {
			for i := range 12 {
				spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints,
					constraint(fmt.Sprintf("example.com/key-%d", i), 1, v1.ScheduleAnyway, "wbe"))
			}
		}, want: func() (all []string) {
			for _, i := range []int{0, 10, 11, 1, 2, 3, 4, 5} { // by path, as text
				all = append(all, fmt.Sprintf(misses, i))
			}
			return all
		}()},
		{name: "refused", change: func(spec *v1.PodSpec) {
			spec.Tolerations = []v1.Toleration{{Key: "gpu", Operator: "Exist"}}
		}, want: []string{"spec.tolerations[0].operator: 'Exist' is no operator of a toleration. Write Exists"}, refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var heard warnings
			config := rest.CopyConfig(s.Config)
			config.WarningHandler = &heard
			client, err := kubernetes.NewForConfig(config)
			s.must(err)
			pod := w.webPod(c.name, "nobody")
			c.change(&pod.Spec)
			if _, err = client.CoreV1().Pods(s.id).Create(s.ctx, pod, metav1.CreateOptions{}); (err != nil) != c.refused {
				t.Errorf("created: %v", err)
			}
			if !slices.Equal(heard, c.want) {
				t.Errorf("warnings: %q, want %q", heard, c.want)
			}
		})
	}
}
