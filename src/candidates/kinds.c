#include "candidates/kinds.h"

#include "model/object.h"
#include "model/topology.h"
#include "ocm/managed_cluster.h"

static void decode_node(struct json_reader *r, struct candidate *ret) {
    struct node node;
    node_decode(r, &node);
    *ret = (struct candidate){node.meta.name, node.meta.labels, node.taints, node.taint_count};
}

const struct candidate_kind candidate_kinds[CANDIDATE_KINDS] = {
    [CANDIDATE_NODES] = {.name = "nodes",
                         .row = KIND_NODE,
                         .keys = {TOPOLOGY_NAME_REGION, TOPOLOGY_NAME_ZONE},
                         .cached = true,
                         .decode = decode_node},
    [CANDIDATE_MANAGED_CLUSTERS] = {.name = "clusters",
                                    .row = KIND_MANAGED_CLUSTER,
                                    .keys = {"cloud", "region", "zone"},
                                    .decode = managed_cluster_decode},
};
