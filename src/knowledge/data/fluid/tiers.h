/*
 * The tiered locality of NodeAffinityWithCache, which other plugins use with tiers of their own.
 */
#pragma once

#include "data/fluid/plugin.h"

/* A place where workers of a dataset may be: the nodes with labels for which all expressions hold.
 */
struct fluid_place {
    const struct label_expression *items;
    uint32_t count;
};

/* Alternative places. */
struct fluid_places {
    const struct fluid_place *items;
    uint32_t count;
};

/* Do the pod's own rules name the key of a tier? */
bool fluid_names_tier(struct fluid_edit *e, const struct fluid_tiers *tiers);

/* Prefers the tiers of every dataset of `e`, or requires them if a label of the pod asks for it.
 * With `required`, requires the required tiers of every dataset, and prefers the preferred ones,
 * too. `places` are the workers' places; NULL: use the places in the datasets' runtimes. Returns 0,
 * -E2BIG or -ENOMEM. */
int fluid_add_locality(struct fluid_edit *e, const struct fluid_tiers *tiers,
                       const struct fluid_places *places, bool required,
                       struct err *err) MUST_CHECK;

/* Prefers nodes without any dataset, with a weight of 1..100. Returns 0, -E2BIG or -ENOMEM. */
int fluid_keep_off_cache_nodes(struct fluid_edit *e, int32_t weight, struct err *err) MUST_CHECK;
/* Requires nodes without any dataset. Returns 0, -E2BIG or -ENOMEM. */
int fluid_require_off_cache_nodes(struct fluid_edit *e, struct err *err) MUST_CHECK;
