#include "candidates/kinds.h"

#include "model/names.h"
#include "model/topology.h"

const struct candidate_kind candidate_kinds[CANDIDATE_KINDS] = {
    [CANDIDATE_NODES] = {.name = "nodes",
                         .row = KIND_NODE,
                         .kinds = NODE_KIND,
                         .keys = {TOPOLOGY_NAME_REGION, TOPOLOGY_NAME_ZONE}},
    [CANDIDATE_CLUSTERS] = {.name = "clusters",
                            .row = KIND_MANAGED_CLUSTER,
                            .kinds = "ManagedCluster, or Cluster of Karmada (from files)",
                            .keys = {"cloud", "region", "zone"}},
};
