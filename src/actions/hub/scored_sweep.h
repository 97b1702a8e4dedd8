/*
 * Removes our items from AddOnPlacementScores once no Placement uses them: the Placement was
 * deleted, lost its terms, or is in another mode. Each write is for one object; the objects stay.
 * If scores are off (ocm.scores) it does nothing: there is no permission to write them.
 *
 * A sweep first finds all objects that have items with unused keys; then each look handles the next
 * object, with the keys in use at that time. Not thread-safe.
 */
#pragma once

#include "hub/owned.h"

struct score_sweep {
    bool again;            /* more items may be unused by now: start again at once */
    struct strbuf objects; /* still to handle: "CLUSTER/RESOURCE", each followed by a NUL */
    size_t at;             /* where the next object begins in `objects` */
    uint32_t tries;        /* tries to write the object at `at` */
    uint64_t *keys;        /* keys that Placements use, sorted; owned */
    uint32_t key_count;
};
void score_sweep_done(struct score_sweep *s);

/* Sets the keys in use, before each look. Takes ownership of `keys`, which are
 * injected_key_number() of each key, in any order. */
void score_sweep_use(struct score_sweep *s, uint64_t *keys, uint32_t count);
/* Finds all objects with unused keys. */
void score_sweep_begin(struct score_sweep *s, const struct fleet_view *view);
static inline uint64_t injected_key_number(struct injected_key key) {
    return (uint64_t)key.shard << 32 | key.number;
}

/* Sets ret->write to the next write, if there is one now. `o` tracks the sweep's own writes.
 * Returns as owned_look(). */
int score_sweep_look(struct score_sweep *s, struct owned *o, const struct owned_question *q,
                     struct arena *arena, struct owned_answer *ret, struct err *err) MUST_CHECK;
