/*
 * What becomes of each policy in this cluster, beyond what the policy itself says: whether nodes
 * have its keys and enough domains, and whether other policies leave it nothing.
 *
 * A policy is shadowed where each of its parts belongs to an earlier one that is for all of its
 * pods: whose match is the same, or the same less some of it. Policies that overlap otherwise are
 * not compared. One pass with sixteen look-ups for each policy, made when the policies change.
 *
 * The nodes are looked at in steps of some keys, round after round.
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
    bool found;                /* the policy works, and is part of the set that was looked at */
    bool known;                /* nodes are */
    struct str no_node_has;    /* the first key that no node has; "" */
    struct str few_domains_of; /* the first key with fewer domains than minDomains; "" */
    uint32_t domains;          /* of that */
    int32_t min_domains;
    const struct policy *shadows[POLICY_PARTS]; /* who has the part; all NULL: not shadowed */
};

/* Both are borrowed; no cache: nodes are never known. NULL when out of memory; free takes NULL. */
struct policy_outlook *policy_outlook_new(struct policy_source *policies, struct cache *cache);
void policy_outlook_free(struct policy_outlook *o);

/* Takes up a new set of policies, and looks at some keys. Without memory things stay as they were.
 */
void policy_outlook_step(struct policy_outlook *o);
/* Strings and policies are valid until the next step. */
struct policy_prospect policy_outlook_of(const struct policy_outlook *o, struct str name);
