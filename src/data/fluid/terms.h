/*
 * Requirements and terms of node affinity, compared as what they mean: values are a set, and so are
 * the requirements of a term. Users write them, as many as an object holds: nothing here compares
 * every one with every other, and what is done counts as steps.
 *
 * Thread-safe but for the set. When the budget is spent, or memory is short, which counts as if it
 * were, every answer is false.
 */
#pragma once

#include "base/err.h"
#include "base/steps.h"

#include <cJSON.h>
#include <stddef.h>

/* Are two requirements the same? */
bool terms_same_requirement(const cJSON *a, const cJSON *b, struct steps *steps);
/* Is this requirement in a list of them? */
bool terms_have(const cJSON *list, const cJSON *wanted, struct steps *steps);
/* Does `term` have every requirement of `other`? Then it matches no node that `other` does not. */
bool terms_imply(const cJSON *term, const cJSON *other, struct steps *steps);

/* Terms, each of which is there once. Zeroed it is empty. */
struct term_set {
    struct term_entry *entries; /* owned */
    size_t count, cap;
};

/* Adds a term; *ret_added is false where an equal one is there. It may go away afterwards. 0 or
 * -ENOMEM. Takes as long as the term. */
int term_set_add(struct term_set *set, const cJSON *term, struct steps *steps,
                 bool *ret_added) MUST_CHECK;
void term_set_done(struct term_set *set);
