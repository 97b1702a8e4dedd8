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

#include "admission/pods/own_terms.h"
#include "admission/pods/pods.h"

enum {
    NODE_BY_TERMS = 1,    /* the pod's own terms allow it: both of the next */
    NODE_BY_AFFINITY = 2, /* its nodeSelector and node affinity do */
    NODE_BY_TAINTS = 4,   /* its tolerations do */
    NODE_BY_VOLUMES = 8,  /* its volumes can be used there */
    NODE_BY_OTHERS = 16,  /* no podAntiAffinity between the pod and those of other groups that
                             run now keeps it away */
    NODE_HAS_KEYS = 32,   /* it has every key of pod_nodes_require() */
    NODE_USABLE = NODE_BY_TERMS | NODE_BY_VOLUMES | NODE_BY_OTHERS,
};

/* What is asked of the topology, made before the view is opened: the texts may be long. */
struct pod_nodes_question {
    struct feasibility_question terms;
    struct feasibility_question *volumes;
    uint32_t volume_count;
    const struct own_terms *own; /* borrowed */
    struct pod_terms away;       /* of own->from_others, and then of own->from_group */
    uint32_t from_others;        /* so many of `away` are the former */
    struct meant_pod pod;        /* for the terms of those that run */
};

struct pod_nodes {
    struct cache_view *view; /* borrowed */
    struct arena *arena;     /* borrowed */
    uint8_t *may;            /* [slots]: NODE_* */
    uint32_t slots;
    uint32_t by_terms; /* nodes that the pod's own terms allow */
    uint32_t usable;   /* nodes that are NODE_USABLE */
};

/* 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int pod_nodes_ask(const struct pod_question *q, const struct own_terms *own,
                  struct pod_nodes_question *ret) MUST_CHECK;

/* All of these: 0, -E2BIG (the view's steps are spent, and nothing is known) or -ENOMEM. */
int pod_nodes_survey(const struct pod_nodes_question *question, struct cache_view *view,
                     struct arena *arena, struct pod_nodes *ret) MUST_CHECK;
/* In how many domains of the key are there nodes with all of these marks? */
int pod_nodes_domains(const struct pod_nodes *n, struct str key, uint8_t marks,
                      uint32_t *ret) MUST_CHECK;
/* How many nodes with all of these marks lack the key? */
int pod_nodes_lack(const struct pod_nodes *n, struct str key, uint8_t marks,
                   uint32_t *ret) MUST_CHECK;
/* Takes NODE_HAS_KEYS from the nodes without this key. */
int pod_nodes_require(struct pod_nodes *n, struct str key) MUST_CHECK;
/*
 * Pods that are kept in one domain of `together` can be spread over `spread` only if that one has
 * nodes in every domain of `spread` that counts, whichever it is. A node without the key is in no
 * domain of `spread`, so it matters where there is only one, too. False where there is none.
 */
int pod_nodes_contradict(const struct pod_nodes *n, struct str together, struct str spread,
                         bool *ret) MUST_CHECK;
/* Is there a domain of `part` whose nodes are all in one domain of `whole`? Pods that must be away
 * from that one could not use it. */
int pod_nodes_encloses(const struct pod_nodes *n, struct str whole, struct str part,
                       bool *ret) MUST_CHECK;
/* Domains of a key, by nodes with NODE_BY_TERMS and NODE_HAS_KEYS. */
struct domain_loss {
    uint32_t reached; /* with any such node */
    uint32_t kept;    /* with one that has the other key, too */
    uint32_t others;  /* domains of the other key that these are in */
};

/* What would a hard constraint on `key` take from one on `from`? */
int pod_nodes_loss(const struct pod_nodes *n, struct str from, struct str key,
                   struct domain_loss *ret) MUST_CHECK;
