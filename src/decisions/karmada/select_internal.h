/*
 * Declarations for the files that select clusters. A rank is a place in the order of candidates
 * (overflow order, score descending, available replicas descending, name); 0 is the best.
 */
#pragma once

#include "karmada/select.h"

struct select_work {
    const struct karmada_candidate *candidates;
    uint32_t count;
    const struct cluster_placement *placement;
    int32_t replicas;
    const struct karmada_options *options;
    struct arena *arena;
    struct karmada_selection *ret;
    uint32_t *order;               /* [count]: the candidate with each rank */
    struct cluster_spread *spread; /* the declared constraints, each field and label once */
    uint32_t spread_count;
};

static inline const struct karmada_candidate *ranked(const struct select_work *w, uint32_t rank) {
    return &w->candidates[w->order[rank]];
}

/* ---- groups of a level: group_build.c ---- */

struct level_group {
    struct karmada_group shown; /* the group in the answer; its name is made at the end */
    uint32_t parent;            /* index of the parent in the level above; 0 in the first level */
    const uint32_t *ranks; /* [shown.cluster_count]: ranks of the group's clusters, ascending */
};
struct level_groups {
    struct cluster_spread spread;
    struct level_group *groups; /* best first, after level_sort() */
    uint32_t count;
    uint32_t pairs; /* number of pairs of a cluster and a group */
    bool several;   /* a cluster is in more than one group */
};

/*
 * Makes the groups of a level below those of `above` (NULL: of all candidates), unsorted. The
 * caller sets scores. Available replicas are summed, saturating. Returns 0, -E2BIG or -ENOMEM.
 */
int level_build(struct select_work *w, const struct level_groups *above,
                const struct cluster_spread *spread, struct level_groups *ret) MUST_CHECK;
/* Is the group the one of clusters without a value at this level (missingTopology: Default)? */
bool level_group_is_default(const struct select_work *w, const struct level_groups *level,
                            const struct level_group *group);
/* Sorts the groups by score, available replicas, and path. */
int level_sort(struct select_work *w, struct level_groups *level) MUST_CHECK;
/* Records the levels of a selection for its answer. */
int levels_show(struct select_work *w, const struct level_groups *levels,
                uint32_t count) MUST_CHECK;

/* ---- the ways to select ---- */

/* Sets the error, the reason why nothing is selected. Arguments are those of printf(). Returns 0 or
 * -ENOMEM. */
int select_fail(struct select_work *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Selects as v1.18.1 does: by region, or by cluster alone. upstream_select.c */
int select_as_upstream(struct select_work *w, struct err *err) MUST_CHECK;
/* Selects by all declared levels, score first. levels.c */
int select_by_levels(struct select_work *w) MUST_CHECK;

static inline int64_t add_saturating(int64_t a, int64_t b) {
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}
