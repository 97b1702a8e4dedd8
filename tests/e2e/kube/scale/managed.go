package main

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Who owns which field is a good part of every object that came through an API server. What is
// written past it gets the same, or the bytes would be too few.

func managed(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}, Subresource: subresource,
	}
}

// fields is an object with the fields, each with nothing below: {"f:a":{},"f:b":{}}.
func fields(names ...string) string {
	var text strings.Builder
	for i, name := range names {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `"f:%s":{}`, name)
	}
	return text.String()
}

// keyed is an item of a list that is merged by a key: "k:{...}":{".":{},...}.
func keyed(key, value string, below string) string {
	return fmt.Sprintf(`"k:{\"%s\":\"%s\"}":{".":{},%s}`, key, value, below)
}

var (
	kubeletNodeFields = `{"f:metadata":{"f:annotations":{".":{},` +
		fields("volumes.kubernetes.io/controller-managed-attach-detach") + `},"f:labels":{".":{},` +
		fields("beta.kubernetes.io/arch", "beta.kubernetes.io/os", "kubernetes.io/arch", "kubernetes.io/hostname",
			"kubernetes.io/os", "node.kubernetes.io/instance-type", "topology.kubernetes.io/region",
			"topology.kubernetes.io/zone") + `}}}`

	ownerPodFields = `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},` +
		fields("app", "pod-template-hash", "team", "tier", "version") + `},"f:ownerReferences":{".":{},%s}},"f:spec":{` +
		`"f:containers":{` + keyed("name", "main", fields("image", "imagePullPolicy", "name",
		"terminationMessagePath", "terminationMessagePolicy")+`,"f:resources":{".":{},"f:requests":{".":{},`+
		fields("cpu", "memory")+`}}`) + `},` +
		fields("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName", "securityContext",
			"terminationGracePeriodSeconds") + `}}`

	kubeletPodFields = `{"f:status":{"f:conditions":{` +
		podConditionFields("ContainersReady") + `,` + podConditionFields("Initialized") + `,` +
		podConditionFields("PodReadyToStartContainers") + `,` + podConditionFields("Ready") + `},` +
		fields("containerStatuses", "hostIP", "hostIPs", "phase", "podIP", "startTime") + `}}`
)

func podConditionFields(kind string) string {
	return keyed("type", kind, fields("lastProbeTime", "lastTransitionTime", "status", "type"))
}

// managedPod is what a workload controller and a kubelet leave behind.
func managedPod(owner string) []metav1.ManagedFieldsEntry {
	made := fmt.Sprintf(ownerPodFields, fmt.Sprintf(`"k:{\"uid\":\"%s\"}":{}`, owner))
	return []metav1.ManagedFieldsEntry{
		managed("kube-controller-manager", "", made), managed("kubelet", "status", kubeletPodFields),
	}
}
