package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	estimatorGuide = "docs/guides/estimator.md"
	karmadaSystem  = "karmada-system"
)

// estimatorDoor: the guide's "Installed", with this cluster as both members: as the one that it is installed in, and by
// a kubeconfig with the token of the account that the guide makes there. So the rights of the chart and those of the
// document are enough. Whoever calls a member's Service, as karmada-scheduler does, learns what fits.
func (h *host) estimatorDoor(t *testing.T) {
	inPods := strings.NewReplacer("--context member2 ", "", "{token: $token}", `{token: $token} | .clusters[0].cluster.server = "https://10.96.0.1"`,
		"member2.kubeconfig", h.dir+"/member2.kubeconfig")
	h.shell(t, inPods.Replace(h.typed(t, estimatorGuide, "rbac-member.yaml")))
	h.shell(t, h.typed(t, estimatorGuide, "estimator.enabled=true"))
	shown := ""
	h.until("both members are synced", func(context.Context) (bool, error) {
		var err error
		shown, err = h.tryShell(h.typed(t, estimatorGuide, "evenkeel_estimator_members"))
		return err == nil && strings.Contains(shown, `evenkeel_estimator_members{state="synced"} 2`), fmt.Errorf("%w: %s", err, shown)
	})
	for _, member := range []string{"member1", "member2"} {
		if !strings.Contains(shown, "karmada-scheduler-estimator-"+member) {
			t.Errorf("%s has no Service: %s", member, shown)
		}
		h.until(member+" answers what fits", func(ctx context.Context) (bool, error) {
			wanted, err := h.coresFree(ctx)
			if err != nil {
				return false, err
			}
			answer, err := h.askEstimator(member)
			return err == nil && answer == wanted && wanted > 0, fmt.Errorf("%d, not %d: %w", answer, wanted, err)
		})
	}
	if answer, err := h.askEstimator("member3"); err == nil {
		t.Errorf("of a cluster that is no member it answers %d", answer)
	}
	h.noneRefused(t)

	account := "system:serviceaccount:" + karmadaSystem + ":estimator-evenkeel-estimator"
	may := func(words string) string {
		said, _ := h.tryShell("set +x; kubectl auth can-i " + words + " --all-namespaces --as " + account + " 2>/dev/null")
		return strings.TrimSpace(strings.TrimPrefix(said, "+ set +x\n"))
	}
	for words, wanted := range map[string]string{"watch pods": "yes", "get pods": "no", "list secrets": "no", "list services": "no",
		"list resourcequotas": "no", "patch nodes": "no"} {
		if said := may(words); said != wanted {
			t.Errorf("may the estimator %s: %s, not %s", words, said, wanted)
		}
	}
	h.shell(t, "helm uninstall estimator --namespace "+karmadaSystem+" --wait")
}

// coresFree is how many replicas of one core fit the nodes, counted from what the API server has.
func (h *host) coresFree(ctx context.Context) (replicas int64, err error) {
	nodes, err := h.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	pods, err := h.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for _, node := range nodes.Items {
		milli, count := node.Status.Allocatable.Cpu().MilliValue(), node.Status.Allocatable.Pods().Value()
		for _, pod := range pods.Items {
			if pod.Spec.NodeName == node.Name && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
				milli -= coresOf(&pod)
				count--
			}
		}
		if !node.Spec.Unschedulable && len(node.Spec.Taints) == 0 {
			replicas += max(min(milli/1000, count), 0)
		}
	}
	return replicas, nil
}

// coresOf a pod without init containers, in thousandths.
func coresOf(pod *v1.Pod) int64 {
	sum := resource.Quantity{}
	for _, container := range pod.Spec.Containers {
		sum.Add(*container.Resources.Requests.Cpu())
	}
	return sum.MilliValue()
}

// askEstimator calls MaxAvailableReplicas for one core at the Service of member1, whoever is asked about.
func (h *host) askEstimator(cluster string) (replicas int64, err error) {
	service, err := h.Client.CoreV1().Services(karmadaSystem).Get(h.ctx, "karmada-scheduler-estimator-member1", metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	// Fields 1, cluster, and 2, requirements with field 5: {cpu: 1}.
	message := "\x0a" + string(rune(len(cluster))) + cluster + "\x12\x0c\x2a\x0a\x0a\x03cpu\x12\x03\x0a\x011"
	frame := "\x00\x00\x00\x00" + string(rune(len(message))) + message
	said, err := h.tryShell("set +x; xxd -r -p <<<" + hex.EncodeToString([]byte(frame)) + " | curl -sS --max-time 10 --http2-prior-knowledge" +
		" -H 'content-type: application/grpc' -H 'te: trailers' --data-binary @- http://" + service.Spec.ClusterIP +
		":10352/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/MaxAvailableReplicas | xxd -p")
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, said)
	}
	answer, err := hex.DecodeString(strings.TrimSpace(strings.TrimPrefix(said, "+ set +x\n")))
	if err != nil || len(answer) < 5 {
		return 0, fmt.Errorf("%w: %q", err, said)
	}
	for i, b := range answer[min(6, len(answer)):] { // behind the key 0x08; nothing of it: 0
		replicas |= int64(b&0x7f) << (7 * i)
	}
	return replicas, nil
}
