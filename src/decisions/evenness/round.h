/* A running round. Only round*.c include this file. */
#pragma once

#include "cache/placed.h"
#include "evenness/internal.h"

enum { RESOLVE_STEPS = 16 }; /* approximate cost of finding a workload by its name */

/* Remembers, for each group and reach of a view, the number of its workload or set. */
#define MEMO_EMPTY UINT32_MAX
#define MEMO_NONE (UINT32_MAX - 1)   /* the group has no workload */
#define MEMO_BEYOND (UINT32_MAX - 2) /* the group's workload is not measured */

struct memo {
    uint32_t *items; /* owned */
    uint32_t cap;
};

struct evenness_round {
    struct cache *cache;
    struct str names[LIMIT_EVENNESS_KEYS]; /* copies of the keys' names */
    char *text;                            /* owned: memory of `names` */
    uint32_t key_count;
    struct evenness_report *report; /* owned; NULL: the nodes have not been read yet */
    struct seen seen;
    struct memo groups, reaches;
    uint64_t epoch, steps, piece_steps;
    uint32_t at, pending_at, attempts;
    evenness_tag_fn *tag; /* NULL: there are no tags */
    void *tag_ctx;
    uint64_t tag_steps;
    evenness_pins_fn *pins; /* NULL: volumes exclude no node */
    void *pins_ctx;
    struct arena pins_arena; /* for the affinities of one pod */
    uint8_t *allowed;        /* owned; [slots]: the nodes that volumes allow */
};

/* Returns the data of a namespace, valid until the next call. Returns 0 or -ENOMEM. */
int round_namespace(struct evenness_round *r, struct str name, struct seen_namespace **ret);
/* Gets the number of the workload of a group of the cache, or MEMO_NONE or MEMO_BEYOND. Returns 0
 * or -ENOMEM. */
int round_workload_of(struct evenness_round *r, const struct cache_view *v, uint32_t group,
                      uint32_t *ret);
/* Adds a pod without a node to its workload. Returns 0 or -ENOMEM. */
int round_add_pending(struct evenness_round *r, const struct cache_owner *workload);
/* Gets the number of the set of a reach of the cache, for pods of the namespace; SET_UNKNOWN if the
 * set is not measured. Returns 0 or -ENOMEM. */
int round_set_of(struct evenness_round *r, struct cache_view *v, uint32_t reach,
                 struct str namespace, uint32_t *ret);
