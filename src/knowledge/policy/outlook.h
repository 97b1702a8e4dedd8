/*
 * Finds out for each policy if it can work in this cluster: if nodes have its keys, if there are
 * enough domains, and if other policies leave it any pods.
 *
 * A policy is shadowed if earlier policies decide each of its parts for all its pods: the earlier
 * policy's match is the same, or lacks some criteria of this policy's match. Other overlaps are not
 * compared. When the policies change, one pass with sixteen look-ups for each policy finds this.
 *
 * Checks the nodes for some keys in each step, round after round.
 *
 * Not thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "cache/cache.h"
#include "model/policy.h"

struct policy_outlook;
struct policy_source;

struct policy_prospect {
    bool found;                /* the policy works, and is in the set of the last step */
    bool known;                /* the nodes are known */
    struct str no_node_has;    /* the first key that no node has; "" */
    struct str few_domains_of; /* the first key with fewer domains than minDomains; "" */
    uint32_t domains;          /* number of domains of few_domains_of */
    int32_t min_domains;
    uint32_t nodes, keys; /* number of the cluster's nodes; number of topology keys in the policy's
                             parts for pods */
    struct str fewest_of; /* the key with the fewest domains; "": the policy has no key */
    uint32_t fewest;      /* number of domains of fewest_of */
    const struct policy *shadows[POLICY_PARTS]; /* by part: the policy that shadows this part; all
                                                   NULL: no part is shadowed */
};

/* Borrows both; without a cache, nodes are never known. Returns NULL without memory; free accepts
 * NULL. */
struct policy_outlook *policy_outlook_new(struct policy_source *policies, struct cache *cache);
void policy_outlook_free(struct policy_outlook *o);

/* Takes over a new set of policies, and checks some keys. Without memory nothing changes. */
void policy_outlook_step(struct policy_outlook *o);
/* Strings and policies are valid until the next step. */
struct policy_prospect policy_outlook_of(const struct policy_outlook *o, struct str name);
