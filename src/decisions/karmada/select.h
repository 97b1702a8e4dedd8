/*
 * Selects among the candidates: groups of a level, their scores, and the search for groups that
 * meet every spread constraint. upstream: karmada pkg/scheduler/core/spreadconstraint; for
 * constraints other than {cluster} and {region, cluster} our own algorithm, score first.
 */
#pragma once

#include "karmada/karmada.h"

/* ---- combinations of groups: step `groups` ---- */

struct group_item {
    struct str name;
    int64_t value, weight;
};
/*
 * Finds the combination of `items` that upstream's selectGroups() chooses, as indices in result
 * order, in the arena; *ret_count is 0 if no combination is possible. By branch and bound: does not
 * try all combinations. Returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM.
 */
int karmada_groups_choose(const struct group_item *items, uint32_t count, int64_t min, int64_t max,
                          int64_t target, struct arena *arena, const uint32_t **ret,
                          uint32_t *ret_count, struct err *err) MUST_CHECK;

/* ---- selection ---- */

struct karmada_group {
    struct str *path; /* values of the declared levels, down to the group's own level */
    uint32_t depth;
    struct str name; /* path joined by "/" */
    int64_t score, available;
    const uint32_t *clusters; /* indices of candidates, by rank (select_internal.h) */
    uint32_t cluster_count;
};
struct karmada_level {
    enum spread_field field;
    struct str label;
    const struct karmada_group *groups; /* best first */
    uint32_t group_count;
};

struct karmada_selection {
    const uint32_t *order;    /* all candidates, as indices, by rank */
    const uint32_t *clusters; /* the selected candidates, as indices, in the order of the result */
    uint32_t count;
    bool proven;
    enum karmada_error kind;            /* KARMADA_ERROR: nothing is selected, see `error` */
    struct str error;                   /* without the caller's prefix */
    const struct karmada_level *levels; /* the declared levels, also after an error */
    uint32_t level_count;
};
/* Returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM; it is no failure if nothing fits. */
int karmada_select(const struct karmada_candidate *candidates, uint32_t count,
                   const struct cluster_placement *placement, int32_t replicas,
                   const struct karmada_options *options, struct arena *arena,
                   struct karmada_selection *ret, struct err *err) MUST_CHECK;
