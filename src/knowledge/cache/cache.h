/*
 * The topology cache: nodes, their domains, and how many pods of every group asked about run on
 * each node.
 *
 * Cost follows the question, not the cluster. Strings are interned. Nodes are the candidates of a
 * topology (topology/topology.h), which has their columns of domains and what pods' affinities and
 * tolerations allow. Pods with equal namespace, labels, controller, scheduler and liveness form a
 * *class*, so a selector is evaluated once per class, not once per pod. A *counter* is (namespace,
 * selector) -> pods per node, made on first use and then kept right by every pod event.
 *
 * Labels of pods have a budget, LIMIT_LABELS_BYTES. Of a pod that finds no room in it only those
 * are kept that Evenkeel itself asks for. It counts in everything but in what its other labels say:
 * of its namespace that is not known then, and whoever asks is told so (-ENODATA).
 *
 * What a pod requests is stored once for all pods with equal requests, and every node has the sums
 * of its pods. A pod that is being bound, and of which only filter's copy is known, counts without
 * requests until it is seen.
 *
 * So a question costs O(nodes) whatever the number of pods; a pod event costs O(counters its class
 * matches); a pod takes some sixty bytes.
 *
 * Threads: any thread may write or read. The functions under "Writing" are called between
 * cache_write_begin() and cache_write_end(), the others on a view. One read-write lock guards
 * everything; nobody holds it across I/O. Those who write are the API client's thread (watch
 * events), the main thread (state files, what is overdue) and request threads (reservations, pods
 * in flight, assumed pods; and what a view has built).
 *
 * What a view misses it builds for itself under the read lock, and uses. When it is closed, that is
 * published under the write lock for the next question, unless it has changed meanwhile, is too
 * large, or finds no room. So the write lock is held for changes only, and each of them has a
 * bounded number of steps.
 *
 * Truths kept: finished pods do not exist; terminating pods are not counted; a pod is known by its
 * UID (by namespace/name when a hand-written file gives none); pods on a node that is not known yet
 * count as soon as it is.
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
 * Any limit is correct, and a small one only slow: what is not kept is built again for the next
 * question. Who makes room is in base/lru.h: a namespace that asks for much forgets its own.
 */
struct cache_options {
    uint32_t max_counters;      /* 0: LIMIT_COUNTERS */
    uint32_t max_feasibilities; /* 0: LIMIT_FEASIBILITIES */
    uint32_t max_columns;       /* 0: LIMIT_COLUMNS */
    uint64_t max_bytes;         /* of all three together; 0: LIMIT_CACHE_BYTES */
    uint64_t max_update_steps;  /* 0: LIMIT_UPDATE_STEPS */
    uint64_t max_label_bytes;   /* of pods; 0: LIMIT_LABELS_BYTES. Not only slow: see above */
    int64_t reservation_ttl_ms;
    struct clock *clock; /* borrowed; NULL: the real one */
};

int cache_new(const struct cache_options *options, struct cache **ret, struct err *err) MUST_CHECK;
void cache_free(struct cache *c);

/* ---- Writing ---- */

/* Readers wait from begin to end: keep the batch small, and end it when it is long. */
void cache_write_begin(struct cache *c);
void cache_write_end(struct cache *c);
/* Have there been more than LIMIT_WRITE_STEPS since it began? */
bool cache_write_is_long(const struct cache *c);
/* If so, lets others read, and write, before it goes on: what the caller has looked up may be gone.
 */
void cache_write_pause(struct cache *c);

/* Adds or replaces one object; kinds the cache does not need are ignored. 0 or -ENOMEM (the object
 * is as it was before). */
int cache_apply(struct cache *c, const struct object *object) MUST_CHECK;
/* Forgets one object: by UID (or namespace/name) for pods, by name for the rest. Unknown objects
 * are ignored. */
void cache_remove(struct cache *c, const struct object *object);

/*
 * A full listing of some kinds (CACHE_KIND bits): whatever of them is not applied between begin and
 * end is forgotten at the end. The cache is ready once every kind it can hold has had one. A
 * listing that is given up is simply begun again. The end of a long one lets others read in
 * between.
 */
#define CACHE_KIND(kind) (1u << (kind))
#define CACHE_ALL_KINDS (CACHE_KIND(OBJECT_KINDS) - CACHE_KIND(OBJECT_NODE))
void cache_sync_begin(struct cache *c, uint32_t kinds);
void cache_sync_end(struct cache *c, uint32_t kinds);
/* The same for one that has no end: what was applied for the first time since the last end, by it
 * or by one that was given up before, is forgotten. */
void cache_sync_abort(struct cache *c, uint32_t kinds);

/*
 * Filter left this node only: counts `pod` there at once, before its binding is seen; what was
 * reserved or expected before is replaced. Ends when cache_apply() shows the pod bound, finished or
 * being deleted, with cache_remove(), cache_release(), or after reservation_ttl_ms. 0 (also for a
 * pod that is bound or finished: nothing is reserved), -EBUSY (it is being bound), -ENOENT (unknown
 * node) or -ENOMEM.
 */
int cache_reserve(struct cache *c, const struct pod *pod, struct str node_name) MUST_CHECK;
/*
 * A pod *in flight*: it may land on any of these nodes, and nobody knows yet on which. It is
 * counted nowhere; cache_flights() tells of it. Ends as a reservation does, or when the pod is
 * reserved or being bound; a pod that is expected anew forgets what was reserved or expected
 * before. At most LIMIT_FLIGHTS, and LIMIT_FLIGHTS_BYTES: those that end first make room, as in
 * base/lru.h, LRU_AT_A_TIME at most. `doubts`: what cache_doubts() said
 * before the pod was judged. 0 (also for a pod that is bound: nothing is expected) or -ENOMEM.
 */
int cache_expect(struct cache *c, const struct pod *pod, const struct str *node_names,
                 uint32_t count, uint64_t doubts) MUST_CHECK;
/* What filter said of the pod is void. Bindings of it, under way or unclear, are not. */
void cache_release(struct cache *c, const struct object_meta *pod);

/*
 * A pod in flight, or reserved, that is known here by UID (or namespace and name) only, is being
 * bound. It counts on the node until cache_bind_end(), however long that takes and whatever filter
 * is asked meanwhile. 0; or, and then nothing has changed:
 *   -ENOENT  neither in flight nor reserved on this node
 *   -ENXIO   in flight, but the node is not known
 *   -ESTALE  doubted
 *   -EINVAL  filter did not leave this node to it
 *   -EBUSY   it is being bound already, or is bound to another node
 *   -ENOMEM
 */
int cache_bind_begin(struct cache *c, const struct object_meta *pod,
                     struct str node_name) MUST_CHECK;
enum cache_bound {
    CACHE_BOUND,       /* it counts on the node until it is seen there, or has not been seen for
                          reservation_ttl_ms by a source that was heard meanwhile */
    CACHE_NOT_BOUND,   /* it does not count any more */
    CACHE_MAYBE_BOUND, /* it is in flight to this one node, for as long */
};
/* Once for every cache_bind_begin() that returned 0. */
void cache_bind_end(struct cache *c, const struct object_meta *pod, enum cache_bound outcome);

/* Something in the namespace was counted and has not come to pass: where its pods in flight may
 * land was decided on it. They stay in flight. */
void cache_doubt_expected(struct cache *c, struct str namespace);
/* How often that has happened, anywhere. Any thread. */
uint64_t cache_doubts(const struct cache *c);

/* What one pod is in parts of a pod: an assumed pod may be divided among many nodes. */
#define CACHE_POD (INT64_C(1) << 20)
/* Some nodes, found under a view that may have been closed since. */
struct cache_nodes {
    const uint32_t *slots; /* each once */
    uint32_t count;        /* at most LIMIT_ASSUMED_NODES */
    uint64_t epoch;        /* topology_slot_epoch() of that view */
};
/*
 * An *assumed* pod, as kube-scheduler calls it: it is expected to land on one of these nodes,
 * equally likely on each, and counts there in parts (cache_counter_assumed()) and nowhere else.
 * Ends when the pod is reserved, bound, finished or deleted, with cache_unassume(),
 * cache_release(), or after reservation_ttl_ms; a pod that is assumed anew forgets the nodes from
 * before. At most LIMIT_ASSUMED: the oldest makes room. A pod whose labels are longer than
 * LIMIT_ASSUMED_TEXT, or find no room, is not assumed. A pod that is bound already is not assumed.
 * 0, -ESTALE (a slot may mean another node by now: nothing is assumed) or -ENOMEM.
 */
int cache_assume(struct cache *c, const struct object_meta *pod,
                 const struct cache_nodes *where) MUST_CHECK;
/* The same on one node by its name; an unknown node is no error, and nothing is assumed. */
int cache_assume_on(struct cache *c, const struct object_meta *pod,
                    struct str node_name) MUST_CHECK;
/* Says where an assumed pod lands; `pod` needs no labels. 0, -ENOENT (not assumed, or no such node)
 * or -ENOMEM. */
int cache_move_assumed(struct cache *c, const struct object_meta *pod,
                       struct str node_name) MUST_CHECK;
void cache_unassume(struct cache *c, const struct object_meta *pod);
/* Ends the reservations, flights and assumptions that are overdue, and forgets, some at a time,
 * what no view has asked for in LIMIT_CACHED_IDLE_MS. To be called about once a second. Lets others
 * in meanwhile, as cache_write_pause() does. */
void cache_expire(struct cache *c);

/* ---- Age ---- */

/* The source of this kind was heard at `at_ms` of the cache's clock: what the cache has is as new
 * as that. Kinds of which nobody ever says so, as with files, have no age. Any thread. */
void cache_heard(struct cache *c, enum object_kind kind, int64_t at_ms);
/* How long ago the most silent source was heard; 0 without sources that say. Any thread. */
int64_t cache_age_ms(const struct cache *c);
/* The same of the source of one kind; -1 if nobody says. */
int64_t cache_kind_age_ms(const struct cache *c, enum object_kind kind);

/* ---- Reading ---- */

/* True once the first sync has ended. Any thread, no view needed. */
bool cache_ready(const struct cache *c);

/* Nodes are the candidates of a topology, which the view opens too: names, slots, columns and
 * feasibilities are asked of it (topology/topology.h). Slots are stable while the view is open. */
struct cache_view {
    struct cache *cache;
    struct topology_view nodes;
    struct built_counter *counters; /* built, and the view's own; in a list */
    struct hash_node *counter_tree; /* of all of these */
    struct built_counter *pending;  /* of these, what is to be counted again */
};

/* The caller may set nodes.asker and nodes.steps then. */
void cache_view_open(struct cache *c, struct cache_view *ret);
/* What the view has built is published: not while the caller holds any lock. */
void cache_view_close(struct cache_view *v);

/* A copy of a namespace's labels, in the arena. 0, -ENOENT when no Namespace object of that name is
 * known, or -ENOMEM. */
int cache_namespace_labels(const struct cache_view *v, struct str name, struct arena *arena,
                           struct labels *ret) MUST_CHECK;

/* Live pods that have their namespace, labels, controller and scheduler in common. Strings are
 * borrowed while the view is open. */
struct cache_group {
    struct str namespace;
    bool namespace_known; /* false: its labels say nothing */
    struct labels namespace_labels;
    bool labels_known; /* false: there was no room for them */
    struct labels labels;
    bool controller_known;           /* false: there was no memory to keep its name */
    struct workload_name controller; /* as controller_of(), without the name of a pod */
    struct str scheduler;            /* "": the default one */
    uint32_t pods;
    uint32_t tied; /* of these: by pod_is_tied() */
};
/*
 * The next group from *at on, which is 0 at first, and goes on. Between two calls the view may be
 * closed and opened again: what comes or goes meanwhile may be missed. Arrays are in the arena. 1,
 * 0 when there are no more, or -ENOMEM.
 */
int cache_group_next(const struct cache_view *v, uint32_t *at, struct arena *arena,
                     struct cache_group *ret) MUST_CHECK;

/* The labels of the next group of one namespace, likewise; borrowed while the view is open. Takes
 * one of the view's steps, and little for groups that are passed over: those of other namespaces,
 * and those whose labels are not kept. What is looked up in them is the caller's to take. 1, 0 or
 * -E2BIG (the steps are spent). */
int cache_labels_next(const struct cache_view *v, struct str namespace, uint32_t *at,
                      struct label_set_ref *ret) MUST_CHECK;

/* Made without a view, because the selector may be long. Borrows both. */
struct counter_question {
    struct str namespace;
    const struct selector *selector;
    struct hash128 key;
    struct cost cost;
};
/* 0 or -ENOMEM. */
int counter_question_init(struct counter_question *q, struct str namespace,
                          const struct selector *selector) MUST_CHECK;

/* Per slot: live pods of the namespace that the selector matches; and the parts of assumed pods
 * there, each CACHE_POD a whole one; NULL: there are none. 0, -E2BIG (the view's steps are spent),
 * -ENODATA (the namespace has pods whose labels are not kept, and the selector asks for them) or
 * -ENOMEM. */
int cache_counter_of(struct cache_view *v, const struct counter_question *q,
                     const uint32_t **ret_counts, const int64_t **ret_assumed) MUST_CHECK;
#define CACHE_LABELS_NOT_KEPT                                                                      \
    "pods that it counts have labels that are not kept: those of their namespace take more "       \
    "memory "                                                                                      \
    "than it may have"
/* Both. */
int cache_counter_assumed(struct cache_view *v, struct str namespace,
                          const struct selector *selector, const uint32_t **ret_counts,
                          const int64_t **ret_assumed) MUST_CHECK;
/* The same without assumed pods. */
int cache_counter(struct cache_view *v, struct str namespace, const struct selector *selector,
                  const uint32_t **ret_counts) MUST_CHECK;
/* Is the pod assumed anywhere? */
bool cache_is_assumed(const struct cache_view *v, const struct object_meta *pod);

/* Where a pod is, and whether it counts under a selector: what preemption needs of a victim. By
 * UID, or by namespace/name when meta has none. False: not known. */
struct cache_pod {
    uint32_t id, slot;
    bool terminating, reserved;
};
bool cache_pod_find(const struct cache_view *v, const struct object_meta *meta,
                    struct cache_pod *ret);
/* Is the pod live, in this namespace, and matched? Then removing it takes one off its node's count.
 */
bool cache_pod_counts(const struct cache_view *v, const struct cache_pod *pod, struct str namespace,
                      const struct selector *selector);

/* Of 64 slots, a bit each: the nodes that filter left to a pod, and those that a binding whose
 * outcome nobody knows may have put it on. */
struct flight_nodes {
    uint64_t passed, unclear;
};
/* The pods in flight in a namespace that a selector matches, but for one: `visit` is told the nodes
 * each may land on; slots beyond 64 x words are none. What it does with them it takes from the
 * steps itself; anything but 0 ends the visits, and is returned. Or -E2BIG: the view's steps are
 * spent. */
struct flight_question {
    struct str namespace;
    const struct selector *selector;
    const struct object_meta *but;
};
typedef int cache_flight_fn(void *ctx, const struct flight_nodes *nodes, uint32_t words);
int cache_flights(const struct cache_view *v, const struct flight_question *question,
                  cache_flight_fn *visit, void *ctx) MUST_CHECK;

/*
 * The selector that default constraints use for this pod: what the Services that select it and its
 * controlling ReplicationController, ReplicaSet or StatefulSet select, ANDed; without requirements
 * when there is nothing of the kind. A selector that does not parse is passed over. upstream:
 * plugins/helper DefaultSelector. 0, -E2BIG (the view's steps are spent) or -ENOMEM.
 */
int cache_default_selector(const struct cache_view *v, const struct object_meta *pod,
                           struct arena *arena, struct selector *ret, struct err *err) MUST_CHECK;

/* The selector of the pod's controller, as it is written there; borrowed while the view is open.
 * False: it has none, or the cache does not keep that controller. */
bool cache_owner_selector(const struct cache_view *v, const struct object_meta *pod,
                          const struct label_selector **ret);
/* Calls `visit` for the labels of living pods with this pod's controller, once for equal labels (of
 * one scheduler) and with the number of the pods that have them: `max` times at most, the latest
 * first. Those whose labels are not kept are left out. */
typedef void cache_sibling_fn(void *ctx, label_lookup_fn *lookup, const void *labels,
                              uint32_t pods);
void cache_siblings(const struct cache_view *v, const struct object_meta *pod, uint32_t max,
                    cache_sibling_fn *visit, void *ctx);

/* ---- Resources ---- */

struct cache_node {
    bool unschedulable;     /* cordoned */
    int64_t filled[FILLED]; /* requests of its pods, see struct pod_requests */
    uint32_t pods;          /* on it, terminating ones too */
};
struct cache_node cache_node(const struct cache_view *v, uint32_t slot);
/* Does the status of any node name what is allocatable? States that are written by hand often leave
 * that out. */
bool cache_any_allocatable(const struct cache_view *v);

/* Of one resource, in the units of struct resource; 0 what nothing is said of. */
struct cache_resource {
    int64_t allocatable, requested;
};
struct cache_resource cache_node_resource(const struct cache_view *v, uint32_t slot,
                                          struct str name);
int64_t cache_pod_request(const struct cache_view *v, const struct cache_pod *pod, struct str name);

/* Per slot: pods that hold a port which these requests want. Walks all pods. The array is in the
 * arena. 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int cache_port_holders(const struct cache_view *v, const struct pod_requests *wanted,
                       struct arena *arena, uint32_t **ret) MUST_CHECK;
bool cache_pod_takes_port(const struct cache_view *v, const struct cache_pod *pod,
                          const struct pod_requests *wanted);

/* ---- Images ---- */

struct cache_image {
    uint32_t id;
    uint32_t nodes; /* that have it */
    int64_t size;   /* bytes */
};
/* Returns false if no node has an image of this name. */
bool cache_image_find(const struct cache_view *v, struct str name, struct cache_image *ret);
/* The images of a node, by id: `id` is one after each call of cache_next_image() that says true. */
struct cache_node_images {
    const uint8_t *p;
    uint32_t id;
};
struct cache_node_images cache_node_images(const struct cache_view *v, uint32_t slot);
bool cache_next_image(struct cache_node_images *images);

struct cache_stats {
    uint32_t nodes, pods, classes, counters, columns, feasibilities, trees, reservations, workloads,
        namespaces, flights, assumed;
    uint32_t pods_without_labels; /* live ones whose labels are not kept */
};
/* Takes the lock for reading, and no time to speak of. */
struct cache_stats cache_stats(struct cache *c);

/* What is kept for the next question, and what was built and not kept. */
struct cache_kept {
    uint64_t bytes, refused;
};
struct cache_load {
    struct cache_kept counters, columns, feasibilities, trees;
    uint64_t label_bytes;  /* of live pods, as their budget counts them */
    uint64_t object_bytes; /* cache_kept_bytes() */
    /* the most that a writer has done, or taken, while nobody could read */
    uint64_t write_steps, write_ns;
};
struct cache_load cache_load(struct cache *c);
/* What all objects take, about; without what is remembered for the next question, and without pods
 * that are in flight or assumed. Takes the lock for reading. */
uint64_t cache_kept_bytes(struct cache *c);
