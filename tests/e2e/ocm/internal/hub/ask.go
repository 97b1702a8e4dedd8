package hub

import (
	"context"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The rest of a configuration that asks a webhook about every Placement, as the chart's.
const placementWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: evenkeel-placements}
webhooks:
- name: placements.evenkeel.io
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  reinvocationPolicy: IfNeeded
  timeoutSeconds: 2
  rules:
  - apiGroups: [cluster.open-cluster-management.io]
    apiVersions: [v1beta1]
    resources: [placements]
    operations: [CREATE, UPDATE]
    scope: Namespaced
`

// Ask has the API server ask a webhook of that URL about Placements. It may take a moment until it does.
func (h *Hub) Ask(ctx context.Context, url string, authority []byte) error {
	var c admission.MutatingWebhookConfiguration
	if err := yaml.UnmarshalStrict([]byte(placementWebhook), &c); err != nil {
		return err
	}
	c.Webhooks[0].ClientConfig = admission.WebhookClientConfig{URL: &url, CABundle: authority}
	_, err := h.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, &c, metav1.CreateOptions{})
	return err
}
