/*
 * The topology keys in a pod's own required podAffinity and podAntiAffinity, which limit the
 * domains of its group. They are found once for a review, before the pod's nodes are searched,
 * because a user may write any number of terms. Equal keys are kept once.
 */
#pragma once

#include "admission/pods/pods.h"

enum own_term {
    TERM_TOGETHER,    /* the pod must be beside its own group */
    TERM_UNIT,        /* the pod must be beside the other pods of its unit only; it is the unit's
                         first pod */
    TERM_APART,       /* the pod must be away from its own group */
    TERM_WITH_OTHERS, /* the pod must be beside pods of another group */
    TERM_FROM_OTHERS, /* the pod must be away from pods of another group */
    OWN_TERMS,
};

struct own_terms {
    struct {
        const struct str *items; /* sorted, unique, in the question's arena */
        uint32_t count;
    } keys[OWN_TERMS];
    struct pod_affinity from_others; /* the terms of TERM_FROM_OTHERS; in the arena */
    struct pod_affinity from_group;  /* the terms of TERM_APART; in the arena */
};

/* Returns 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int own_terms_find(const struct pod_question *q, struct own_terms *ret) MUST_CHECK;
/* Does a term of this kind name the key? O(log keys) */
bool own_terms_have(const struct own_terms *terms, enum own_term kind, struct str key);
