/*
 * The structures of a topology; only files of this folder include it. Its owner's lock guards them:
 * fields change only under the write lock, except the stamps of use, which readers touch and which
 * are atomic.
 */
#pragma once

#include "base/hashmap.h"
#include "base/lru.h"
#include "base/pool.h"
#include "topology/label_set.h"
#include "topology/name_table.h"
#include "topology/topology.h"

#include <stdatomic.h>

struct candidate_record {
    uint32_t name;    /* interned */
    struct str text;  /* the name's bytes, borrowed from the interned string */
    uint32_t holders; /* topology_hold() */
    bool known;       /* false: only its holders speak of it so far */
    uint32_t generation;
    uint32_t taint_count;
    struct label_set labels;
    struct taint *taints; /* owned, strings in the same block */
};

struct column_record {
    uint32_t key;         /* interned topology key */
    uint32_t domains;     /* ids handed out so far */
    uint32_t *domain_of;  /* [cap]; owned */
    struct hashmap index; /* value id -> domain */
    struct domain *table; /* [domains]; owned */
    uint32_t table_cap, free_domain;
    _Atomic uint64_t used;
};

struct domain {
    uint32_t value;      /* interned, or INTERN_NONE while unused */
    uint32_t candidates; /* while unused: the next unused domain */
};

struct feasibility_record {
    uint64_t hash;
    struct arena arena;
    struct node_affinity affinity;
    struct tolerations tolerations;
    struct str key;
    uint8_t *flags; /* [cap]; owned */
    _Atomic uint64_t used;
};

struct topology {
    struct topology_options options;
    struct intern *strings; /* options.strings */
    _Atomic uint64_t tick;
    uint64_t slot_epoch; /* counts slots that were freed */
    uint32_t generation; /* of the listing under way */
    uint32_t cap;        /* slots that every per-slot array has room for */
    struct pool candidates, columns, feasibilities;
    struct hashmap index; /* of all slots by name */
    struct hashmap feasibility_index;
    struct name_table known_names; /* of the candidates that are known */
};

/* columns.c */
struct lru columns_lru(struct topology *t);
void column_free(void *topology, uint32_t id);
int column_grow(struct column_record *column, uint32_t from, uint32_t to);
/* Makes room so that column_place() of one candidate cannot fail; then moves it to the domain its
 * labels say. */
int column_reserve(struct column_record *column);
void column_place(struct topology *t, struct column_record *column, uint32_t slot);

/* feasibility.c */
struct lru feasibilities_lru(struct topology *t);
void feasibility_free(void *topology, uint32_t id);
int feasibility_grow(struct feasibility_record *feasibility, uint32_t from, uint32_t to);
void feasibility_update(struct topology *t, uint32_t slot);
