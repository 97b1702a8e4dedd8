/*
 * Shared by spread and ordered_spread: a pod's constraints, made ready for counting.
 */
#pragma once

#include "engine/algorithm.h"

/* One constraint with its selector compiled and its data looked up. */
struct ready_constraint {
    const struct spread_constraint *constraint;
    struct topology_column column;
    const uint32_t *counts; /* number of counted pods per slot; NULL: the selector counts no pod */
    const int64_t *assumed; /* parts of assumed pods per slot, a whole pod is CACHE_POD; NULL: none;
                               for scores only */
    struct selector selector;
    uint64_t selector_steps; /* steps to match the selector with one pod */
    int64_t self;            /* 1 if the selector matches the pod itself */
    uint8_t required_flags;  /* CANDIDATE_*: flags of the nodes that count */
};

struct ready_constraints {
    struct ready_constraint *items;
    uint32_t count;
    const uint8_t *feasible; /* per slot */
    uint8_t common;          /* CANDIDATE_*: flags that all known nodes have */
    const bool *keyed; /* per slot: the node has all keys; NULL: a node with one key has all */
    bool require_all;  /* a node must carry all keys; false only with the system defaults */
};

/* Compiles the pod's own constraints of one kind into e->own. Returns 0, -EINVAL (e->own_err names
 * the field) or -ENOMEM. */
int constraints_compile(struct evaluation *e, bool hard);
/*
 * Returns the pod's own constraints of one kind (hard or soft), compiled before. A pod without any
 * constraint, hard or soft, gets the defaults. Notes each constraint as applied. Returns 0,
 * ALGORITHM_SKIP if there is no constraint, or -errno.
 */
int constraints_ready(struct evaluation *e, bool hard, struct ready_constraints *ret,
                      struct err *err);

/* Does this node count for constraint c under its inclusion policies? */
static inline bool node_counts(const struct ready_constraints *rc, uint32_t c, uint32_t slot) {
    return (rc->feasible[slot] & rc->items[c].required_flags) == rc->items[c].required_flags;
}

/* Has the node the keys of all constraints? */
static inline bool has_all_keys(const struct ready_constraints *rc, uint32_t slot) {
    return rc->keyed != NULL ? rc->keyed[slot]
                             : rc->items[0].column.domain_of[slot] != TOPOLOGY_NONE;
}

/* An item of a table of domains: no counted node has this value. */
enum { NO_DOMAIN = -1 };

/* The `score` of struct algorithm for soft constraints. */
int spread_score(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err);

/* Sets *ret to the pod's labels with these keys, as requirements key == value; skips keys that the
 * pod lacks. */
int labels_of_keys(const struct str *keys, uint32_t key_count, const struct labels *labels,
                   struct arena *arena, struct labels *ret);

/* Sets e->rule to the rule that scores the pod. A rule with all_keys loses the terms with a key
 * that no candidate has, and is not used if fewer than two terms are left. Returns 0 or -errno. */
int ordered_rule_of_scores(struct evaluation *e);

/* Returns the flags that a constraint's inclusion policies require. */
uint8_t inclusion_flags(const struct spread_constraint *constraint);
