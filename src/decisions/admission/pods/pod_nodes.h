/*
 * Finds the nodes that a pod's own terms and volumes allow, and the domains of these nodes, while a
 * view of the cache is open. All work takes the view's steps, because a user may write any number
 * of keys.
 *
 * The pod's own terms are its nodeSelector, its required node affinity and its tolerations. Taints
 * that come and go with a node's health or with a cordon are tolerated here: the pod does not cause
 * them, and tomorrow they may be gone.
 */
#pragma once

#include "admission/pods/own_terms.h"
#include "admission/pods/pods.h"

enum {
    NODE_BY_TERMS = 1,    /* the pod's own terms allow the node: it has both following marks */
    NODE_BY_AFFINITY = 2, /* its nodeSelector and node affinity allow it */
    NODE_BY_TAINTS = 4,   /* its tolerations allow it */
    NODE_BY_VOLUMES = 8,  /* its volumes can be used there */
    NODE_BY_OTHERS = 16,  /* no podAntiAffinity between the pod and running pods of other groups
                             keeps it away now */
    NODE_HAS_KEYS = 32,   /* it has every key of pod_nodes_require() */
    NODE_USABLE = NODE_BY_TERMS | NODE_BY_VOLUMES | NODE_BY_OTHERS,
};

/* The question about the nodes, made before the view is opened: its texts may be long. */
struct pod_nodes_question {
    struct feasibility_question terms;
    struct feasibility_question *volumes;
    uint32_t volume_count;
    const struct own_terms *own; /* borrowed */
    struct pod_terms away;       /* the terms of own->from_others, then those of own->from_group */
    uint32_t from_others;        /* number of terms in `away` that come from own->from_others */
    struct meant_pod pod;        /* the pod, for the terms of running pods */
};

struct pod_nodes {
    struct cache_view *view; /* borrowed */
    struct arena *arena;     /* borrowed */
    uint8_t *may;            /* [slots]: NODE_* */
    uint32_t slots;
    uint32_t by_terms; /* nodes that the pod's own terms allow */
    uint32_t usable;   /* nodes that are NODE_USABLE */
};

/* Returns 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int pod_nodes_ask(const struct pod_question *q, const struct own_terms *own,
                  struct pod_nodes_question *ret) MUST_CHECK;

/* This and the following functions return 0, -E2BIG (the view's steps are spent; the result is
 * unknown) or -ENOMEM. */
int pod_nodes_survey(const struct pod_nodes_question *question, struct cache_view *view,
                     struct arena *arena, struct pod_nodes *ret) MUST_CHECK;
/* Counts the domains of the key with a node that has all of these marks. */
int pod_nodes_domains(const struct pod_nodes *n, struct str key, uint8_t marks,
                      uint32_t *ret) MUST_CHECK;
/* Counts the nodes with all of these marks that lack the key. */
int pod_nodes_lack(const struct pod_nodes *n, struct str key, uint8_t marks,
                   uint32_t *ret) MUST_CHECK;
/* Takes NODE_HAS_KEYS from the nodes without this key. */
int pod_nodes_require(struct pod_nodes *n, struct str key) MUST_CHECK;
/*
 * Pods that are kept in one domain of `together` can be spread over `spread` only if each domain of
 * `together` has nodes in every domain of `spread`. Sets *ret to true if some domain lacks them; if
 * `spread` has only one domain, nodes of that domain lack the key. Sets *ret to false if no allowed
 * node is in a domain of `spread`.
 */
int pod_nodes_contradict(const struct pod_nodes *n, struct str together, struct str spread,
                         bool *ret) MUST_CHECK;
/* Are all nodes of some domain of `part` in one domain of `whole`? Pods that must stay out of that
 * domain of `whole` could not use the domain of `part`. */
int pod_nodes_encloses(const struct pod_nodes *n, struct str whole, struct str part,
                       bool *ret) MUST_CHECK;
/* Numbers of domains; only nodes with NODE_BY_TERMS and NODE_HAS_KEYS count. */
struct domain_loss {
    uint32_t reached; /* domains of `from` with such a node */
    uint32_t kept;    /* domains of `from` with such a node that also has `key` */
    uint32_t others;  /* domains of `key` with such a node in a domain of `from` */
};

/* Finds out how many domains a hard constraint on `key` would take from a hard constraint on
 * `from`. */
int pod_nodes_loss(const struct pod_nodes *n, struct str from, struct str key,
                   struct domain_loss *ret) MUST_CHECK;
