/*
 * The topology cache: nodes, their domains, and for each question the number of its pods on each
 * node.
 *
 * Once its counter exists, a question costs the same for any number of pods. Strings are interned.
 * Nodes are the candidates of a topology (topology/topology.h). The topology has a column of
 * domains for each key, and the nodes that affinities and tolerations of pods allow. Pods with
 * equal namespace, labels, controller, scheduler and liveness form a *class*, so a selector is
 * evaluated once per class, not once per pod. A *counter* is (namespace, selector) -> pods per
 * node, made on first use and updated by every pod event.
 *
 * Labels of pods have a budget, LIMIT_LABELS_BYTES. If a pod's labels have no room, the cache keeps
 * only those that Evenkeel itself needs. The pod still counts, but questions about other labels in
 * its namespace have no answer (-ENODATA).
 *
 * Requests are stored once for all pods with equal requests, and every node has the sums of its
 * pods. A pod that is being bound, and is known only from filter's copy, counts without requests
 * until the watch shows it.
 *
 * So a question costs O(nodes) for any number of pods; a pod event costs O(counters that match its
 * class); a pod takes some sixty bytes.
 *
 * Threads: any thread may write or read. The functions under "Writing" are called between
 * cache_write_begin() and cache_write_end(), the others on a view. One read-write lock guards
 * everything; it is never held across I/O. The writers are the API client's thread (watch events),
 * the main thread (state files, expiry) and request threads (reservations, pods in flight, assumed
 * pods, and counters that a view has built).
 *
 * If a view needs a counter that is missing, it builds its own under the read lock. When the view
 * is closed, it publishes the counter under the write lock for the next question, unless pods have
 * changed meanwhile, or it is too large or has no room. So the write lock is held for changes only,
 * and each of them has a bounded number of steps.
 *
 * Rules: finished pods do not exist; terminating pods are not counted; a pod is known by its UID
 * (by namespace/name if a hand-written file has none); pods on an unknown node count as soon as the
 * node is known.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "model/object.h"
#include "model/workload.h"
#include "topology/label_set.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct cache;

/*
 * Answers are correct with any limit; with a small limit they are only slow: counters that are not
 * kept are built again for the next question. base/lru.h makes room: a namespace that uses much
 * loses its own counters first.
 */
struct cache_options {
    uint32_t max_counters;      /* 0: LIMIT_COUNTERS */
    uint32_t max_feasibilities; /* 0: LIMIT_FEASIBILITIES */
    uint32_t max_columns;       /* 0: LIMIT_COLUMNS */
    uint64_t max_bytes;         /* bytes of all kept parts together; 0: LIMIT_CACHE_BYTES */
    uint64_t max_update_steps;  /* 0: LIMIT_UPDATE_STEPS */
    uint64_t max_label_bytes;   /* bytes of pods' labels; 0: LIMIT_LABELS_BYTES. Beyond it some
                                   questions have no answer */
    int64_t reservation_ttl_ms;
    const struct workload_key *left_out; /* pods of this controller are not kept; borrowed; NULL:
                                            all are */
    struct clock *clock;                 /* borrowed; NULL: the real clock */
};

int cache_new(const struct cache_options *options, struct cache **ret, struct err *err) MUST_CHECK;
void cache_free(struct cache *c);

/* ---- Writing ---- */

/* Readers wait from begin to end: keep the batch small, and end it when it is long. */
void cache_write_begin(struct cache *c);
void cache_write_end(struct cache *c);
/* Has the writer taken more than LIMIT_WRITE_STEPS since it began? */
bool cache_write_is_long(const struct cache *c);
/* If the writer has, lets others read and write before it returns: ids that the caller has may be
 * invalid then. */
void cache_write_pause(struct cache *c);

/* Adds or replaces one object; kinds that the cache does not need are ignored. Returns 0 or -ENOMEM
 * (the object is unchanged). */
int cache_apply(struct cache *c, const struct object *object) MUST_CHECK;
/* Forgets one object: by UID (or namespace/name) for pods, by name for the rest. Unknown objects
 * are ignored. */
void cache_remove(struct cache *c, const struct object *object);

/*
 * A full listing of some kinds (CACHE_KIND bits): objects that are not applied between begin and
 * end are removed at the end. The cache is ready once every kind that it can hold has been listed.
 * A listing that is given up is begun again. The end of a long listing lets others read in between.
 */
#define CACHE_KIND(kind) (1u << (kind))
#define CACHE_ALL_KINDS (CACHE_KIND(OBJECT_KINDS) - CACHE_KIND(OBJECT_NODE))
void cache_sync_begin(struct cache *c, uint32_t kinds);
void cache_sync_end(struct cache *c, uint32_t kinds);
/* Call it if a listing is given up: removes the objects that were applied for the first time since
 * the last cache_sync_end(). */
void cache_sync_abort(struct cache *c, uint32_t kinds);

/*
 * Call it if filter left only this node: counts `pod` there at once, before its binding is seen,
 * and replaces an earlier reservation or flight. Ends when cache_apply() shows the pod bound,
 * finished or being deleted, with cache_remove(), cache_release(), or after reservation_ttl_ms.
 * Returns 0 (also for a pod that is bound or finished: nothing is reserved), -EBUSY (it is being
 * bound), -ENOENT (unknown node) or -ENOMEM.
 */
int cache_reserve(struct cache *c, const struct pod *pod, struct str node_name) MUST_CHECK;
/*
 * A pod *in flight*: it may land on any of these nodes, and its node is not known yet. It is
 * counted nowhere; cache_flights() visits it. It ends like a reservation, or when the pod is
 * reserved or being bound; a new flight of the pod replaces its old reservation or flight. There
 * are at most LIMIT_FLIGHTS flights, of LIMIT_FLIGHTS_BYTES in all: flights that end first make
 * room, at most LRU_AT_A_TIME for one new flight (base/lru.h). `doubts` is the result of a
 * cache_doubts() call before filter decided. Returns 0 (also for a pod that is bound: no flight) or
 * -ENOMEM.
 */
int cache_expect(struct cache *c, const struct pod *pod, const struct str *node_names,
                 uint32_t count, uint64_t doubts) MUST_CHECK;
/* Ends the pod's reservation or flight by filter. A binding of the pod that is running, or whose
 * outcome is unknown, stays. */
void cache_release(struct cache *c, const struct object_meta *pod);

/*
 * Begins to bind a pod that is in flight or reserved; `pod` needs only a UID (or namespace and
 * name). The pod counts on the node until cache_bind_end(), however long that takes and whatever
 * filter answers meanwhile. Returns 0, or one of these, after which nothing has changed:
 *   -ENOENT  neither in flight nor reserved on this node
 *   -ENXIO   in flight, but the node is not known
 *   -ESTALE  doubted
 *   -EINVAL  filter refused this node
 *   -EBUSY   it is being bound already, or is bound to another node
 *   -ENOMEM
 */
int cache_bind_begin(struct cache *c, const struct object_meta *pod,
                     struct str node_name) MUST_CHECK;
enum cache_bound {
    CACHE_BOUND,       /* it counts on the node until the watch shows it, or should have shown it:
                          after reservation_ttl_ms in which pods were current */
    CACHE_NOT_BOUND,   /* it does not count any more */
    CACHE_MAYBE_BOUND, /* the outcome is unknown: in flight to this one node, for as long as after
                          CACHE_BOUND */
};
/* Call once for every cache_bind_begin() that returned 0. */
void cache_bind_end(struct cache *c, const struct object_meta *pod, enum cache_bound outcome);

/* Call when a pod in the namespace was counted but not bound: filter then decided about the pods
 * in flight there with a wrong count. Marks those pods as doubted; they stay in flight. */
void cache_doubt_expected(struct cache *c, struct str namespace);
/* Returns the number of calls of cache_doubt_expected(), for all namespaces. Any thread. */
uint64_t cache_doubts(const struct cache *c);

/* The number of parts of one pod: an assumed pod may be divided among many nodes. */
#define CACHE_POD (INT64_C(1) << 20)
/* Nodes found on a view that may be closed now. */
struct cache_nodes {
    const uint32_t *slots; /* each once */
    uint32_t count;        /* at most LIMIT_ASSUMED_NODES */
    uint64_t epoch;        /* topology_slot_epoch() of that view */
};
/*
 * An *assumed* pod, as in kube-scheduler: it is expected to land on one of these nodes, with equal
 * probability, and counts there in parts (cache_counter_assumed()) and nowhere else. Ends when the
 * pod is reserved, bound, finished or deleted, with cache_unassume(), cache_release(), or after
 * reservation_ttl_ms; a new call replaces the pod's nodes. There are at most LIMIT_ASSUMED assumed
 * pods: the oldest makes room. Assumes nothing if the pod is bound already, or if its labels are
 * longer than LIMIT_ASSUMED_TEXT or have no room. Returns 0, -ESTALE (a slot may be another node
 * now: nothing is assumed) or -ENOMEM.
 */
int cache_assume(struct cache *c, const struct object_meta *pod,
                 const struct cache_nodes *where) MUST_CHECK;
/* Assumes the pod on one node, by the node's name. An unknown node is no error: nothing is
 * assumed. */
int cache_assume_on(struct cache *c, const struct object_meta *pod,
                    struct str node_name) MUST_CHECK;
/* Moves an assumed pod to one node; `pod` needs no labels. Returns 0, -ENOENT (not assumed, or no
 * such node) or -ENOMEM. */
int cache_move_assumed(struct cache *c, const struct object_meta *pod,
                       struct str node_name) MUST_CHECK;
void cache_unassume(struct cache *c, const struct object_meta *pod);
/* Ends the reservations, flights and assumptions that are overdue, and frees, some at a time,
 * counters and columns that were not used for LIMIT_CACHED_IDLE_MS. Call about once a second. Lets
 * others read and write in between, like cache_write_pause(). */
void cache_expire(struct cache *c);

/* ---- Age ---- */

/* Sets the time (of the cache's clock) at which the objects of this kind were last known to be
 * current. Kinds without such a call, as from files, have no age. Any thread. */
void cache_heard(struct cache *c, enum object_kind kind, int64_t at_ms);
/* Returns the age of the oldest kind; 0 if no kind has an age. Any thread. */
int64_t cache_age_ms(const struct cache *c);
/* Returns the age of one kind; -1 if it has none. */
int64_t cache_kind_age_ms(const struct cache *c, enum object_kind kind);

/* ---- Reading ---- */

/* Has each kind been listed once? Any thread, no view needed. */
bool cache_ready(const struct cache *c);

/* Nodes are the candidates of a topology, which the view opens, too: it has names, slots, columns
 * and feasibilities (topology/topology.h). Slots are stable while the view is open. */
struct cache_view {
    struct cache *cache;
    struct topology_view nodes;
    struct built_counter *counters; /* the counters that the view has built; a list */
    struct hash_node *counter_tree; /* the same counters, by key */
    struct built_counter *pending;  /* the counters in that list that must be counted again */
};

/* Afterwards the caller may set nodes.asker and nodes.steps. */
void cache_view_open(struct cache *c, struct cache_view *ret);
/* Publishes the counters that the view has built. Do not call it while holding any lock. */
void cache_view_close(struct cache_view *v);

/* Copies a namespace's labels into the arena. Returns 0, -ENOENT if no Namespace object of that
 * name is known, or -ENOMEM. */
int cache_namespace_labels(const struct cache_view *v, struct str name, struct arena *arena,
                           struct labels *ret) MUST_CHECK;

/* Live pods with equal namespace, labels, controller and scheduler. Strings are borrowed while the
 * view is open. */
struct cache_group {
    struct str namespace;
    bool namespace_known; /* false: namespace_labels are not known */
    struct labels namespace_labels;
    bool labels_known; /* false: there was no room for the labels */
    struct labels labels;
    bool controller_known;           /* false: there was no memory for the controller's name */
    struct workload_name controller; /* kind Pod without a name: there is no controller */
    struct str scheduler;            /* "": the default scheduler */
    uint32_t pods;
    uint32_t tied; /* number of these pods with pod_is_tied() */
};
/*
 * Gets the next group from *at on, and advances *at, which is 0 at first. Between two calls the
 * view may be closed and opened again: changes meanwhile may be missed. Arrays are in the arena.
 * Returns 1, 0 after the last group, or -ENOMEM.
 */
int cache_group_next(const struct cache_view *v, uint32_t *at, struct arena *arena,
                     struct cache_group *ret) MUST_CHECK;

/* Gets the labels of the next group of one namespace, likewise; borrowed while the view is open.
 * Takes one of the view's steps, and fewer for a skipped group: a group of another namespace, or
 * one whose labels are not kept. The caller takes steps for its look-ups in the labels. Returns
 * 1, 0 or -E2BIG (the steps are spent). */
int cache_labels_next(const struct cache_view *v, struct str namespace, uint32_t *at,
                      struct label_set_ref *ret) MUST_CHECK;

/* A question for a counter; made without a view, because the selector may be long. Borrows both. */
struct counter_question {
    struct str namespace;
    const struct selector *selector;
    struct hash128 key;
    struct cost cost;
};
/* Returns 0 or -ENOMEM. */
int counter_question_init(struct counter_question *q, struct str namespace,
                          const struct selector *selector) MUST_CHECK;

/* Gets per slot the number of live pods of the namespace that the selector matches, and the
 * number of parts of assumed pods (CACHE_POD parts are a pod); NULL: no pod is assumed. Returns
 * 0, -E2BIG (the view's steps are spent), -ENODATA (the namespace has pods whose labels are not
 * kept, and the selector needs them) or -ENOMEM. */
int cache_counter_of(struct cache_view *v, const struct counter_question *q,
                     const uint32_t **ret_counts, const int64_t **ret_assumed) MUST_CHECK;
#define CACHE_LABELS_NOT_KEPT                                                                      \
    "pods that it counts have labels that are not kept: those of their namespace take more "       \
    "memory "                                                                                      \
    "than it may have"
/* Does the same for a namespace and a selector. */
int cache_counter_assumed(struct cache_view *v, struct str namespace,
                          const struct selector *selector, const uint32_t **ret_counts,
                          const int64_t **ret_assumed) MUST_CHECK;
/* Does the same without assumed pods. */
int cache_counter(struct cache_view *v, struct str namespace, const struct selector *selector,
                  const uint32_t **ret_counts) MUST_CHECK;
/* Is the pod assumed on any node? */
bool cache_is_assumed(const struct cache_view *v, const struct object_meta *pod);

/* The place of a pod, for preemption's victims. The pod is found by UID, or by namespace/name if
 * `meta` has no UID. Returns false if the pod is not known. */
struct cache_pod {
    uint32_t id, slot;
    bool terminating, reserved;
};
bool cache_pod_find(const struct cache_view *v, const struct object_meta *meta,
                    struct cache_pod *ret);
/* Is the pod live, in this namespace, and matched? If so, its removal lowers the count by 1. */
bool cache_pod_counts(const struct cache_view *v, const struct cache_pod *pod, struct str namespace,
                      const struct selector *selector);

/* Bits for 64 slots: the nodes that passed filter for a pod, and the nodes of its bindings with an
 * unknown outcome. */
struct flight_nodes {
    uint64_t passed, unclear;
};
/* Visits the pods in flight in a namespace that a selector matches, except for `but`. `visit`
 * gets the nodes on which the pod may land; slots from 64 x words on are not among these nodes.
 * `visit` takes steps for its own work. If `visit` returns another value than 0, the visits end,
 * and that value is returned. Returns -E2BIG if the view's steps are spent. */
struct flight_question {
    struct str namespace;
    const struct selector *selector;
    const struct object_meta *but;
};
typedef int cache_flight_fn(void *ctx, const struct flight_nodes *nodes, uint32_t words);
int cache_flights(const struct cache_view *v, const struct flight_question *question,
                  cache_flight_fn *visit, void *ctx) MUST_CHECK;

/*
 * Makes the selector that default constraints use for this pod: it ANDs the selectors of the
 * Services that select the pod, and of its controlling ReplicationController, ReplicaSet or
 * StatefulSet. Without any of these the selector has no requirements. A selector that does not
 * parse is skipped. upstream: plugins/helper DefaultSelector. Returns 0, -E2BIG (the view's steps
 * are spent) or -ENOMEM.
 */
int cache_default_selector(const struct cache_view *v, const struct object_meta *pod,
                           struct arena *arena, struct selector *ret, struct err *err) MUST_CHECK;

/* Gets the selector of the pod's controller as it is written; borrowed while the view is open.
 * Returns false if the pod has no controller, or the cache does not keep it. */
bool cache_owner_selector(const struct cache_view *v, const struct object_meta *pod,
                          const struct label_selector **ret);
/* Calls `visit` for the labels of live pods with this pod's controller, once for all pods with
 * equal labels and scheduler, with the number of these pods. Calls it at most `max` times, the
 * latest labels first. Skips pods whose labels are not kept. */
typedef void cache_sibling_fn(void *ctx, label_lookup_fn *lookup, const void *labels,
                              uint32_t pods);
void cache_siblings(const struct cache_view *v, const struct object_meta *pod, uint32_t max,
                    cache_sibling_fn *visit, void *ctx);

/* ---- Resources ---- */

struct cache_node {
    bool unschedulable;     /* cordoned */
    int64_t filled[FILLED]; /* sums of the requests of its pods, see struct pod_requests */
    uint32_t pods;          /* number of pods on the node, with terminating pods */
};
struct cache_node cache_node(const struct cache_view *v, uint32_t slot);
/* Does the status of any node have allocatable resources? Hand-written states often leave them
 * out. */
bool cache_any_allocatable(const struct cache_view *v);

/* Amounts of one resource, in the units of struct resource; 0: not given. */
struct cache_resource {
    int64_t allocatable, requested;
};
struct cache_resource cache_node_resource(const struct cache_view *v, uint32_t slot,
                                          struct str name);
int64_t cache_pod_request(const struct cache_view *v, const struct cache_pod *pod, struct str name);

/* Counts per slot the pods that hold a host port that `wanted` has, too. Walks all pods. The
 * array is in the arena. Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int cache_port_holders(const struct cache_view *v, const struct pod_requests *wanted,
                       struct arena *arena, uint32_t **ret) MUST_CHECK;
bool cache_pod_takes_port(const struct cache_view *v, const struct cache_pod *pod,
                          const struct pod_requests *wanted);

/* ---- Images ---- */

struct cache_image {
    uint32_t id;
    uint32_t nodes; /* number of nodes that have it */
    int64_t size;   /* bytes */
};
/* Returns false if no node has an image of this name. */
bool cache_image_find(const struct cache_view *v, struct str name, struct cache_image *ret);
/* The images of a node, by id: cache_next_image() sets `id` if it returns true. */
struct cache_node_images {
    const uint8_t *p;
    uint32_t id;
};
struct cache_node_images cache_node_images(const struct cache_view *v, uint32_t slot);
bool cache_next_image(struct cache_node_images *images);

struct cache_stats {
    uint32_t nodes, pods, classes, counters, columns, feasibilities, trees, reservations, workloads,
        namespaces, flights, assumed;
    uint32_t pods_without_labels; /* number of live pods whose labels are not kept */
};
/* Takes the lock for reading, for a very short time. */
struct cache_stats cache_stats(struct cache *c);

/* The bytes that are kept for the next question, and how often something was not kept. */
struct cache_kept {
    uint64_t bytes, refused;
};
struct cache_load {
    struct cache_kept counters, columns, feasibilities, trees;
    uint64_t label_bytes;  /* bytes of the labels of live pods, as LIMIT_LABELS_BYTES counts them */
    uint64_t object_bytes; /* cache_kept_bytes() */
    /* the most steps, and the longest time, that a writer took while readers waited */
    uint64_t write_steps, write_ns;
};
struct cache_load cache_load(struct cache *c);
/* Returns about the memory of all objects, without counters and other parts kept for the next
 * question, and without pods in flight or assumed. Takes the lock for reading. */
uint64_t cache_kept_bytes(struct cache *c);
