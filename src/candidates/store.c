#include "candidates/store.h"

#include "model/ocm.h"

#include <errno.h>
#include <stdlib.h>

/* A topology with the strings that it borrows. */
struct world {
    struct intern strings;
    struct topology *topology;
};

static int open_world(void **ret, struct err *err) {
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory for candidates");
    int r = topology_new(&(struct topology_options){.strings = &w->strings}, &w->topology, err);
    if (r == 0)
        *ret = w;
    else
        free(w);
    return r;
}

static void close_world(void *contents) {
    struct world *w = contents;
    if (w == NULL)
        return;
    topology_free(w->topology);
    intern_done(&w->strings);
    free(w);
}

const struct topology *candidates_of(const void *contents) {
    const struct world *w = contents;
    return w->topology;
}

/* ---- of every kind ---- */

static struct candidate *candidate_in(struct informer_object *object) {
    return object->decoded = arena_alloc(object->arena, sizeof(struct candidate));
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    const struct world *w = contents;
    int r = topology_apply(w->topology, object->decoded);
    return r == 0 ? 0
                  : err_set(err, r, "no memory for candidate '%.*s'", STR_ARG(object->meta.name));
}

static int forget(void *contents, const struct informer_object *gone, struct err *err) {
    const struct world *w = contents;
    (void)err;
    topology_remove(w->topology, gone->meta.name);
    return 0;
}

static void sync_begin(void *contents, uint32_t kind) {
    const struct world *w = contents;
    (void)kind; /* the only one */
    topology_sync_begin(w->topology);
}

static void sync_end(void *contents, uint32_t kind) {
    const struct world *w = contents;
    (void)kind;
    while (topology_sync_end(w->topology))
        continue;
}

static uint32_t count(const void *contents) {
    return topology_stats(candidates_of(contents)).candidates;
}

#define STORE(rows)                                                                                \
    {                                                                                              \
        .what = "candidates", .kinds = (rows), .kind_count = 1, .open = open_world,                \
        .close = close_world, .sync_begin = sync_begin, .sync_end = sync_end,                      \
        .metric = "evenkeel_candidates",                                                           \
        .metric_help = "Candidates beside the cluster's nodes, by kind.",                          \
    }

/* ---- the kinds ---- */

static void decode_node(struct json_reader *r, struct informer_object *ret) {
    struct candidate *candidate = candidate_in(ret);
    struct node node;
    if (candidate == NULL)
        return; /* a failed arena is reported by the caller */
    node_decode(r, &node);
    ret->meta = node.meta;
    *candidate =
        (struct candidate){node.meta.name, node.meta.labels, node.taints, node.taint_count};
}

static void decode_cluster(struct json_reader *r, struct informer_object *ret) {
    struct candidate *candidate = candidate_in(ret);
    struct managed_cluster cluster;
    managed_cluster_decode(r, &cluster);
    struct taint *taints = arena_array(ret->arena, cluster.taint_count, sizeof *taints);
    if (candidate == NULL || taints == NULL)
        return; /* likewise */
    for (uint32_t i = 0; i < cluster.taint_count; i++)
        taints[i] = cluster.taints[i].taint;
    ret->meta = cluster.meta;
    *candidate =
        (struct candidate){cluster.meta.name, cluster.properties, taints, cluster.taint_count};
}

static const struct informer_kind nodes = {KIND_NODE, decode_node, apply, forget, count};
static const struct informer_kind clusters = {KIND_MANAGED_CLUSTER, decode_cluster, apply, forget,
                                              count};
const struct informer_store node_store = STORE(&nodes);
const struct informer_store managed_cluster_store = STORE(&clusters);
