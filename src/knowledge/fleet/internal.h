/*
 * What a fleet consists of; only files of this folder include it. Records refer to each other by
 * their numbers in pools; names are interned, so that a pair of numbers identifies an object.
 *
 * A record is there while its object is known (pool_is_known()), or while others refer to it: a set
 * while it is bound, a Placement while there are decisions of it, a namespace while it has bindings
 * or Placements. What readers want in order is sorted before the next view (contents_sort()), once
 * for all that has changed: a file may have any number of objects.
 */
#pragma once

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/pool.h"
#include "fleet/fleet.h"
#include "topology/label_set.h"

#define FLEET_NONE UINT32_MAX

/* Neighbours in a list of records, by number. */
struct links {
    uint32_t next, previous;
};

struct namespace_record {
    uint32_t name; /* interned */
    bool unsorted;
    struct label_set labels;
    uint32_t bindings, binding_count, placements; /* heads of lists */
    uint32_t grouped;             /* head of the list of its Placements that have a spread group */
    uint64_t group_steps;         /* to compare one Placement with all of their selectors */
    _Atomic bool groups_reported; /* all of them, since the last look at a group's Placements */
    uint32_t next_unsorted;
    struct str *sets; /* [sets_cap]; owned: names of the bound sets, sorted; borrowed strings */
    uint32_t sets_cap;
    uint32_t payers; /* decisions and scores that have been charged to it */
    uint64_t bytes;  /* that are charged: what is kept of its Placements, decisions and scores */
};

struct set_record {
    uint32_t name;              /* interned */
    uint32_t bindings;          /* head of a list */
    struct links with_selector; /* while it is by selector */
    struct arena arena;         /* of what is in `set` */
    struct fleet_set set;
};

struct binding_record {
    uint32_t namespace, set; /* records */
    struct links in_namespace, in_set;
};

struct placement_record {
    uint32_t namespace; /* record */
    uint32_t name;      /* interned */
    bool unsorted;
    bool too_large;    /* `json` is the outline of it only (placement_outline()) */
    bool status_cut;   /* and of `status` nothing is there */
    uint32_t too_many; /* decisions of it that are too large */
    uint64_t charged;
    struct links in_namespace, in_groups;
    struct str json, status; /* owned */
    uint32_t version;        /* interned, or INTERN_NONE */
    struct label_set labels;
    uint32_t *sets, *resources; /* owned: interned names in spec.clusterSets, and of resources that
                                   prioritizers name; sorted by number, unique */
    uint32_t set_count, resource_count;
    struct arena arena;    /* of `group` */
    struct selector group; /* whom it is spread together with */
    bool grouped;
    uint32_t decisions, decision_count; /* head of a list */
    uint32_t next_unsorted;
    const struct fleet_decision *first; /* by name */
};

enum { FACT_VERSION, FACT_GROUP_INDEX, FACT_GROUP_NAME, FACT_OWNER, DECISION_FACTS };
struct decision_record {
    uint32_t namespace, name; /* interned */
    uint32_t placement;       /* record; FLEET_NONE: no label names one */
    struct links of_placement;
    uint32_t *slots;                  /* owned; with room for all that it lists */
    struct fleet_stranger *strangers; /* owned; NULL: none */
    uint32_t *mentions;               /* owned: those of its strangers, in their order */
    uint32_t payer;                   /* record of its namespace */
    uint64_t charged;
    uint32_t facts[DECISION_FACTS]; /* interned, or INTERN_NONE: of the strings in `decision` */
    struct fleet_decision decision;
};

struct score_item {
    uint32_t name; /* interned */
    int32_t value;
};

struct score_record {
    uint32_t resource, slot; /* record */
    bool has_end;
    int64_t valid_until_ms;
    struct score_item *items; /* owned; by number of the name */
    uint32_t item_count;
    bool too_large; /* it has items, and there was no room for them */
    uint32_t payer; /* record of the namespace, which has the cluster's name */
    uint64_t charged;
    uint32_t version; /* interned; INTERN_NONE: the resource is not one of ours */
};

struct fleet_scores { /* a resource's record */
    const struct fleet_contents *contents;
    uint32_t number;
    uint32_t name; /* interned */
    uint32_t objects;
};

struct stranger_record {
    uint32_t name;     /* interned */
    uint32_t mentions; /* head of a list */
};

/* Of a stranger in a PlacementDecision. */
struct mention {
    uint32_t decision; /* record */
    struct links of_stranger;
};

struct fleet_contents {
    uint64_t serial;                       /* no other contents have it */
    const struct fleet_observer *observer; /* borrowed; NULL: nobody is told */
    struct intern strings;
    struct topology *clusters;
    struct fleet_cluster *cluster_of; /* [topology_cap()]; owned, and so are the taints */
    uint64_t taint_bytes;             /* of all of these */
    uint64_t record_bytes; /* that records own: texts of Placements, slots of decisions, items of
                              scores */
    uint64_t charged, charged_max; /* to all namespaces; the most: LIMIT_HUB_BYTES */
    uint32_t *decided;             /* [topology_cap()]; owned */
    uint32_t *strange; /* [strange_cap]; owned: by number of a stranger, how often it is decided */
    uint32_t strange_cap;
    struct pool namespaces, sets, bindings, placements, decisions, resources, scores, strangers,
        mentions;
    struct hashmap namespace_index, set_index, binding_index, placement_index, decision_index,
        resource_index, score_index, stranger_index;
    uint32_t sets_with_selector;                       /* head of a list */
    uint32_t unsorted_namespaces, unsorted_placements; /* heads of lists */
    struct fleet_decision **sorting; /* [sorting_cap]; owned: room for those of one Placement */
    uint32_t sorting_cap;
};

extern const struct informer_store fleet_store; /* kinds.c; its contents: struct fleet_contents */

/* What identifies a record: numbers of interned strings, or of other records. */
struct pair {
    uint32_t a, b;
};
static inline uint64_t pair_hash(struct pair p) {
    return hash_bytes(&p, sizeof p); /* keyed: users choose which numbers come together */
}

static inline struct namespace_record *namespace_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->namespaces, id);
}
static inline struct set_record *set_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->sets, id);
}
static inline struct binding_record *binding_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->bindings, id);
}
static inline struct placement_record *placement_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->placements, id);
}
static inline struct decision_record *decision_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->decisions, id);
}
static inline struct score_record *score_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->scores, id);
}

/* ---- contents.c ---- */

int contents_new(void **ret, struct err *err);
void contents_free(void *contents);
struct fleet_stats contents_stats(const struct fleet_contents *c);
/* Is anything to be sorted? Then contents_sort(), under the write lock; it cannot fail. */
bool contents_unsorted(const struct fleet_contents *c);
void contents_sort(struct fleet_contents *c);

/* A list of a pool's records, through links at this offset in them. */
struct list {
    const struct pool *pool;
    size_t offset;
    uint32_t *head;
};
void list_put(const struct list *l, uint32_t id);
void list_take(const struct list *l, uint32_t id);

/*
 * One file for each kind. apply: 0 or -ENOMEM, then all is as it was before. find: the record's
 * number, or FLEET_NONE. forget: of an object that is known. make: the record's number, found or
 * made; FLEET_NONE: no memory. settle: gives the record back if nothing refers to it any more;
 * whoever took a reference out calls it. empty: frees what it owns.
 */

/* ---- namespaces.c ---- */

int contents_namespace_apply(struct fleet_contents *c, const struct informer_object *object);
void contents_namespace_forget(struct fleet_contents *c, uint32_t id);
uint32_t contents_namespace_make(struct fleet_contents *c, struct str name);
uint32_t contents_namespace_find(const struct fleet_contents *c, struct str name);
void contents_namespace_settle(struct fleet_contents *c, uint32_t id);

/*
 * What is kept of a user's objects is charged to their namespace. However many namespaces take what
 * they can get, something is left for the next one, and each of them has as much as any other. An
 * object that finds no room is kept as one that is too large.
 */
/* The record of a namespace that something will be charged to, which stays until it leaves.
 * FLEET_NONE: no memory, and fine to leave. */
uint32_t contents_payer_join(struct fleet_contents *c, struct str namespace);
void contents_payer_leave(struct fleet_contents *c, uint32_t namespace);
/* Is there room for an object that takes `bytes`, in the place of one that took `before`? */
bool contents_has_room(const struct fleet_contents *c, uint32_t namespace, uint64_t before,
                       uint64_t bytes);
/* Charges `bytes` in the place of what was charged, which is in *charged, if there is room; else
 * that stays as it is: an outline that finds no room is kept, and takes nobody else's. */
void contents_charge(struct fleet_contents *c, uint32_t namespace, uint64_t *charged,
                     uint64_t bytes);

/* ---- clusters.c ---- */

int contents_cluster_apply(struct fleet_contents *c, const struct informer_object *object);
/* Is all that decisions depend on as it is known? */
bool contents_cluster_is(const struct fleet_contents *c, const struct informer_object *object);
void contents_cluster_empty(struct fleet_contents *c, struct fleet_cluster *cluster);

/* ---- sets.c ---- */

int contents_set_apply(struct fleet_contents *c, const struct informer_object *object);
void contents_set_forget(struct fleet_contents *c, uint32_t id);
uint32_t contents_set_find(const struct fleet_contents *c, struct str name);
int contents_binding_apply(struct fleet_contents *c, const struct informer_object *object);
uint32_t contents_binding_find(const struct fleet_contents *c, struct str namespace,
                               struct str set);
void contents_binding_forget(struct fleet_contents *c, uint32_t id);

/* ---- placements.c ---- */

int contents_placement_apply(struct fleet_contents *c, const struct informer_object *object);
void contents_placement_forget(struct fleet_contents *c, uint32_t id);
/* Is it known, with the same labels? Then applying it changes nothing for other Placements. */
bool contents_placement_has_labels(const struct fleet_contents *c,
                                   const struct informer_object *object);
uint32_t contents_placement_make(struct fleet_contents *c, struct str namespace, struct str name);
uint32_t contents_placement_find(const struct fleet_contents *c, struct str namespace,
                                 struct str name);
void contents_placement_settle(struct fleet_contents *c, uint32_t id);
void contents_placement_empty(struct fleet_contents *c, struct placement_record *p);

/* ---- decisions.c ---- */

int contents_decision_apply(struct fleet_contents *c, const struct informer_object *object);
/* Is it of the same Placement as the one that is known, with the same clusters? */
bool contents_decision_is(const struct fleet_contents *c, const struct informer_object *object);
uint32_t contents_decision_find(const struct fleet_contents *c, struct str namespace,
                                struct str name);
void contents_decision_forget(struct fleet_contents *c, uint32_t id);
/* Frees what a record owns, and nothing else: for the end of all. */
void contents_decision_empty(struct decision_record *d);
/* A name has a slot now, from a cluster or a score: decisions that name it have it from now on.
 * O(clusters of these). */
void contents_decisions_meet(struct fleet_contents *c, uint32_t slot);

/* ---- strangers.c ---- */

/* Finds or makes the number of a name, and counts it; FLEET_NONE: no memory. *ret_mention is for
 * contents_stranger_take(). */
uint32_t contents_stranger_add(struct fleet_contents *c, struct str name, uint32_t decision,
                               uint32_t *ret_mention);
/* One time less. */
void contents_stranger_take(struct fleet_contents *c, uint32_t id, uint32_t mention);
/* A PlacementDecision that names it; FLEET_NONE: there is no such stranger any more. */
uint32_t contents_stranger_decision(const struct fleet_contents *c, struct str name);
uint32_t contents_stranger_find(const struct fleet_contents *c, struct str name);
struct str contents_stranger_name(const struct fleet_contents *c, uint32_t id);

/* ---- scores.c ---- */

int contents_score_apply(struct fleet_contents *c, const struct informer_object *object);
uint32_t contents_score_find(const struct fleet_contents *c, struct str cluster,
                             struct str resource);
void contents_score_forget(struct fleet_contents *c, uint32_t id);
