/*
 * The structures of a topology; only files of this folder include it. Its owner's lock guards them:
 * fields change only under the write lock, except the stamps of use, which readers touch and which
 * are atomic.
 */
#pragma once

#include "base/hash.h"
#include "base/hash_tree.h"
#include "base/hashmap.h"
#include "base/lru.h"
#include "base/pool.h"
#include "topology/label_set.h"
#include "topology/name_table.h"
#include "topology/topology.h"

#include <stdatomic.h>

/* The pool counts a record as known once its candidate is added; before that, the record exists
 * only for its holders. */
struct candidate_record {
    uint32_t name;    /* interned */
    struct str text;  /* the name's bytes, borrowed from the interned string */
    uint32_t holders; /* number of holders, see topology_hold() */
    uint32_t taint_count;
    struct label_set labels;
    struct taint *taints; /* owned, strings in the same block */
};

struct column_record {
    struct lru_entry entry;
    uint32_t key;         /* interned topology key; INTERN_NONE: no candidate has it */
    uint32_t domains;     /* ids handed out so far */
    uint32_t *domain_of;  /* [cap]; owned */
    struct hashmap index; /* value id -> domain */
    struct domain *table; /* [domains]; owned */
    uint32_t table_cap, free_domain;
    uint32_t placed; /* number of candidates that have the key */
};

struct domain {
    uint32_t value;      /* interned, or INTERN_NONE while unused */
    uint32_t candidates; /* number of candidates in it; while unused: the next unused domain */
};

struct feasibility_record {
    struct lru_entry entry;
    struct hash128 key;
    struct arena arena; /* memory of the copies of affinity and tolerations */
    struct node_affinity affinity;
    struct tolerations tolerations;
    uint8_t *flags;               /* [cap]; owned */
    uint32_t suitable, tolerable; /* count of CANDIDATE_AFFINITY flags, of CANDIDATE_TAINTS flags */
};

struct tree_record {
    struct lru_entry entry;
    uint64_t moves;                    /* value of topology.moves when the tree was made */
    uint32_t keys[TOPOLOGY_TREE_KEYS]; /* interned; INTERN_NONE: no candidate has it */
    uint32_t key_count, cap, count;
    uint32_t *leaf_of; /* [cap]; owned */
    uint32_t *parents; /* [count]; owned */
};

/*
 * A view has built these parts because they were missing, and owns them until it publishes them.
 * They describe the candidates as of `changes`. They hold no references to interned strings: the
 * candidates hold these references, until a candidate changes.
 */
struct built_column {
    struct hash_node node; /* in the view's tree; first, so that it is the column's address */
    struct column_record record;
    struct built_column *next;
    uint64_t changes;
    struct cost cost;
    size_t key_length;
    char key[];
};

struct built_feasibility {
    struct feasibility_record record;
    struct built_feasibility *next;
    uint64_t changes;
    struct cost cost;
    bool kept; /* it has copies of affinity and tolerations */
};

struct built_tree {
    struct tree_record record;
    struct built_tree *next;
    struct cost cost;
};

/* The slots in use by name; valid while slot_epoch and their number do not change. */
struct name_order {
    uint64_t epoch;
    uint32_t count;
    uint32_t *slots;   /* [count]; owned */
    uint32_t *rank_of; /* [cap]; owned */
};

struct built_order {
    struct name_order order;
};

struct topology {
    struct topology_options options;
    struct intern *strings; /* options.strings */
    _Atomic uint64_t tick;
    uint64_t changes;     /* counts changes that columns and feasibilities depend on */
    uint64_t moves;       /* counts changes of labels, and candidates that come or go */
    uint64_t work;        /* steps of changes so far */
    uint64_t slot_epoch;  /* counts slots that were freed */
    uint64_t taint_bytes; /* bytes of the taints of all candidates */
    uint32_t cap;         /* slots that every per-slot array has room for */
    struct pool candidates, columns, feasibilities, trees;
    struct lru columns_kept, feasibilities_kept, trees_kept;
    struct hashmap index; /* all slots by name */
    struct hashmap feasibility_index;
    struct name_table known_names; /* names of the known candidates */
    struct name_order order;       /* the last published order */
};

/* candidates.c */
/* for (KNOWN_EACH(t, slot)) visits all known candidates, in order. Slots that are only held cost
 * almost nothing: the author of a pod can name any number of nodes that do not exist. */
#define KNOWN_EACH(t, slot)                                                                        \
    uint32_t slot = pool_next_known(&(t)->candidates, 0);                                          \
    slot != TOPOLOGY_NONE;                                                                         \
    slot = pool_next_known(&(t)->candidates, slot + 1)
/* Returns the steps of a KNOWN_EACH walk, without the steps for each known candidate. Reading 16
 * bytes is one step. */
static inline uint64_t topology_walk_steps(const struct topology *t) {
    enum { SLOTS_A_STEP = 128 };
    return t->candidates.end / SLOTS_A_STEP;
}

/* columns.c */
void column_free(void *topology, uint32_t id);
/* Makes room so that column_place() cannot fail for one candidate. column_place() moves the
 * candidate to the domain of its label. */
int column_reserve(struct column_record *column);
void column_place(struct topology *t, struct column_record *column, uint32_t slot);
/* Under the write lock: keeps the column if it is still right and there is room for it. */
void column_publish(struct topology *t, struct built_column *built, const struct topology_view *v);
void built_column_free(struct built_column *built);

/* feasibility.c */
void feasibility_free(void *topology, uint32_t id);
void feasibility_update(struct topology *t, uint32_t slot);
void feasibility_publish(struct topology *t, struct built_feasibility *built,
                         const struct topology_view *v);
void built_feasibility_free(struct built_feasibility *built);

/* trees.c */
void tree_free(void *topology, uint32_t id);
void tree_publish(struct topology *t, struct built_tree *built, const struct topology_view *v);
void built_tree_free(struct built_tree *built);

/* name_order.c */
void name_order_done(struct name_order *order);
void name_order_publish(struct topology *t, struct built_order *built);
void built_order_free(struct built_order *built);
