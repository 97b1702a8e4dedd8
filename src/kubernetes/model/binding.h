/*
 * ResourceBinding and ClusterResourceBinding, the objects that Karmada schedules: only the parts
 * that choose clusters. upstream: karmada pkg/apis/work/v1alpha2 binding_types.go and
 * pkg/apis/policy/v1alpha1 propagation_types.go (v1.18.1).
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena. Unknown
 * fields are skipped. Defaults of the CRDs are applied, those of Karmada's webhooks are not.
 *
 * Errors stay in the reader, with path and byte. Errors are words that an enum of the CRD does not
 * have, and negative numbers of replicas or groups (a negative weight is allowed and counts as 0).
 * A bad quantity is an error with code -EDOM: a question with it is still answered, while questions
 * with other errors are refused (see amount_decode() in model/fields.h).
 */
#pragma once

#include "model/object.h"
#include "model/quantity.h"

/* ---- which clusters ---- */

/* spec.placement.clusterAffinity, and targetCluster of a static weight. All empty: any cluster. */
struct cluster_affinity {
    struct str name; /* affinityName, of clusterAffinities only */
    struct label_selector label_selector;
    struct selector labels; /* label_selector, compiled */
    struct selector fields; /* fieldSelector, compiled: its requirements on provider and region */
    const struct requirement *zones; /* fieldSelector's requirements on zones, in order; values
                                        sorted */
    uint32_t zone_count;
    bool invalid;                       /* a selector does not compile: matches nothing */
    const struct str *names, *excluded; /* clusterNames, exclude: sorted, unique */
    uint32_t name_count, excluded_count;
};

/* One of spec.placement.clusterAffinities. */
struct affinity_term {
    struct cluster_affinity affinity;
    bool has_overflow;                       /* overflowAffinities is given, perhaps empty */
    const struct cluster_affinity *overflow; /* in order */
    uint32_t overflow_count;
};

/* The property of clusters that a spread constraint spreads over. */
enum spread_field {
    SPREAD_PROVIDER,
    SPREAD_REGION,
    SPREAD_ZONE,
    SPREAD_LABEL, /* spreadByLabel */
    SPREAD_CLUSTER,
};
struct cluster_spread {
    enum spread_field field; /* spreadByField; SPREAD_LABEL without it */
    struct str label;        /* spreadByLabel, for SPREAD_LABEL; empty if neither is given */
    bool has_both;           /* spreadByLabel is given, too; only the field counts */
    int64_t max, min;        /* maxGroups, minGroups as written; 0: not given */
};

struct static_weight {
    struct cluster_affinity target;
    int64_t weight;
};

enum division {                /* the strategies of replicaScheduling */
                DIVISION_NONE, /* no replicaScheduling: the same as Duplicated */
                DIVISION_DUPLICATED,
                DIVISION_STATIC,  /* Divided, Weighted, and no dynamicWeight */
                DIVISION_DYNAMIC, /* Divided, Weighted, dynamicWeight */
                DIVISION_AGGREGATED,
                DIVISION_UNSUPPORTED, /* any other words */
};
struct replica_scheduling {
    enum division division;
    struct str type, preference, dynamic; /* as written, with the CRD's defaults */
    bool has_weights;                     /* weightPreference is given, perhaps empty */
    const struct static_weight *weights;
    uint32_t weight_count;
};

struct cluster_placement {
    bool has_affinity;
    struct cluster_affinity affinity;
    const struct affinity_term *affinities;
    uint32_t affinity_count;
    struct tolerations tolerations;
    const struct cluster_spread *spread; /* in order, as written */
    uint32_t spread_count;
    struct replica_scheduling replicas;
};

/* ---- the workload ---- */

struct request {
    struct str name;
    struct quantity amount;
    struct str text; /* the amount as written, without blanks; empty: null */
};

/* replicaRequirements of a binding or of a component. */
struct replica_requirements {
    bool given;                 /* not null */
    struct node_affinity claim; /* nodeClaim.hardNodeAffinity (required), nodeSelector */
    struct tolerations tolerations;
    const struct request *requests; /* resourceRequest: sorted by name, names unique */
    uint32_t request_count;
    struct str namespace, priority_class;
};

struct component {
    struct str name;
    int32_t replicas;
    struct replica_requirements requirements;
};

/* One of spec.clusters. */
struct target_cluster {
    struct str name;
    int32_t replicas;
};

struct eviction_task { /* one of spec.gracefulEvictionTasks */
    struct str from;
};

struct binding_spec {
    struct str resource_api, resource_kind, resource_namespace, resource_name, resource_uid;
    int32_t replicas;
    struct replica_requirements requirements;
    const struct component *components;
    uint32_t component_count;
    const struct target_cluster *clusters; /* the earlier decision, in order */
    uint32_t cluster_count;
    bool has_placement;
    struct cluster_placement placement;
    struct str placement_text; /* JSON of the placement, as in the object; .p NULL: no placement */
    const struct eviction_task *evictions;
    uint32_t eviction_count;
    struct str scheduler; /* schedulerName */
    bool has_reschedule;
    int64_t reschedule_ms; /* rescheduleTriggeredAt, since 1970 */
    bool suspended;        /* suspension.scheduling */
};

struct binding_status {
    bool has_scheduled;
    int64_t scheduled_ms;         /* lastScheduledTime, since 1970 */
    struct str observed_affinity; /* schedulerObservingAffinityName */
    int64_t observed_generation;
    struct str conditions; /* JSON of the conditions, as in the object; .p NULL: no conditions */
};

struct binding {
    struct object_meta meta; /* a ResourceBinding without a namespace is in `default` */
    struct labels annotations;
    bool cluster_wide;            /* ClusterResourceBinding */
    struct str applied_placement; /* APPLIED_PLACEMENT_ANNOTATION; .p NULL: none */
    int64_t generation;           /* metadata.generation */
    struct binding_spec spec;
    struct binding_status status;
};

void cluster_affinity_decode(struct json_reader *r, struct cluster_affinity *ret);
/* Reads spec.placement; null counts as absent. */
void cluster_placement_decode(struct json_reader *r, struct cluster_placement *ret);
void replica_requirements_decode(struct json_reader *r, struct replica_requirements *ret);
/* Reads an array of components, or null. */
const struct component *components_decode(struct json_reader *r, uint32_t *ret_count);
void binding_spec_decode(struct json_reader *r, struct binding_spec *ret);
void binding_status_decode(struct json_reader *r, struct binding_status *ret);
void binding_decode(struct json_reader *r, struct binding *ret);
/* The same, but refuses an object of another kind or without a name. */
void binding_read(struct json_reader *r, struct binding *ret);

/* Does the binding have replicas, requirements or components? upstream: IsWorkload(). */
bool binding_is_workload(const struct binding_spec *spec);

/* ---- a cluster, for affinities ---- */

struct cluster_traits {
    struct str name, provider, region;
    const struct str *zones;
    uint32_t zone_count;
    struct labels labels; /* the object's labels, without provider, region and zone */
};
/*
 * Does the cluster match? upstream: pkg/util ClusterMatches(). Returns false when no `steps` are
 * left. Lists of the affinity are searched by bisection, so the cost grows mainly with the
 * cluster's own data.
 */
bool cluster_affinity_matches(const struct cluster_affinity *affinity,
                              const struct cluster_traits *cluster, struct steps *steps);
