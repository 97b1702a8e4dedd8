/*
 * The nodes of workloads' pods, and the nodes that these pods may be on, to measure evenness. Call
 * the functions on a view; strings, and numbers of groups and reaches, are valid while it is open.
 * Later the numbers are used again.
 */
#pragma once

#include "base/hash.h"
#include "cache/cache.h"

/* A live pod that is not terminating and not reserved. */
struct cache_placed {
    uint32_t at;    /* the value of *from that found the pod */
    uint32_t slot;  /* slot of the pod's node; the node may be unknown */
    uint32_t group; /* the number of its struct cache_group */
    uint32_t reach; /* the number of the pod's reach, that is, the nodes where it may run; or one
                       of: */
};
#define CACHE_REACH_FIXED                                                                          \
    UINT32_MAX /* nobody chooses its node: a DaemonSet's, a mirror pod                             \
                */
#define CACHE_REACH_UNKNOWN (UINT32_MAX - 1) /* its rules are too long to be kept */

/*
 * Reads the next `max` pods from *from on and returns the number of placed pods among them.
 * Advances *from, which is 0 at first, and CACHE_PLACED_END after the last. Between two calls the
 * view may be closed and opened again: pods that change meanwhile may be missed, or be read twice.
 */
#define CACHE_PLACED_END UINT32_MAX
uint32_t cache_placed_next(const struct cache_view *v, uint32_t *from, struct cache_placed *ret,
                           uint32_t max);
/* Returns about the number of placed pods. */
uint32_t cache_placed_pods(const struct cache_view *v);

/* Return a number that is above all numbers of groups, and of reaches. */
uint32_t cache_placed_groups(const struct cache_view *v);
uint32_t cache_reaches(const struct cache_view *v);

/* Returns a number that changes when an answer of the functions above may change. */
uint64_t cache_changes(const struct cache_view *v);

struct cache_owner {
    struct str namespace;
    struct object_type type;
    struct str name;
};
/* Gets the controller of a group's pods. Returns false if they have none, or it is not known. */
bool cache_placed_owner(const struct cache_view *v, uint32_t group, struct cache_owner *ret);
/*
 * Gets the workloads (model/workload.h) of the next `max` pods without a node, and returns their
 * number. Advances *from as cache_placed_next() does. A pod that nobody can spread has a workload
 * without a name.
 */
uint32_t cache_pending_next(const struct cache_view *v, uint32_t *from, struct cache_owner *ret,
                            uint32_t max);
/* Looks at the next `max` pods without a node, and returns the number of those that were created
 * before `before_ms` (to the minute) and have a hard spread constraint or a claim, and no
 * schedulingGates. Advances *from as cache_placed_next() does. */
uint32_t cache_pending_count_old(const struct cache_view *v, uint32_t *from, uint32_t max,
                                 int64_t before_ms);
/* Gets a label of the group's pods. Returns false if they do not have it. */
bool cache_placed_label(const struct cache_view *v, uint32_t group, struct str key,
                        struct str *ret_value);

/* Gets the common properties of a group's pods. Arrays are in the arena. Returns 0 or -ENOMEM. */
int cache_group_of(const struct cache_view *v, uint32_t group, struct arena *arena,
                   struct cache_group *ret) MUST_CHECK;

struct cache_may_run {
    struct hash128 key; /* equal for equal affinity and tolerations, also in other views */
    const struct node_affinity *affinity;
    struct tolerations tolerations;
    const struct str *claims; /* PersistentVolumeClaims, which may pin the pod; [claim_count] */
    uint32_t claim_count;
};
/* Gets a reach by its number. Returns false for the two constants above. */
bool cache_reach(const struct cache_view *v, uint32_t reach, struct cache_may_run *ret);
