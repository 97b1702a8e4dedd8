/*
 * Where the pods of workloads are, and which nodes they may be on: what evenness is measured by.
 * The functions are called on a view; strings are borrowed while it is open, and so are the numbers
 * of groups and reaches, which mean something else later.
 */
#pragma once

#include "base/hash.h"
#include "cache/cache.h"

/* A live pod that is not terminating, and not only expected. */
struct cache_placed {
    uint32_t at;    /* where *from was when it was found */
    uint32_t slot;  /* its node's, which may not be known */
    uint32_t group; /* pods of a group are a struct cache_group */
    uint32_t reach; /* a number: which nodes it may be on; or one of these: */
};
#define CACHE_REACH_FIXED                                                                          \
    UINT32_MAX /* nobody chooses its node: a DaemonSet's, a mirror pod                             \
                */
#define CACHE_REACH_UNKNOWN (UINT32_MAX - 1) /* what it says is too long to be kept */

/*
 * Looks at the next `max` pods from *from on, which is 0 at first, goes on, and is CACHE_PLACED_END
 * when there are no more; returns how many of them are placed. Between two calls the view may be
 * closed and opened again: what comes or goes meanwhile may be missed, or be seen twice.
 */
#define CACHE_PLACED_END UINT32_MAX
uint32_t cache_placed_next(const struct cache_view *v, uint32_t *from, struct cache_placed *ret,
                           uint32_t max);
/* About as many there are. */
uint32_t cache_placed_pods(const struct cache_view *v);

/* Numbers of groups are below this, and those of reaches. */
uint32_t cache_placed_groups(const struct cache_view *v);
uint32_t cache_reaches(const struct cache_view *v);

/* Counts what has changed of all that: another number, other answers. */
uint64_t cache_changes(const struct cache_view *v);

struct cache_owner {
    struct str namespace;
    struct object_type type;
    struct str name;
};
/* The controller of a group's pods. False: they have none, or it is not known. */
bool cache_placed_owner(const struct cache_view *v, uint32_t group, struct cache_owner *ret);
/* A label of its pods. False: they do not have it. */
bool cache_placed_label(const struct cache_view *v, uint32_t group, struct str key,
                        struct str *ret_value);

/* Gets the common properties of a group's pods. Arrays are in the arena. 0 or -ENOMEM. */
int cache_group_of(const struct cache_view *v, uint32_t group, struct arena *arena,
                   struct cache_group *ret) MUST_CHECK;

struct cache_may_run {
    struct hash128 key; /* equal for equal affinity and tolerations, also in other views */
    const struct node_affinity *affinity;
    struct tolerations tolerations;
    const struct str *claims; /* PersistentVolumeClaims, which may leave less; [claim_count] */
    uint32_t claim_count;
};
/* False: it is one of the two above. */
bool cache_reach(const struct cache_view *v, uint32_t reach, struct cache_may_run *ret);
