/*
 * What becomes of each constraint that a policy asks for, for one pod in this cluster. A hard one
 * that the pod's own terms contradict would leave pods pending that run without it: it is softened
 * or left out, and said to be. What only the cluster lacks, and may get from an autoscaler, is the
 * policy's business.
 *
 * Where the pod may go are the nodes that its nodeSelector, required node affinity and tolerations
 * allow, as the cache has them. Nothing is concluded while the cache is not ready or knows no node,
 * or from a pod that may go nowhere at present.
 */
#pragma once

#include "admission/pods/pods.h"

enum spread_fate {
    SPREAD_INJECTED,
    SPREAD_OWN, /* the pod has a constraint on that key: its author's business, hard or soft */
    /* softened: without minDomains */
    SPREAD_FEWER_DOMAINS, /* the pod may go to fewer domains than minDomains, and others exist */
    /* not injected */
    SPREAD_NO_NODE_HAS_KEY,   /* no node that the pod may use has the label */
    SPREAD_OWN_AFFINITY,      /* the pod's group wants to be together where it would be spread */
    SPREAD_OWN_ANTI_AFFINITY, /* it is apart already, one pod a domain at most */
    SPREAD_FATES,
};

/* How often each came to be; the caller's. */
struct spread_tally {
    struct str policy; /* whose constraints; borrowed from the set of policies */
    uint32_t fates[SPREAD_FATES];
};

/* The word for metrics and notes: "NoNodeHasKey"; "" for the first two. */
const char *spread_reason(enum spread_fate fate);
/* Is the constraint part of the pod's result? */
static inline bool spread_is_injected(enum spread_fate fate) {
    return fate == SPREAD_INJECTED || fate == SPREAD_FEWER_DOMAINS;
}

/* One fate for each of the policy's constraints, in the question's arena. 0 or -ENOMEM. */
int spread_plan(const struct pod_question *q, enum spread_fate **ret) MUST_CHECK;
