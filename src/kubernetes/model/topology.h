/*
 * Topology spread constraints as a pod carries them. upstream: core/v1 TopologySpreadConstraint.
 */
#pragma once

#include "model/selector.h"

/* The well-known labels of nodes, as C strings (also for static initializers) and as struct str. */
#define TOPOLOGY_NAME_HOSTNAME "kubernetes.io/hostname"
#define TOPOLOGY_NAME_ZONE "topology.kubernetes.io/zone"
#define TOPOLOGY_NAME_REGION "topology.kubernetes.io/region"
#define TOPOLOGY_KEY_HOSTNAME STR(TOPOLOGY_NAME_HOSTNAME)
#define TOPOLOGY_KEY_ZONE STR(TOPOLOGY_NAME_ZONE)
#define TOPOLOGY_KEY_REGION STR(TOPOLOGY_NAME_REGION)
/* The former labels of zones and regions; old volumes and nodes still have them. */
#define OLD_ZONE_LABEL "failure-domain.beta.kubernetes.io/zone"
#define OLD_REGION_LABEL "failure-domain.beta.kubernetes.io/region"

struct spread_constraint {
    struct str topology_key;
    int32_t max_skew;     /* >= 1 */
    int32_t min_domains;  /* >= 1; 1 when not given */
    bool has_min_domains; /* minDomains was read */
    bool hard;            /* DoNotSchedule; otherwise ScheduleAnyway */
    bool honor_affinity;  /* nodeAffinityPolicy; Honor when not given */
    bool honor_taints;    /* nodeTaintsPolicy; Ignore when not given */
    struct label_selector selector;
    const struct str *match_label_keys;
    uint32_t match_label_key_count;
};

/*
 * Reads an array of constraints, or null; Kubernetes has no limit on their number. A single field
 * that the API server would refuse (maxSkew < 1, no topologyKey, unknown words) is an error of the
 * reader; the selector is checked when it is compiled.
 */
const struct spread_constraint *spread_constraints_decode(struct json_reader *r,
                                                          uint32_t *ret_count);

/* Reads one constraint object into a struct spread_constraint: an item function for
 * json_array_of(). */
void spread_constraint_decode(struct json_reader *r, void *into);
