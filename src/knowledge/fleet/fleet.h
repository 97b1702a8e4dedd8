/*
 * A fleet as its hubs know it. Open Cluster Management: ManagedClusters in a topology that this
 * store owns, the sets that they are in, the bindings of sets to namespaces, Placements, what has
 * been decided of them, scores, and the labels of namespaces. Filled from state files, or by
 * watches; read through a view, which stands still.
 *
 * A slot is a cluster's; it stays while PlacementDecisions name the cluster, though it is gone. A
 * name in a PlacementDecision that is no cluster's is a *stranger*, which has no slot until a
 * cluster of that name comes. An AddOnPlacementScore holds a slot of the name of its namespace. Per
 * slot there is, beside what the topology has, a struct
 * fleet_cluster, and how many decisions of all Placements name it.
 *
 * Threads: one writer at a time, under the store's lock; views from any thread.
 */
#pragma once

#include "informer/informer.h"
#include "model/ocm.h"
#include "topology/label_set.h"
#include "topology/topology.h"

struct fleet; /* the store */

/* Its kinds, as rows of its informer. */
enum fleet_kind {
    FLEET_CLUSTERS,
    FLEET_SETS,
    FLEET_BINDINGS,
    FLEET_PLACEMENTS,
    FLEET_DECISIONS,
    FLEET_SCORES,
    FLEET_NAMESPACES,
    FLEET_KINDS,
    /* What is not watched where no Placements are decided, as informer_watch.without has it: all
     * but clusters. */
    FLEET_NOT_WATCHED = ((1 << FLEET_KINDS) - 1) & ~(1 << FLEET_CLUSTERS),
};

/* 0 or -ENOMEM. */
int fleet_new(struct fleet **ret, struct err *err) MUST_CHECK;
/* NULL is fine. */
void fleet_free(struct fleet *f);
/* What fills it: informer_follower(), informer_load(), or informer_watch(). Borrowed until
 * fleet_free(). */
struct informer *fleet_informer(const struct fleet *f);

struct fleet_stats {
    uint32_t clusters, sets, bindings, namespaces, placements, decisions,
        scores;       /* that are known */
    uint32_t records; /* of all but clusters, with those that others only refer to */
    uint32_t strings;
};
/* Any thread. O(sets, namespaces, Placements). */
struct fleet_stats fleet_stats(struct fleet *f);

/* ---- changes, as a watch brings them ---- */

/*
 * Who is told which Placements may have to be decided anew (fleet/changes.h): of what is known
 * before a change and of what is known after it. Called on the watch's thread, under the store's
 * lock: it must not ask the store anything. A ManagedCluster that is applied as it was, but for
 * what no decision depends on, changes none; a Placement that keeps its labels changes itself only.
 */
struct fleet_observer {
    void (*changed)(void *ctx, struct str namespace, struct str name);
    /* Every Placement may need a new decision: a listing ended, which reports nothing before, or
     * memory or steps ran out while looking for the affected ones. */
    void (*changed_all)(void *ctx);
    void *ctx;
    /* Of an AddOnPlacementScore of ours, which is no part of anybody's question: it comes, changes
     * or goes. Before that, with "", and for each item that comes, goes or changes its value. NULL:
     * nobody wants to know. */
    void (*scored)(void *ctx, struct str cluster, struct str resource, struct str item);
};
/* One; NULL: none any more. From any thread; when this returns, the one before is not called any
 * more. Not with state files. Borrowed. */
void fleet_observe(struct fleet *f, const struct fleet_observer *observer);

/* ---- views ---- */

struct fleet_view {
    struct topology_view
        clusters;        /* columns and trees are asked of it; claims by CLAIM_PREFIX NAME */
    struct fleet *fleet; /* borrowed */
    const struct fleet_contents *contents;
};
/* Holds the store's read lock until it is closed; not twice in one thread. clusters.steps, which
 * the caller may set, bounds the work of building columns. */
void fleet_view_open(struct fleet *f, struct fleet_view *ret);
/* Keeps what was built, for the next question. */
void fleet_view_close(struct fleet_view *v);

/* What a view returns is borrowed while it is open. */

/* Is there no cluster at all, or no set, or no binding? Every Placement would lose all that it has:
 * rather than that, the hub has not said what it has. O(1), or O(sets) where no set is known. */
bool fleet_lacks_all(const struct fleet_view *v);

/* ---- clusters ---- */

struct fleet_cluster {
    const struct cluster_taint *taints;
    uint32_t taint_count;
    struct cluster_amount cpu_allocatable, cpu_capacity, memory_allocatable, memory_capacity;
    bool terminating, accepted;
    uint64_t inputs; /* a hash of all that decisions depend on; of a cluster that was never known
                        0 */
};
/* Of a slot below topology_slots(). All zero where there is no known cluster
 * (topology_is_known()). */
const struct fleet_cluster *fleet_cluster(const struct fleet_view *v, uint32_t slot);
/* [topology_slots()]: how often PlacementDecisions name the cluster: of any Placement or of none;
 * one that lists it twice counts twice. */
const uint32_t *fleet_decided(const struct fleet_view *v);

/* How often PlacementDecisions name each stranger, by its id; 0 where there is none. NULL: there
 * are no strangers. */
const uint32_t *fleet_strangers(const struct fleet_view *v, uint32_t *ret_count);

/* ---- sets and bindings ---- */

struct fleet_set {
    struct str name;
    enum cluster_set_selector type;
    struct selector selector; /* with CLUSTER_SET_BY_SELECTOR, compiled, over labels */
    struct str problem;       /* why it does not compile (selector_problem()); "": it does */
};
/* NULL: there is none of that name. */
const struct fleet_set *fleet_set_find(const struct fleet_view *v, struct str name);
/* Names of the sets that are bound to a namespace, sorted byte-wise; a set of that name need not
 * exist. NULL and 0: none. */
const struct str *fleet_bindings(const struct fleet_view *v, struct str namespace,
                                 uint32_t *ret_count);

/* ---- Placements, and what is decided ---- */

/* A Placement as JSON that placement_decode() reads: apiVersion, metadata (what identifies it,
 * labels and annotations) and spec; or, of one that is too large, the outline. NULL p: it is not
 * known. */
struct str fleet_placement_json(const struct fleet_view *v, struct str namespace, struct str name);
/* What an API server has of it beside that: its status ("": none) as JSON without blanks, and its
 * resourceVersion. Both "" if it is not known. */
#define FLEET_TOO_LARGE                                                                            \
    "the Placement or one of its PlacementDecisions is longer than Evenkeel keeps, or all of its " \
    "namespace are together"
struct fleet_placement_state {
    struct str status, version;
    /* It cannot be decided: it is, or one of its PlacementDecisions is, longer than the limit of
     * one, or what is kept of its namespace was when it came. Of its status there are the
     * conditions then ... */
    bool too_large;
    bool status_cut; /* ... or nothing, and it must not be written */
};
struct fleet_placement_state fleet_placement_state(const struct fleet_view *v, struct str namespace,
                                                   struct str name);
/* All that are known, in no order. */
void fleet_placements_each(const struct fleet_view *v,
                           void (*visit)(void *ctx, struct str namespace, struct str name),
                           void *ctx);
/* Placements of a namespace that a compiled selector picks by their labels, in no order: `visit`
 * gets their names; one that returns non-zero ends it, and is returned. -E2BIG: the steps, which it
 * takes for each Placement that it compares, are spent. */
int fleet_placements_visit(const struct fleet_view *v, struct str namespace,
                           const struct selector *selector, struct steps *steps,
                           int (*visit)(void *ctx, struct str name), void *ctx);

/* A name among decisions that no cluster has. */
struct fleet_stranger {
    struct str name;
    uint32_t id;    /* the same for all of this name: below fleet_strangers() */
    uint32_t place; /* among all that the object lists */
};

struct fleet_decision {
    struct str name;
    const uint32_t *slots; /* as listed; a slot may come twice, and need not be known */
    uint32_t slot_count;
    const struct fleet_stranger *strangers; /* as listed; a name may come twice */
    uint32_t stranger_count;
    bool too_large; /* none are there: more than LIMIT_DECISION_CLUSTERS, or what is kept of the
                       namespace had no room for them */
    const struct fleet_decision *next; /* of the same Placement */
    struct str version;                /* its resourceVersion */
    /* Its labels of the Placement and of the decision group, and the uid of its controller; ""
     * without. */
    struct str placement, group_index, group_name, owner_uid;
    uint64_t reasons; /* of its clusters, in their order: placement_reasons_add() */
};
/* The PlacementDecisions in a namespace whose label names the Placement, whatever they are called
 * and whether or not it is known, by name. NULL: none. */
const struct fleet_decision *fleet_decisions(const struct fleet_view *v, struct str namespace,
                                             struct str placement);
/* One by its name, whatever its labels are. NULL: there is none. */
const struct fleet_decision *fleet_decision_find(const struct fleet_view *v, struct str namespace,
                                                 struct str name);

/* ---- scores ---- */

/* The AddOnPlacementScores of one name, which is the resource's. NULL: no cluster has one. */
struct fleet_scores;
const struct fleet_scores *fleet_scores_find(const struct fleet_view *v, struct str resource);

struct fleet_score {
    bool has_object; /* the cluster has an AddOnPlacementScore of the resource */
    bool too_large;  /* ... which found no room, and has no item here */
    bool has_end;
    int64_t valid_until_ms;
    bool has_item;
    int32_t value;
};
/* The number of a score's name, once for all slots; INTERN_NONE: no object has it. */
uint32_t fleet_score_name(const struct fleet_view *v, struct str score);
/* O(log items). */
struct fleet_score fleet_score_of(const struct fleet_scores *s, uint32_t slot, uint32_t score);

/* An AddOnPlacementScore, one of ours above all (model/injected.h), as whoever writes it needs it.
 */
struct fleet_score_object {
    struct str cluster, resource;
    struct str version; /* its resourceVersion; "" of others' */
    uint32_t item_count;
    uint32_t number; /* for fleet_score_item() */
};
/* False: there is none. */
bool fleet_score_object(const struct fleet_view *v, struct str cluster, struct str resource,
                        struct fleet_score_object *ret);
struct fleet_score_item {
    struct str name;
    int32_t value;
};
/* `i` below item_count; in no order. */
struct fleet_score_item fleet_score_item(const struct fleet_view *v,
                                         const struct fleet_score_object *o, uint32_t i);
/* Has it one of that name? O(log items). */
bool fleet_score_has(const struct fleet_view *v, const struct fleet_score_object *o,
                     struct str name);
/* All of ours, in no order. */
void fleet_score_objects_each(const struct fleet_view *v,
                              void (*visit)(void *ctx, const struct fleet_score_object *o),
                              void *ctx);

/* ---- namespaces ---- */

/* The labels of a namespace, for label_set_lookup(). False: it is not known.
 * kubernetes.io/metadata.name is the API server's to write, and missing in files that leave it
 * out. */
bool fleet_namespace(const struct fleet_view *v, struct str name, struct label_set_ref *ret);
