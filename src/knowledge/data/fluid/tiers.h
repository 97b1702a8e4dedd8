/*
 * Tiered locality, as NodeAffinityWithCache adds it; other plugins bring tiers of their own.
 */
#pragma once

#include "data/fluid/plugin.h"

/* Where workers of a dataset may be: what all of these say of a node's labels. */
struct fluid_place {
    const struct label_expression *items;
    uint32_t count;
};

/* Any of these will do. */
struct fluid_places {
    const struct fluid_place *items;
    uint32_t count;
};

/* Does the pod say itself, by the key of a tier, where it belongs? */
bool fluid_names_tier(struct fluid_edit *e, const struct fluid_tiers *tiers);

/* Prefers the tiers of every dataset of `e`, or requires them where a label of the pod says so.
 * With `required` they are required of every dataset, and the preferred ones are preferred all the
 * same. `places` is where the workers are; NULL: where their runtimes say. 0, -E2BIG or -ENOMEM. */
int fluid_add_locality(struct fluid_edit *e, const struct fluid_tiers *tiers,
                       const struct fluid_places *places, bool required,
                       struct err *err) MUST_CHECK;

/* Prefers nodes without any dataset, with a weight of 1..100. 0, -E2BIG or -ENOMEM. */
int fluid_keep_off_cache_nodes(struct fluid_edit *e, int32_t weight, struct err *err) MUST_CHECK;
/* Requires it. */
int fluid_require_off_cache_nodes(struct fluid_edit *e, struct err *err) MUST_CHECK;
