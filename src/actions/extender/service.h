/*
 * The inputs of the extender's endpoints, and their shared steps: refusing, having no opinion, and
 * recording a decision. An endpoint decodes the request (wire.h), asks the engine, and encodes the
 * answer.
 */
#pragma once

#include "cache/cache.h"
#include "data/source.h"
#include "engine/engine.h"
#include "explain/recording.h"
#include "extender/bind_order.h"
#include "http/http.h"
#include "kube/client/client.h"
#include "policy/policies.h"

/* How pods count between the answer of filter and the watch event of their binding. */
enum reservation_mode {
    RESERVATIONS_OFF,          /* not at all */
    RESERVATIONS_SINGLE_NODE,  /* a pod whose node is certain counts there at once: the only node
                                  that passed filter, or the node of a bind call */
    RESERVATIONS_CONSERVATIVE, /* also, hard constraints count any other pod wherever it may land;
                                  bindings happen in the order of their decisions */
};

struct extender {
    struct cache *cache;
    const struct engine_options *options;
    int64_t stale_after_ms; /* data older than this gives "no opinion"; 0: no limit */
    enum reservation_mode reservations;
    bool assume; /* soft constraints count a pod where prioritize sends it, until it is seen */
    struct kube_client *client; /* NULL: state comes from files, and nothing can be bound */
    int64_t bind_timeout_ms;
    struct bind_queue *bindings; /* NULL: bindings need not keep an order */
    int64_t settled_ms; /* clock_real() time until which an earlier process's bindings may land */
    struct ring *decisions;         /* NULL: they are not recorded */
    struct fluid_source *fluid;     /* where the data is that pods mount; NULL: not known */
    struct policy_source *policies; /* policies, for their weights; NULL: the configured weights */
};

#define EXTENDER_NOT_READY "not ready: the cluster state has not been read yet; see /readyz"

/* Register and unregister the metrics that the verbs share. */
void extender_metrics_start(void);
void extender_metrics_stop(void);

/* A call that has been answered, to be recorded. */
struct extender_call {
    const char *verb;
    const struct object_meta *pod;
    struct moment began;
    int judged; /* the engine's result: 0, or -errno with `err` */
    const struct err *err;
    const struct applied_constraint *applied; /* if judged is 0 */
    uint32_t applied_count;
};
/* Begins to record a decision. If it returns true, the caller adds the result (if judged is 0) and
 * calls recording_end(). Returns false if decisions are not recorded. */
bool extender_record(const struct extender *x, const struct extender_call *call,
                     struct recording *ret);

/*
 * Steps that verbs share (`decoded` and `judged` are 0 or -errno with `err`). extender_may_judge()
 * and extender_has_answer() are for verbs without an Error field: they return false if the request
 * has been refused and nothing is left to do.
 */
/* After decoding: refuses a request that could not be decoded, and every request before the first
 * sync. Uses call->pod only if `decoded` is 0. */
bool extender_may_judge(const struct extender *x, const struct extender_call *call, int decoded,
                        const struct err *err, struct http_response *response);
/* Before the engine: returns 0, or -ESTALE if the cache's data is too old. Sets the data's age in
 * the response in both cases. */
int extender_check_age(const struct extender *x, struct http_response *response,
                       struct err *err) MUST_CHECK;
/* Before scoring: calls pod_scoring_prepare() with the policies in `instead` (NULL: the policies
 * in force). *ret is the engine's options for this pod. Returns 0 or -ENOMEM. */
int extender_prepare_scoring(const struct extender *x, struct pod *pod,
                             const struct policy_list *instead, struct arena *arena,
                             struct engine_options *ret, struct err *err) MUST_CHECK;
/* Forgets where a pod was assumed: it is filtered or scored again, so it did not land there. */
void extender_unassume(const struct extender *x, const struct object_meta *pod);
/* Did the engine fail for a reason that must not hold the pod up: no memory, data too old, too many
 * steps (-E2BIG), or labels that are not kept (-ENODATA)? */
bool extender_is_unable(int judged);
/* After the engine: returns true if the engine was unable to judge the pod. The answer is then "no
 * opinion"; the failure has been logged and counted. */
bool extender_no_opinion(const char *verb, const struct pod *pod, int judged,
                         const struct err *err);
/* After the engine: returns true if there is an answer to encode, which is the engine's (judged is
 * 0) or "no opinion" (logged and counted here). Refuses the request and
 * returns false otherwise. */
bool extender_has_answer(const char *verb, const struct pod *pod, int judged, const struct err *err,
                         struct http_response *response);
