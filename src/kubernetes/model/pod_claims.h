/*
 * A pod's PersistentVolumeClaims, as the filters VolumeBinding and VolumeZone need them.
 * volumes/claims.h makes them, and the engine evaluates them. Everything is in one arena.
 */
#pragma once

#include "model/affinity.h"

/* A claim that is bound to a volume. */
struct bound_claim {
    struct str claim, volume;             /* names */
    const struct node_affinity *affinity; /* the volume's own; NULL: the volume may be anywhere */
    const struct node_affinity *zones;    /* affinities that stand for the volume's labels;
                                             [zone_count] */
    uint32_t zone_count;
};

/* An existing volume to which a waiting claim may be bound. */
struct static_volume {
    uint32_t id;    /* the same volume has the same number for every claim of the pod */
    uint32_t place; /* index into places, or POD_CLAIMS_ANYWHERE */
};

/* A claim that is bound when kube-scheduler has chosen the pod's node. */
struct waiting_claim {
    struct str claim, class;
    bool has_node;                       /* the claim's volume is being made for ... */
    struct str node;                     /* ... this node */
    const struct static_volume *volumes; /* first the volumes that name this claim, then the others
                                            by size */
    uint32_t volume_count, its_count;    /* its_count: number of volumes that name this claim */
    bool provisions;                     /* the claim's class makes volumes */
    uint32_t place; /* where the class makes volumes: index into places, or POD_CLAIMS_ANYWHERE */
};

enum { POD_CLAIMS_ANYWHERE = UINT32_MAX };

struct pod_claims {
    const char *unjudged; /* why the claims are not evaluated; NULL: they are evaluated. Static */
    /* The filter that refuses all nodes; NULL: no filter refuses all. Static */
    const char *refuser;
    struct str refusal;
    const struct bound_claim *bound;
    uint32_t bound_count;
    const struct waiting_claim *waiting; /* sorted by size */
    uint32_t waiting_count;
    const struct node_affinity *const *places; /* of volumes and classes of waiting claims */
    uint32_t place_count;
    uint32_t id_count; /* number of ids of static volumes */
};
