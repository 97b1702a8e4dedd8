/*
 * The cache's own structures; only files of this folder include it. The lock in struct cache guards
 * everything here: fields change only under the write lock, except for the LRU stamps, which
 * readers change and which are atomic.
 */
#pragma once

#include "base/hash.h"
#include "base/hash_tree.h"
#include "base/hashmap.h"
#include "base/intern.h"
#include "base/lru.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "cache/cache.h"
#include "cache/placed.h"
#include "state/file_source.h"
#include "topology/label_set.h"

#include <errno.h>
#include <stdatomic.h>

struct namespace_record {
    uint32_t name;
    uint32_t classes, counters, services; /* heads of lists, POOL_NONE at the end */
    uint64_t changed;                     /* the cache's `changes` when a pod last came or went */
    uint32_t references;                  /* number of list members and reaches; + 1 while known */
    uint64_t reach_bytes;                 /* bytes of reaches that pods of this namespace needed
                                             first */
    uint64_t label_bytes;                 /* bytes of the labels of its classes */
    uint32_t cut_pods;       /* number of pods of cut classes, without terminating pods */
    struct label_set labels; /* valid while a Namespace object is known */
};

/* A counter that matches a class. If the record with this id has another `made`, the counter no
 * longer exists. */
struct class_counter {
    uint64_t made;
    uint32_t id;
};

struct class_record {
    uint32_t namespace, next, previous; /* in the namespace's list */
    uint32_t pods;                      /* head of the list of its pods */
    uint32_t pod_count, tied_count;     /* tied: see pod_is_tied() */
    uint32_t assumed_count : 30;
    uint32_t terminating : 1; /* matched by no counter; bits save 0.1 MB for 15,000 classes */
    uint32_t cut : 1;         /* its labels had no room: it only has those that Evenkeel itself
                                 needs */
    struct label_set labels;
    struct class_counter *counters; /* the matching counters that were made until `seen`; owned */
    uint64_t seen;
    uint32_t counter_count;
    uint32_t owner, owner_next, owner_previous; /* controller, list links; POOL_NONE: none */
    uint32_t scheduler;                         /* interned; INTERN_NONE: the default one */
};

/* A controller of pods. */
struct owner_record {
    struct hash128 key;
    uint32_t group, kind, name; /* interned while it has classes; INTERN_NONE: not known */
    uint32_t classes;           /* head of the list of its pods' classes */
    uint32_t workload;          /* POOL_NONE: the workload is not kept */
};

/* An amount of an interned resource. */
struct amount_ids {
    uint32_t name;
    uint32_t holders; /* in a node's sum: number of pods that request the resource */
    int64_t amount;
};

struct amount_list {
    struct amount_ids *items; /* owned */
    uint32_t count, cap;
};

struct port_ids {
    uint32_t ip, protocol;
    int32_t port;
};

/* Requests, terms and reach of pods, stored once for all pods with equal ones. */
struct requests_record {
    uint64_t hash;
    uint32_t references;
    uint32_t terms; /* a reference, TERMS_NONE or TERMS_UNKNOWN */
    uint32_t reach; /* a reference, or CACHE_REACH_* */
    uint32_t amount_count, port_count;
    int64_t filled[FILLED];
    struct amount_ids *amounts; /* owned; sorted by name as decoded */
    struct port_ids *ports;     /* owned */
};

struct image_record {
    uint64_t name; /* keyed hash of the name */
    int64_t size;
    uint32_t nodes;
};

/* Per slot. */
struct node_record {
    struct amount_list allocatable; /* empty if the node is not known, or its status has no
                                       allocatable */
    struct amount_list requested;   /* sum of the requests of the node's pods */
    int64_t filled[FILLED];         /* the same, with defaults for pods that request nothing */
    uint8_t *images;                /* owned; see images.c; NULL while the node is not known */
    uint32_t pods;
    bool unschedulable;
};

/* Terms of pod affinity and anti-affinity, stored once for all pods with equal ones. */
struct terms_record {
    struct hash128 key;
    uint32_t references;
    struct arena arena; /* memory of the terms */
    struct pod_terms terms;
};
/* Used instead of the id of a terms_record: the pod has no terms, or too many to be kept. */
#define TERMS_NONE POOL_NONE
#define TERMS_UNKNOWN (POOL_NONE - 1)

/* A reach: the nodes that pods may be on, stored once for all pods with an equal one. */
struct reach_record {
    struct hash128 key;
    struct hash128 says; /* the key without claims */
    uint32_t references;
    uint32_t namespace; /* the namespace that its bytes are charged to */
    struct arena arena; /* memory of the members below */
    struct node_affinity affinity;
    struct tolerations tolerations;
    const struct str *claims;
    uint32_t claim_count;
};
/* Half a cache line: pods are the most numerous records. */
struct pod_record {
    uint64_t uid_a; /* 96 bits of a keyed hash, as of names (topology/name_table.h) */
    uint32_t uid_b;
    uint32_t node, pod_class;
    uint32_t requests : 31;
    uint32_t reserved : 1;
    uint32_t next, previous; /* in the class's list */
};
_Static_assert(sizeof(struct pod_record) == 32, "a pod takes 32 bytes");

/* A pod without a node. */
struct pending_record {
    uint64_t uid_a; /* as in struct pod_record */
    uint32_t uid_b;
    uint32_t namespace, group, kind, name; /* of its workload; interned; INTERN_NONE: no workload */
    uint32_t created_min : 31;             /* minutes since 1970; UINT32_MAX >> 1: not known */
    uint32_t waits_hard : 1;               /* struct pod.waits_hard */
};
_Static_assert(sizeof(struct pending_record) == 32, "a pod without a node takes 32 bytes");

struct counter_record {
    struct lru_entry entry;
    struct hash128 key;
    uint64_t made;                      /* a unique number; 0: the counter is gone */
    uint32_t namespace, next, previous; /* in the namespace's list, the newest first */
    struct arena arena;                 /* the selector's memory */
    struct selector selector;
    uint32_t *counts; /* [topology_cap()]; owned */
    int64_t
        *assumed; /* [topology_cap()] in parts of CACHE_POD; owned; NULL until a pod is assumed */
    uint32_t assumed_pods;
    bool pending; /* has only the changes since it was added: no answer yet */
};

/* A counter that a view has built because it was missing: the view owns it until it is published.
 * It counts the namespace's pods as they were at `changed`. */
struct built_counter {
    struct hash_node node; /* node in the view's tree; the first member, so that its address is the
                              counter's address */
    struct counter_record record;
    struct built_counter *next;
    struct str namespace; /* the namespace's name; in the record's arena, if `kept` */
    uint64_t owner;       /* hash of the namespace */
    uint64_t changed;
    uint32_t cap;
    struct cost cost;
    bool kept; /* it has copies of namespace and selector */
    /* The counter that the cache made from this one; valid after counter_publish(). */
    uint32_t id;
    uint64_t made;
};

/* Each kind has a pool of its own, because each is listed by itself. A workload's number contains
 * its kind, and the index of its record in that pool. */
enum { WORKLOAD_KINDS = OBJECT_KINDS - OBJECT_SERVICE };

struct workload_record {
    uint32_t namespace, next, previous; /* a Service: in the namespace's list */
    uint32_t owner;
    uint8_t kind;
    struct arena arena;
    struct label_selector selector;
};

struct flight_record {
    struct lru_entry entry; /* the flight that ends first makes room; pinned while unclear */
    struct hash128 uid;
    int64_t expires_ms; /* end of the nodes from filter; 0: there are no such nodes, or they have
                           ended */
    int64_t
        unclear_until_ms;    /* when bindings without an outcome are dropped; 0: no such bindings */
    struct arena arena;      /* memory of `meta` */
    struct object_meta meta; /* namespace, labels; name and uid if it comes from filter */
    struct flight_nodes *nodes; /* [words]; owned */
    uint32_t words;
    bool doubted; /* see cache_doubt_expected() */
};

struct assumed_record {
    struct hash128 uid;
    int64_t expires_ms;
    uint32_t pod_class;
    uint32_t older, newer; /* in the list by age */
    uint32_t *slots;       /* owned */
    uint32_t count;        /* at least 1 */
};

/* How certain it is that a pod is on a node. */
enum certainty {
    PLACED_NOWHERE,
    PLACED_BY_FILTER, /* filter left only this node; until its time is over */
    PLACED_BINDING,   /* a binding is running; until its outcome is known */
    PLACED_BOUND,     /* until the watch shows the pod, or should have shown it */
};

struct reservation {
    uint32_t pod;
    enum certainty certainty;
    int64_t expires_ms; /* INT64_MAX while a binding is running */
};

struct cache {
    struct rwlock lock;
    struct cache_options options;
    _Atomic bool ready;
    _Atomic int64_t heard_ms[OBJECT_KINDS]; /* 0: the kind has no age */
    _Atomic uint64_t doubts;                /* calls of cache_doubt_expected() */
    uint32_t synced;                        /* bits of kinds that have been listed */

    struct intern strings;
    struct topology *nodes;           /* owned; pods hold their node's slot */
    struct node_record *node_records; /* [topology_cap()]; owned */
    struct pool namespaces, classes, pods, pending, counters, flights, assumed, requests, owners,
        terms, reaches, images;
    struct pool workloads[WORKLOAD_KINDS];
    struct lru counters_kept, flights_kept;
    uint64_t made, changes; /* numbers of the last counter and of the last change */
    uint32_t saying_nodes;  /* number of nodes with allocatable resources in their status */
    struct {                /* to find idle entries */
        bool begun;
        int64_t older_ms, newer_ms; /* two points of time, and the ticks at them */
        uint64_t older, newer, idle;
    } age;
    uint64_t work; /* number of steps of changes, without the topology's steps */
    struct {       /* measures how long the write lock is held */
        int64_t began_ns, longest_ns;
        uint64_t began_work, most_steps;
    } write;
    struct hashmap namespace_index, class_index, pod_index, counter_index, flight_index,
        assumed_index, pending_index, requests_index, owner_index, terms_index, reach_index,
        image_index;
    uint64_t terms_bytes;                    /* bytes of all terms */
    uint64_t reach_bytes;                    /* bytes of all reaches */
    uint64_t label_bytes;                    /* bytes of the labels of all classes */
    uint64_t list_bytes;                     /* bytes of the lists that nodes, requests and
                                                workloads own */
    uint32_t cut_pods;                       /* number of pods of cut classes, in all namespaces */
    uint32_t assumed_oldest, assumed_newest; /* not valid without assumed pods */
    uint32_t known_namespaces;               /* number of known Namespace objects */
    struct reservation *reservations;        /* owned */
    uint32_t reservation_count, reservation_cap;
    struct { /* used by the thread that reads state files */
        struct file_target target;
        uint32_t in_batch; /* objects applied since the lock was taken; 0: the lock is not held */
    } files;
};

/* Takes some of the view's steps. Returns 0 or -E2BIG. */
static inline int view_take(const struct cache_view *v, uint64_t steps) {
    return v->nodes.steps == NULL || steps_take(v->nodes.steps, steps) ? 0 : -E2BIG;
}

/* cache.c */
/* Keeps the counters that a closed view has built, where possible. No lock may be held. */
void cache_publish(struct cache_view *v);

/* pods.c */
int pod_apply(struct cache *c, const struct pod *pod, bool reserved, uint32_t *ret_id);
void pod_forget(struct cache *c, uint32_t id);
uint32_t pod_find(const struct cache *c, const struct object_meta *meta);
uint32_t pod_find_identity(const struct cache *c, const struct hash128 *uid);
/* Gets the pod's namespace and labels for filter: strings are borrowed, the array is in the arena.
 * Returns 0, -ENODATA (its labels are not kept) or -ENOMEM. */
int pod_meta(const struct cache *c, uint32_t id, struct arena *arena,
             struct object_meta *ret) MUST_CHECK;
/* Returns the pod's key: a hash of its UID, or of namespace and name. */
struct hash128 pod_identity(const struct object_meta *meta);

/* classes.c */
/* Finds or makes the class of a pod with this schedulerName; the caller uses it or calls
 * class_settle(). It is a cut class if the pod's labels have no room. POOL_NONE: no memory. */
uint32_t class_make(struct cache *c, const struct object_meta *meta, struct str scheduler);
/* Frees a class that no pod uses. */
void class_settle(struct cache *c, uint32_t id);
/* Call when a pod of the class comes or goes: invalidates the counters that views are building for
 * the namespace, and prepares the counters of the class for use. */
void class_changed(struct cache *c, struct class_record *pod_class);
/* Counts a pod of a cut class that comes (by is 1) or goes (-1). */
void class_count_cut(struct cache *c, const struct class_record *pod_class, int by);
/* Do the kept labels of a cut class decide this selector? Yes if it uses no other labels. */
bool class_decides(const struct selector *selector);

/* assumed.c */
void assumed_end(struct cache *c, const struct object_meta *pod);
void assumed_free(struct cache *c, uint32_t id);
void assumed_expire(struct cache *c, int64_t now_ms);
/* Counts an assumed pod in one counter. Returns 0 or -ENOMEM. */
int assumed_add(const struct cache *c, const struct assumed_record *assumed,
                struct counter_record *counter);

/* counters.c */
/* Call before using the class's counters: adds new matching ones, and drops those that are gone. */
void class_refresh(struct cache *c, struct class_record *pod_class);
void counter_free(void *cache, uint32_t id);
/* Under the write lock: keeps the counter if it has room. Returns true if it is outdated and was
 * added as pending: the caller must call counter_complete(). */
bool counter_publish(struct cache_view *v, struct built_counter *built);
/* Without a lock: counts again, and completes a pending counter. */
void counter_complete(struct cache_view *v, const struct built_counter *built);
void built_counter_free(struct built_counter *built);

/* pending.c */
/* Keeps the workload and the age of a pod without a node. Returns 0 or -ENOMEM. */
int pending_apply(struct cache *c, const struct pod *pod);
/* Forgets a pod that now has a node, or that is gone. Ignores an unknown pod. */
void pending_end(struct cache *c, const struct object_meta *pod);
void pending_forget(struct cache *c, uint32_t id);

/* owners.c */
struct hash128 owner_key(uint32_t namespace, struct object_type type, struct str name);
/* Returns POOL_NONE if the controller has no record. */
uint32_t owner_find(const struct cache *c, const struct hash128 *key);
/* Finds or makes a controller's record; the caller uses it or calls owner_settle(). Returns
 * POOL_NONE without memory. */
uint32_t owner_make(struct cache *c, const struct hash128 *key);
void owner_settle(struct cache *c, uint32_t id);
/* Does the same for a pod's controller. Returns POOL_NONE if the pod has no controller, or
 * without memory; the pod's siblings are then not known. */
uint32_t owner_of(struct cache *c, uint32_t namespace, const struct object_meta *pod);
void owner_add_class(struct cache *c, uint32_t id, uint32_t class_id);
void owner_remove_class(struct cache *c, uint32_t class_id);

/* requests.c */
/* References to the terms and the reach of pods with equal requests. */
struct pod_says {
    uint32_t terms, reach;
};
/* Returns the id of these requests with `says`, with one more reference; POOL_NONE: no memory.
 * Takes over the references in `says` on success. */
uint32_t requests_ref(struct cache *c, const struct pod_requests *requests, struct pod_says says);
void requests_unref(struct cache *c, uint32_t id);
/* Makes room, so that a pod with these requests can be added to the node. Returns 0 or -ENOMEM. */
int node_requests_reserve(struct cache *c, uint32_t slot, uint32_t requests) MUST_CHECK;
void node_requests_add(struct cache *c, uint32_t slot, uint32_t requests);
void node_requests_take(struct cache *c, uint32_t slot, uint32_t requests);
int node_records_grow(struct cache *c, uint32_t cap);
/* Makes a list for node_set() or amount_list_free(). Returns 0 or -ENOMEM. */
int amount_list_make(struct cache *c, const struct resources *from,
                     struct amount_list *ret) MUST_CHECK;
void amount_list_free(struct cache *c, struct amount_list *list);
/* Sets the resources of the node in a slot; takes over the list. */
void node_set(struct cache *c, uint32_t slot, struct amount_list allocatable, bool unschedulable);
/* Sets the images of the node in a slot; takes over the list. */
void node_set_images(struct cache *c, uint32_t slot, uint8_t *images);
/* Call when the node is not known any more; pods may still be on it. */
void node_forget(struct cache *c, uint32_t slot);
/* Call when the node is not known and no pods are on it. */
void node_release(struct cache *c, uint32_t slot);
void node_records_free(struct cache *c);

/* images.c */
/* Makes a list for node_set_images() or image_list_free(); NULL: no images. Returns 0 or -ENOMEM.
 */
int image_list_make(struct cache *c, const struct node *node, uint8_t **ret) MUST_CHECK;
void image_list_free(struct cache *c, uint8_t *list);

/* neighbours.c */
/* Gets the record of the pod's terms, or TERMS_*, with one more reference. Returns 0 or -ENOMEM. */
int terms_ref(struct cache *c, const struct pod *pod, uint32_t *ret) MUST_CHECK;
void terms_unref(struct cache *c, uint32_t id);

/* reach.c */
/* Gets the reach of a pod of the namespace, with one more reference. Returns 0 or -ENOMEM. */
int reach_ref(struct cache *c, const struct pod *pod, uint32_t namespace, uint32_t *ret) MUST_CHECK;
void reach_unref(struct cache *c, uint32_t id);

/* namespaces.c */
uint32_t namespace_find(const struct cache *c, struct str name);
/* Finds or makes a namespace's record; the caller counts a reference or calls
 * namespace_settle(). Returns POOL_NONE without memory. */
uint32_t namespace_make(struct cache *c, struct str name);
void namespace_settle(struct cache *c, uint32_t id);
int namespace_apply(struct cache *c, const struct object_meta *meta);
void namespace_forget(struct cache *c, uint32_t id);

/* workloads.c */
static inline uint32_t workload_id(enum object_kind kind, uint32_t record) {
    return record * WORKLOAD_KINDS + (kind - OBJECT_SERVICE);
}
static inline struct workload_record *workload_at(const struct cache *c, uint32_t id) {
    return pool_at(&c->workloads[id % WORKLOAD_KINDS], id / WORKLOAD_KINDS);
}
int workload_apply(struct cache *c, enum object_kind kind, const struct workload *workload);
void workload_forget(struct cache *c, uint32_t id);
uint32_t workload_find(const struct cache *c, enum object_kind kind,
                       const struct object_meta *meta);

/* flights.c */
uint32_t flight_find(const struct cache *c, const struct hash128 *uid);
/* Ends the whole flight. */
void flight_end(struct cache *c, const struct object_meta *pod);
void flight_free(void *cache, uint32_t id);
/* Ends the flight's part from filter. */
void flight_release(struct cache *c, const struct hash128 *uid);
/* Did this node pass filter for the pod? */
bool flight_passed(const struct flight_record *flight, uint32_t slot);
/* Notes that a binding may have put the pod on this node. Copies `pod` (namespace and labels) if
 * needed. Returns 0 or -ENOMEM. */
int flight_unclear(struct cache *c, const struct hash128 *uid, const struct object_meta *pod,
                   uint32_t slot) MUST_CHECK;
/* Ends the flights whose time is over. `seen_ms`: until then the source of pods has reported all
 * changes. */
void flights_expire(struct cache *c, int64_t now_ms, int64_t seen_ms);
/* Called by the topology before another node gets the slot. */
void flights_forget_node(void *cache, uint32_t slot);

/* reservations.c */
/* Ends the reservation of a pod's record when the pod is really there, or is gone. */
void reservation_end(struct cache *c, uint32_t pod);
/* Ends a reservation by filter. Returns how certain the pod's place is without that reservation. */
enum certainty reservation_release(struct cache *c, const struct hash128 *uid);
