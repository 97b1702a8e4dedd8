/*
 * The number of pods in each domain before and after a placing. If the pod has constraints, the
 * engine counts the pods that match the constraint's selector and matchLabelKeys, on nodes that
 * pass its inclusion policies. Otherwise all pods count, by zone.
 *
 * Threads: any; takes the cache's read lock.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "engine/engine.h"

/* Number of pods in one domain of a constraint. */
struct placed_domain {
    struct str key, value;
    uint32_t constraint; /* index in the pod's list of constraints; 0 without constraints */
    bool hard;           /* false: the constraint is soft, or there is no constraint */
    bool counted; /* false: the constraint does not count the domain's nodes, and `before` and
                     `added` are 0 */
    int64_t before, added; /* `added` is set by placed_domains_add() */
};

struct placed_domains {
    struct placed_domain *items; /* sorted by constraint and value */
    uint32_t count, cap;
    bool constrained; /* the pod has constraints */
};

/* Counts the present pods, into `before`. Everything in *ret is in the arena. `options` are the
 * options before simulation_prepare() adapts them to a pod. Returns 0, or -errno as
 * engine_filter(). */
int placed_domains_count(const struct engine_options *options, struct cache *cache,
                         const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                         struct err *err) MUST_CHECK;
/* Sets `added` to the number of pods that came since then. `ret` is from placed_domains_count() of
 * the same pod; the nodes are the same. */
int placed_domains_add(const struct engine_options *options, struct cache *cache,
                       const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                       struct err *err) MUST_CHECK;
