/*
 * What an algorithm is to the engine. Only files of this folder include it.
 *
 * One call of the engine makes one struct evaluation; an algorithm's state lives in its arena.
 * Functions that read the cache may return -EAGAIN (a shared view misses something): the engine
 * then starts over with an exclusive view.
 */
#pragma once

#include "engine/engine.h"

enum { ALGORITHM_SKIP = 1, REASONS_MAX = 200, REASON_UNKNOWN_NODE = 1 };

struct evaluation {
    const struct engine_options *options;
    const struct pod *pod;
    struct cache_view *view;
    struct arena *arena;
    const uint32_t *slots; /* of the candidates; TOPOLOGY_NONE: not known */
    uint32_t count;
    const struct algorithm *running; /* which adds reasons */
    struct str *reasons;             /* [REASONS_MAX] */
    const char **reason_filters;     /* [REASONS_MAX] */
    uint32_t reason_count;
    struct applied_constraint *applied; /* [applied_cap] */
    uint32_t applied_count, applied_cap;
    bool assumed; /* scores: some of the pods that count are assumed ones */
};

struct filter_status {
    enum verdict verdict;
    uint8_t reason;
};

struct algorithm {
    const char *name;
    const char *plugin; /* what kube-scheduler calls it, or would; where it filters */

    /* Prepares the filter: counts per domain, minima. 0, ALGORITHM_SKIP (nothing to say about this
     * pod), or -errno. */
    int (*prefilter)(struct evaluation *e, void **ret_state, struct err *err);
    /* Judges one known node before any filter does. upstream: PreFilterResult.NodeNames. NULL: none
     * is taken away. */
    struct filter_status (*preselect)(const struct evaluation *e, void *state, uint32_t slot);
    /* Judges one known node. */
    struct filter_status (*filter)(const struct evaluation *e, void *state, uint32_t slot);
    /* Takes a counted pod out of the state, or puts it back: what preemption asks "what if" with.
     * NULL: no pod changes the verdict. */
    void (*remove_pod)(const struct evaluation *e, void *state, const struct cache_pod *pod);
    void (*restore_pod)(const struct evaluation *e, void *state, const struct cache_pod *pod);

    /* Scores every candidate into raw, then all of them into 0..ENGINE_MAX_NORMALIZED. 0,
     * ALGORITHM_SKIP or -errno. */
    int (*score)(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err);
    uint32_t (*weight)(const struct engine_options *options);
};

extern const struct algorithm node_unschedulable_algorithm;
extern const struct algorithm node_name_algorithm;
extern const struct algorithm taint_algorithm;
extern const struct algorithm affinity_algorithm;
extern const struct algorithm ports_algorithm;
extern const struct algorithm fit_algorithm;
extern const struct algorithm spread_algorithm;
extern const struct algorithm ordered_spread_algorithm;
extern const struct algorithm locality_algorithm;

/* A node that would do, if pods in flight did not perhaps land in its domain. Preempting would not
 * help, so it is unresolvable; the next binding has the scheduler ask again. */
#define FLIGHT_REASON "waiting for pods in flight on "

/* Notes a reason and returns its index: "<before><key><after>". */
uint8_t reason_add(struct evaluation *e, const char *before, struct str key, const char *after);

/* Notes a constraint that is applied; what it points to lives as long as the answer. The place may
 * be filled further until the next one is noted. NULL when the arena failed. */
struct applied_constraint *applied_add(struct evaluation *e,
                                       const struct spread_constraint *constraint,
                                       enum constraint_origin origin);
