/*
 * Which of the candidates take part: groups of a level, their scores, and the search for those that
 * keep every spread constraint. upstream: karmada pkg/scheduler/core/spreadconstraint; beyond
 * {cluster} and {region, cluster} our own, score first.
 */
#pragma once

#include "karmada/karmada.h"

/* ---- combinations of groups: step `groups` ---- */

struct group_item {
    struct str name;
    int64_t value, weight;
};
/*
 * The combination of `items` that upstream's selectGroups() chooses, as indices in result order, in
 * the arena; *ret_count 0 for none. By branch and bound: not all combinations are looked at.
 * 0, -E2BIG (the arena's steps) or -ENOMEM.
 */
int karmada_groups_choose(const struct group_item *items, uint32_t count, int64_t min, int64_t max,
                          int64_t target, struct arena *arena, const uint32_t **ret,
                          uint32_t *ret_count, struct err *err) MUST_CHECK;

/* ---- selection ---- */

struct karmada_group {
    struct str *path; /* values of the declared levels above, and its own */
    uint32_t depth;
    struct str name; /* path joined by "/" */
    int64_t score, available;
    const uint32_t *clusters; /* indices of candidates, in B.5's order */
    uint32_t cluster_count;
};
struct karmada_level {
    enum spread_field field;
    struct str label;
    const struct karmada_group *groups; /* best first */
    uint32_t group_count;
};

struct karmada_selection {
    const uint32_t *order;    /* all candidates, as indices, in B.5's order */
    const uint32_t *clusters; /* the selected ones, as indices, in result order */
    uint32_t count;
    bool proven;
    enum karmada_error kind;            /* KARMADA_ERROR: `error` says why nothing is selected */
    struct str error;                   /* without the prefix of the caller's */
    const struct karmada_level *levels; /* declared ones, also when there is an error */
    uint32_t level_count;
};
/* 0, -E2BIG (the arena's steps) or -ENOMEM; that nothing fits is no failure. */
int karmada_select(const struct karmada_candidate *candidates, uint32_t count,
                   const struct cluster_placement *placement, int32_t replicas,
                   const struct karmada_options *options, struct arena *arena,
                   struct karmada_selection *ret, struct err *err) MUST_CHECK;
