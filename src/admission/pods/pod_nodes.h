/*
 * The nodes as one pod sees them, while a view of the cache is open: which of them its own terms
 * and its volumes leave to it, and in which domains they are. What is looked at is counted in the
 * view's steps, because a user may write any number of keys.
 *
 * The pod's own terms are its nodeSelector, its required node affinity and its tolerations. Taints
 * that come and go with a node's health or with a cordon are tolerated here: they are no doing of
 * the pod's, and say nothing of where it may be tomorrow.
 */
#pragma once

#include "admission/pods/pods.h"

enum {
    NODE_BY_TERMS = 1,   /* the pod's own terms allow it */
    NODE_BY_VOLUMES = 2, /* its volumes can be used there */
    NODE_HAS_KEYS = 4,   /* it has every key of pod_nodes_require() */
};

/* What is asked of the topology, made before the view is opened: the texts may be long. */
struct pod_nodes_question {
    struct feasibility_question terms;
    struct feasibility_question *volumes;
    uint32_t volume_count;
};

struct pod_nodes {
    struct cache_view *view; /* borrowed */
    struct arena *arena;     /* borrowed */
    uint8_t *may;            /* [slots]: NODE_* */
    uint32_t slots;
    uint32_t by_terms; /* nodes that the pod's own terms allow */
};

/* 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int pod_nodes_ask(const struct pod_question *q, struct pod_nodes_question *ret) MUST_CHECK;

/* All of these: 0, -E2BIG (the view's steps are spent, and nothing is known) or -ENOMEM. */
int pod_nodes_survey(const struct pod_nodes_question *question, struct cache_view *view,
                     struct arena *arena, struct pod_nodes *ret) MUST_CHECK;
/* In how many domains of the key are there nodes with all of these marks? */
int pod_nodes_domains(const struct pod_nodes *n, struct str key, uint8_t marks,
                      uint32_t *ret) MUST_CHECK;
/* Is there a node without the key that the pod's own terms allow? */
int pod_nodes_lack(const struct pod_nodes *n, struct str key, bool *ret) MUST_CHECK;
/* Takes NODE_HAS_KEYS from the nodes without this key. */
int pod_nodes_require(struct pod_nodes *n, struct str key) MUST_CHECK;
/*
 * Pods that are kept in one domain of `together` can be spread over `spread` only if that one has
 * nodes in every domain of `spread` that counts, whichever it is. False where there is nothing to
 * spread over.
 */
int pod_nodes_contradict(const struct pod_nodes *n, struct str together, struct str spread,
                         bool *ret) MUST_CHECK;
