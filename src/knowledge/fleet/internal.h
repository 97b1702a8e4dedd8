/*
 * The records of a fleet; only files of this folder include it. Records refer to each other by
 * their numbers in pools; names are interned, so that a pair of numbers identifies an object.
 *
 * A record exists while its object is known (pool_is_known()), or while others refer to it: a set
 * while it is bound, a Placement while it has PlacementDecisions, a namespace while it has bindings
 * or Placements. Sorted lists are sorted before the next view (contents_sort()), once for all
 * changes: a file may have any number of objects.
 */
#pragma once

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/pool.h"
#include "fleet/fleet.h"
#include "topology/label_set.h"

#define FLEET_NONE UINT32_MAX

/* Neighbours in a list of records, by their numbers. */
struct links {
    uint32_t next, previous;
};

struct namespace_record {
    uint32_t name; /* interned */
    bool unsorted;
    struct label_set labels;
    uint32_t bindings, binding_count, placements; /* heads of lists */
    uint32_t grouped;     /* head of the list of its Placements with a spread group */
    uint64_t group_steps; /* steps to compare one Placement with the selectors of all groups */
    _Atomic bool groups_reported; /* all Placements in `grouped` were reported since
                                     fleet_placements_visit() */
    uint32_t next_unsorted;
    struct str *sets; /* [sets_cap]; owned: names of the bound sets, sorted; borrowed strings */
    uint32_t sets_cap;
    uint32_t payers; /* number of decisions and scores charged to it */
    uint64_t bytes;  /* bytes charged for its Placements, decisions and scores */
};

struct set_record {
    uint32_t name;              /* interned */
    uint32_t bindings;          /* head of a list */
    struct links with_selector; /* in the list of sets by selector */
    struct arena arena;         /* owns the parts of `set` */
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
    bool too_large;    /* `json` is only the outline (placement_outline()) */
    bool status_cut;   /* `status` is left out, too */
    uint32_t too_many; /* number of its PlacementDecisions that are too large */
    uint64_t charged;
    struct links in_namespace, in_groups;
    struct str json, status; /* owned */
    uint32_t version;        /* interned, or INTERN_NONE */
    struct label_set labels;
    uint32_t *sets, *resources; /* owned: interned names in spec.clusterSets, and of resources in
                                   prioritizers; sorted by number, unique */
    uint32_t set_count, resource_count;
    struct arena arena;    /* owns `group` */
    struct selector group; /* selects the Placements of its spread group */
    bool grouped;
    uint32_t decisions, decision_count; /* head of a list */
    uint32_t next_unsorted;
    const struct fleet_decision *first; /* by name */
};

enum { FACT_VERSION, FACT_GROUP_INDEX, FACT_GROUP_NAME, FACT_OWNER, DECISION_FACTS };
struct decision_record {
    uint32_t namespace, name; /* interned */
    uint32_t placement;       /* record; FLEET_NONE: it has no such label */
    struct links of_placement;
    uint32_t *slots;                  /* owned; it has room for all listed clusters */
    struct fleet_stranger *strangers; /* owned; NULL: none */
    uint32_t *mentions;               /* owned: one for each of `strangers`, in the same order */
    uint32_t payer;                   /* record of its namespace */
    uint64_t charged;
    uint32_t facts[DECISION_FACTS]; /* interned, or INTERN_NONE: the strings in `decision` */
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
    struct score_item *items; /* owned; sorted by number of the name */
    uint32_t item_count;
    bool too_large; /* its items found no room */
    uint32_t payer; /* record of the namespace, which has the cluster's name */
    uint64_t charged;
    uint32_t version; /* interned; INTERN_NONE: not ours */
};

struct fleet_scores { /* the record of a resource */
    const struct fleet_contents *contents;
    uint32_t number;
    uint32_t name; /* interned */
    uint32_t objects;
};

struct stranger_record {
    uint32_t name;     /* interned */
    uint32_t mentions; /* head of a list */
};

/* One use of a stranger in a PlacementDecision. */
struct mention {
    uint32_t decision; /* record */
    struct links of_stranger;
};

struct fleet_contents {
    uint64_t serial;                       /* no other struct fleet_contents has this number */
    const struct fleet_observer *observer; /* borrowed; NULL: no observer */
    struct intern strings;
    struct topology *clusters;
    struct fleet_cluster *cluster_of; /* [topology_cap()]; owned, with the taints */
    uint64_t taint_bytes;             /* bytes of the taints of all clusters */
    uint64_t record_bytes; /* memory that records own: texts of Placements, slots of decisions,
                              items of scores */
    uint64_t charged, charged_max; /* bytes charged to all namespaces; charged_max is
                                      LIMIT_HUB_BYTES */
    uint32_t *decided;             /* [topology_cap()]; owned */
    uint32_t *strange; /* [strange_cap]; owned: number of times that each stranger is decided, by
                          the stranger's number */
    uint32_t strange_cap;
    struct pool namespaces, sets, bindings, placements, decisions, resources, scores, strangers,
        mentions;
    struct hashmap namespace_index, set_index, binding_index, placement_index, decision_index,
        resource_index, score_index, stranger_index;
    uint32_t sets_with_selector;                       /* head of a list */
    uint32_t unsorted_namespaces, unsorted_placements; /* heads of lists */
    struct fleet_decision **sorting; /* [sorting_cap]; owned: one Placement's decisions */
    uint32_t sorting_cap;
};

extern const struct informer_store fleet_store; /* kinds.c; contents: struct fleet_contents */

/* The key of a record: numbers of interned strings, or of other records. */
struct pair {
    uint32_t a, b;
};
static inline uint64_t pair_hash(struct pair p) {
    return hash_bytes(&p, sizeof p); /* a keyed hash: users choose the pairs of numbers */
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
/* Must any list be sorted? If so, call contents_sort() under the write lock; it cannot fail. */
bool contents_unsorted(const struct fleet_contents *c);
void contents_sort(struct fleet_contents *c);

/* A list of a pool's records; each has its struct links at `offset`. */
struct list {
    const struct pool *pool;
    size_t offset;
    uint32_t *head;
};
void list_put(const struct list *l, uint32_t id);
void list_take(const struct list *l, uint32_t id);

/*
 * One file for each kind. apply: keeps an object; returns 0 or -ENOMEM, which changes nothing.
 * find: returns the record's number, or FLEET_NONE. forget: forgets a known object. make: finds or
 * makes a record, and returns its number; FLEET_NONE: no memory. settle: frees the record if
 * nothing refers to it any more; call it after removing a reference. empty: frees the parts that
 * the record owns.
 */

/* ---- namespaces.c ---- */

int contents_namespace_apply(struct fleet_contents *c, const struct informer_object *object);
void contents_namespace_forget(struct fleet_contents *c, uint32_t id);
uint32_t contents_namespace_make(struct fleet_contents *c, struct str name);
uint32_t contents_namespace_find(const struct fleet_contents *c, struct str name);
void contents_namespace_settle(struct fleet_contents *c, uint32_t id);

/*
 * The bytes of a user's objects are charged to their namespace. Even if many namespaces have used
 * their full share, the next namespace still gets some room; all namespaces have the same limit. An
 * object that finds no room is kept as too large.
 */
/* Finds or makes the record of a namespace to charge; it stays until contents_payer_leave().
 * FLEET_NONE: no memory; contents_payer_leave() accepts it. */
uint32_t contents_payer_join(struct fleet_contents *c, struct str namespace);
void contents_payer_leave(struct fleet_contents *c, uint32_t namespace);
/* Is there room for an object of `bytes` bytes, in place of an object of `before` bytes? */
bool contents_has_room(const struct fleet_contents *c, uint32_t namespace, uint64_t before,
                       uint64_t bytes);
/* Charges `bytes` in place of *charged if there is room; otherwise changes nothing: an outline that
 * finds no room is kept without a charge. */
void contents_charge(struct fleet_contents *c, uint32_t namespace, uint64_t *charged,
                     uint64_t bytes);

/* ---- clusters.c ---- */

int contents_cluster_apply(struct fleet_contents *c, const struct informer_object *object);
/* Are all inputs of decisions the same as in the known object? */
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
/* Is the Placement known with the same labels? Then its change affects no other Placement. */
bool contents_placement_has_labels(const struct fleet_contents *c,
                                   const struct informer_object *object);
uint32_t contents_placement_make(struct fleet_contents *c, struct str namespace, struct str name);
uint32_t contents_placement_find(const struct fleet_contents *c, struct str namespace,
                                 struct str name);
void contents_placement_settle(struct fleet_contents *c, uint32_t id);
void contents_placement_empty(struct fleet_contents *c, struct placement_record *p);

/* ---- decisions.c ---- */

int contents_decision_apply(struct fleet_contents *c, const struct informer_object *object);
/* Is the PlacementDecision known with the same Placement and the same clusters? */
bool contents_decision_is(const struct fleet_contents *c, const struct informer_object *object);
uint32_t contents_decision_find(const struct fleet_contents *c, struct str namespace,
                                struct str name);
void contents_decision_forget(struct fleet_contents *c, uint32_t id);
/* Frees the parts that a record owns, and nothing else: for contents_free(). */
void contents_decision_empty(struct decision_record *d);
/* Call it when a cluster or a score has given a slot to a name: puts the slot into the decisions
 * with this name. O(clusters of these decisions). */
void contents_decisions_meet(struct fleet_contents *c, uint32_t slot);

/* ---- strangers.c ---- */

/* Finds or makes the stranger of a name, and counts one more use; FLEET_NONE: no memory.
 * *ret_mention is for contents_stranger_take(). */
uint32_t contents_stranger_add(struct fleet_contents *c, struct str name, uint32_t decision,
                               uint32_t *ret_mention);
/* Removes one use of the stranger. */
void contents_stranger_take(struct fleet_contents *c, uint32_t id, uint32_t mention);
/* Returns a PlacementDecision that names the stranger; FLEET_NONE: the stranger is not known. */
uint32_t contents_stranger_decision(const struct fleet_contents *c, struct str name);
uint32_t contents_stranger_find(const struct fleet_contents *c, struct str name);
struct str contents_stranger_name(const struct fleet_contents *c, uint32_t id);

/* ---- scores.c ---- */

int contents_score_apply(struct fleet_contents *c, const struct informer_object *object);
uint32_t contents_score_find(const struct fleet_contents *c, struct str cluster,
                             struct str resource);
void contents_score_forget(struct fleet_contents *c, uint32_t id);
