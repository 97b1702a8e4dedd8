package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
)

// review is the least that a webhook in Go does: it decodes the review and its pod with Kubernetes' own
// types, and allows it.
func review(w http.ResponseWriter, r *http.Request) {
	var pod corev1.Pod
	var asked admissionv1.AdmissionReview
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err == nil && asked.Request == nil {
		err = fmt.Errorf("expected a request")
	}
	if err == nil {
		err = json.Unmarshal(asked.Request.Object.Raw, &pod)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	encode(w, admissionv1.AdmissionReview{TypeMeta: asked.TypeMeta,
		Response: &admissionv1.AdmissionResponse{UID: asked.Request.UID, Allowed: true}})
}
