/* A round under way. Only round*.c include it. */
#pragma once

#include "cache/placed.h"
#include "evenness/internal.h"

enum { RESOLVE_STEPS = 16 }; /* about what finding a workload by its name takes */

/* Remembers numbers for the groups and reaches of a view. */
#define MEMO_EMPTY UINT32_MAX
#define MEMO_NONE (UINT32_MAX - 1)   /* of no workload */
#define MEMO_BEYOND (UINT32_MAX - 2) /* of one that is not measured */

struct memo {
    uint32_t *items; /* owned */
    uint32_t cap;
};

struct evenness_round {
    struct cache *cache;
    struct str names[LIMIT_EVENNESS_KEYS]; /* copies */
    char *text;                            /* owned: of the names */
    uint32_t key_count;
    struct evenness_report *report; /* owned: NULL: the nodes have not been looked at */
    struct seen seen;
    struct memo groups, reaches;
    uint64_t epoch, steps, piece_steps;
    uint32_t at, attempts;
    evenness_tag_fn *tag; /* NULL: there are no tags */
    void *tag_ctx;
    uint64_t tag_steps;
    evenness_pins_fn *pins; /* NULL: volumes pin nothing */
    void *pins_ctx;
    struct arena pins_arena; /* of one pod */
    uint8_t *allowed;        /* owned; [slots] of the nodes that volumes leave */
};

/* Returns the data of a namespace, valid until the next call. 0 or -ENOMEM. */
int round_namespace(struct evenness_round *r, struct str name, struct seen_namespace **ret);
/* The workload of a group of the cache, or one of the memo's values. 0 or -ENOMEM. */
int round_workload_of(struct evenness_round *r, const struct cache_view *v, uint32_t group,
                      uint32_t *ret);
/* The set of a reach of the cache, for pods of the namespace; SET_UNKNOWN: it is not measured.
 * 0 or -ENOMEM. */
int round_set_of(struct evenness_round *r, struct cache_view *v, uint32_t reach,
                 struct str namespace, uint32_t *ret);
