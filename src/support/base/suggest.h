/*
 * "Did you mean ...?": finds the candidate whose spelling is nearest to a mistyped word. Letter
 * case, '-' and '_' do not count. Values only; owns nothing.
 */
#pragma once

#include "base/str.h"

struct suggestion {
    struct str word;  /* the typed word; borrowed */
    const char *best; /* the nearest candidate so far, or NULL if none is near; borrowed */
    unsigned distance;
};

struct suggestion suggestion_for(struct str word);
/* The most steps to compare one candidate with a word of a usual length. */
enum { SUGGESTION_STEPS = 200 };
/* Compares one candidate. O(length of word x length of candidate). */
void suggestion_offer(struct suggestion *s, const char *candidate);
