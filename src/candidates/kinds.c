#include "candidates/kinds.h"

#include "model/ocm.h"
#include "model/topology.h"

static void decode_node(struct json_reader *r, struct candidate *ret) {
    struct node node;
    node_decode(r, &node);
    *ret = (struct candidate){node.meta.name, node.meta.labels, node.taints, node.taint_count};
}

static void decode_managed_cluster(struct json_reader *r, struct candidate *ret) {
    struct managed_cluster cluster;
    managed_cluster_decode(r, &cluster);
    struct taint *taints = arena_array(r->arena, cluster.taint_count, sizeof *taints);
    for (uint32_t i = 0; taints != NULL && i < cluster.taint_count; i++)
        taints[i] = cluster.taints[i].taint;
    *ret = (struct candidate){cluster.meta.name, cluster.properties, taints,
                              taints != NULL ? cluster.taint_count : 0};
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
                                    .decode = decode_managed_cluster},
};
