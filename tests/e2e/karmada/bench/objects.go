package main

import (
	"fmt"
	"strings"
)

// What members have, object by object and the same each time: nodes of 8 KiB, pods of 5 KiB in 200 sizes, and a
// Deployment with its ReplicaSet for 20 pods each, as API servers send them, managedFields and all.

// template is a text with fields in it, each a % and a letter.
type template struct {
	literals []string
	fields   []byte
}

func newTemplate(text string) *template {
	t := &template{}
	for {
		literal, rest, found := strings.Cut(text, "%")
		t.literals = append(t.literals, literal)
		if !found {
			return t
		}
		t.fields, text = append(t.fields, rest[0]), rest[1:]
	}
}

func (t *template) append(to []byte, value func(to []byte, field byte) []byte) []byte {
	for i, literal := range t.literals {
		to = append(to, literal...)
		if i < len(t.fields) {
			to = value(to, t.fields[i])
		}
	}
	return to
}

// managed is what an API server remembers of who set which field.
func managed(fields int) string {
	var text strings.Builder
	text.WriteString(`[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-03-01T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{".":{}`)
	for i := range fields {
		fmt.Fprintf(&text, `,"f:field-of-the-object-%02d":{".":{},"f:name":{},"f:value":{}}`, i)
	}
	text.WriteString(`}}}]`)
	return text.String()
}

func images() string {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, `{"names":["registry.example.com/team-%02d/service@sha256:0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0","registry.example.com/team-%02d/service:v1.%d.0"],"sizeBytes":%d},`, i, i, i, 51000000+i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

func settings() string {
	var text strings.Builder
	for i := range 16 {
		fmt.Fprintf(&text, `{"name":"SETTING_OF_THE_SERVICE_%02d","value":"value-of-setting-number-%02d"},`, i, i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

// n: its number; z: zone; r: region; p: pool; t: taints; c, m, g: what it has.
var nodeTemplate = newTemplate(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-%n","uid":"0a1b2c3d-0000-4000-8000-0000000%n","resourceVersion":"1000",` +
	`"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"kubernetes.io/hostname":"node-%n","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",` +
	`"node.kubernetes.io/instance-type":"large","topology.kubernetes.io/zone":"%z","topology.kubernetes.io/region":"%r","example.com/pool":"%p",` +
	`"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/os":"linux"},"annotations":{"node.alpha.kubernetes.io/ttl":"0",` +
	`"volumes.kubernetes.io/controller-managed-attach-detach":"true"},"managedFields":` + managed(16) + `},"spec":{"podCIDR":"10.1.0.0/24","providerID":"example://%r/%n"%t},` +
	`"status":{"capacity":{"cpu":"%c","memory":"%mGi","ephemeral-storage":"200Gi","pods":"110"%g},"allocatable":{"cpu":"%c","memory":"%mGi","ephemeral-storage":"180Gi","pods":"110"%g},` +
	`"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-03-01T10:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},` +
	`{"type":"Ready","status":"True","lastHeartbeatTime":"2026-03-01T10:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"KubeletReady","message":"kubelet is posting ready status"}],` +
	`"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"node-%n"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},` +
	`"nodeInfo":{"machineID":"m","systemUUID":"s","bootID":"b","kernelVersion":"6.1.0","osImage":"Debian GNU/Linux 12","containerRuntimeVersion":"containerd://2.1","kubeletVersion":"v1.35.0","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},` +
	`"images":[` + images() + `]}}`)

// n: its number; h: its node; w: its workload; c, m: what it asks for.
var podTemplate = newTemplate(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"service-%w-7d4b9c6f5d-%n","generateName":"service-%w-7d4b9c6f5d-","namespace":"shop","uid":"1a1b2c3d-0000-4000-8000-0000000%n",` +
	`"resourceVersion":"1000","creationTimestamp":"2026-02-01T00:00:00Z","labels":{"app":"service-%w","tier":"web","team":"shop","pod-template-hash":"7d4b9c6f5d"},"annotations":{"example.com/scrape":"true"},` +
	`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"service-%w-7d4b9c6f5d","uid":"3a1b2c3d-0000-4000-8000-0000000%w","controller":true,"blockOwnerDeletion":true}],"managedFields":` + managed(24) + `},` +
	`"spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],` +
	`"containers":[{"name":"main","image":"registry.example.com/shop/service:v1.4.0","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[` + settings() + `],` +
	`"resources":{"limits":{"memory":"%mMi"},"requests":{"cpu":"%cm","memory":"%mMi"}},"volumeMounts":[{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],` +
	`"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],` +
	`"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-%h","securityContext":{},"schedulerName":"default-scheduler",` +
	`"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true},` +
	`"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True","lastTransitionTime":"2026-02-01T00:00:00Z"},{"type":"Ready","status":"True","lastTransitionTime":"2026-02-01T00:00:10Z"},{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-02-01T00:00:00Z"}],` +
	`"hostIP":"10.0.0.1","podIP":"10.1.0.7","podIPs":[{"ip":"10.1.0.7"}],"startTime":"2026-02-01T00:00:00Z","containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-02-01T00:00:05Z"}},"lastState":{},"ready":true,"restartCount":0,` +
	`"image":"registry.example.com/shop/service:v1.4.0","imageID":"registry.example.com/shop/service@sha256:0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0","containerID":"containerd://0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0","started":true}],"qosClass":"Burstable"}}`)

// The pod that both have, which neither estimator reads but in parts.
const podOfWorkload = `"template":{"metadata":{"labels":{"app":"service-%n","tier":"web","team":"shop"%h}},"spec":{"containers":[{"name":"main","image":"registry.example.com/shop/service:v1.4.0",` +
	`"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}`

var deploymentTemplate = newTemplate(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"service-%n","namespace":"shop","uid":"2a1b2c3d-0000-4000-8000-0000000%n","resourceVersion":"1000","generation":1,` +
	`"creationTimestamp":"2026-01-15T00:00:00Z","labels":{"app":"service-%n"},"managedFields":` + managed(16) + `},"spec":{"replicas":20,"selector":{"matchLabels":{"app":"service-%n"}},` +
	podOfWorkload + `,"strategy":{"type":"RollingUpdate"}},"status":{"observedGeneration":1,"replicas":20,"readyReplicas":20}}`)

var replicaSetTemplate = newTemplate(`{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"service-%n-7d4b9c6f5d","namespace":"shop","uid":"3a1b2c3d-0000-4000-8000-0000000%n","resourceVersion":"1000","generation":1,` +
	`"creationTimestamp":"2026-01-15T00:00:00Z","labels":{"app":"service-%n","tier":"web","team":"shop","pod-template-hash":"7d4b9c6f5d"},` +
	`"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"service-%n","uid":"2a1b2c3d-0000-4000-8000-0000000%n","controller":true}],"managedFields":` + managed(16) + `},` +
	`"spec":{"replicas":20,"selector":{"matchLabels":{"app":"service-%n","pod-template-hash":"7d4b9c6f5d"}},` + podOfWorkload + `},"status":{"replicas":20,"readyReplicas":20,"observedGeneration":1}}`)

const podsOfWorkload = 20

// size of a member.
type size struct{ nodes, pods int }

func (s size) count(kind string) int {
	switch kind {
	case "Node":
		return s.nodes
	case "Pod":
		return s.pods
	}
	return s.pods / podsOfWorkload
}

func appendNumber(to []byte, i int) []byte { return fmt.Appendf(to, "%05d", i) }

func appendNode(to []byte, i int) []byte {
	return nodeTemplate.append(to, func(to []byte, field byte) []byte {
		switch field {
		case 'z':
			return fmt.Appendf(to, "zone-%d", i%12)
		case 'r':
			return fmt.Appendf(to, "region-%d", i%12/3)
		case 'p':
			return fmt.Appendf(to, "pool-%d", i%5)
		case 't':
			if i%50 == 0 {
				return append(to, `,"taints":[{"key":"dedicated","value":"gpu","effect":"NoSchedule"}]`...)
			}
			return to
		case 'c':
			return fmt.Appendf(to, "%d", 32<<(i%3))
		case 'm':
			return fmt.Appendf(to, "%d", 128<<(i%3))
		case 'g':
			if i%25 == 0 {
				return append(to, `,"nvidia.com/gpu":"8"`...)
			}
			return to
		}
		return appendNumber(to, i)
	})
}

func appendPod(to []byte, s size, i int) []byte {
	return podTemplate.append(to, func(to []byte, field byte) []byte {
		switch field {
		case 'h':
			return appendNumber(to, i*7919%s.nodes)
		case 'w':
			return appendNumber(to, i/podsOfWorkload)
		case 'c':
			return fmt.Appendf(to, "%d", 100+50*(i/podsOfWorkload%20))
		case 'm':
			return fmt.Appendf(to, "%d", 128+128*(i/podsOfWorkload/20%10))
		}
		return appendNumber(to, i)
	})
}

func appendWorkload(to []byte, t *template, i int) []byte {
	return t.append(to, func(to []byte, field byte) []byte {
		if field != 'h' {
			return appendNumber(to, i)
		}
		if t == replicaSetTemplate {
			return append(to, `,"pod-template-hash":"7d4b9c6f5d"`...)
		}
		return to
	})
}

func (s size) appendObject(to []byte, kind string, i int) []byte {
	switch kind {
	case "Node":
		return appendNode(to, i)
	case "Pod":
		return appendPod(to, s, i)
	case "Deployment":
		return appendWorkload(to, deploymentTemplate, i)
	}
	return appendWorkload(to, replicaSetTemplate, i)
}
