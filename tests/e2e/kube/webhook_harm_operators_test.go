package e2e

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// operator is what makes pods: their owner ("apiVersion Kind name") and their labels, as its source has them.
// '$' is the group's name and '#' the number of the pod.
type operator struct {
	name, source  string
	owner, labels string
	pods          int
	loose         string
	change        change
	part          func(pod *v1.Pod) string
}

const statefulSetLabels = " controller-revision-hash=$-7d4 statefulset.kubernetes.io/pod-name=$-# apps.kubernetes.io/pod-index=#"

// An exclusive placement: a group in one domain, and no two groups in the same.
func exclusive(topologyKey, groupKey, setKey string) change {
	return func(_ *group, _ int, pod *v1.Pod) {
		value := pod.Labels[groupKey]
		in := metav1.LabelSelectorRequirement{Key: groupKey, Operator: metav1.LabelSelectorOpIn, Values: []string{value}}
		exists := metav1.LabelSelectorRequirement{Key: groupKey, Operator: metav1.LabelSelectorOpExists}
		notIn := metav1.LabelSelectorRequirement{Key: groupKey, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}}
		// Its source leaves the set out; here other sets, under other policies, must not be in the way.
		set := map[string]string{setKey: pod.Labels[setKey]}
		pod.Spec.Affinity = &v1.Affinity{
			PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
				TopologyKey: topologyKey, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in}}}}},
			PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
				TopologyKey: topologyKey, LabelSelector: &metav1.LabelSelector{MatchLabels: set, MatchExpressions: []metav1.LabelSelectorRequirement{exists, notIn}}}}},
		}
	}
}

func byLabel(key string) func(pod *v1.Pod) string {
	return func(pod *v1.Pod) string { return pod.Labels[key] }
}

// firstOf: units are spread by their first pods.
func firstOf(key string) func(pod *v1.Pod) string {
	return func(pod *v1.Pod) string {
		if pod.Labels[key] == "0" {
			return ""
		}
		return notSpread
	}
}

// leftAlone: nothing of a gang is spread.
func leftAlone(*v1.Pod) string { return notSpread }

// unnumbered: the webhook that numbers all but the first pods of units has not seen the pod yet.
func unnumbered(key string) change {
	return func(_ *group, _ int, pod *v1.Pod) {
		if pod.Labels[key] != "0" {
			delete(pod.Labels, key)
		}
	}
}

// all makes one change after the other.
func all(changes ...change) change {
	return func(g *group, i int, pod *v1.Pod) {
		for _, change := range changes {
			change(g, i, pod)
		}
	}
}

const leaderWorkerSetLabels = "leaderworkerset.sigs.k8s.io/name=$ leaderworkerset.sigs.k8s.io/group-index=% " +
	"leaderworkerset.sigs.k8s.io/group-key=$% leaderworkerset.sigs.k8s.io/worker-index=^ " +
	"leaderworkerset.sigs.k8s.io/template-revision-hash=r1"

var operators = []operator{
	{name: "StatefulSet", source: "kubernetes/kubernetes pkg/controller/statefulset/stateful_set_utils.go",
		owner: "apps/v1 StatefulSet $", labels: "app=$" + statefulSetLabels, pods: 6},
	{name: "indexed Job", source: "kubernetes/kubernetes pkg/controller/job/indexed_job_utils.go",
		owner: "batch/v1 Job $", labels: "job-name=$ controller-uid=u$ batch.kubernetes.io/job-name=$ " +
			"batch.kubernetes.io/controller-uid=u$ batch.kubernetes.io/job-completion-index=#", pods: 5},
	{name: "LeaderWorkerSet", source: "kubernetes-sigs/lws api/leaderworkerset/v1, pkg/webhooks/pod_webhook.go",
		owner: "apps/v1 StatefulSet $", labels: leaderWorkerSetLabels, pods: 8, part: firstOf("leaderworkerset.sigs.k8s.io/worker-index")},
	{name: "LeaderWorkerSet with exclusive zones", source: "kubernetes-sigs/lws pkg/webhooks/pod_webhook.go: SetExclusiveAffinities",
		owner: "apps/v1 StatefulSet $", labels: leaderWorkerSetLabels, pods: 8, loose: everything,
		change: exclusive(zoneKey, "leaderworkerset.sigs.k8s.io/group-key", "leaderworkerset.sigs.k8s.io/name")},
	{name: "LeaderWorkerSet with exclusive nodes", source: "kubernetes-sigs/lws pkg/webhooks/pod_webhook.go: SetExclusiveAffinities",
		owner: "apps/v1 StatefulSet $", labels: leaderWorkerSetLabels, pods: 8, loose: everything,
		change: exclusive(hostKey, "leaderworkerset.sigs.k8s.io/group-key", "leaderworkerset.sigs.k8s.io/name")},
	{name: "LeaderWorkerSet with exclusive racks, before its own webhook", source: "kubernetes-sigs/lws pkg/webhooks/pod_webhook.go",
		owner: "apps/v1 StatefulSet $", labels: leaderWorkerSetLabels, pods: 8, loose: everything,
		change: all(unnumbered("leaderworkerset.sigs.k8s.io/worker-index"),
			exclusive(rackKey, "leaderworkerset.sigs.k8s.io/group-key", "leaderworkerset.sigs.k8s.io/name"))},
	{name: "LeaderWorkerSet before its own webhook", source: "kubernetes-sigs/lws pkg/controllers/pod_controller.go, pkg/webhooks/pod_webhook.go",
		owner: "apps/v1 StatefulSet $", labels: leaderWorkerSetLabels, pods: 8, part: firstOf("leaderworkerset.sigs.k8s.io/worker-index"),
		change: unnumbered("leaderworkerset.sigs.k8s.io/worker-index")},
	{name: "JobSet", source: "kubernetes-sigs/jobset api/jobset/v1alpha2/jobset_types.go",
		owner: "batch/v1 Job $-%", labels: "jobset.sigs.k8s.io/jobset-name=$ jobset.sigs.k8s.io/replicatedjob-name=w " +
			"jobset.sigs.k8s.io/job-index=% jobset.sigs.k8s.io/job-key=$% batch.kubernetes.io/job-name=$-% job-name=$-% " +
			"batch.kubernetes.io/job-completion-index=^ jobset.sigs.k8s.io/restart-attempt=0", pods: 8,
		part: firstOf("batch.kubernetes.io/job-completion-index")},
	{name: "JobSet of Jobs that are not indexed", source: "kubernetes-sigs/jobset api/jobset/v1alpha2/jobset_types.go",
		owner: "batch/v1 Job $-%", labels: "jobset.sigs.k8s.io/jobset-name=$ jobset.sigs.k8s.io/replicatedjob-name=w " +
			"jobset.sigs.k8s.io/job-index=% jobset.sigs.k8s.io/job-key=$% batch.kubernetes.io/job-name=$-% job-name=$-%", pods: 6,
		part: leftAlone},
	{name: "coscheduling", source: "kubernetes-sigs/scheduler-plugins apis/scheduling/v1alpha1/types.go",
		owner: "batch/v1 Job $", labels: "app=$ batch.kubernetes.io/job-name=$ scheduling.x-k8s.io/pod-group=$", pods: 5,
		part: leftAlone},
	{name: "JobSet with exclusive zones", source: "kubernetes-sigs/jobset pkg/webhooks/pod_mutating_webhook.go",
		owner: "batch/v1 Job $-%", labels: "jobset.sigs.k8s.io/jobset-name=$ jobset.sigs.k8s.io/replicatedjob-name=w " +
			"jobset.sigs.k8s.io/job-index=% jobset.sigs.k8s.io/job-key=$% batch.kubernetes.io/job-name=$-% job-name=$-% " +
			"batch.kubernetes.io/job-completion-index=^ jobset.sigs.k8s.io/restart-attempt=0", pods: 8, loose: everything,
		change: exclusive(zoneKey, "jobset.sigs.k8s.io/job-key", "jobset.sigs.k8s.io/jobset-name")},
	{name: "multi-host RayCluster", source: "ray-project/kuberay, multi-host labels of 1.5",
		owner: "ray.io/v1 RayCluster $", labels: "ray.io/cluster=$ ray.io/group=tpu ray.io/node-type=worker " +
			"ray.io/worker-group-replica-name=$% ray.io/worker-group-replica-index=% ray.io/replica-host-index=^", pods: 8,
		part: firstOf("ray.io/replica-host-index")},
	{name: "Volcano Job", source: "volcano-sh/apis pkg/apis/batch/v1alpha1/labels.go",
		owner: "batch.volcano.sh/v1alpha1 Job $", labels: "volcano.sh/job-name=$ volcano.sh/queue-name=default " +
			"volcano.sh/task-spec=worker volcano.sh/task-index=#", pods: 5, part: leftAlone},
	{name: "PyTorchJob", source: "kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go",
		owner: "kubeflow.org/v1 PyTorchJob $", labels: "training.kubeflow.org/job-name=$ training.kubeflow.org/replica-index=% " +
			"training.kubeflow.org/replica-type=@", pods: 6, part: byLabel("training.kubeflow.org/replica-type")},
	{name: "Spark", source: "apache/spark resource-managers/kubernetes/core .../k8s/Constants.scala",
		owner: "v1 Pod $-driver", labels: "spark-app-name=$ spark-app-selector=$ spark-exec-id=# " +
			"spark-exec-resourceprofile-id=0 spark-role=executor spark-version=3.4.0", pods: 5},
	{name: "Crunchy Postgres", source: "CrunchyData/postgres-operator internal/naming/labels.go",
		owner: "apps/v1 StatefulSet $-#", labels: "postgres-operator.crunchydata.com/cluster=$ " +
			"postgres-operator.crunchydata.com/data=postgres postgres-operator.crunchydata.com/instance=$-# " +
			"postgres-operator.crunchydata.com/instance-set=instance1 controller-revision-hash=$-#-x " +
			"statefulset.kubernetes.io/pod-name=$-#-0", pods: 3},
	{name: "CloudNativePG, one a zone", source: "cloudnative-pg/cloudnative-pg pkg/specs/pods.go: CreateAffinitySection",
		owner: "postgresql.cnpg.io/v1 Cluster $", labels: "cnpg.io/cluster=$ cnpg.io/instanceName=$-# cnpg.io/podRole=instance",
		pods: 3, change: func(_ *group, _ int, pod *v1.Pod) {
			pod.Spec.Affinity = oneEach(pod, zoneKey)
			pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels =
				map[string]string{"cnpg.io/cluster": pod.Labels["cnpg.io/cluster"], "cnpg.io/podRole": "instance"}
		}},
	{name: "Strimzi", source: "strimzi/strimzi-kafka-operator operator-common/.../model/Labels.java",
		owner: "core.strimzi.io/v1beta2 StrimziPodSet $-kafka", labels: "app.kubernetes.io/instance=$ strimzi.io/cluster=$ " +
			"strimzi.io/component-type=kafka strimzi.io/kind=Kafka strimzi.io/name=$-kafka strimzi.io/pod-name=$-kafka-# " +
			"statefulset.kubernetes.io/pod-name=$-kafka-#", pods: 5},
	{name: "Rook OSDs", source: "rook/rook pkg/operator/ceph/controller/spec.go",
		owner: "apps/v1 ReplicaSet $-osd-#-x", labels: "app=$ ceph-osd-id=# ceph_daemon_id=# ceph_daemon_type=osd osd=# " +
			"rook_cluster=$ topology-location-host=n# pod-template-hash=h#", pods: 4, part: byLabel("rook_cluster")},
	{name: "FoundationDB", source: "FoundationDB/fdb-kubernetes-operator api/v1beta2/foundationdb_labels.go",
		owner: "apps.foundationdb.org/v1beta2 FoundationDBCluster $", labels: "foundationdb.org/fdb-cluster-name=$ " +
			"foundationdb.org/fdb-process-class=storage foundationdb.org/fdb-process-group-id=storage-#", pods: 5},
	{name: "CloneSet", source: "openkruise/kruise apis/apps/v1alpha1/cloneset_types.go",
		owner: "apps.kruise.io/v1alpha1 CloneSet $", labels: "app=$ apps.kruise.io/cloneset-instance-id=a# " +
			"controller-revision-hash=$-1", pods: 5},
	{name: "Argo Rollout", source: "argoproj/argo-rollouts pkg/apis/rollouts/v1alpha1/types.go",
		owner: "apps/v1 ReplicaSet $-@", labels: "app=$ rollouts-pod-template-hash=@", pods: 6,
		part: byLabel("rollouts-pod-template-hash")},
	{name: "JupyterHub", source: "jupyterhub/kubespawner kubespawner/spawner.py",
		labels: "app=$ component=singleuser-server heritage=jupyterhub hub.jupyter.org/servername=s# hub.jupyter.org/username=u#", pods: 5},
	{name: "Dask workers", source: "dask/dask-kubernetes dask_kubernetes/operator/controller/controller.py",
		owner: "apps/v1 ReplicaSet $-worker-#-x", labels: "dask.org/cluster-name=$ dask.org/component=worker " +
			"dask.org/workergroup-name=$-default pod-template-hash=h#", pods: 4, part: byLabel("dask.org/cluster-name")},
	{name: "an operator nobody has heard of", source: "made up: labels on no list. Until siblings live, each pod is its own group",
		owner: "example.com/v1 Widget $", labels: "example.com/widget=$ example.com/part=p# example.com/serial=s#", pods: 6, loose: everything},
}

// operatorShapes: '%' and '^' number units of two and the pods in them, '@' is one of two roles.
func operatorShapes() (shapes []shape) {
	for _, o := range operators {
		shapes = append(shapes, shape{name: o.name, pods: o.pods, loose: o.loose, part: o.part, change: func(g *group, i int, pod *v1.Pod) {
			fill := strings.NewReplacer("$", g.id, "#", fmt.Sprint(i), "%", fmt.Sprint(i/2), "^", fmt.Sprint(i%2), "@", []string{"a", "b"}[i%2])
			tier := pod.Labels["tier"]
			pod.Labels = map[string]string{"tier": tier}
			for _, label := range strings.Fields(fill.Replace(o.labels)) {
				key, value, _ := strings.Cut(label, "=")
				pod.Labels[key] = value
			}
			if owner := strings.Fields(fill.Replace(o.owner)); len(owner) == 3 {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: owner[0], Kind: owner[1], Name: owner[2],
					UID: "u", Controller: ptr.To(true)}}
			}
			if o.change != nil {
				o.change(g, i, pod)
			}
		}})
	}
	return shapes
}
