/*
 * How many pods each domain has before and after a placing. With constraints, the engine counts: a
 * domain has the pods that the constraint counts, by its selector and matchLabelKeys and on nodes
 * that its inclusion policies leave. Without, all pods count, by zone.
 *
 * Threads: any; takes the cache's read lock.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "engine/engine.h"

/* Pods in one domain of a constraint. */
struct placed_domain {
    struct str key, value;
    uint32_t constraint;   /* index in the pod's list; 0 without constraints */
    bool hard;             /* false: of a soft constraint, or without constraints */
    bool counted;          /* false: the constraint does not count its nodes, and it has no pods */
    int64_t before, added; /* `added` is set by placed_domains_add() */
};

struct placed_domains {
    struct placed_domain *items; /* by constraint and value */
    uint32_t count, cap;
    bool constrained; /* the pod has constraints */
};

/* Counts now, into `before`. Everything in *ret is in the arena. `options` are for any pod. Returns
 * 0, or -errno as engine_filter(). */
int placed_domains_count(const struct engine_options *options, struct cache *cache,
                         const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                         struct err *err) MUST_CHECK;
/* Adds what has come since then. `ret` is from placed_domains_count() of the same pod; the nodes
 * are the same. */
int placed_domains_add(const struct engine_options *options, struct cache *cache,
                       const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                       struct err *err) MUST_CHECK;
