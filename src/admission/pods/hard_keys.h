/*
 * Hard constraints of one pod that leave each other no place. Each by itself always has one:
 * the domain with the fewest pods. Two together need not: kube-scheduler wants a node with the keys
 * of both, in a domain of each that is not over maxSkew, and there may be none.
 *   - The later key is on nodes of some domains of the earlier one only: racks that two of four
 *     zones have. The others do not even count then (upstream: podtopologyspread/filtering.go
 *     counts on nodes that have every key), and the pod is kept out of them. Domains of
 *     kubernetes.io/hostname are nodes, of which any hard key takes those that lack it.
 *   - The pods of the group are such that each domain with room for one constraint is without room
 *     for another: two regions, of one zone and of three, are full with three pods. A region where
 *     pods were removed from one zone only is no better.
 * The earlier constraint is the more important one: the pod's own, and then the policy's in its
 * order. So it is the later one that yields. One that has no place even by itself waits for a
 * domain, as its author wants it, and so do all.
 */
#pragma once

#include "admission/pods/group.h"
#include "admission/pods/pod_nodes.h"

/* One hard constraint, in the order of importance. */
struct hard_key {
    struct str key;
    int64_t max_skew, min_domains;
    bool honor_affinity, honor_taints;
    bool may_yield;  /* it is the policy's */
    bool yields;     /* the answer */
    uint32_t number; /* the asker's */
    const struct selector *selector;
    struct counter_question question;
    bool counts_itself;
};

struct hard_keys {
    struct hard_key *items; /* [LIMIT_HARD_KEYS] */
    uint32_t count;
    struct selector group;           /* whom the policy's constraints count */
    struct feasibility_question now; /* the pod's own terms, with its own tolerations only */
    struct counter_question of_group;
    bool group_known; /* false: it is not asked where pods are */
};

/* The pod's own hard constraints, before a view of the cache is opened: selectors may be long.
 * Where there are more than LIMIT_HARD_KEYS they are left out, and it is not asked where pods are,
 * nor is it without a group. 0, -E2BIG (the review's steps are spent) or -ENOMEM. */
int hard_keys_ask(const struct pod_question *q, const struct pod_group *group,
                  struct hard_keys *ret) MUST_CHECK;
/* One of the policy's, number `i` of them, behind those that are there. */
void hard_keys_add(struct hard_keys *keys, const struct policy_spread *s, uint32_t i);
/* Which yield as pods are now. O(nodes x constraints). 0, -E2BIG (the view's steps are spent) or
 * -ENOMEM. */
int hard_keys_judge(struct hard_keys *keys, const struct pod_nodes *nodes) MUST_CHECK;
