package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phase is a number of pods of one sort, placed one after the other. All pods of a round are there
// before its kube-scheduler starts, and priorities say in which order it takes the phases: so nothing
// but placing goes on, and the start is paid once for all of them.
type phase struct {
	Pods      string // sort of pods
	Scheduler string // profile
}

const (
	spreadPods = "hard zone, soft host"
	plainPods  = "plain"
)

var phases = []phase{
	{spreadPods, someNodes}, {spreadPods, allNodes}, {plainPods, someNodes}, {plainPods, allNodes},
}

// warmUp comes before the phases, unmeasured.
const warmUp = -1

// priorities of the phases in the order in which they are placed; the warm-up has the first.
var priorities = []int32{500, 400, 300, 200, 100}

func priorityName(value int32) string { return fmt.Sprintf("scale-%d", value) }

const (
	pendingKey      = "scale.evenkeel.io/phase" // label of the pods that we create
	waitingOwners   = 50                        // as many workloads take turns
	pendingReplicas = 2000000                   // numbers of their pods, which no others have
)

// place of a phase in this round: they take turns at being first.
func place(phase, round int) int {
	if phase == warmUp {
		return 0
	}
	return 1 + (phase+round)%len(phases)
}

// waitingWorkload is the one that the i-th pod belongs to, as in tests/bench/cluster_pod.c: none of
// them is a StatefulSet.
func waitingWorkload(i int) int {
	k := i % waitingOwners
	return k*30%workloads + k%9
}

func (b *bench) warmUpPods() int { return b.pending/10 + 1 }

func (b *bench) phasePods(phase int) int {
	if phase == warmUp {
		return b.warmUpPods()
	}
	return b.pending
}

// pendingPod is the i-th of a phase.
func pendingPod(number, round, i int) *v1.Pod {
	sort := phase{spreadPods, allNodes}
	if number != warmUp {
		sort = phases[number]
	}
	pod := plainPod()
	if sort.Pods == spreadPods {
		pod = spreadPod(waitingWorkload(i))
	}
	pod.Name = fmt.Sprintf("pending-%d-%d", number+1, i)
	pod.Labels[pendingKey] = fmt.Sprint(number + 1)
	pod.Spec.SchedulerName = sort.Scheduler
	pod.Spec.PriorityClassName = priorityName(priorities[place(number, round)])
	pod.Spec.TerminationGracePeriodSeconds = new(int64(0)) // nobody would end it
	return pod
}

// spreadPod is one more replica of a workload that is there, which must stay even over zones and
// should over hosts.
func spreadPod(workload int) *v1.Pod {
	pod := workloadPod(workload, pendingReplicas, 0)
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: pod.Namespace, Labels: pod.Labels, OwnerReferences: pod.OwnerReferences,
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = nil, nil // admission's
	group := &metav1.LabelSelector{MatchLabels: map[string]string{"app": appName(workload)}}
	pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
		{TopologyKey: v1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: group},
		{TopologyKey: v1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: group},
	}
	return pod
}

// plainPod belongs to nothing, so kube-scheduler's default constraints do not concern it either.
func plainPod() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(0), Labels: map[string]string{"app": "plain"}},
		Spec:       v1.PodSpec{Containers: containers(0), ServiceAccountName: "default"},
	}
}

// eachPending calls do for every pod of a round, the warm-up's first.
func (b *bench) eachPending(round int, do func(pod *v1.Pod) error) error {
	for number := warmUp; number < len(phases); number++ {
		err := each(b.phasePods(number), func(i int) error { return do(pendingPod(number, round, i)) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) createPending(ctx context.Context, round int) error {
	return b.eachPending(round, func(pod *v1.Pod) error {
		_, err := create(ctx, b.client, pod)
		return err
	})
}

func (b *bench) deletePending(ctx context.Context, round int) error {
	return b.eachPending(round, func(pod *v1.Pod) error {
		return b.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	})
}
