#include "candidates/nodes.h"

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
        return err_set(err, -ENOMEM, "no memory for nodes");
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

const struct topology *nodes_of(const void *contents) {
    const struct world *w = contents;
    return w->topology;
}

static void decode(struct json_reader *r, struct informer_object *ret) {
    struct node *node = ret->decoded = arena_alloc(r->arena, sizeof *node);
    if (node == NULL)
        return; /* the caller reports a failed arena */
    node_decode(r, node);
    ret->meta = node->meta;
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    const struct world *w = contents;
    const struct node *node = object->decoded;
    const struct candidate candidate = {node->meta.name, node->meta.labels, node->taints,
                                        node->taint_count};
    int r = topology_apply(w->topology, &candidate);
    return r == 0 ? 0 : err_set(err, r, "no memory for node '%.*s'", STR_ARG(candidate.name));
}

static int forget(void *contents, const struct informer_object *gone, struct err *err) {
    const struct world *w = contents;
    (void)err;
    topology_remove(w->topology, gone->meta.name);
    return 0;
}

static struct pool *records(void *contents, uint32_t kind) {
    const struct world *w = contents;
    (void)kind; /* there is only one kind */
    return topology_records(w->topology);
}

static void drop(void *contents, uint32_t kind, uint32_t slot) {
    const struct world *w = contents;
    (void)kind;
    topology_drop(w->topology, slot);
}

static uint64_t kept_bytes(const void *contents) {
    const struct world *w = contents;
    return topology_kept_bytes(w->topology) + w->strings.bytes;
}

static const struct informer_kind nodes = {KIND_NODE, decode, apply, forget, NULL};
const struct informer_store node_store = {
    .what = "nodes",
    .kinds = &nodes,
    .kind_count = 1,
    .open = open_world,
    .close = close_world,
    .records = records,
    .drop = drop,
    .kept_bytes = kept_bytes,
};
