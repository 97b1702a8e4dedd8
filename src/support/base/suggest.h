/*
 * "Did you mean ...?": the candidate that is spelt most like a mistyped word. Letter case, '-' and
 * '_' do not count. Values only; nothing is owned.
 */
#pragma once

#include "base/str.h"

struct suggestion {
    struct str word;  /* what was typed; borrowed */
    const char *best; /* the nearest candidate so far, or NULL when none is near; borrowed */
    unsigned distance;
};

struct suggestion suggestion_for(struct str word);
/* Looks at one candidate. O(length of word x length of candidate). */
void suggestion_offer(struct suggestion *s, const char *candidate);
