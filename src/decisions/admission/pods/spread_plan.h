/*
 * What becomes of each constraint that a policy asks for, for one pod in this cluster. A hard one
 * that the pod's own terms contradict would leave pods pending that run without it: it is softened
 * or left out, and said to be. What only the cluster lacks, and may get from an autoscaler, is the
 * policy's business.
 *
 * Several hard constraints may contradict each other. kube-scheduler wants a node with the keys of
 * all, and counts only on such nodes (upstream: podtopologyspread/filtering.go): racks that two of
 * four zones have keep the pod out of the other two. The order says what matters most, the pod's
 * own before the policy's, so the later one yields. Where pods are at present decides nothing.
 *
 * Where the pod may go is in pod_nodes.h and own_terms.h. Nothing is concluded while the cache is
 * not ready or knows no node, or from a pod that may go nowhere at present.
 */
#pragma once

#include "admission/pods/group.h"

enum spread_fate {
    SPREAD_INJECTED,
    SPREAD_OWN,     /* the pod has a constraint on that key: its author's business, hard or soft */
    SPREAD_RENEWED, /* made again, for a label of the pod has changed since (spread_renew.h) */
    SPREAD_TERMS_CHANGED, /* made a preference, for the pod's terms have changed since (likewise) */
    /* softened: without minDomains */
    SPREAD_FEWER_DOMAINS, /* the pod may go to fewer domains than minDomains, and others exist */
    SPREAD_GATED,         /* Kueue gates the pod: nodeSelectors may yet leave it fewer domains */
    /* softened: as a preference */
    SPREAD_TERMS_IGNORED, /* what its policies ignore has domains count that the pod may not use */
    SPREAD_VOLUMES,       /* the pod's volumes are in fewer domains than its terms allow */
    SPREAD_UNIT_TOGETHER, /* the pod's unit is to be in one domain of some key */
    SPREAD_OTHERS,        /* required terms on other pods leave it domains that nobody can count */
    SPREAD_CONTRADICTED,  /* it would take whole domains from a hard one before it */
    /* not injected */
    SPREAD_NO_NODE_HAS_KEY,   /* no node that the pod may use has the label, beside those that its
                                 other hard constraints are on */
    SPREAD_OWN_AFFINITY,      /* the pod's group wants to be together where it would be spread */
    SPREAD_OWN_ANTI_AFFINITY, /* it is apart already, one pod a domain at most */
    SPREAD_NO_GROUP,          /* no label tells whom to count */
    SPREAD_UNIT_MEMBER,       /* the pod is not the first one of its unit */
    SPREAD_GANG,              /* its unit has no first pod */
    SPREAD_FATES,
};

/* In which form a constraint becomes part of the pod. */
enum spread_form { SPREAD_WHOLE, SPREAD_WITHOUT_MIN_DOMAINS, SPREAD_SOFT, SPREAD_NOT };

/* How often each came to be; the caller's. */
struct spread_tally {
    struct str policy; /* whose constraints; borrowed from the set of policies */
    uint32_t fates[SPREAD_FATES];
    const enum spread_fate *each; /* of the policy's constraints, in its order; the review's arena.
                                     NULL: no constraint was looked at by itself */
};

/* The word for metrics and notes: "NoNodeHasKey"; "" for the first two. */
const char *spread_reason(enum spread_fate fate);
/* What a metric calls it: "injected", "renewed", "own", "softened" or "left_out". */
const char *spread_result(enum spread_fate fate);
/* What a person is told: "is left out: ..."; NULL for the first two. */
const char *spread_excuse(enum spread_fate fate);
enum spread_form spread_form(enum spread_fate fate);
/* Is the constraint part of the pod's result, by our doing? */
static inline bool spread_is_injected(enum spread_fate fate) {
    return spread_form(fate) != SPREAD_NOT;
}

/* Of the nodes that the pod's own terms allow, how many a hard constraint refuses for good, because
 * they lack its key. Zeroed: the constraint is not hard, or nothing is known. */
struct spread_reach {
    uint32_t lacking, allowed;
};

/* One fate for each of the policy's constraints, and what each reaches (may be NULL), in the
 * question's arena. 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int spread_plan(const struct pod_question *q, enum spread_fate **ret,
                struct spread_reach **ret_reach) MUST_CHECK;
