/*
 * Compares every answer of a cache with the naive model (naive.h); a difference fails the test.
 */
#pragma once

#include "unit/cache/naive.h"
#include "unit/cluster_builder.h"

struct naive_questions {
    uint32_t nodes, pods; /* the greatest numbers of nodes and of pods */
    struct selector selectors[NAIVE_SELECTORS];
    struct pod askers[NAIVE_FEASIBILITIES];
};

/* Decodes the selectors, and the pods that ask, into the cluster's arena. */
void naive_questions_open(struct naive_questions *q, struct cluster *c, uint32_t nodes,
                          uint32_t pods);

/* Asks each question with this probability, so that the least recently used record changes from
 * time to time. */
void naive_check(const struct naive *m, const struct naive_questions *q, struct cluster *c,
                 uint64_t *random, uint32_t percent);

/* Removes all objects from the cache, one by one, and then its remembered records. Fails the test
 * if the cache is not empty then: not one interned string may be left. */
void naive_check_empties(const struct naive *m, const struct naive_questions *q, struct cluster *c);
