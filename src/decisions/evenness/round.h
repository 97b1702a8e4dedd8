/* A round under way. Only round*.c include it. */
#pragma once

#include "cache/placed.h"
#include "evenness/internal.h"

enum { RESOLVE_STEPS = 16 }; /* approximate cost of finding a workload by its name */

/* Remembers numbers for the groups and reaches of a view. */
#define MEMO_EMPTY UINT32_MAX
#define MEMO_NONE (UINT32_MAX - 1)   /* a group of no workload */
#define MEMO_BEYOND (UINT32_MAX - 2) /* its workload is not measured */

struct memo {
    uint32_t *items; /* owned */
    uint32_t cap;
};

struct evenness_round {
    struct cache *cache;
    struct str names[LIMIT_EVENNESS_KEYS]; /* copies */
    char *text;                            /* owned: memory of the names */
    uint32_t key_count;
    struct evenness_report *report; /* owned; NULL: the nodes have not been read yet */
    struct seen seen;
    struct memo groups, reaches;
    uint64_t epoch, steps, piece_steps;
    uint32_t at, pending_at, attempts;
    evenness_tag_fn *tag; /* NULL: there are no tags */
    void *tag_ctx;
    uint64_t tag_steps;
    evenness_pins_fn *pins; /* NULL: volumes pin nothing */
    void *pins_ctx;
    struct arena pins_arena; /* of one pod */
    uint8_t *allowed;        /* owned; [slots] of the nodes that volumes leave */
};

/* Returns the data of a namespace, valid until the next call. Returns 0 or -ENOMEM. */
int round_namespace(struct evenness_round *r, struct str name, struct seen_namespace **ret);
/* Gets the workload of a group of the cache, or MEMO_NONE or MEMO_BEYOND. Returns 0 or -ENOMEM. */
int round_workload_of(struct evenness_round *r, const struct cache_view *v, uint32_t group,
                      uint32_t *ret);
/* Adds a pod without a node to its workload. Returns 0 or -ENOMEM. */
int round_add_pending(struct evenness_round *r, const struct cache_owner *workload);
/* Gets the set of a reach of the cache, for pods of the namespace; SET_UNKNOWN: it is not measured.
 * Returns 0 or -ENOMEM. */
int round_set_of(struct evenness_round *r, struct cache_view *v, uint32_t reach,
                 struct str namespace, uint32_t *ret);
