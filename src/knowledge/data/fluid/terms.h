/*
 * Compares requirements and terms of node affinity by their meaning: values are a set, and so are
 * the requirements of a term. Each requirement is hashed once, then compared by its hash. A user
 * may write as many requirements as an object can hold, so work on requirements counts as steps.
 *
 * Thread-safe except for the set. If the budget of steps is spent, the results are not valid; the
 * caller must check the budget.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/steps.h"
#include "model/pod_details.h"

#include <stddef.h>

/* Keyed hashes: equal hashes mean equal requirements. */
struct requirement_hashes {
    struct hash128 *items;
    uint32_t count;
};

/* Hashes a requirement on a label of nodes or on a field; a label's and a field's hash are never
 * equal. Returns 0 or -ENOMEM. */
int terms_hash_requirement(const struct label_expression *requirement, bool is_field,
                           struct steps *steps, struct hash128 *ret) MUST_CHECK;
/* Hashes all requirements of a term, in the arena. Returns 0 or -ENOMEM. */
int terms_hash(const struct written_term *term, struct steps *steps, struct arena *arena,
               struct requirement_hashes *ret) MUST_CHECK;
bool terms_have(const struct requirement_hashes *term, struct hash128 wanted, struct steps *steps);

/* A set of terms. Zeroed it is empty. */
struct term_set {
    struct term_entry *entries; /* owned */
    size_t count, cap;
};

/* Adds a term; its requirements have no order and may repeat. *ret_added is false if the set has an
 * equal term. Returns 0 or -ENOMEM. Time grows with the term. */
int term_set_add(struct term_set *set, const struct requirement_hashes *term, struct steps *steps,
                 bool *ret_added) MUST_CHECK;
void term_set_done(struct term_set *set);
