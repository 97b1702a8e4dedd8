/* The records of a member's store; only files of this folder include it. */
#pragma once

#include "base/intern.h"
#include "base/pool.h"
#include "estimator/quota.h"
#include "members/store.h"
#include "model/karmada_pod.h"
#include "topology/label_set.h"

/* The amounts on one node of a resource that only some nodes have. */
struct scalar_room {
    uint32_t name; /* id in contents.strings; one reference */
    uint32_t at;   /* index in contents.scalars, while nothing is unsorted */
    int64_t has;
    __int128 used; /* sum of the pods' requests; out of date while contents.miscounted */
};
/* A node, or a name that bound pods have as their node; sums are exact, whatever pods request. Only
 * existing nodes are in the topology: whoever may create pods can name any number of other nodes,
 * and no question walks over these. */
struct node_rooms {
    uint32_t name;             /* id in contents.strings; one reference */
    uint32_t holders;          /* number of pods, and of callers that add a pod */
    uint32_t slot;             /* slot of the topology; TOPOLOGY_NONE: no such node */
    int64_t has[NODE_NATIVES]; /* 0 without a node */
    __int128 used[NODE_NATIVES];
    struct scalar_room *scalars; /* sorted by name; owned */
    uint32_t scalar_count;
    uint32_t zone;  /* id in contents.zones; INTERN_NONE: no such node */
    uint32_t row;   /* its row in the columns, while nothing is unsorted */
    uint64_t order; /* counter when the node came to its zone */
};

struct scalar_request {
    uint32_t name;
    int64_t amount;
};
/* The requests of a pod; stored once for all pods with the same requests. */
struct request_vector {
    uint64_t hash;
    uint32_t references, scalar_count;
    int64_t native[NODE_NATIVES];   /* native requests; at least 1 for pods */
    int64_t beyond;                 /* added to the request of each scalar */
    struct scalar_request *scalars; /* sorted by name; owned */
};

/* The beginning of a record that is in a list. */
struct listed_record {
    struct hash128 key;    /* hash of its namespace and name */
    uint32_t next, before; /* POOL_NONE: last, first */
};

/* A bound pod that has not finished. */
struct bound_pod {
    struct hash128 key; /* hash of its namespace and name */
    uint32_t room;      /* the node's room; the pod holds it */
    uint32_t vector;
};

/* A Deployment, a ReplicaSet, or a pod without a node. Ids are ids in contents.strings, with one
 * reference each. */
struct owned_object {
    struct listed_record record; /* in the list of its namespace and owner */
    struct hash128 template;
    int64_t since_ms; /* time of creation; of a pod: time when no node was found for it */
    uint32_t namespace, name, uid;
    uint32_t owner;    /* the controller's uid; INTERN_NONE: none */
    uint32_t selector; /* a Deployment's selector, as text; INTERN_NONE: none */
    struct label_set labels;
    bool has_since;
};
/* All objects of one kind. The objects of an owner are in a list; its first object is found by
 * namespace and owner. So a question reads no objects of other owners. */
struct object_table {
    struct pool objects;
    struct hashmap index, owners; /* `owners`: the first objects */
};
enum { TABLE_DEPLOYMENTS, TABLE_REPLICA_SETS, TABLE_WAITING_PODS, TABLES };

/* ResourceQuotas: a list for each namespace. */
struct quota_table {
    struct pool quotas;
    struct hashmap index, namespaces; /* `namespaces`: the first quotas */
    uint64_t block_bytes;
};

struct member_contents {
    uint64_t serial;    /* no other contents of this process have this number */
    uint64_t max_bytes; /* 0: no limit */
    uint64_t too_large; /* MEMBER_KIND() of the kinds that are too large to be kept */
    struct intern strings;
    struct topology *topology;
    struct pool rooms;
    struct hashmap room_index; /* by name */
    uint64_t list_bytes;       /* bytes of the scalars of rooms and vectors */

    struct pool pods, vectors;
    struct hashmap pod_index, vector_index;
    struct object_table tables[TABLES];
    struct quota_table quotas;

    /* Zones that have nodes, and the counter when each got its first node. */
    struct intern zones;
    uint64_t *zone_births; /* by the zone's id; owned */
    uint32_t zone_cap;
    uint64_t orders; /* counter of zones and of nodes that came to a zone */

    /* Nodes in the order in which components are placed; all owned. */
    bool unsorted;   /* the members below are out of date */
    bool miscounted; /* scalar_room.used is out of date, too; implies unsorted */
    uint32_t count, cap;
    uint32_t *slots, *room_of, *scalar_begin;
    int64_t *native[NODE_NATIVES];
    struct node_scalar *scalars;
    uint32_t scalar_cap;
    struct str *names; /* borrowed from strings */
    uint32_t name_count, name_cap;
};

/* ---- records.c ---- */

/* Finds a record in a pool whose records begin with their key, hash_names128(); HASHMAP_NONE if
 * not found. */
uint32_t record_find(const struct pool *records, const struct hashmap *index,
                     const struct hash128 *key);
/* Puts a listed_record behind `first` in its list. HASHMAP_NONE: the record begins the list;
 * `firsts`, which must have room, gets it with the list's hash. */
void record_link(const struct pool *records, struct hashmap *firsts, uint64_t hash, uint32_t first,
                 uint32_t id);
/* Takes the record out of its list. If it was the first, the next one takes its place in `firsts`;
 * that needs no more room. */
void record_unlink(const struct pool *records, struct hashmap *firsts, uint64_t hash, uint32_t id);

/* ---- rooms.c ---- */

/* Returns the room of a node's name, or POOL_NONE. */
uint32_t rooms_find(const struct member_contents *c, struct str name);
/* Returns the room, made if necessary, and holds it; POOL_NONE without memory. */
uint32_t rooms_hold(struct member_contents *c, struct str name);
/* Frees the room if it has no node and no holder left. */
void rooms_unhold(struct member_contents *c, uint32_t room);
/* Add or remove a pod's requests. */
void rooms_add(struct member_contents *c, uint32_t room, uint32_t vector);
void rooms_remove(struct member_contents *c, uint32_t room, uint32_t vector);
/* Counts scalars again if nodes have got resources since the last count: one pass over all pods. */
void rooms_recount(struct member_contents *c);
/* Sets the node, new or changed, of a held room; the caller sets its slot. Returns 0, or -ENOMEM,
 * which changes nothing. */
int rooms_set_node(struct member_contents *c, uint32_t room, const struct node *node,
                   struct arena *arena) MUST_CHECK;
/* Call it when the node is gone. The node's pods stay, so the node's record (a room) stays, too. */
void rooms_clear_node(struct member_contents *c, uint32_t room);
/* Gives memory back, if there are no rooms. */
void rooms_trim(struct member_contents *c);
/* Call it when there are no pods any more. */
void rooms_done(struct member_contents *c);

/* ---- rows.c ---- */

/* Sorts the nodes. Returns 0, or -ENOMEM: still unsorted. */
int rows_sort(struct member_contents *c) MUST_CHECK;
/* Updates the free resources in the room's row. */
void rows_refresh(struct member_contents *c, uint32_t room);

/* ---- pods.c ---- */

/* Returns 0, or -ENOMEM: the pod is then removed. */
int bound_pods_apply(struct member_contents *c, const struct karmada_pod *pod) MUST_CHECK;
void bound_pods_remove(struct member_contents *c, struct str namespace, struct str name);
void bound_pods_drop(struct member_contents *c, uint32_t id);
void bound_pods_done(struct member_contents *c);
/* Gives memory back if there are no pods. */
void bound_pods_trim(struct member_contents *c);

/* ---- workloads.c ---- */

struct kept_object {
    const struct object_meta *meta;
    struct hash128 template;
    bool has_since;
    int64_t since_ms;
    struct str selector; /* "": none */
};
void workloads_init(struct member_contents *c);
void workloads_done(struct member_contents *c);
/* Returns 0, or -ENOMEM or -E2BIG (LIMIT_MEMBER_OBJECT): the object is then removed. */
int workloads_apply(struct member_contents *c, int table,
                    const struct kept_object *object) MUST_CHECK;
void workloads_remove(struct member_contents *c, int table, struct str namespace, struct str name);
void workloads_drop(struct member_contents *c, int table, uint32_t id);
uint64_t workloads_bytes(const struct member_contents *c);

/* ---- quotas.c ---- */

void quotas_init(struct member_contents *c);
void quotas_done(struct member_contents *c);
/* Returns 0, or -E2BIG or -ENOMEM: the quota is then removed. */
int quotas_apply(struct member_contents *c, const struct quota *from,
                 struct arena *arena) MUST_CHECK;
void quotas_remove(struct member_contents *c, struct str namespace, struct str name);
void quotas_drop(struct member_contents *c, uint32_t id);
uint64_t quotas_bytes(const struct member_contents *c);

static inline struct node_rooms *rooms_at(const struct member_contents *c, uint32_t id) {
    return pool_at(&c->rooms, id);
}
static inline const struct request_vector *vector_at(const struct member_contents *c, uint32_t id) {
    return pool_at(&c->vectors, id);
}
