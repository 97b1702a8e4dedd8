/*
 * Holds every answer of a cache against the naive model of naive.h; a difference fails the test.
 */
#pragma once

#include "unit/cache/naive.h"
#include "unit/cluster_builder.h"

struct naive_questions {
    uint32_t nodes, pods; /* how many of each there can be */
    struct selector selectors[NAIVE_SELECTORS];
    struct pod askers[NAIVE_FEASIBILITIES];
};

/* The selectors and askers, decoded into the cluster's arena. */
void naive_questions_open(struct naive_questions *q, struct cluster *c, uint32_t nodes,
                          uint32_t pods);

/* Asks everything, or each question with this probability, so that the least recently used one
 * differs from time to time. */
void naive_check(const struct naive *m, const struct naive_questions *q, struct cluster *c,
                 uint64_t *random, uint32_t percent);

/* Takes everything out of the cache, one by one, and then what it only remembered: nothing may be
 * left, not a single interned string. */
void naive_check_empties(const struct naive *m, const struct naive_questions *q, struct cluster *c);
