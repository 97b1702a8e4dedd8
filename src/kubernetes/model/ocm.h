/*
 * Objects of Open Cluster Management, decoded from JSON of `kubectl get -o json` or of watches:
 * only the parts that are needed to decide a Placement. upstream: open-cluster-management.io/api
 * cluster/v1, v1beta1, v1beta2, v1alpha1 (v1.2.0) and their CRDs.
 *
 * Defaults of the CRDs are applied, as by an API server. Values that an API server would refuse are
 * errors of the reader, by path: a word that is not in an enum (with the nearest word, if one is
 * near), a number out of range, a missing required field of a Placement. A field that is null is
 * absent.
 *
 * Decoders read the object that comes next, and ignore its kind. Decoded objects own
 * nothing: strings and arrays live in the text or the reader's arena. Unknown fields are skipped.
 * An object of a namespaced kind that has no namespace is read as one in `default`, as with
 * kubectl.
 */
#pragma once

#include "base/hash.h"
#include "model/injected.h"
#include "model/names.h"
#include "model/object.h"
#include "model/placement_term.h"

#define CLAIM_PREFIX "claim:" /* prefix of a topology key that is a claim; no label key has it */
/* Returns the key of a claim with this name, in the arena; "" without memory. */
struct str claim_key(struct str name, struct arena *arena);

/* Labels: a ManagedCluster names its exclusive set, a PlacementDecision its Placement and group.
 * upstream: ClusterSetLabel, PlacementLabel, DecisionGroupIndexLabel, DecisionGroupNameLabel. */
#define CLUSTER_SET_LABEL OCM_GROUP "/clusterset"
#define PLACEMENT_LABEL OCM_GROUP "/placement"
#define PLACEMENT_GROUP_INDEX_LABEL OCM_GROUP "/decision-group-index"
#define PLACEMENT_GROUP_NAME_LABEL OCM_GROUP "/decision-group-name"

/* Annotations of a Placement. The first annotation is OCM's: with "true", OCM does not schedule the
 * Placement (upstream: PlacementDisableAnnotation). The other annotations are Evenkeel's: the mode
 * ("Off", "Scores" or "Owner"); the selector of the Placements to spread together; "true" if
 * Evenkeel has set OCM's annotation; and what Evenkeel has added (model/injected.h). */
#define PLACEMENT_DISABLE_ANNOTATION OCM_GROUP "/experimental-scheduling-disable"
#define PLACEMENT_MODE_ANNOTATION "placements." EVENKEEL_GROUP "/mode"
#define PLACEMENT_GROUP_ANNOTATION "placements." EVENKEEL_GROUP "/spread-group"
#define PLACEMENT_DISABLED_ANNOTATION "placements." EVENKEEL_GROUP "/disabled-ocm"
#define PLACEMENT_INJECTED_ANNOTATION "placements." EVENKEEL_GROUP "/injected"

/* ---- ManagedCluster ---- */

struct cluster_taint {
    struct taint taint; /* its effect is NoSelect, PreferNoSelect or NoSelectIfNew */
    int64_t added_ms;   /* timeAdded, since 1970; INT64_MIN: not given */
};

/* An amount of a resource, as a double, because upstream compares doubles. */
struct cluster_amount {
    bool given;
    double value;
};

struct managed_cluster {
    struct object_meta meta;  /* .terminating: deletionTimestamp is set */
    struct labels properties; /* labels, and claims (status.clusterClaims) with keys of CLAIM_PREFIX
                                 and the claim's name, sorted by key; of claims with the same name
                                 the last one counts */
    const struct cluster_taint *taints;
    uint32_t taint_count;
    struct cluster_amount cpu_allocatable, cpu_capacity, memory_allocatable, memory_capacity;
    bool accepted; /* spec.hubAcceptsClient */
};
void managed_cluster_decode(struct json_reader *r, struct managed_cluster *ret);

/* ---- ManagedClusterSet, ManagedClusterSetBinding ---- */

enum cluster_set_selector {
    CLUSTER_SET_BY_LABEL,    /* ExclusiveClusterSetLabel, also when nothing is given: the clusters
                                whose label CLUSTER_SET_LABEL is the set's name */
    CLUSTER_SET_BY_SELECTOR, /* LabelSelector */
};
struct cluster_set {
    struct object_meta meta;
    enum cluster_set_selector type;
    struct label_selector selector; /* not present: selects nothing; empty: selects everything */
};
/* Reads v1beta2 and v1beta1; v1beta1's LegacyClusterSetLabel becomes CLUSTER_SET_BY_LABEL. */
void cluster_set_decode(struct json_reader *r, struct cluster_set *ret);

/* Reads namespace and name of a ManagedClusterSetBinding; its name is the set's name. */
void cluster_set_binding_decode(struct json_reader *r, struct object_meta *ret);

/* ---- Placement ---- */

/* Both parts must match; an empty part matches everything. */
struct placement_selector {
    struct label_selector labels; /* always present */
    struct label_selector claims; /* always present; expressions only, over names of claims without
                                     CLAIM_PREFIX */
};

struct placement_predicate {
    struct placement_selector selector;
    bool has_cel;             /* a third part: celExpressions, which are not evaluated here */
    bool is_gated;            /* celExpressions has a gate of Evenkeel's (model/injected.h) */
    struct injected_key gate; /* the key of the last such gate, if is_gated */
};

enum prioritizer_type { PRIORITIZER_BUILT_IN, PRIORITIZER_ADD_ON };
struct placement_prioritizer {
    bool has_coordinate; /* scoreCoordinate, or the old `name`, is given */
    enum prioritizer_type type;
    struct str built_in;        /* "Balance", ... as written; "" */
    bool has_add_on;            /* addOn is given */
    struct str resource, score; /* of addOn */
    int32_t weight;             /* -10..10; 1 when not given */
};

/* Reads an array of spread constraints (or null), at most PLACEMENT_TERMS. `of_question`: the terms
 * are from a question, not from a Placement. Terms of a question may have minDomains (0: not
 * given), and their topologyKeyType is Label by default. */
const struct placement_term *placement_terms_decode(struct json_reader *r, bool of_question,
                                                    uint32_t *ret_count);

struct placement_toleration {
    struct toleration toleration; /* op as written; "" is Equal */
    bool has_seconds;
    int64_t seconds;
};

struct placement_group {
    struct str name;
    struct placement_selector selector;
};

/* clustersPerDecisionGroup: a text ("100%" by default; upstream reports a text without %), or a
 * number (0 and less: no limit). */
struct placement_group_length {
    bool is_text;
    struct str text;
    int32_t number;
};

struct placement {
    struct object_meta meta;
    struct labels annotations;
    const struct str *sets; /* spec.clusterSets */
    uint32_t set_count;
    bool has_number;
    int32_t number; /* numberOfClusters; negative only if an API server has stored such a number */
    const struct placement_predicate *predicates;
    uint32_t predicate_count;
    struct str mode; /* of prioritizerPolicy, as written; "" is Additive */
    const struct placement_prioritizer *prioritizers;
    uint32_t prioritizer_count;
    const struct placement_term *terms; /* spec.spreadPolicy */
    uint32_t term_count;
    const struct placement_toleration *tolerations;
    uint32_t toleration_count;
    struct placement_group_length group_length;
    const struct placement_group *groups;
    uint32_t group_count;
    const struct str *warnings; /* about members that are written in an old form */
    uint32_t warning_count;
    bool is_outline; /* only numberOfClusters and the spread policy of the spec were read */
};
/*
 * Reads v1beta1, and v1alpha1 with a warning. The old `name` of a prioritizer counts as
 * scoreCoordinate.builtIn if that is not set, with a warning.
 */
void placement_decode(struct json_reader *r, struct placement *ret);
/* How a Placement is read. */
struct placement_reading {
    /* Reads only numberOfClusters and the spread policy of the spec: skipping 12,000 predicates
     * takes a tenth of the time of decoding them, and no memory. */
    bool is_outline;
    /* An API server has stored the Placement: numberOfClusters may be negative; such a Placement
     * must not be decided. */
    bool is_stored;
};
void placement_decode_as(struct json_reader *r, struct placement_reading how,
                         struct placement *ret);
/* Parses PLACEMENT_GROUP_ANNOTATION: the selector of the Placements of the same namespace to spread
 * together. Returns 0, -ENOENT (no annotation), -EINVAL with the reason (not a selector, or longer
 * than LIMIT_SPREAD_GROUP_TEXT; the Placement then has no group) or -ENOMEM. */
int placement_group_parse(const struct placement *p, struct arena *arena, struct selector *ret,
                          struct err *err) MUST_CHECK;

/* ---- PlacementDecision ---- */

struct placement_decision {
    struct object_meta meta;    /* its label PLACEMENT_LABEL names the Placement */
    const struct str *clusters; /* status.decisions[].clusterName, as listed */
    uint32_t cluster_count;
    uint64_t reasons; /* a hash of status.decisions[].reason: placement_reasons_add() of each */
};
/* Adds a reason to the hash, which begins as 0. */
static inline uint64_t placement_reasons_add(uint64_t reasons, struct str reason) {
    return hash_mix(reasons, hash_str(reason));
}
void placement_decision_decode(struct json_reader *r, struct placement_decision *ret);

/* ---- AddOnPlacementScore ---- */

struct placement_score_item {
    struct str name;
    int32_t value; /* not limited to -100..100, as upstream */
};
struct placement_score {
    struct object_meta meta; /* its namespace is the cluster's name, its name is the resource's name
                              */
    bool has_end;
    int64_t valid_until_ms;                   /* since 1970 */
    const struct placement_score_item *items; /* sorted by name; of equal names the last one counts,
                                                 as upstream */
    uint32_t item_count;
};
void placement_score_decode(struct json_reader *r, struct placement_score *ret);
