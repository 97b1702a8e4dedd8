/*
 * Tiered locality, as NodeAffinityWithCache adds it; other plugins bring tiers of their own.
 */
#pragma once

#include "data/fluid/plugin.h"

/* Does the pod say itself, by the key of a tier, where it belongs? */
bool fluid_names_tier(struct fluid_edit *e, const struct fluid_tiers *tiers);

/* Prefers the tiers of every dataset of `e`, or requires them where a label of the pod says so.
 * With `required` they are required of every dataset, and the preferred ones are preferred all the
 * same. 0, -EINVAL, -E2BIG or -ENOMEM. */
int fluid_add_locality(struct fluid_edit *e, const struct fluid_tiers *tiers, bool required,
                       struct err *err) MUST_CHECK;

/* Prefers nodes without any dataset. 0, -EINVAL, -E2BIG or -ENOMEM. */
int fluid_keep_off_cache_nodes(struct fluid_edit *e, struct err *err) MUST_CHECK;
