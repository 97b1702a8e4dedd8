/*
 * Decides the fate of each of a policy's constraints, for one pod in this cluster. A hard
 * constraint that the pod's own terms contradict would keep pods pending that could run without it.
 * So it is softened or left out, with a warning. Nodes that the cluster lacks may still be added
 * later.
 *
 * Several hard constraints may contradict each other. kube-scheduler needs a node with the keys of
 * all, and counts only on such nodes (upstream: podtopologyspread/filtering.go): if only two of
 * four zones have racks, the pod cannot use the other two zones. Constraints come in order of
 * importance, the pod's own before the policy's, so the later constraint yields. Places of running
 * pods do not matter.
 *
 * pod_nodes.h and own_terms.h find the nodes that the pod may use. No fate follows from them while
 * the cache is not ready or knows no node, or if the pod may use no node at present.
 */
#pragma once

#include "admission/pods/group.h"

enum spread_fate {
    SPREAD_INJECTED,
    SPREAD_OWN,     /* the pod's author has written a constraint on that key, hard or soft */
    SPREAD_RENEWED, /* replaced, because a label of the pod has changed since (spread_renew.h) */
    SPREAD_TERMS_CHANGED, /* made a preference, because the pod's terms have changed since
                             (likewise) */
    /* softened: loses minDomains */
    SPREAD_FEWER_DOMAINS, /* the pod may go to fewer domains than minDomains, and others exist */
    SPREAD_GATED,         /* Kueue gates the pod: nodeSelectors may yet leave it fewer domains */
    /* softened: becomes a preference */
    SPREAD_TERMS_IGNORED, /* the constraint ignores node terms, so it counts domains that the pod
                             may not use */
    SPREAD_VOLUMES,       /* the pod's volumes are in fewer domains than its terms allow */
    SPREAD_UNIT_TOGETHER, /* the pod's unit must be in one domain of some key */
    SPREAD_OTHERS, /* required terms on other pods exclude domains that kube-scheduler counts */
    SPREAD_CONTRADICTED, /* the constraint would take whole domains from an earlier hard constraint
                          */
    /* not injected */
    SPREAD_NO_NODE_HAS_KEY,   /* no node that the pod may use has the key and the keys of the pod's
                                 other hard constraints */
    SPREAD_OWN_AFFINITY,      /* the pod's group must stay together in a domain to spread over */
    SPREAD_OWN_ANTI_AFFINITY, /* the pod's own terms already keep its group apart: at most one pod
                                 in a domain */
    SPREAD_NO_GROUP,          /* no label identifies the pods to count */
    SPREAD_UNIT_MEMBER,       /* the pod is not the first one of its unit */
    SPREAD_GANG,              /* its unit has no first pod */
    SPREAD_FATES,
};

/* The form in which a constraint becomes part of the pod. */
enum spread_form { SPREAD_WHOLE, SPREAD_WITHOUT_MIN_DOMAINS, SPREAD_SOFT, SPREAD_NOT };

/* The number of constraints with each fate; the caller owns it. */
struct spread_tally {
    struct str policy; /* the policy's name; borrowed from the set of policies */
    uint32_t fates[SPREAD_FATES];
    const enum spread_fate *each; /* of each of the policy's constraints, in its order; in the
                                     review's arena. NULL: they were not judged one by one */
};

/* Returns the word for metrics and notes: "NoNodeHasKey"; "" for the first two fates. */
const char *spread_reason(enum spread_fate fate);
/* Returns the word for metrics: "injected", "renewed", "own", "softened" or "left_out". */
const char *spread_result(enum spread_fate fate);
/* Returns the phrase for people: "is left out: ..."; NULL for the first two fates. */
const char *spread_excuse(enum spread_fate fate);
enum spread_form spread_form(enum spread_fate fate);
/* Did we make the constraint part of the pod? */
static inline bool spread_is_injected(enum spread_fate fate) {
    return spread_form(fate) != SPREAD_NOT;
}

/* A hard constraint's reach: `allowed` nodes by the pod's own terms. `lacking` of these nodes lack
 * the constraint's key, so the constraint excludes them for good. Zeroed: the constraint is not
 * hard, or the nodes are not known. */
struct spread_reach {
    uint32_t lacking, allowed;
};

/* Returns one fate for each of the policy's constraints, and the reach of each (ret_reach may be
 * NULL), in the question's arena. Returns 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int spread_plan(const struct pod_question *q, enum spread_fate **ret,
                struct spread_reach **ret_reach) MUST_CHECK;
