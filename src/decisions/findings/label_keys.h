/*
 * Findings about matchLabelKeys, which stand beside a selector: in a spread constraint, and in a
 * term of podAffinity or podAntiAffinity. mismatchLabelKeys are not checked.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/selector.h"

struct keyed_selector {
    const struct label_selector *selector;
    const struct labels *pod; /* the pod's own labels */
    const struct str *match;  /* matchLabelKeys */
    uint32_t match_count;
};

/* Finds matchLabelKeys without a selector, and keys that the user's selector also has. `path` is
 * the path of the constraint or term. upstream: kubernetes pkg/apis/core/validation
 * ValidateMatchLabelKeysAndMismatchLabelKeys (v1.36). O((keys + expressions) log expressions) */
void findings_of_label_keys(const struct keyed_selector *keyed, struct str path,
                            struct findings *f);
