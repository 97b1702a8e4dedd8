#include "model/pod_units.h"

#include "model/names.h"

#define TEXT(literal)                                                                              \
    { literal, sizeof(literal) - 1 }

/* ---- known units ---- */

#define LWS_WORKER TEXT("leaderworkerset.sigs.k8s.io/worker-index")
#define RAY_HOST TEXT("ray.io/replica-host-index")
#define COMPLETION TEXT("batch.kubernetes.io/job-completion-index")

/* A kind of unit, whose pods have the label `mark`. `first`: the labels of a unit's first pod;
 * empty: units of this kind have no first pod. */
struct known_unit {
    struct str mark, name;
    bool annotated; /* the mark is an annotation */
    struct label first[UNIT_NUMBERS];
};

static const struct str zero = {"0", 1};

/*
 * Units that need no mention in a policy; the first match counts. Kueue's units have no first pod,
 * because its topology-aware scheduling chooses each pod's node itself, after the pod was created
 * (upstream: kueue apis/kueue/v1beta1/topology_types.go).
 */
static const struct known_unit known_units[] = {
    {.mark = TEXT("kueue.x-k8s.io/tas"), .name = TEXT("kueue.x-k8s.io/tas")},
    {.mark = TEXT("kueue.x-k8s.io/podset-required-topology"),
     .name = TEXT("kueue.x-k8s.io/podset-required-topology"),
     .annotated = true},
    {.mark = TEXT("kueue.x-k8s.io/podset-preferred-topology"),
     .name = TEXT("kueue.x-k8s.io/podset-preferred-topology"),
     .annotated = true},
    {.mark = TEXT("kueue.x-k8s.io/podset-unconstrained-topology"),
     .name = TEXT("kueue.x-k8s.io/podset-unconstrained-topology"),
     .annotated = true},
    {.mark = TEXT("kueue.x-k8s.io/podset-slice-required-topology"),
     .name = TEXT("kueue.x-k8s.io/podset-slice-required-topology"),
     .annotated = true},
    {.mark = TEXT("kueue.x-k8s.io/podset-slice-required-topology-constraints"),
     .name = TEXT("kueue.x-k8s.io/podset-slice-required-topology-constraints"),
     .annotated = true},
    /* upstream: lws pkg/webhooks/pod_webhook.go: leaders are created with their number, workers
     * get it from the webhook */
    {.mark = TEXT("leaderworkerset.sigs.k8s.io/name"),
     .name = TEXT("leaderworkerset.sigs.k8s.io/group-key"),
     .first = {{LWS_WORKER, TEXT("0")}}},
    /* upstream: kuberay ray-operator/controllers/ray/common/pod.go: only with numOfHosts > 1 */
    {.mark = RAY_HOST,
     .name = TEXT("ray.io/worker-group-replica-name"),
     .first = {{RAY_HOST, TEXT("0")}}},
    /* upstream: jobset api/jobset/v1alpha2/jobset_types.go; pods have no number if their Job has
       completionMode NonIndexed, or if the server is older than 1.28 */
    {.mark = TEXT("jobset.sigs.k8s.io/jobset-name"),
     .name = TEXT("jobset.sigs.k8s.io/job-key"),
     .first = {{COMPLETION, TEXT("0")}}},
    /* upstream: scheduler-plugins apis/scheduling/v1alpha1/types.go: PodGroupLabel, and its
     * older name */
    {.mark = TEXT("scheduling.x-k8s.io/pod-group"), .name = TEXT("scheduling.x-k8s.io/pod-group")},
    {.mark = TEXT("pod-group.scheduling.sigs.k8s.io"),
     .name = TEXT("pod-group.scheduling.sigs.k8s.io")},
    /* upstream: volcano pkg/controllers/job/job_controller_util.go; all operators that name a
       PodGroup of Volcano (Spark, Ray, Kubeflow) set the annotation */
    {.mark = TEXT("volcano.sh/job-name"), .name = TEXT("volcano.sh/job-name")},
    {.mark = TEXT("scheduling.k8s.io/group-name"),
     .name = TEXT("scheduling.k8s.io/group-name"),
     .annotated = true},
};

/* The labels that number the pods of a unit, for units that a policy names by their key. */
static const struct known_unit named_units[] = {
    {.name = TEXT("leaderworkerset.sigs.k8s.io/group-key"), .first = {{LWS_WORKER, TEXT("0")}}},
    {.name = TEXT("leaderworkerset.sigs.k8s.io/name"),
     .first = {{TEXT("leaderworkerset.sigs.k8s.io/group-index"), TEXT("0")},
               {LWS_WORKER, TEXT("0")}}},
    {.name = TEXT("ray.io/worker-group-replica-name"), .first = {{RAY_HOST, TEXT("0")}}},
    {.name = TEXT("ray.io/cluster"), .first = {{TEXT("ray.io/node-type"), TEXT("head")}}},
    {.name = TEXT("jobset.sigs.k8s.io/job-key"), .first = {{COMPLETION, TEXT("0")}}},
    {.name = TEXT("jobset.sigs.k8s.io/jobset-name"),
     .first = {{COMPLETION, TEXT("0")}, {TEXT("jobset.sigs.k8s.io/job-global-index"), TEXT("0")}}},
    {.name = TEXT("spark-app-selector"), .first = {{TEXT("spark-role"), TEXT("driver")}}},
};

/* For units that are in no table: the value of the first of these labels that a pod has is the
 * pod's number. */
static const struct str numbers[] = {
    COMPLETION, TEXT(POD_INDEX_LABEL),         LWS_WORKER,
    RAY_HOST,   TEXT("volcano.sh/task-index"), TEXT("training.kubeflow.org/replica-index"),
};

/* Annotations that name a topology key. upstream: lws api/leaderworkerset/v1, jobset
 * api/jobset/v1alpha2. */
static const struct str together[] = {
    TEXT("leaderworkerset.sigs.k8s.io/exclusive-topology"),
    TEXT("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"),
    TEXT("alpha.jobset.sigs.k8s.io/exclusive-topology"),
};

/* ---- the unit of a pod ---- */

static bool has(const struct labels *labels, struct str key) {
    struct str ignored;
    return labels != NULL && labels_lookup(labels, key, &ignored);
}

/* Does the policy group by a key of the unit, or of its pods' numbers? Then the policy decides. */
static bool is_overruled(const struct known_unit *unit, const struct policy_group_by *by) {
    bool listed = policy_groups_by(by, unit->name);
    for (int i = 0; i < UNIT_NUMBERS && !str_empty(unit->first[i].key); i++)
        listed = listed || policy_groups_by(by, unit->first[i].key);
    return listed;
}

static struct unit_membership place(const struct known_unit *unit, const struct labels *pod) {
    struct unit_membership ret = {.place = UNIT_FIRST, .name = unit->name};
    for (int i = 0; i < UNIT_NUMBERS && !str_empty(unit->first[i].key); i++) {
        struct str value;
        ret.first[ret.first_count++] = unit->first[i];
        if (!labels_lookup(pod, unit->first[i].key, &value) || !str_eq(value, unit->first[i].value))
            ret.place = UNIT_MEMBER;
    }
    if (ret.first_count == 0)
        ret.place = UNIT_GANG;
    return ret;
}

static struct unit_membership place_named(const struct labels *pod,
                                          const struct policy_group_by *by) {
    struct known_unit unit = {.name = by->unit_key};
    for (size_t i = 0; i < sizeof named_units / sizeof named_units[0]; i++)
        if (str_eq(named_units[i].name, by->unit_key))
            return place(&named_units[i], pod);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (has(pod, numbers[i])) {
            unit.first[0] = (struct label){numbers[i], zero};
            break;
        }
    return is_overruled(&unit, by) ? (struct unit_membership){.place = UNIT_NONE}
                                   : place(&unit, pod);
}

struct unit_membership pod_unit_of(const struct labels *pod, const struct labels *annotations,
                                   const struct policy_group_by *by) {
    const struct unit_membership none = {.place = UNIT_NONE};
    if (by->unit == POLICY_UNIT_POD)
        return none;
    if (by->unit == POLICY_UNIT_LABEL && has(pod, by->unit_key))
        return place_named(pod, by);
    for (size_t i = 0; i < sizeof known_units / sizeof known_units[0]; i++) {
        const struct known_unit *unit = &known_units[i];
        if (has(unit->annotated ? annotations : pod, unit->mark))
            return is_overruled(unit, by) ? none : place(unit, pod);
    }
    return none;
}

bool pod_unit_is_together(const struct labels *annotations) {
    for (size_t i = 0; i < sizeof together / sizeof together[0]; i++)
        if (has(annotations, together[i]))
            return true;
    return false;
}

/* ---- makers of units ---- */

static const struct pod_unit_maker unit_makers[] = {
    {TEXT("ray.io/"), TEXT("ray.io"), TEXT(""), TEXT("ray.io")},
    {TEXT("leaderworkerset."), TEXT(APPS_GROUP), TEXT(STATEFUL_SET_KIND),
     TEXT("leaderworkerset.x-k8s.io")},
    {TEXT("jobset."), TEXT(BATCH_GROUP), TEXT(JOB_KIND), TEXT("jobset.x-k8s.io")},
    {TEXT("batch.kubernetes.io/"), TEXT(BATCH_GROUP), TEXT(JOB_KIND), TEXT("")},
};

struct str pod_unit_mark(const struct unit_membership *unit) {
    return unit->first_count > 0 ? unit->first[0].key : unit->name;
}

static const struct pod_unit_maker *maker_of(struct str key) {
    for (size_t i = 0; i < sizeof unit_makers / sizeof unit_makers[0]; i++)
        if (str_has_prefix(key, unit_makers[i].prefix))
            return &unit_makers[i];
    return NULL;
}

/* Searches the maker by the unit's name first: the labels that number its pods may be of a Job,
 * while the name is of a JobSet. */
const struct pod_unit_maker *pod_unit_maker(const struct unit_membership *unit) {
    const struct pod_unit_maker *by_name = maker_of(unit->name);
    return by_name != NULL ? by_name : maker_of(pod_unit_mark(unit));
}
