/*
 * Requirements and terms of node affinity, compared as what they mean: values are a set, and so are
 * the requirements of a term. Each requirement is hashed once, and compared by its hash from then
 * on. Users write them, as many as an object holds: what is done with those counts as steps.
 *
 * Thread-safe but for the set. Where the budget is spent the answers are of no use; the caller
 * looks at it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/steps.h"
#include "model/pod_details.h"

#include <stddef.h>

/* Keyed: equal ones are of equal requirements. */
struct requirement_hashes {
    struct hash128 *items;
    uint32_t count;
};

/* On a label of nodes, or on a field of theirs, which is never the same. 0 or -ENOMEM. */
int terms_hash_requirement(const struct label_expression *requirement, bool is_field,
                           struct steps *steps, struct hash128 *ret) MUST_CHECK;
/* All of a term, in the arena. 0 or -ENOMEM. */
int terms_hash(const struct written_term *term, struct steps *steps, struct arena *arena,
               struct requirement_hashes *ret) MUST_CHECK;
bool terms_have(const struct requirement_hashes *term, struct hash128 wanted, struct steps *steps);

/* Terms, each of which is there once. Zeroed it is empty. */
struct term_set {
    struct term_entry *entries; /* owned */
    size_t count, cap;
};

/* Adds a term, whose requirements have no order and may repeat; *ret_added is false where an equal
 * one is there. 0 or -ENOMEM. Takes as long as the term. */
int term_set_add(struct term_set *set, const struct requirement_hashes *term, struct steps *steps,
                 bool *ret_added) MUST_CHECK;
void term_set_done(struct term_set *set);
