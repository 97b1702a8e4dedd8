/*
 * Edits of a Placement: each function adds to the patch only the changes that our wanted entries
 * still need, so a second call adds nothing.
 *
 * All return 0, or as patch_apply(). Memory is from the question's arena.
 */
#pragma once

#include "admission/placements/placements.h"

/* The entries of Evenkeel that a Placement should have. */
struct wanted {
    bool inject; /* it should have the prioritizer and the annotation; false: it should have
                    neither, and no gates */
    bool gate;   /* every predicate should have the gate */
    struct injected note; /* the key, and the new annotation, which the edits complete */
    struct injected kept; /* the old annotation: it lists our changes that may be undone */
};

/* predicates.c: gates. Sets note.made_predicates. */
int edit_predicates(const struct placement_question *q, struct wanted *wanted, struct patch *patch,
                    struct err *err) MUST_CHECK;
/* configurations.c: the prioritizer. Sets note.weight and note.made_policy. *ret_weak: a soft
 * spread may lose against the user's own prioritizers. */
int edit_configurations(const struct placement_question *q, struct wanted *wanted,
                        struct patch *patch, bool *ret_weak, struct err *err) MUST_CHECK;

/* Returns the weight of `builtIn: Spread` that would count; 0: none. */
int32_t spread_weight_of(const struct placement_shape *shape);
