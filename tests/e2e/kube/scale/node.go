package main

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes are those of tests/bench/cluster_node.c: 4 regions of 3 zones, some 20 labels, images.
const (
	zones       = 12
	nodeImages  = 36
	dedicatedTo = "dedicated" // taint of one node in twenty
)

var regions = []string{"eu-west-1", "eu-central-1", "us-east-1", "us-west-2"}

var machines = []struct {
	family, size    string
	cpus, memoryGiB int
}{
	{"m6i", "4xlarge", 16, 64}, {"m6i", "8xlarge", 32, 128}, {"c6i", "4xlarge", 16, 32},
	{"r6i", "4xlarge", 16, 128}, {"m7a", "2xlarge", 8, 32},
}

// created is when everything in the cluster came to be.
var created = metav1.NewTime(time.Date(2025, 9, 1, 8, 0, 0, 0, time.UTC))

func zoneOf(node int) int        { return node % zones }
func regionName(node int) string { return regions[zoneOf(node)/3] }
func zoneName(node int) string   { return regionName(node) + string(rune('a'+zoneOf(node)%3)) }

func nodeName(node int) string {
	inZone := node / zones
	return fmt.Sprintf("ip-10-%d-%d-%d.%s.compute.internal", zoneOf(node), inZone/250, inZone%250, regionName(node))
}

func nodeLabels(node int) map[string]string {
	m := machines[hash(uint64(node))%uint64(len(machines))]
	capacity := "on-demand"
	if hash(uint64(node)+7)%4 == 0 {
		capacity = "spot"
	}
	kind, zone, region := m.family+"."+m.size, zoneName(node), regionName(node)
	labels := map[string]string{
		"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/instance-type": kind,
		v1.LabelArchStable: "amd64", v1.LabelOSStable: "linux", v1.LabelInstanceTypeStable: kind,
		v1.LabelHostname: nodeName(node), v1.LabelTopologyZone: zone, v1.LabelTopologyRegion: region,
		v1.LabelFailureDomainBetaZone: zone, v1.LabelFailureDomainBetaRegion: region,
		"node.kubernetes.io/instance-family": m.family, "topology.storage.example.com/zone": zone,
		"topology.example.com/rack": fmt.Sprintf("%s-%d", zone, node/zones/20),
	}
	maps.Copy(labels, map[string]string{
		"example.com/capacity-type": capacity, "example.com/cpu-count": strconv.Itoa(m.cpus),
		"example.com/image": "node-2025.09", "example.com/memory-gib": strconv.Itoa(m.memoryGiB),
		"example.com/node-group": "general-" + zone[len(zone)-1:], "example.com/owner": "platform",
	})
	return labels
}

// newNode has room for everything: this is about spreading, not about fitting.
func newNode(node int) *v1.Node {
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("96"), v1.ResourceMemory: resource.MustParse("384Gi"),
		v1.ResourceEphemeralStorage: resource.MustParse("95551679124"), v1.ResourcePods: resource.MustParse("250"),
	}
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: nodeName(node), UID: uid(nodeIDs + uint64(node)), CreationTimestamp: created, Labels: nodeLabels(node),
			Annotations: map[string]string{
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
			},
			ManagedFields: []metav1.ManagedFieldsEntry{managed("kubelet", "", kubeletNodeFields)},
		},
		Spec: v1.NodeSpec{PodCIDR: fmt.Sprintf("10.%d.%d.0/24", 128+node/256, node%256)},
		Status: v1.NodeStatus{
			Capacity: room, Allocatable: room, Conditions: nodeConditions(), Images: imagesOf(node),
			Addresses: []v1.NodeAddress{{Type: v1.NodeHostName, Address: nodeName(node)}},
			NodeInfo: v1.NodeSystemInfo{
				Architecture: "amd64", OperatingSystem: "linux", OSImage: "Linux", KernelVersion: "6.1.0",
				ContainerRuntimeVersion: "containerd://1.7.27", KubeletVersion: "v1.34.1",
			},
		},
	}
	if hash(uint64(node)+3)%20 == 0 {
		n.Spec.Taints = []v1.Taint{{Key: dedicatedTo, Value: "batch", Effect: v1.TaintEffectNoSchedule}}
	}
	return n
}

func nodeConditions() []v1.NodeCondition {
	var all []v1.NodeCondition
	for _, c := range []struct{ kind, status, reason string }{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory"}, {"DiskPressure", "False", "KubeletHasNoDiskPressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID"}, {"Ready", "True", "KubeletReady"},
	} {
		all = append(all, v1.NodeCondition{
			Type: v1.NodeConditionType(c.kind), Status: v1.ConditionStatus(c.status), Reason: c.reason,
			Message: "the kubelet says " + c.reason, LastHeartbeatTime: created, LastTransitionTime: created,
		})
	}
	return all
}

func imagesOf(node int) []v1.ContainerImage {
	var all []v1.ContainerImage
	for i := range uint64(nodeImages) {
		image := hash(uint64(node)*nodeImages+i) % 400
		all = append(all, v1.ContainerImage{
			Names: []string{
				fmt.Sprintf("registry.example.com/images/image-%03d@sha256:%016x%016x%016x%016x", image,
					hash(image), hash(image+400), hash(image+800), hash(image+1200)),
				fmt.Sprintf("registry.example.com/images/image-%03d:v1.%d", image, image%17),
			},
			SizeBytes: int64(10000000 + image*70001),
		})
	}
	return all
}
