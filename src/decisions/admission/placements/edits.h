/*
 * How a Placement comes to have what it should have of ours, and no more: each of these adds to the
 * patch what differs, so that a second time adds nothing.
 *
 * All return 0, or as patch_apply(). Memory is the question's arena's.
 */
#pragma once

#include "admission/placements/placements.h"

/* What a Placement should have of ours. */
struct wanted {
    bool inject;          /* the prioritizer and the annotation; false: nothing, gates neither */
    bool gate;            /* in every predicate */
    struct injected note; /* the key; and what the annotation says, as edits find it */
    struct injected kept; /* what it has said: what may be undone by it */
};

/* predicates.c: gates. Sets note.made_predicates. */
int edit_predicates(const struct placement_question *q, struct wanted *wanted, struct patch *patch,
                    struct err *err) MUST_CHECK;
/* configurations.c: the prioritizer. Sets note.weight and note.made_policy. *ret_weak: a soft
 * spread may lose against the user's own prioritizers. */
int edit_configurations(const struct placement_question *q, struct wanted *wanted,
                        struct patch *patch, bool *ret_weak, struct err *err) MUST_CHECK;

/* The weight of `builtIn: Spread` that would count; 0: none. */
int32_t spread_weight_of(const struct placement_shape *shape);
