/* What a member's store keeps, for the files of this folder. */
#pragma once

#include "base/intern.h"
#include "base/pool.h"
#include "estimator/quota.h"
#include "members/store.h"
#include "model/karmada_pod.h"
#include "topology/label_set.h"

/* A resource that only some nodes have, on one that has it. */
struct scalar_room {
    uint32_t name; /* of strings; one reference */
    uint32_t at;   /* of contents.scalars, while nothing is unsorted */
    int64_t has;
    __int128 used; /* right while nothing is miscounted */
};
/* Of the name of a node, which is there, or which bound pods have; sums are exact, whatever pods
 * ask for. Only nodes that are there are of the topology: whoever may create pods names as many
 * others as there are names, and questions do not meet these. */
struct node_rooms {
    uint32_t name;             /* of strings; one reference */
    uint32_t holders;          /* pods, and who is about to add one */
    uint32_t slot;             /* of the topology; TOPOLOGY_NONE: there is no node */
    int64_t has[NODE_NATIVES]; /* 0 where there is no node */
    __int128 used[NODE_NATIVES];
    struct scalar_room *scalars; /* by name; owned */
    uint32_t scalar_count;
    uint32_t zone;  /* of zones; INTERN_NONE: there is no node */
    uint32_t row;   /* while nothing is unsorted */
    uint64_t order; /* when it came to its zone */
};

struct scalar_request {
    uint32_t name;
    int64_t amount;
};
/* What a pod asks for; stored once for all pods that ask for the same. */
struct request_vector {
    uint64_t hash;
    uint32_t references, scalar_count;
    int64_t native[NODE_NATIVES];   /* of pods at least 1 */
    int64_t beyond;                 /* of each scalar so much more */
    struct scalar_request *scalars; /* by name; owned */
};

/* A pod that is bound, and has not finished. */
struct bound_pod {
    struct hash128 key; /* of its namespace and name */
    uint32_t room;      /* of its node; held */
    uint32_t vector;
};

/* A Deployment, a ReplicaSet, or a pod that has found no node. Ids are of strings, with one
 * reference each. */
struct owned_object {
    struct hash128 key; /* of its namespace and name */
    struct hash128 template;
    int64_t since_ms; /* created; of a pod, when it was found that there is no node for it */
    uint32_t namespace, name, uid;
    uint32_t owner;        /* the controller's uid; INTERN_NONE without */
    uint32_t selector;     /* of a Deployment: its text; INTERN_NONE without */
    uint32_t next, before; /* of its namespace and owner; POOL_NONE: it is the last, the first */
    struct label_set labels;
    bool has_since;
};
/* All of one kind. Those of an owner are in a list, whose first is found by namespace and owner:
 * what others own costs a question nothing. */
struct object_table {
    struct pool objects;
    struct hashmap index, owners; /* the latter of first ones */
};
enum { TABLE_DEPLOYMENTS, TABLE_REPLICA_SETS, TABLE_WAITING_PODS, TABLES };

/* ResourceQuotas: a list of those of each namespace. */
struct quota_table {
    struct pool quotas;
    struct hashmap index, namespaces; /* the latter of first ones */
    uint64_t block_bytes;
};

struct member_contents {
    uint64_t serial;    /* no other contents have it */
    uint64_t max_bytes; /* 0: no limit */
    uint64_t too_large; /* MEMBER_KIND() of kinds of which not all is kept for that reason */
    struct intern strings;
    struct topology *topology;
    struct pool rooms;
    struct hashmap room_index; /* by name */
    uint64_t list_bytes;       /* of scalars of rooms and vectors */

    struct pool pods, vectors;
    struct hashmap pod_index, vector_index;
    struct object_table tables[TABLES];
    struct quota_table quotas;

    /* Zones that have nodes, and when each got its first. */
    struct intern zones;
    uint64_t *zone_births; /* by id; owned */
    uint32_t zone_cap;
    uint64_t orders; /* that were given out */

    /* Nodes in the order in which components are placed; all owned. */
    bool unsorted;   /* what follows is out of date */
    bool miscounted; /* scalars of rooms are, too; it is unsorted then */
    uint32_t count, cap;
    uint32_t *slots, *room_of, *scalar_begin;
    int64_t *native[NODE_NATIVES];
    struct node_scalar *scalars;
    uint32_t scalar_cap;
    struct str *names; /* borrowed from strings */
    uint32_t name_count, name_cap;
};

/* ---- rooms.c ---- */

/* The room of a node's name; POOL_NONE: there is none. */
uint32_t rooms_find(const struct member_contents *c, struct str name);
/* The same, made if need be, and held; POOL_NONE without memory. */
uint32_t rooms_hold(struct member_contents *c, struct str name);
/* A room that has no node, and that nothing holds, is freed. */
void rooms_unhold(struct member_contents *c, uint32_t room);
/* Pods come and go. */
void rooms_add(struct member_contents *c, uint32_t room, uint32_t vector);
void rooms_remove(struct member_contents *c, uint32_t room, uint32_t vector);
/* If nodes have got resources that their pods may be asking for: one pass over all pods. */
void rooms_recount(struct member_contents *c);
/* The node of a room that is held is new, or has changed; its slot is set by the caller. 0 or
 * -ENOMEM (it is as it was). */
int rooms_set_node(struct member_contents *c, uint32_t room, const struct node *node,
                   struct arena *arena) MUST_CHECK;
/* There is no node any more; its pods, and with them its room, stay. */
void rooms_clear_node(struct member_contents *c, uint32_t room);
/* Gives memory back, if there are no rooms. */
void rooms_trim(struct member_contents *c);
/* When there are no pods any more. */
void rooms_done(struct member_contents *c);

/* ---- rows.c ---- */

/* Puts the nodes into order anew. 0 or -ENOMEM (they are unsorted still). */
int rows_sort(struct member_contents *c) MUST_CHECK;
/* Brings what is free in the room's row up to date. */
void rows_refresh(struct member_contents *c, uint32_t room);

/* ---- pods.c ---- */

/* 0, or -ENOMEM (the pod is not there then). */
int bound_pods_apply(struct member_contents *c, const struct karmada_pod *pod) MUST_CHECK;
void bound_pods_remove(struct member_contents *c, struct str namespace, struct str name);
void bound_pods_drop(struct member_contents *c, uint32_t id);
void bound_pods_done(struct member_contents *c);
/* Gives memory back, if there are no pods. */
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
/* 0, or -ENOMEM or -E2BIG (LIMIT_MEMBER_OBJECT); the object is not there then. */
int workloads_apply(struct member_contents *c, int table,
                    const struct kept_object *object) MUST_CHECK;
void workloads_remove(struct member_contents *c, int table, struct str namespace, struct str name);
void workloads_drop(struct member_contents *c, int table, uint32_t id);
uint64_t workloads_bytes(const struct member_contents *c);

/* ---- quotas.c ---- */

void quotas_init(struct member_contents *c);
void quotas_done(struct member_contents *c);
/* 0, or -E2BIG or -ENOMEM (the quota is not there then). */
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
