/*
 * What is known of labels before any sibling of a pod lives: one row for each key that its operator
 * gives to revisions, to single pods or to units. The keys are those of the operators' own sources,
 * which each row names; they were typed from there and not from the implementation.
 */
#include "model/pod_keys.h"
#include "model/pod_units.h"
#include "unit/unit.h"

#include <stdio.h>

enum { LABELS = 8 };

/* Labels from "key=value key2", sorted by key. */
struct written {
    struct label items[LABELS];
    struct labels labels;
};

static struct str part(const char *from, size_t n) {
    return (struct str){from, n};
}

static const struct labels *write_labels(struct written *w, const char *text) {
    w->labels = (struct labels){w->items, 0};
    while (*text != '\0') {
        size_t n = strcspn(text, " "), key = strcspn(text, "= ");
        uint32_t at = w->labels.count++;
        assert_true(at < LABELS);
        const struct label label = {part(text, key),
                                    key < n ? part(text + key + 1, n - key - 1) : STR("x")};
        for (; at > 0 && str_cmp(w->items[at - 1].key, label.key) > 0; at--)
            w->items[at] = w->items[at - 1];
        w->items[at] = label;
        text += n + (text[n] == ' ');
    }
    return &w->labels;
}

/* ---- keys ---- */

struct key_row {
    const char *key, *beside; /* beside "": whatever else the pod has */
    const char *source;
};

static const struct key_row revisions[] = {
    {"pod-template-hash", "", "kubernetes: apps/v1 DefaultDeploymentUniqueLabelKey"},
    {"rollouts-pod-template-hash", "", "argo-rollouts: DefaultRolloutUniqueLabelKey"},
    {"controller-revision-hash", "", "kubernetes: apps/v1 ControllerRevisionHashLabelKey"},
    {"leaderworkerset.sigs.k8s.io/template-revision-hash", "", "lws: RevisionKey"},
    {"temporal.io/build-id", "", "temporal-worker-controller: BuildIDLabel"},
    {"deployment", "deploymentconfig", "openshift: apps/v1 DeploymentLabel"},
};

#define JOBSET_NAME "jobset.sigs.k8s.io/jobset-name"
#define LWS_NAME "leaderworkerset.sigs.k8s.io/name"

static const struct key_row own[] = {
    {"evenkeel.io/inject", "", "docs/guides/pods.md"},
    {"pod-template-generation", "", "kubernetes: extensions DaemonSetTemplateGenerationKey"},
    {"statefulset.kubernetes.io/pod-name", "", "kubernetes: apps/v1 StatefulSetPodNameLabel"},
    {"apps.kubernetes.io/pod-index", "", "kubernetes: apps/v1 PodIndexLabel"},
    {"batch.kubernetes.io/job-completion-index", "", "kubernetes: batch/v1"},
    {"batch.kubernetes.io/job-name", JOBSET_NAME, "kubernetes: batch/v1 JobNameLabel"},
    {"batch.kubernetes.io/controller-uid", JOBSET_NAME, "kubernetes: batch/v1 ControllerUidLabel"},
    {"job-name", JOBSET_NAME, "kubernetes: batch/v1 legacyJobNameLabel"},
    {"controller-uid", JOBSET_NAME, "kubernetes: batch/v1 legacyControllerUidLabel"},
    {"jobset.sigs.k8s.io/job-index", "", "jobset: JobIndexKey"},
    {"jobset.sigs.k8s.io/job-global-index", "", "jobset: JobGlobalIndexKey"},
    {"jobset.sigs.k8s.io/job-group-index", "", "jobset: JobGroupIndexKey"},
    {"jobset.sigs.k8s.io/job-key", "", "jobset: JobKey"},
    {"jobset.sigs.k8s.io/restart-attempt", "", "jobset: RestartsKey"},
    {"leaderworkerset.sigs.k8s.io/worker-index", "", "lws: WorkerIndexLabelKey"},
    {"leaderworkerset.sigs.k8s.io/group-index", "", "lws: GroupIndexLabelKey"},
    {"leaderworkerset.sigs.k8s.io/group-key", "", "lws: GroupUniqueHashLabelKey"},
    {"leaderworkerset.sigs.k8s.io/subgroup-index", "", "lws: SubGroupIndexLabelKey"},
    {"leaderworkerset.sigs.k8s.io/subgroup-key", "", "lws: SubGroupUniqueHashLabelKey"},
    {"kueue.x-k8s.io/pod-group-name", LWS_NAME, "kueue: pkg/controller/jobs/leaderworkerset"},
    {"kueue.x-k8s.io/prebuilt-workload-name", LWS_NAME, "kueue: PrebuiltWorkloadLabel"},
    {"ray.io/worker-group-replica-name", "", "kuberay: RayWorkerReplicaNameKey"},
    {"ray.io/worker-group-replica-index", "", "kuberay: RayWorkerReplicaIndexKey"},
    {"ray.io/replica-host-index", "", "kuberay: RayHostIndexKey"},
    {"apps.kruise.io/cloneset-instance-id", "", "kruise: CloneSetInstanceID"},
    {"volcano.sh/task-index", "", "volcano: TaskIndex"},
    {"training.kubeflow.org/replica-index", "", "training-operator: ReplicaIndexLabel"},
    {"spark-exec-id", "", "spark: SPARK_EXECUTOR_ID_LABEL"},
    {"strimzi.io/pod-name", "", "strimzi: STRIMZI_POD_NAME_LABEL"},
    {"cnpg.io/instanceName", "", "cloudnative-pg: InstanceNameLabelName"},
    {"foundationdb.org/fdb-process-group-id", "",
     "fdb-kubernetes-operator: FDBProcessGroupIDLabel"},
    {"fdb-instance-id", "", "fdb-kubernetes-operator: before 1.0"},
    {"hub.jupyter.org/username", "", "kubespawner: _build_common_labels"},
    {"hub.jupyter.org/servername", "", "kubespawner: _build_common_labels"},
    {"kubevirt.io/created-by", "", "kubevirt: CreatedByLabel"},
    {"kubevirt.io/domain", "", "kubevirt: DomainAnnotation"},
    {"vm.kubevirt.io/name", "", "kubevirt: VirtualMachineNameLabel"},
    {"agones.dev/gameserver", "", "agones: GameServerPodLabel"},
    {"planetscale.com/tablet-uid", "", "vitess-operator: TabletUidLabel"},
    {"planetscale.com/tablet-index", "", "vitess-operator: TabletIndexLabel"},
    {"tekton.dev/taskRun", "", "tekton: TaskRunLabelKey"},
    {"tekton.dev/taskRunUID", "", "tekton: TaskRunUIDLabelKey"},
    {"tekton.dev/pipelineRun", "", "tekton: PipelineRunLabelKey"},
    {"tekton.dev/pipelineRunUID", "", "tekton: PipelineRunUIDLabelKey"},
    {"airflow-worker", "kubernetes_executor", "airflow: pod_generator.py"},
    {"dag_id", "kubernetes_executor", "airflow: pod_generator.py"},
    {"task_id", "kubernetes_executor", "airflow: pod_generator.py"},
    {"run_id", "kubernetes_executor", "airflow: pod_generator.py"},
    {"execution_date", "kubernetes_executor", "airflow: pod_generator.py"},
    {"map_index", "kubernetes_executor", "airflow: pod_generator.py"},
    {"try_number", "kubernetes_executor", "airflow: pod_generator.py"},
    {"postgres-operator.crunchydata.com/instance", "", "postgres-operator: LabelInstance"},
    {"clickhouse.altinity.com/replica", "", "clickhouse-operator: LabelReplicaName"},
    {"clickhouse.altinity.com/replicaScopeIndex", "", "clickhouse-operator: labeler.go"},
    {"clickhouse.altinity.com/shardScopeIndex", "", "clickhouse-operator: labeler.go"},
    {"clickhouse.altinity.com/clusterScopeIndex", "", "clickhouse-operator: labeler.go"},
    {"ceph_daemon_id", "rook_cluster", "rook: controller/spec.go CephDaemonAppLabels"},
    {"ceph-osd-id", "rook_cluster", "rook: osd OsdIdLabelKey"},
    {"mon", "rook_cluster", "rook: CephDaemonAppLabels, by the type of the daemon"},
    {"osd", "rook_cluster", "rook: CephDaemonAppLabels, by the type of the daemon"},
    {"pvc_name", "rook_cluster", "rook: mon.go, of monitors on claims"},
    {"topology-location-host", "rook_cluster", "rook: osd/topology"},
};

static const struct key_row single[] = {
    {"postgres-operator.crunchydata.com/instance", "", "postgres-operator: a StatefulSet each"},
    {"ceph_daemon_id", "rook_cluster", "rook: a Deployment each"},
    {"dask.org/workergroup-name", "", "dask-kubernetes: a Deployment each"},
    {"clickhouse.altinity.com/replica", "", "clickhouse-operator: a StatefulSet each"},
};

typedef bool asked_fn(const struct labels *pod, struct str key);

static bool is_single(const struct labels *pod, struct str key) {
    struct str ignored;
    return labels_lookup(pod, key, &ignored) && has_own_controller(pod);
}

/* The key beside its other one is known; alone, if it has one, or with a byte more or less it is
 * not. */
static void check_keys(const struct key_row *rows, size_t count, asked_fn *asked) {
    for (size_t i = 0; i < count; i++) {
        const struct key_row *row = &rows[i];
        char text[300], longer[100];
        struct written w;
        size_t n = strlen(row->key);
        (void)snprintf(longer, sizeof longer, "%sx", row->key);
        (void)snprintf(text, sizeof text, "app %s%s%s", row->key, *row->beside ? " " : "",
                       row->beside);
        if (!asked(write_labels(&w, text), str_of(row->key)))
            fail_msg("'%s' is not known (%s)", text, row->source);
        if (asked(&w.labels, STR("app")) != (asked == is_single))
            fail_msg("beside '%s' 'app' is known", row->key);
        (void)snprintf(text, sizeof text, "app %s", row->key);
        if (*row->beside && asked(write_labels(&w, text), str_of(row->key)))
            fail_msg("'%s' is known without '%s'", row->key, row->beside);
        (void)snprintf(text, sizeof text, "app %s%s%s", longer, *row->beside ? " " : "",
                       row->beside);
        if (asked(write_labels(&w, text), str_of(longer)))
            fail_msg("'%s' is known", longer);
        (void)snprintf(text, sizeof text, "app %.*s%s%s", (int)n - 1, row->key,
                       *row->beside ? " " : "", row->beside);
        if (asked(write_labels(&w, text), part(row->key, n - 1)))
            fail_msg("'%.*s' is known", (int)n - 1, row->key);
    }
}

#define CHECK_KEYS(rows, asked) check_keys((rows), sizeof(rows) / sizeof *(rows), (asked))

static void every_key_is_known(void **state) {
    (void)state;
    CHECK_KEYS(revisions, is_revision_key);
    CHECK_KEYS(own, is_pods_own_key);
    CHECK_KEYS(single, is_single);
}

/* A revision is no pod's own, and a pod's own label no revision. */
static void each_key_means_one_thing(void **state) {
    struct written w;
    (void)state;
    write_labels(&w,
                 "deploymentconfig " JOBSET_NAME " " LWS_NAME " kubernetes_executor rook_cluster");
    for (size_t i = 0; i < sizeof revisions / sizeof revisions[0]; i++)
        assert_false(is_pods_own_key(&w.labels, str_of(revisions[i].key)));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_false(is_revision_key(&w.labels, str_of(own[i].key)));
    assert_false(has_own_controller(&w.labels));
}

/* ---- units ---- */

/* What the table says of one pod. */
struct unit_row {
    const char *labels, *annotations;
    enum unit_place place;
    const char *name;  /* of the unit's key; "" for no unit */
    const char *first; /* "key=value ...": what the first pods have */
    const char *source;
};

static const struct policy_group_by automatic = {.unit = POLICY_UNIT_AUTO};

static void check_unit(const struct unit_row *row, const struct policy_group_by *by) {
    struct written labels, annotations, first;
    const struct unit_membership got = pod_unit_of(
        write_labels(&labels, row->labels),
        row->annotations == NULL ? NULL : write_labels(&annotations, row->annotations), by);
    if (got.place != row->place)
        fail_msg("'%s' '%s': %d, not %d", row->labels, row->annotations ? row->annotations : "",
                 (int)got.place, (int)row->place);
    assert_str(got.name, row->name);
    write_labels(&first, row->first);
    assert_int_equal(got.first_count, first.labels.count);
    for (uint32_t i = 0; i < got.first_count; i++) {
        if (!str_eq(got.first[i].key, first.items[i].key) ||
            !str_eq(got.first[i].value, first.items[i].value))
            fail_msg("'%s': first pods have '%.*s=%.*s'", row->labels, STR_ARG(got.first[i].key),
                     STR_ARG(got.first[i].value));
    }
}

#define LWS_INDEX "leaderworkerset.sigs.k8s.io/worker-index"
#define LWS_GROUP "leaderworkerset.sigs.k8s.io/group-key"
#define RAY_HOST "ray.io/replica-host-index"
#define RAY_REPLICA "ray.io/worker-group-replica-name"
#define INDEX "batch.kubernetes.io/job-completion-index"
#define JOB_KEY "jobset.sigs.k8s.io/job-key"

static const struct unit_row units[] = {
    {"app=web", NULL, UNIT_NONE, "", "", "nothing"},
    {"app=web", "", UNIT_NONE, "", "", "nothing"},
    {"kueue.x-k8s.io/tas", NULL, UNIT_GANG, "kueue.x-k8s.io/tas", "", "kueue: TASLabel"},
    {"app", "kueue.x-k8s.io/podset-required-topology", UNIT_GANG,
     "kueue.x-k8s.io/podset-required-topology", "", "kueue: PodSetRequiredTopologyAnnotation"},
    {"app", "kueue.x-k8s.io/podset-preferred-topology", UNIT_GANG,
     "kueue.x-k8s.io/podset-preferred-topology", "", "kueue: PodSetPreferredTopologyAnnotation"},
    {"app", "kueue.x-k8s.io/podset-unconstrained-topology", UNIT_GANG,
     "kueue.x-k8s.io/podset-unconstrained-topology", "", "kueue: PodSetUnconstrainedTopology"},
    {"app", "kueue.x-k8s.io/podset-slice-required-topology", UNIT_GANG,
     "kueue.x-k8s.io/podset-slice-required-topology", "", "kueue: PodSetSliceRequiredTopology"},
    {"app", "kueue.x-k8s.io/podset-slice-required-topology-constraints", UNIT_GANG,
     "kueue.x-k8s.io/podset-slice-required-topology-constraints", "", "kueue"},
    {"app", "kueue.x-k8s.io/tas", UNIT_NONE, "", "", "a label, and no annotation"},
    {"kueue.x-k8s.io/podset-required-topology", "", UNIT_NONE, "", "",
     "an annotation, and no label"},
    {LWS_NAME " " LWS_INDEX "=0", NULL, UNIT_FIRST, LWS_GROUP, LWS_INDEX "=0", "lws"},
    {LWS_NAME " " LWS_INDEX "=1", NULL, UNIT_MEMBER, LWS_GROUP, LWS_INDEX "=0", "lws"},
    {LWS_NAME " " LWS_INDEX "=00", NULL, UNIT_MEMBER, LWS_GROUP, LWS_INDEX "=0", "lws"},
    {LWS_NAME, NULL, UNIT_MEMBER, LWS_GROUP, LWS_INDEX "=0", "lws"},
    {LWS_INDEX "=0", NULL, UNIT_NONE, "", "", "lws: the name is what they all have"},
    {RAY_HOST "=0", NULL, UNIT_FIRST, RAY_REPLICA, RAY_HOST "=0", "kuberay"},
    {RAY_HOST "=3", NULL, UNIT_MEMBER, RAY_REPLICA, RAY_HOST "=0", "kuberay"},
    {JOBSET_NAME " " INDEX "=0", NULL, UNIT_FIRST, JOB_KEY, INDEX "=0", "jobset"},
    {JOBSET_NAME " " INDEX "=1", NULL, UNIT_MEMBER, JOB_KEY, INDEX "=0", "jobset"},
    {JOBSET_NAME, NULL, UNIT_MEMBER, JOB_KEY, INDEX "=0", "jobset: NonIndexed"},
    {INDEX "=1", NULL, UNIT_NONE, "", "", "a Job of its own is no unit"},
    {"scheduling.x-k8s.io/pod-group", NULL, UNIT_GANG, "scheduling.x-k8s.io/pod-group", "",
     "scheduler-plugins: PodGroupLabel"},
    {"pod-group.scheduling.sigs.k8s.io", NULL, UNIT_GANG, "pod-group.scheduling.sigs.k8s.io", "",
     "scheduler-plugins before 0.24"},
    {"volcano.sh/job-name", NULL, UNIT_GANG, "volcano.sh/job-name", "", "volcano: JobNameKey"},
    {"app", "scheduling.k8s.io/group-name", UNIT_GANG, "scheduling.k8s.io/group-name", "",
     "volcano: KubeGroupNameAnnotationKey"},
    {"scheduling.k8s.io/group-name", "", UNIT_NONE, "", "", "an annotation, and no label"},
    /* Whatever else a pod is part of: Kueue chooses each pod's node itself. */
    {"kueue.x-k8s.io/tas " LWS_NAME " " LWS_INDEX "=0", NULL, UNIT_GANG, "kueue.x-k8s.io/tas", "",
     "kueue: topology_types.go"},
    {LWS_NAME " " LWS_INDEX "=0", "kueue.x-k8s.io/podset-required-topology", UNIT_GANG,
     "kueue.x-k8s.io/podset-required-topology", "", "kueue: topology_types.go"},
};

static void every_unit_is_known(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        check_unit(&units[i], &automatic);
}

static void a_policy_may_take_each_pod_for_itself(void **state) {
    const struct policy_group_by pod = {.unit = POLICY_UNIT_POD};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct unit_row row = units[i];
        row.place = UNIT_NONE;
        row.name = row.first = "";
        check_unit(&row, &pod);
    }
}

/* It groups by what tells units apart, or their pods. */
static void a_policy_that_groups_by_the_unit_overrules_it(void **state) {
    static const struct {
        const char *by, *labels;
        enum unit_place place;
    } cases[] = {
        {LWS_GROUP, LWS_NAME " " LWS_INDEX "=1", UNIT_NONE},
        {LWS_INDEX, LWS_NAME " " LWS_INDEX "=1", UNIT_NONE},
        {LWS_NAME, LWS_NAME " " LWS_INDEX "=1", UNIT_MEMBER},
        {RAY_HOST, RAY_HOST "=1", UNIT_NONE},
        {RAY_REPLICA, RAY_HOST "=1", UNIT_NONE},
        {INDEX, JOBSET_NAME " " INDEX "=1", UNIT_NONE},
        {"scheduling.x-k8s.io/pod-group", "scheduling.x-k8s.io/pod-group", UNIT_NONE},
        {"app", "app scheduling.x-k8s.io/pod-group", UNIT_GANG},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct str key = str_of(cases[i].by);
        const struct policy_group_by by = {.given = true, .labels = &key, .label_count = 1};
        struct written w;
        if (pod_unit_of(write_labels(&w, cases[i].labels), NULL, &by).place != cases[i].place)
            fail_msg("'%s' by '%s'", cases[i].labels, cases[i].by);
    }
}

/* groupBy.unit: what numbers the pods of a unit whose key the policy names. */
static void every_named_unit_is_known(void **state) {
    static const struct {
        const char *key;
        struct unit_row row;
    } cases[] = {
        {LWS_GROUP,
         {LWS_GROUP " " LWS_INDEX "=0", NULL, UNIT_FIRST, LWS_GROUP, LWS_INDEX "=0", "lws"}},
        {LWS_NAME,
         {LWS_NAME " leaderworkerset.sigs.k8s.io/group-index=0 " LWS_INDEX "=0", NULL, UNIT_FIRST,
          LWS_NAME, "leaderworkerset.sigs.k8s.io/group-index=0 " LWS_INDEX "=0", "lws"}},
        {LWS_NAME,
         {LWS_NAME " leaderworkerset.sigs.k8s.io/group-index=1 " LWS_INDEX "=0", NULL, UNIT_MEMBER,
          LWS_NAME, "leaderworkerset.sigs.k8s.io/group-index=0 " LWS_INDEX "=0", "lws"}},
        {LWS_NAME,
         {LWS_NAME " leaderworkerset.sigs.k8s.io/group-index=0 " LWS_INDEX "=1", NULL, UNIT_MEMBER,
          LWS_NAME, "leaderworkerset.sigs.k8s.io/group-index=0 " LWS_INDEX "=0", "lws"}},
        {RAY_REPLICA, {RAY_REPLICA, NULL, UNIT_MEMBER, RAY_REPLICA, RAY_HOST "=0", "kuberay"}},
        {"ray.io/cluster",
         {"ray.io/cluster ray.io/node-type=head", NULL, UNIT_FIRST, "ray.io/cluster",
          "ray.io/node-type=head", "kuberay"}},
        {"ray.io/cluster",
         {"ray.io/cluster ray.io/node-type=worker", NULL, UNIT_MEMBER, "ray.io/cluster",
          "ray.io/node-type=head", "kuberay"}},
        {JOB_KEY, {JOB_KEY " " INDEX "=0", NULL, UNIT_FIRST, JOB_KEY, INDEX "=0", "jobset"}},
        {JOBSET_NAME,
         {JOBSET_NAME " " INDEX "=0 jobset.sigs.k8s.io/job-global-index=0", NULL, UNIT_FIRST,
          JOBSET_NAME, INDEX "=0 jobset.sigs.k8s.io/job-global-index=0", "jobset"}},
        {JOBSET_NAME,
         {JOBSET_NAME " " INDEX "=0 jobset.sigs.k8s.io/job-global-index=1", NULL, UNIT_MEMBER,
          JOBSET_NAME, INDEX "=0 jobset.sigs.k8s.io/job-global-index=0", "jobset"}},
        {"spark-app-selector",
         {"spark-app-selector spark-role=driver", NULL, UNIT_FIRST, "spark-app-selector",
          "spark-role=driver", "spark"}},
        {"spark-app-selector",
         {"spark-app-selector spark-role=executor", NULL, UNIT_MEMBER, "spark-app-selector",
          "spark-role=driver", "spark"}},
        /* Of a unit nobody has heard of the first number that the pod has. */
        {"shard", {"shard app", NULL, UNIT_GANG, "shard", "", "no number"}},
        {"shard", {"shard " INDEX "=0", NULL, UNIT_FIRST, "shard", INDEX "=0", "batch/v1"}},
        {"shard",
         {"shard apps.kubernetes.io/pod-index=1", NULL, UNIT_MEMBER, "shard",
          "apps.kubernetes.io/pod-index=0", "apps/v1"}},
        {"shard", {"shard " LWS_INDEX "=1", NULL, UNIT_MEMBER, "shard", LWS_INDEX "=0", "lws"}},
        {"shard", {"shard " RAY_HOST "=0", NULL, UNIT_FIRST, "shard", RAY_HOST "=0", "kuberay"}},
        {"shard",
         {"shard volcano.sh/task-index=0", NULL, UNIT_FIRST, "shard", "volcano.sh/task-index=0",
          "volcano"}},
        {"shard",
         {"shard training.kubeflow.org/replica-index=2", NULL, UNIT_MEMBER, "shard",
          "training.kubeflow.org/replica-index=0", "training-operator"}},
        {"shard",
         {"shard " INDEX "=0 apps.kubernetes.io/pod-index=7", NULL, UNIT_FIRST, "shard", INDEX "=0",
          "the first that it has"}},
        /* A pod without that label is one as without the policy's word. */
        {"shard", {"app", NULL, UNIT_NONE, "", "", "nothing"}},
        {"shard",
         {LWS_NAME " " LWS_INDEX "=1", NULL, UNIT_MEMBER, LWS_GROUP, LWS_INDEX "=0", "lws"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct policy_group_by by = {
            .given = true, .unit = POLICY_UNIT_LABEL, .unit_key = str_of(cases[i].key)};
        check_unit(&cases[i].row, &by);
    }
}

/* The controller's webhook writes the podAffinity for it, perhaps later. */
static void every_annotation_of_togetherness_is_known(void **state) {
    static const char *const keys[] = {
        "leaderworkerset.sigs.k8s.io/exclusive-topology", /* lws: ExclusiveKeyAnnotationKey */
        "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", /* lws: SubGroupExclusive... */
        "alpha.jobset.sigs.k8s.io/exclusive-topology",             /* jobset: ExclusiveKey */
    };
    struct written w;
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_true(pod_unit_is_together(write_labels(&w, keys[i])));
    assert_false(pod_unit_is_together(write_labels(&w, "app exclusive-topology")));
    assert_false(pod_unit_is_together(write_labels(&w, "")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_known),
        cmocka_unit_test(each_key_means_one_thing),
        cmocka_unit_test(every_unit_is_known),
        cmocka_unit_test(a_policy_may_take_each_pod_for_itself),
        cmocka_unit_test(a_policy_that_groups_by_the_unit_overrules_it),
        cmocka_unit_test(every_named_unit_is_known),
        cmocka_unit_test(every_annotation_of_togetherness_is_known),
    };
    return cmocka_run_group_tests_name("pod_keys", tests, NULL, NULL);
}
