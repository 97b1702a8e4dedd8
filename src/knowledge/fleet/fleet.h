/*
 * The store of a fleet as its Open Cluster Management hub knows it: ManagedClusters in a topology
 * that this store owns, their sets, the bindings of sets to namespaces, Placements,
 * PlacementDecisions, scores, and the labels of namespaces. State files or watches fill it; readers
 * open a view, which does not change.
 *
 * Each cluster has a slot, which stays while PlacementDecisions name the cluster, even if it is
 * gone. A name in a PlacementDecision without a cluster is a *stranger*: it has no slot until such
 * a cluster comes. An AddOnPlacementScore holds the slot named as its namespace. Besides the
 * topology's data each slot has a struct fleet_cluster, and the number of PlacementDecisions that
 * name it.
 *
 * Threads: one writer at a time, under the store's lock; views from any thread.
 */
#pragma once

#include "informer/informer.h"
#include "model/ocm.h"
#include "topology/label_set.h"
#include "topology/topology.h"

struct fleet; /* the store */

/* The kinds of a fleet, as rows of its informer. */
enum fleet_kind {
    FLEET_CLUSTERS,
    FLEET_SETS,
    FLEET_BINDINGS,
    FLEET_PLACEMENTS,
    FLEET_DECISIONS,
    FLEET_SCORES,
    FLEET_NAMESPACES,
    FLEET_KINDS,
    /* For informer_watch.without: the kinds that are not watched if no Placements are decided: all
       kinds except clusters. */
    FLEET_NOT_WATCHED = ((1 << FLEET_KINDS) - 1) & ~(1 << FLEET_CLUSTERS),
};

/* Returns 0 or -ENOMEM. */
int fleet_new(struct fleet **ret, struct err *err) MUST_CHECK;
/* NULL is fine. */
void fleet_free(struct fleet *f);
/* Returns the informer that fills the store by informer_follower(), informer_load(), or
 * informer_watch(). Borrowed until fleet_free(). */
struct informer *fleet_informer(const struct fleet *f);

struct fleet_stats {
    uint32_t clusters, sets, bindings, namespaces, placements, decisions,
        scores;       /* number of known objects of each kind */
    uint32_t records; /* number of records of all kinds except clusters; unknown objects to which
                         known objects refer have records, too */
    uint32_t strings;
};
/* Any thread. O(sets, namespaces, Placements). */
struct fleet_stats fleet_stats(struct fleet *f);

/* ---- changes, as a watch brings them ---- */

/*
 * Reports the Placements that a change may affect (fleet/changes.h), both by the store before the
 * change and after it. Called on the watch's thread, under the store's lock: the observer must not
 * read the store. A ManagedCluster whose decision inputs stay the same affects no Placement; a
 * Placement that keeps its labels affects only itself.
 */
struct fleet_observer {
    void (*changed)(void *ctx, struct str namespace, struct str name);
    /* Every Placement may need a new decision: a listing ended (a listing reports nothing before
     * its end), or memory or steps ran out during the search for affected Placements. */
    void (*changed_all)(void *ctx);
    void *ctx;
    /* Reports an AddOnPlacementScore of ours, which no plan reads, before it is added, changed or
     * removed: first with item "", then each item that is added, removed or gets another value.
     * NULL: not wanted. */
    void (*scored)(void *ctx, struct str cluster, struct str resource, struct str item);
};
/* Sets the one observer, borrowed; NULL removes it. Any thread; after the return, the observer
 * before it is not called any more. Not for state files. */
void fleet_observe(struct fleet *f, const struct fleet_observer *observer);

/* ---- views ---- */

struct fleet_view {
    struct topology_view clusters; /* has columns and trees; claims by CLAIM_PREFIX NAME */
    struct fleet *fleet;           /* borrowed */
    const struct fleet_contents *contents;
};
/* Holds the store's read lock until it is closed; only once in a thread. clusters.steps, which the
 * caller may set, bounds the work of building columns. */
void fleet_view_open(struct fleet *f, struct fleet_view *ret);
/* Keeps the columns that were built, for later views. */
void fleet_view_close(struct fleet_view *v);

/* Everything that a view returns is borrowed until it is closed. */

/* Is there no cluster, no set, or no binding at all? Then every Placement would lose all its
 * clusters, so the caller assumes that the hub's data is incomplete. O(1), or O(sets) where no set
 * is known. */
bool fleet_lacks_all(const struct fleet_view *v);

/* ---- clusters ---- */

struct fleet_cluster {
    const struct cluster_taint *taints;
    uint32_t taint_count;
    struct cluster_amount cpu_allocatable, cpu_capacity, memory_allocatable, memory_capacity;
    bool terminating, accepted;
    uint64_t inputs; /* hash of all inputs of decisions; 0 if the cluster was never known */
};
/* Returns the data of a slot below topology_slots(); all zero if the slot has no known cluster
 * (topology_is_known()). */
const struct fleet_cluster *fleet_cluster(const struct fleet_view *v, uint32_t slot);
/* [topology_slots()]: number of times that PlacementDecisions name the cluster, with or without a
 * Placement; twice in one PlacementDecision counts twice. */
const uint32_t *fleet_decided(const struct fleet_view *v);

/* Returns for each stranger, by its id, the number of times that PlacementDecisions name it; 0 for
 * an unused id. NULL: no stranger is known. */
const uint32_t *fleet_strangers(const struct fleet_view *v, uint32_t *ret_count);

/* ---- sets and bindings ---- */

struct fleet_set {
    struct str name;
    enum cluster_set_selector type;
    struct selector selector; /* with CLUSTER_SET_BY_SELECTOR, compiled, over labels */
    struct str problem; /* the reason why the selector does not compile (selector_problem()); "": it
                           compiles */
};
/* Returns NULL for an unknown name. */
const struct fleet_set *fleet_set_find(const struct fleet_view *v, struct str name);
/* The names of the sets bound to a namespace, sorted byte-wise; the sets need not exist. NULL and
 * 0: no set. */
const struct str *fleet_bindings(const struct fleet_view *v, struct str namespace,
                                 uint32_t *ret_count);

/* ---- Placements and PlacementDecisions ---- */

/* Returns a Placement as JSON that placement_decode() reads: apiVersion, metadata (identity, labels
 * and annotations) and spec; or the outline of a Placement that is too large. A NULL string: the
 * Placement is not known. */
struct str fleet_placement_json(const struct fleet_view *v, struct str namespace, struct str name);
/* A Placement's status on the API server, as JSON without blanks ("": none), and its
 * resourceVersion. Both are "" if the Placement is not known. */
#define FLEET_TOO_LARGE                                                                            \
    "the Placement or one of its PlacementDecisions is longer than Evenkeel keeps, or all of its " \
    "namespace are together"
struct fleet_placement_state {
    struct str status, version;
    /* The Placement cannot be decided: it or one of its PlacementDecisions is over the limit, or
     * its namespace had no room when it was added. `status` then has only the conditions ... */
    bool too_large;
    bool status_cut; /* ... or it is empty, and then it must not be written */
};
struct fleet_placement_state fleet_placement_state(const struct fleet_view *v, struct str namespace,
                                                   struct str name);
/* Visits all known Placements, in no order. */
void fleet_placements_each(const struct fleet_view *v,
                           void (*visit)(void *ctx, struct str namespace, struct str name),
                           void *ctx);
/* Visits the Placements of a namespace whose labels match a compiled selector, in no order, with
 * their names. Stops at a visit that returns non-zero, and returns its result. Each compared
 * Placement takes steps; returns -E2BIG if they are spent. */
int fleet_placements_visit(const struct fleet_view *v, struct str namespace,
                           const struct selector *selector, struct steps *steps,
                           int (*visit)(void *ctx, struct str name), void *ctx);

/* A name in a PlacementDecision that no cluster has. */
struct fleet_stranger {
    struct str name;
    uint32_t id;    /* the same for each use of the name: below fleet_strangers() */
    uint32_t place; /* the stranger's index in the PlacementDecision's list */
};

struct fleet_decision {
    struct str name;
    const uint32_t *slots; /* slots in the order of the list; a slot may come twice, and its cluster
                              may be unknown */
    uint32_t slot_count;
    const struct fleet_stranger *strangers; /* strangers in the order of the list; a name may come
                                               twice */
    uint32_t stranger_count;
    bool too_large; /* it lists no cluster here: it has more than LIMIT_DECISION_CLUSTERS, or its
                       namespace had no room */
    const struct fleet_decision *next; /* next decision of the same Placement */
    struct str version;                /* its resourceVersion */
    /* Its labels that name the Placement and the decision group, and the uid of its controller; "":
     * it has no such label or controller. */
    struct str placement, group_index, group_name, owner_uid;
    uint64_t reasons; /* hash of its clusters' reasons in order: placement_reasons_add() */
};
/* The PlacementDecisions in a namespace whose label names the Placement, sorted by name, whatever
 * their names are, even if the Placement is not known. NULL: none. */
const struct fleet_decision *fleet_decisions(const struct fleet_view *v, struct str namespace,
                                             struct str placement);
/* Finds an object by its name, whatever its labels. Returns NULL if it is not known. */
const struct fleet_decision *fleet_decision_find(const struct fleet_view *v, struct str namespace,
                                                 struct str name);

/* ---- scores ---- */

/* Returns the AddOnPlacementScores with one name, which OCM calls the resource. NULL: no cluster
 * has such an object. */
struct fleet_scores;
const struct fleet_scores *fleet_scores_find(const struct fleet_view *v, struct str resource);

struct fleet_score {
    bool has_object; /* the cluster has an AddOnPlacementScore of the resource */
    bool too_large;  /* the object found no room: its items are not kept */
    bool has_end;
    int64_t valid_until_ms;
    bool has_item;
    int32_t value;
};
/* Returns the number that stands for a score's name, in all slots; INTERN_NONE: no object has the
 * name. */
uint32_t fleet_score_name(const struct fleet_view *v, struct str score);
/* O(log items). */
struct fleet_score fleet_score_of(const struct fleet_scores *s, uint32_t slot, uint32_t score);

/* An AddOnPlacementScore, above all for code that writes ours (model/injected.h). */
struct fleet_score_object {
    struct str cluster, resource;
    struct str version; /* its resourceVersion; "" if it is not ours */
    uint32_t item_count;
    uint32_t number; /* for fleet_score_item() */
};
/* Returns false if it is not known. */
bool fleet_score_object(const struct fleet_view *v, struct str cluster, struct str resource,
                        struct fleet_score_object *ret);
struct fleet_score_item {
    struct str name;
    int32_t value;
};
/* Returns the item `i`, below item_count; items are in no order. */
struct fleet_score_item fleet_score_item(const struct fleet_view *v,
                                         const struct fleet_score_object *o, uint32_t i);
/* Does the object have an item with this name? O(log items). */
bool fleet_score_has(const struct fleet_view *v, const struct fleet_score_object *o,
                     struct str name);
/* Visits all objects of ours, in no order. */
void fleet_score_objects_each(const struct fleet_view *v,
                              void (*visit)(void *ctx, const struct fleet_score_object *o),
                              void *ctx);

/* ---- namespaces ---- */

/* Finds the labels of a namespace, for label_set_lookup(). Returns false if it is not known. The
 * API server adds kubernetes.io/metadata.name; files may lack it. */
bool fleet_namespace(const struct fleet_view *v, struct str name, struct label_set_ref *ret);
