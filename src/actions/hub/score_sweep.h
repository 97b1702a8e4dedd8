/*
 * Items of AddOnPlacementScores of ours that belong to no Placement any more: it was deleted, has
 * lost its terms, or is in another mode. They go, one object at a time; the objects stay. Where
 * scores are off (ocm.scores) nothing is swept: there is no right to write them.
 *
 * A sweep begins by finding all objects with other keys than those in use, once; then each look is
 * about the next of these, with the keys that are in use by then. Not thread-safe.
 */
#pragma once

#include "hub/owned.h"

struct score_sweep {
    bool again;            /* something may have died meanwhile: another one is to follow at once */
    struct strbuf objects; /* to be looked at, "CLUSTER/RESOURCE", each with a NUL behind it */
    size_t at;             /* in `objects` */
    uint32_t tries;        /* of the object there */
    uint64_t *keys;        /* owned; in use, sorted */
    uint32_t key_count;
};
void score_sweep_done(struct score_sweep *s);

/* Which keys are in use: before each look. Takes `keys` over, which are injected_key_number(), of
 * any order. */
void score_sweep_use(struct score_sweep *s, uint64_t *keys, uint32_t count);
/* Finds all objects that have others. */
void score_sweep_begin(struct score_sweep *s, const struct fleet_view *view);
static inline uint64_t injected_key_number(struct injected_key key) {
    return (uint64_t)key.shard << 32 | key.number;
}

/* The next write, in ret->write: nothing, if there is none now. `o` is about the sweep's own
 * writes. As owned_look(). */
int score_sweep_look(struct score_sweep *s, struct owned *o, const struct owned_question *q,
                     struct arena *arena, struct owned_answer *ret, struct err *err) MUST_CHECK;
