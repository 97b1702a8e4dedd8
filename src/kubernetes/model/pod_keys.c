#include "model/pod_keys.h"

#include "model/names.h"

struct known_key {
    struct str key;
    struct str with; /* the key counts only if the pod has this key, too; empty: always */
};

#define KEY(key)                                                                                   \
    {                                                                                              \
        {key, sizeof(key) - 1}, {                                                                  \
            "", 0                                                                                  \
        }                                                                                          \
    }
#define BESIDE(key, with)                                                                          \
    {                                                                                              \
        {key, sizeof(key) - 1}, {                                                                  \
            with, sizeof(with) - 1                                                                 \
        }                                                                                          \
    }

static const struct known_key revision_keys[] = {
    KEY(TEMPLATE_HASH_LABEL),                                  /* ReplicaSet */
    KEY(ROLLOUT_HASH_LABEL),                                   /* Argo Rollouts */
    KEY(REVISION_HASH_LABEL),                                  /* StatefulSet, DaemonSet */
    KEY("leaderworkerset.sigs.k8s.io/template-revision-hash"), /* LeaderWorkerSet */
    KEY("temporal.io/build-id"),                               /* one Deployment for each build */
    BESIDE("deployment", "deploymentconfig"), /* a ReplicationController of a DeploymentConfig */
};

static const struct known_key own_keys[] = {
    KEY(INJECT_LABEL), /* a single pod may opt out */
    /* Kubernetes */
    KEY("pod-template-generation"),
    KEY(STATEFUL_POD_NAME_LABEL),
    KEY(POD_INDEX_LABEL),
    KEY("batch.kubernetes.io/job-completion-index"),
    /* a Job in a JobSet */
    BESIDE(JOB_NAME_LABEL, "jobset.sigs.k8s.io/jobset-name"),
    BESIDE(JOB_UID_LABEL, "jobset.sigs.k8s.io/jobset-name"),
    BESIDE(JOB_NAME_LABEL_OLD, "jobset.sigs.k8s.io/jobset-name"),
    BESIDE(JOB_UID_LABEL_OLD, "jobset.sigs.k8s.io/jobset-name"),
    KEY("jobset.sigs.k8s.io/job-index"),
    KEY("jobset.sigs.k8s.io/job-global-index"),
    KEY("jobset.sigs.k8s.io/job-group-index"),
    KEY("jobset.sigs.k8s.io/job-key"),
    KEY("jobset.sigs.k8s.io/restart-attempt"),
    /* LeaderWorkerSet */
    KEY("leaderworkerset.sigs.k8s.io/worker-index"),
    KEY("leaderworkerset.sigs.k8s.io/group-index"),
    KEY("leaderworkerset.sigs.k8s.io/group-key"),
    KEY("leaderworkerset.sigs.k8s.io/subgroup-index"),
    KEY("leaderworkerset.sigs.k8s.io/subgroup-key"),
    BESIDE("kueue.x-k8s.io/pod-group-name", "leaderworkerset.sigs.k8s.io/name"),
    BESIDE("kueue.x-k8s.io/prebuilt-workload-name", "leaderworkerset.sigs.k8s.io/name"),
    /* KubeRay */
    KEY("ray.io/worker-group-replica-name"),
    KEY("ray.io/worker-group-replica-index"),
    KEY("ray.io/replica-host-index"),
    /* operators that make pods themselves */
    KEY("apps.kruise.io/cloneset-instance-id"),
    KEY("volcano.sh/task-index"),
    KEY("training.kubeflow.org/replica-index"),
    KEY("spark-exec-id"),
    KEY("strimzi.io/pod-name"),
    KEY("cnpg.io/instanceName"),
    KEY("foundationdb.org/fdb-process-group-id"),
    KEY("fdb-instance-id"),
    KEY("hub.jupyter.org/username"),
    KEY("hub.jupyter.org/servername"),
    KEY("kubevirt.io/created-by"),
    KEY("kubevirt.io/domain"),
    KEY("vm.kubevirt.io/name"),
    KEY("agones.dev/gameserver"),
    KEY("planetscale.com/tablet-uid"),
    KEY("planetscale.com/tablet-index"),
    KEY("tekton.dev/taskRun"),
    KEY("tekton.dev/taskRunUID"),
    KEY("tekton.dev/pipelineRun"),
    KEY("tekton.dev/pipelineRunUID"),
    BESIDE("airflow-worker", "kubernetes_executor"),
    BESIDE("dag_id", "kubernetes_executor"),
    BESIDE("task_id", "kubernetes_executor"),
    BESIDE("run_id", "kubernetes_executor"),
    BESIDE("execution_date", "kubernetes_executor"),
    BESIDE("map_index", "kubernetes_executor"),
    BESIDE("try_number", "kubernetes_executor"),
    /* operators that make a Deployment or a StatefulSet for each pod */
    KEY("postgres-operator.crunchydata.com/instance"),
    KEY("clickhouse.altinity.com/replica"),
    KEY("clickhouse.altinity.com/replicaScopeIndex"),
    KEY("clickhouse.altinity.com/shardScopeIndex"),
    KEY("clickhouse.altinity.com/clusterScopeIndex"),
    BESIDE("ceph_daemon_id", "rook_cluster"),
    BESIDE("ceph-osd-id", "rook_cluster"),
    BESIDE("mon", "rook_cluster"),
    BESIDE("osd", "rook_cluster"),
    BESIDE("pvc_name", "rook_cluster"),
    BESIDE("topology-location-host", "rook_cluster"),
};

/* Labels of pods whose operator makes a Deployment or a StatefulSet for each pod. */
static const struct known_key single_keys[] = {
    KEY("postgres-operator.crunchydata.com/instance"),
    BESIDE("ceph_daemon_id", "rook_cluster"),
    KEY("dask.org/workergroup-name"),
    KEY("clickhouse.altinity.com/replica"),
};

static bool has(const struct labels *pod, struct str key) {
    struct str ignored;
    return str_empty(key) || labels_lookup(pod, key, &ignored);
}

static bool is_known(const struct known_key *known, const struct labels *pod, struct str key) {
    return str_eq(key, known->key) && has(pod, known->with);
}

bool is_revision_key(const struct labels *pod, struct str key) {
    for (size_t i = 0; i < sizeof revision_keys / sizeof revision_keys[0]; i++)
        if (is_known(&revision_keys[i], pod, key))
            return true;
    return false;
}

bool has_own_controller(const struct labels *pod) {
    for (size_t i = 0; i < sizeof single_keys / sizeof single_keys[0]; i++)
        if (has(pod, single_keys[i].key) && has(pod, single_keys[i].with))
            return true;
    return false;
}

bool is_pods_own_key(const struct labels *pod, struct str key) {
    for (size_t i = 0; i < sizeof own_keys / sizeof own_keys[0]; i++)
        if (is_known(&own_keys[i], pod, key))
            return true;
    return false;
}
