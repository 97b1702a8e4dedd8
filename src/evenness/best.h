/* The smallest skew that pods can have. Pure: no cache, no memory. */
#pragma once

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Pods that may be in the same domains. */
struct best_group {
    const uint64_t *domains; /* a bit each; not empty */
    uint32_t pods;
};

/*
 * The smallest possible difference between the fullest and the emptiest of all domains that appear
 * in any group, when each pod is put in a domain of its group. `words` of 64 domains; at most
 * LIMIT_EVENNESS_SETS groups.
 */
uint32_t best_skew(const struct best_group *groups, uint32_t count, uint32_t words);
