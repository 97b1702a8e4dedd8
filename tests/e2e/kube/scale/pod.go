package main

import (
	"fmt"
	"maps"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// population makes the bound pods one after the other. Replicas of a workload take the zones in turn,
// as kube-scheduler would have left them; within a zone they are anywhere. Not for several goroutines.
type population struct {
	nodes, live, finished int // live ones come first
	next                  int
	replicas              [workloads]int
	perZone               [workloads][zones]int // counted for spreading: neither finished nor terminating
}

// One pod in a hundred is terminating, and beside the live ones one in fifty has finished.
func newPopulation(nodes, live int) *population {
	return &population{nodes: nodes, live: live, finished: live / 50}
}

func (p *population) size() int { return p.live + p.finished }

// Of two numbers the smaller: the first workloads are large, the last ones small.
func workloadOf(chance uint64) int {
	return min(int(chance%workloads), int((chance>>32)%workloads))
}

// pod makes the next one.
func (p *population) pod() *v1.Pod {
	id := podIDs + uint64(p.next)
	finished, terminating := p.next >= p.live, p.next%100 == 50
	p.next++
	workload := workloadOf(hash(id))
	replica := 1000000 + p.next // of those that do not count
	if !finished && !terminating {
		replica = p.replicas[workload]
		p.replicas[workload]++
		p.perZone[workload][(replica+workload)%zones]++
	}
	pod := workloadPod(workload, replica, id)
	pod.Spec.NodeName = nodeName(p.nodeFor((replica+workload)%zones, id))
	pod.Status = podStatus(pod, id, finished)
	if terminating {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &created, new(int64(30))
	}
	return pod
}

func (p *population) nodeFor(zone int, id uint64) int {
	inZone := (p.nodes - zone + zones - 1) / zones
	return zone + zones*int(hash(id+17)%uint64(inZone))
}

// workloadPod is one of a workload's pods, without a node.
func workloadPod(workload, replica int, id uint64) *v1.Pod {
	owner := ownerOf(workload)
	labels := workloadLabels(workload)
	name := fmt.Sprintf("%s-%05x", ownerName(workload), id&0xfffff)
	if isStateful(workload) {
		name = fmt.Sprintf("%s-%d", ownerName(workload), replica)
		maps.Copy(labels, map[string]string{
			"apps.kubernetes.io/pod-index": strconv.Itoa(replica), "statefulset.kubernetes.io/pod-name": name,
			"controller-revision-hash": appName(workload) + "-" + templateHash(workload),
		})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespaceName(workload), Name: name, GenerateName: ownerName(workload) + "-", Labels: labels,
			UID: uid(id), CreationTimestamp: created, OwnerReferences: []metav1.OwnerReference{owner},
			ManagedFields: managedPod(string(owner.UID)),
		},
		Spec: v1.PodSpec{
			Containers: containers(workload), ServiceAccountName: "default", EnableServiceLinks: new(true),
			Priority: new(int32(0)), PreemptionPolicy: new(v1.PreemptLowerPriority), Tolerations: tolerations(),
		},
	}
}

// Those that admission gives to every pod.
func tolerations() []v1.Toleration {
	var all []v1.Toleration
	for _, key := range []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
		all = append(all, v1.Toleration{Key: key, Operator: v1.TolerationOpExists,
			Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))})
	}
	return all
}

// podStatus as a kubelet would report it.
func podStatus(pod *v1.Pod, id uint64, finished bool) v1.PodStatus {
	chance := hash(id)
	address := fmt.Sprintf("10.%d.%d.%d", chance>>8&0xff, chance>>16&0xff, chance>>24&0xff)
	phase, ready := v1.PodRunning, v1.ConditionTrue
	state := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: created}}
	if finished {
		phase, ready = v1.PodSucceeded, v1.ConditionFalse
		state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed",
			StartedAt: created, FinishedAt: created}}
	}
	status := v1.PodStatus{
		Phase: phase, StartTime: &created, QOSClass: v1.PodQOSBurstable, HostIP: address,
		PodIP: address, PodIPs: []v1.PodIP{{IP: address}}, HostIPs: []v1.HostIP{{IP: address}},
		ContainerStatuses: []v1.ContainerStatus{{
			Name: "main", Image: pod.Spec.Containers[0].Image, State: state, Ready: !finished, Started: new(!finished),
			ImageID:     fmt.Sprintf("registry.example.com/images@sha256:%016x%016x", chance, hash(chance)),
			ContainerID: fmt.Sprintf("containerd://%016x%016x", hash(chance+1), hash(chance+2)),
		}},
	}
	for _, kind := range []v1.PodConditionType{v1.PodReadyToStartContainers, v1.PodInitialized, v1.PodReady,
		v1.ContainersReady, v1.PodScheduled} {
		condition := v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: created}
		if kind == v1.PodReady || kind == v1.ContainersReady {
			condition.Status = ready
		}
		status.Conditions = append(status.Conditions, condition)
	}
	return status
}
