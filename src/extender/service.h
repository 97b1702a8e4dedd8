/*
 * What the extender's endpoints work with, and what they share: refusing, having no opinion, and
 * recording a decision. An endpoint decodes (wire.h), asks the engine, and encodes.
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

/* What is done about pods between a filter answer and the watch event of their binding. */
enum reservation_mode {
    RESERVATIONS_OFF,         /* nothing */
    RESERVATIONS_SINGLE_NODE, /* a pod whose node is certain counts there at once: the only one that
                                 filter left, or the one of a bind call */
    RESERVATIONS_CONSERVATIVE, /* and any other counts wherever it may land, for hard constraints;
                                  bindings happen in the order of their decisions */
};

struct extender {
    struct cache *cache;
    const struct engine_options *options;
    int64_t stale_after_ms; /* of older data nothing is concluded; 0: never */
    enum reservation_mode reservations;
    bool assume; /* soft constraints count a pod where prioritize sends it, until it is seen */
    struct kube_client *client; /* NULL: state comes from files, and nothing can be bound */
    int64_t bind_timeout_ms;
    struct bind_queue *bindings; /* NULL: they need not keep their order */
    int64_t settled_ms; /* of clock_real(): until then bindings of an earlier process may land */
    struct ring *decisions;         /* NULL: they are not recorded */
    struct fluid_source *fluid;     /* where the data of pods is; NULL: not known */
    struct policy_source *policies; /* whose weights count; NULL: nobody's */
};

#define EXTENDER_NOT_READY "not ready: the cluster state has not been read yet; see /readyz"

/* Registers, or takes out, the metrics that the verbs share. */
void extender_metrics_start(void);
void extender_metrics_stop(void);

/* A call that has been answered, for the record. */
struct extender_call {
    const char *verb;
    const struct object_meta *pod;
    struct moment began;
    int64_t data_age_ms;
    int judged; /* 0, or -errno with what is in err */
    const struct err *err;
};
/* Begins its record: true, and the caller adds what was found (if judged is 0) and ends it. */
bool extender_record(const struct extender *x, const struct extender_call *call,
                     struct recording *ret);

/*
 * What the verbs without an Error field share (`decoded` and `judged` are 0 or -errno with `err`).
 * Each returns false when the request has been refused and nothing is left to do.
 */
/* After decoding: refuses what could not be decoded, and everything before the first sync. `pod` is
 * looked at only if `decoded` is 0. */
bool extender_may_judge(const struct extender *x, const struct extender_call *call, int decoded,
                        const struct err *err, struct http_response *response);
/* Before the engine: 0, or -ESTALE when what the cache has is too old to conclude from; in any case
 * the answer will say how old it is. */
int extender_check_age(const struct extender *x, struct http_response *response,
                       struct err *err) MUST_CHECK;
/* Before scoring: pod_scoring_prepare() with these policies (NULL: those in force). *ret is the
 * engine's options for this pod. 0 or -ENOMEM. */
int extender_prepare_scoring(const struct extender *x, struct pod *pod,
                             const struct policy_list *instead, struct arena *arena,
                             struct engine_options *ret, struct err *err) MUST_CHECK;
/* A pod that is asked about again did not land where it was assumed. */
void extender_unassume(const struct extender *x, const struct object_meta *pod);
/* After the engine: did it fail in a way that must not hold a pod up? Then every node is to pass;
 * this has been logged and counted. */
bool extender_no_opinion(const char *verb, const struct pod *pod, int judged,
                         const struct err *err);
/* After the engine: is there an answer to encode? The engine's (0) or, when memory ran out or the
 * data is too old, which is logged and counted here, no opinion; anything else is refused. */
bool extender_has_answer(const char *verb, const struct pod *pod, int judged, const struct err *err,
                         struct http_response *response);
