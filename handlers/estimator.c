#include "handlers/estimator.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "estimator/unschedulable.h"

#include <errno.h>
#include <stdio.h>

/* ---- questions ---- */

struct asked {
    struct str cluster;
    const struct replica_requirements *requirements; /* for a question about replicas */
    bool sets;
    const struct component *components; /* for a question about sets */
    uint32_t component_count;
    struct str namespace;
    const struct assumed_workload *assumed;
    uint32_t assumed_count;
};

/* The results that metrics count for successful calls; failed calls are counted by status. */
enum { ANSWER_KNOWN, ANSWER_UNKNOWN, ANSWER_TOO_LARGE };

static void refuse(struct grpc_response *response, int error) {
    response->status = error == -EINVAL ? GRPC_INTERNAL : GRPC_RESOURCE_EXHAUSTED;
}

static void refuse_cluster(const struct estimator *e, struct str cluster,
                           struct grpc_response *response) {
    uint32_t count;
    struct member *only = members_hold_only(e->members, &count);
    response->status = GRPC_UNKNOWN;
    if (only != NULL)
        (void)err_set(&response->err, -ENOENT,
                      "cluster name does not match, got: %.*s, desire: %.*s", STR_ARG(cluster),
                      STR_ARG(member_name(only)));
    else
        (void)err_set(&response->err, -ENOENT,
                      "cluster name does not match, got: %.*s, desire: one of %u members",
                      STR_ARG(cluster), count);
    member_release(only);
}

static void answer_unknown(const struct estimator *e, struct str cluster, uint32_t remark,
                           const char *why, struct grpc_response *response) {
    if (!e->unready_is_error) {
        wire_response_encode(ESTIMATE_UNKNOWN, WIRE_BYTES, &response->message);
        response->remark = remark;
        return;
    }
    response->status = GRPC_UNAVAILABLE;
    (void)err_set(&response->err, -EAGAIN, "cluster %.*s: %s", STR_ARG(cluster), why);
}

/* Answers for a member that is not ready. Upstream would not serve yet, or would answer from its
 * last data. */
static void answer_unready(const struct estimator *e, struct str cluster, enum member_state state,
                           struct grpc_response *response) {
    answer_unknown(e, cluster, ANSWER_UNKNOWN, member_state_text(state), response);
}

/* Answers a question that took too many steps or too much memory at the member: `error` is -ENOSPC,
 * -E2BIG or -ENOMEM. Sets no error status unless configured, because a scheduler would then ignore
 * the answers of all members. */
static void answer_too_large(const struct estimator *e, struct str cluster, int error,
                             struct grpc_response *response) {
    if (error == -ENOSPC)
        answer_unready(e, cluster, MEMBER_TOO_LARGE, response);
    else
        answer_unknown(e, cluster, ANSWER_TOO_LARGE,
                       "the cluster is too large for the question to be answered", response);
}

/* No member has this name. May a member with this name still appear? */
static bool may_come(const struct estimator *e, struct str name) {
    return !members_complete(e->members) ||
           (e->karmada != NULL && karmada_members_find(e->karmada, name) != KARMADA_MEMBER_GONE);
}

/* Returns the member with a reference if it is ready to answer. Otherwise completes the response
 * and returns NULL. */
static struct member *hold_ready(const struct estimator *e, struct str cluster,
                                 enum member_state (*state_of)(const struct member *m),
                                 struct grpc_response *response) {
    struct member *member = members_hold(e->members, cluster);
    if (member == NULL) {
        if (may_come(e, cluster))
            answer_unready(e, cluster, MEMBER_SYNCING, response);
        else
            refuse_cluster(e, cluster, response);
        return NULL;
    }
    const enum member_state state = state_of(member);
    if (state == MEMBER_SYNCED)
        return member;
    member_release(member);
    answer_unready(e, cluster, state, response);
    return NULL;
}

static int make_question(const struct estimator *e, const struct asked *asked, struct arena *arena,
                         struct estimator_question *ret) {
    const int r = estimator_question_init(ret, asked->requirements, asked->components,
                                          asked->component_count, arena);
    ret->set.namespace = asked->namespace;
    return r == 0 && e->overcommit_protection
               ? estimator_question_assume(ret, asked->assumed, asked->assumed_count, arena)
               : r;
}

/* Lowers *least to the number of replicas for which the namespace's ResourceQuotas have room. */
static int limit_by_quotas(const struct member_view *v, const struct asked *asked,
                           const struct estimator_question *q, struct arena *arena,
                           int64_t *least) {
    const struct estimator_quota *quotas;
    uint32_t count;
    int64_t left;
    if (asked->sets && str_empty(asked->namespace))
        return 0; /* without a namespace no ResourceQuota applies */
    int r = member_quotas(v, asked->namespace, arena, &quotas, &count);
    if (r == 0)
        r = asked->sets ? estimator_quotas_sets(quotas, count, q, arena, &left)
                        : estimator_quotas_replicas(quotas, count, q, arena, &left);
    if (r == 0)
        *least = estimator_least(*least, left);
    return r;
}

/* Returns 0, -E2BIG, -ENOMEM or -ENOSPC. */
static int estimate(const struct estimator *e, const struct member *member,
                    const struct asked *asked, const struct estimator_question *q,
                    struct arena *arena, int64_t *ret) {
    struct member_view v;
    int r = member_view_open(member_informer(member), &v);
    if (r != 0)
        return r;
    v.topology.steps = &arena->steps;
    v.topology.asker = hash_str(asked->namespace);
    r = asked->sets ? estimator_nodes_sets(&v.nodes, &v.topology, q, arena, ret)
                    : estimator_nodes_replicas(&v.nodes, &v.topology, q, arena, ret);
    if (r == 0 && e->quotas && v.nodes.count > 0)
        r = limit_by_quotas(&v, asked, q, arena, ret);
    member_view_close(&v);
    return r;
}

static void answer(const struct estimator *e, const struct asked *asked, struct arena *arena,
                   struct grpc_response *response) {
    struct member *member = hold_ready(e, asked->cluster, member_state, response);
    struct estimator_question q;
    int64_t count;
    if (member == NULL)
        return;
    const int unprepared = make_question(e, asked, arena, &q);
    const int r = unprepared == 0 ? estimate(e, member, asked, &q, arena, &count) : 0;
    member_release(member);
    if (unprepared != 0) {
        refuse(response, unprepared);
        (void)err_set(&response->err, unprepared,
                      "failed to estimate %s: the question is too large to be answered",
                      asked->sets ? "component sets" : "replicas");
    } else if (r != 0)
        answer_too_large(e, asked->cluster, r, response);
    else
        wire_response_encode((int32_t)count, WIRE_BYTES, &response->message);
}

/* ---- methods ---- */

static void max_available_replicas(void *ctx, const struct grpc_request *request,
                                   struct grpc_response *response) {
    struct wire_replicas message;
    const int r = wire_replicas_decode(request->message, request->arena, &message, &response->err);
    if (r != 0) {
        refuse(response, r);
        return;
    }
    const struct asked asked = {.cluster = message.cluster,
                                .requirements = &message.requirements,
                                .namespace = message.requirements.namespace,
                                .assumed = message.assumed,
                                .assumed_count = message.assumed_count};
    answer(ctx, &asked, request->arena, response);
}

static void max_available_component_sets(void *ctx, const struct grpc_request *request,
                                         struct grpc_response *response) {
    static const struct replica_requirements none; /* components have their own */
    struct wire_sets message;
    const int r = wire_sets_decode(request->message, request->arena, &message, &response->err);
    if (r != 0) {
        refuse(response, r);
        return;
    }
    const struct asked asked = {.cluster = message.cluster,
                                .requirements = &none,
                                .sets = true,
                                .components = message.components,
                                .component_count = message.component_count,
                                .namespace = message.namespace,
                                .assumed = message.assumed,
                                .assumed_count = message.assumed_count};
    answer(ctx, &asked, request->arena, response);
}

static void get_unschedulable_replicas(void *ctx, const struct grpc_request *request,
                                       struct grpc_response *response) {
    struct wire_unschedulable message;
    int64_t count;
    int r = wire_unschedulable_decode(request->message, request->arena, &message, &response->err);
    if (r != 0) {
        refuse(response, r);
        return;
    }
    struct member *member = hold_ready(ctx, message.cluster, member_workloads_state, response);
    if (member == NULL)
        return;
    const struct str refusal = estimator_unschedulable_refusal(&message, request->arena);
    const struct member_workload workload = {.namespace = message.namespace,
                                             .name = message.name,
                                             .threshold_ns = message.threshold_ns,
                                             .now_ms = kube_wall_us() / 1000};
    r = !str_empty(refusal) ? err_set(&response->err, -ENOENT, "%.*s", STR_ARG(refusal))
                            : member_unschedulable(member_informer(member), &workload,
                                                   request->arena, &count, &response->err);
    member_release(member);
    if (r == 0)
        wire_response_encode((int32_t)count, WIRE_BYTES, &response->message);
    else if (r == -ENOSPC || r == -E2BIG || r == -ENOMEM)
        answer_too_large(ctx, message.cluster, r, response);
    else
        response->status = GRPC_UNKNOWN;
}

static const struct grpc_method methods[] = {
    {"MaxAvailableReplicas", max_available_replicas},
    {"MaxAvailableComponentSets", max_available_component_sets},
    {"GetUnschedulableReplicas", get_unschedulable_replicas},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* ---- metrics, and the slow log ---- */

static const struct {
    enum grpc_status status;
    uint32_t remark;
    const char *word;
} results[] = {
    {GRPC_OK, ANSWER_KNOWN, "ok"},
    {GRPC_OK, ANSWER_UNKNOWN, "unknown"},
    {GRPC_OK, ANSWER_TOO_LARGE, "too_large"},
    {GRPC_UNKNOWN, ANSWER_KNOWN, "refused"},
    {GRPC_DEADLINE_EXCEEDED, ANSWER_KNOWN, "late"},
    {GRPC_RESOURCE_EXHAUSTED, ANSWER_KNOWN, "exhausted"},
    {GRPC_INTERNAL, ANSWER_KNOWN, "malformed"},
    {GRPC_UNAVAILABLE, ANSWER_KNOWN, "unready"},
};
enum { RESULTS = sizeof results / sizeof results[0], LABELS_SIZE = 80 };

static struct metric requests[METHODS][RESULTS], durations[METHODS];
static char request_labels[METHODS][RESULTS][LABELS_SIZE], duration_labels[METHODS][LABELS_SIZE];

static void observe(void *ctx, const struct grpc_report *report) {
    enum { SLOW_NS = 100 * 1000 * 1000 };
    (void)ctx;
    if (report->method == NULL)
        return;
    const size_t method = (size_t)(report->method - methods);
    metric_observe_ns(&durations[method], report->duration_ns);
    for (size_t i = 0; i < RESULTS; i++)
        if (results[i].status == report->status && results[i].remark == report->remark)
            metric_add(&requests[method][i], 1);
    if (report->duration_ns > SLOW_NS)
        LOG_W("an estimate was slow", LOG_CSTR("method", report->method->name),
              LOG_STR("object", report->object),
              LOG_INT("duration_ms", report->duration_ns / 1000000),
              LOG_INT("status", report->status));
}

void estimator_metrics_start(void) {
    for (size_t m = 0; m < METHODS; m++) {
        for (size_t i = 0; i < RESULTS; i++) {
            (void)snprintf(request_labels[m][i], LABELS_SIZE, "method=\"%s\",result=\"%s\"",
                           methods[m].name, results[i].word); /* fits */
            requests[m][i] = (struct metric){.name = "evenkeel_estimator_requests_total",
                                             .help = "Calls of the estimator, by result.",
                                             .labels = request_labels[m][i],
                                             .kind = METRIC_COUNTER,
                                             .hide_zero = i > 0};
            metric_register(&requests[m][i]);
        }
        (void)snprintf(duration_labels[m], LABELS_SIZE, "method=\"%s\"", methods[m].name);
        durations[m] = (struct metric){.name = "evenkeel_estimator_duration_seconds",
                                       .help = "From a call's first byte to its answer.",
                                       .labels = duration_labels[m],
                                       .kind = METRIC_HISTOGRAM};
        metric_register(&durations[m]);
    }
}

void estimator_metrics_stop(void) {
    for (size_t m = 0; m < METHODS; m++) {
        for (size_t i = 0; i < RESULTS; i++)
            metric_unregister(&requests[m][i]);
        metric_unregister(&durations[m]);
    }
}

struct grpc_service estimator_service(struct estimator *e) {
    return (struct grpc_service){
        .path = "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/",
        .methods = methods,
        .method_count = METHODS,
        .observe = observe,
        .ctx = e};
}
