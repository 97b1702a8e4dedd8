/* The smallest skew that pods can have. Pure: no cache, no memory. */
#pragma once

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Pods that may be in the same domains: each pod may be in each of these domains. */
struct best_group {
    const uint64_t *domains; /* one bit for each domain; at least one bit is set */
    uint32_t pods;
};

/* A workload: pods that can be in one domain only, in any number of such domains, and groups of
 * pods that can be in several domains. */
struct best_question {
    const struct best_group *groups;
    uint32_t group_count;    /* at most LIMIT_EVENNESS_SETS */
    const uint64_t *domains; /* all counted domains, one bit each; with the domains of groups */
    uint32_t words;          /* number of words with 64 domains each */
    const uint32_t *fixed;   /* [64 * words]: number of pods that can be in this domain only */
    uint8_t *masks;          /* [64 * words]: scratch memory of best_skew() */
};

/* Returns the smallest possible difference between the fullest and the emptiest domain, if each pod
 * is in a domain where it can be. Cost: domains times the logarithm of the pods, plus 2^groups. */
uint32_t best_skew(const struct best_question *q);
