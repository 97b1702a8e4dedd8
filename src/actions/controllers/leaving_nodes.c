#include "controllers/leaving_nodes.h"

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/sorted.h"
#include "data/fluid/leaving.h"
#include "kube/client/path.h"
#include "model/fluid.h"
#include "model/kinds.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LOOK_MS = 1000,  /* between two checks of all nodes */
    PACE_MS = 200,   /* between two writes */
    AGAIN_MS = 5000, /* between two writes of one node */
    RETRY_MS = 5000,
    REFUSED_MS = 60000,
    FORGET_MS = 600000, /* a write that changed nothing is repeated after this time */
    NODES = 1000,       /* writes planned at the same time; the other nodes wait */
    NAMES_BYTES = NODES * 254,
    ARENA_BYTES = 32 << 20, /* the names of LIMIT_LEAVING_NODES nodes, and room to find them */
};

/* A label that a node should have. */
struct wanted {
    struct str node;
    const char *key;
};

/* The last write of a node: hashes of its name and of the labels that it had and should have. */
struct written {
    uint64_t node, state; /* hashes */
    int64_t at_ms;        /* 0: no write */
};

struct leaving_nodes_controller {
    struct leaving_nodes_options options;
    struct kube_io io;
    struct write_handle *writes;
    struct kube_timer timer;
    struct arena arena;    /* memory of the wanted labels */
    struct wanted *wanted; /* [LIMIT_LEAVING_NODES], by node and key; owned */
    uint32_t count;
    bool is_known;           /* `wanted` is complete; false: there was no memory for it */
    struct written *written; /* [written_cap], by slot; owned */
    uint32_t written_cap;
    struct strbuf names; /* names of the nodes to write; a NUL ends each name */
    bool refused;        /* the last write was refused, which was logged */
    struct metric labels;
};

static int64_t now_ms(const struct leaving_nodes_controller *r) {
    return r->options.clock->now_ms(r->options.clock);
}

static int64_t may_write_ms(void *ctx) {
    const struct leaving_nodes_controller *r = ctx;
    return elector_remaining_ms(r->options.elector);
}

/* ---- the labels that nodes should have ---- */

static bool add_dataset(void *ctx, const cJSON *dataset) {
    struct leaving_nodes_controller *r = ctx;
    const cJSON *metadata = doc_object(dataset, "metadata");
    const struct fluid_identity id = {doc_string(metadata, "namespace"),
                                      doc_string(metadata, "name"), doc_string(metadata, "uid")};
    const struct leaving_node *nodes;
    uint32_t count, budget = LIMIT_FLUID_WORKERS;
    if (fluid_find_leaving(fluid_live_store(r->options.objects), &id, &budget, &r->arena, &nodes,
                           &count) != 0)
        return false;
    if (count == 0)
        return true;
    const char *key = fluid_label_key(FLUID_LABEL_SCALE_IN, &id, &r->arena);
    if (key == NULL)
        return false;
    for (uint32_t i = 0; i < count && fluid_label_fits(key); i++) {
        if (r->count == LIMIT_LEAVING_NODES)
            return false;
        r->wanted[r->count++] = (struct wanted){nodes[i].node, key};
    }
    return true;
}

static int by_node(const void *a, const void *b) {
    const struct wanted *x = a, *y = b;
    int order = str_cmp(x->node, y->node);
    return order != 0 ? order : strcmp(x->key, y->key);
}

/* Drops a node's duplicate labels (datasets a-b/c and a/b-c share one), and those above a limit. */
static void keep_few(struct leaving_nodes_controller *r) {
    uint32_t kept = 0, of_node = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct wanted *w = &r->wanted[i];
        bool same_node = kept > 0 && str_eq(r->wanted[kept - 1].node, w->node);
        if (same_node && strcmp(r->wanted[kept - 1].key, w->key) == 0)
            continue;
        of_node = same_node ? of_node + 1 : 1;
        if (of_node <= LIMIT_LEAVING_LABELS)
            r->wanted[kept++] = *w;
    }
    r->count = kept;
}

static void find_wanted(struct leaving_nodes_controller *r) {
    arena_reset(&r->arena);
    r->count = 0;
    fluid_live_hold(r->options.objects);
    fluid_store_each(fluid_live_store(r->options.objects), FLUID_DATASET, add_dataset, r);
    fluid_live_release(r->options.objects);
    r->is_known = !arena_failed(&r->arena);
    if (!r->is_known)
        return;
    qsort(r->wanted, r->count, sizeof *r->wanted, by_node);
    keep_few(r);
    metric_set(&r->labels, r->count);
}

static struct str wanted_node(const void *items, size_t i) {
    return ((const struct wanted *)items)[i].node;
}

/* Returns a node's wanted labels. O(log labels of all nodes). */
static const struct wanted *wanted_of(const struct leaving_nodes_controller *r, struct str node,
                                      uint32_t *ret_count) {
    bool found;
    const struct wanted *of_node =
        r->wanted + sorted_place(r->wanted, r->count, wanted_node, node, &found);
    const struct wanted *end = of_node;
    while (end < r->wanted + r->count && str_eq(end->node, node))
        end++;
    *ret_count = (uint32_t)(end - of_node);
    return of_node;
}

/* ---- the labels that nodes have ---- */

/* One node: its wanted labels, and a hash of its wanted and its present labels. */
struct node_state {
    uint32_t slot;
    struct str name; /* borrowed from the view */
    const struct wanted *wanted;
    uint32_t wanted_count;
    bool is_right;
    uint64_t hash;
};

static void compare(const struct leaving_nodes_controller *r, const struct topology *t,
                    uint32_t slot, struct node_state *ret) {
    struct label has[LIMIT_LEAVING_LABELS];
    *ret = (struct node_state){.slot = slot, .name = topology_name(t, slot)};
    uint32_t count =
        topology_labels_of(t, slot, STR(FLUID_LABEL_SCALE_IN), has, LIMIT_LEAVING_LABELS);
    ret->wanted = wanted_of(r, ret->name, &ret->wanted_count);
    ret->is_right = count == ret->wanted_count;
    ret->hash = hash_mix(count, ret->wanted_count);
    for (uint32_t i = 0; i < count && i < LIMIT_LEAVING_LABELS; i++) {
        ret->is_right = ret->is_right && str_eq(has[i].key, str_of(ret->wanted[i].key)) &&
                        str_eq(has[i].value, STR("true"));
        ret->hash = hash_mix(hash_mix(ret->hash, hash_str(has[i].key)), hash_str(has[i].value));
    }
    for (uint32_t i = 0; i < ret->wanted_count; i++)
        ret->hash = hash_mix(ret->hash, hash_str(str_of(ret->wanted[i].key)));
}

/* Was the node already written in this state? Then that write had no effect, or has none yet. */
static bool is_written(const struct leaving_nodes_controller *r, const struct node_state *node) {
    const struct written *w = &r->written[node->slot];
    return w->at_ms != 0 && w->node == hash_str(node->name) && w->state == node->hash &&
           now_ms(r) - w->at_ms < FORGET_MS;
}

static bool reserve_written(struct leaving_nodes_controller *r, uint32_t cap) {
    if (cap <= r->written_cap)
        return true;
    struct written *grown = reallocarray(r->written, cap, sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + r->written_cap, 0, (cap - r->written_cap) * sizeof *grown);
    r->written = grown;
    r->written_cap = cap;
    return true;
}

static void note_wrong_nodes(struct leaving_nodes_controller *r) {
    struct cache_view view;
    cache_view_open(r->options.cache, &view);
    const struct topology *t = view.nodes.topology;
    uint32_t slots = reserve_written(r, topology_cap(t)) ? topology_slots(t) : 0;
    for (uint32_t slot = 0; slot < slots && !strbuf_failed(&r->names); slot++) {
        struct node_state node;
        if (!topology_is_known(t, slot))
            continue;
        compare(r, t, slot, &node);
        if (node.is_right) {
            r->written[slot].at_ms = 0;
        } else if (!is_written(r, &node)) {
            strbuf_append_str(&r->names, node.name);
            strbuf_append_char(&r->names, '\0');
        }
    }
    cache_view_close(&view);
}

static void look(void *ctx) {
    struct leaving_nodes_controller *r = ctx;
    strbuf_clear(&r->names);
    if (may_write_ms(r) == 0) {
        metric_set(&r->labels, 0); /* another replica counts them now */
    } else if (r->options.is_synced(r->options.ctx)) {
        find_wanted(r);
        if (r->is_known)
            note_wrong_nodes(r);
    }
    writer_want_each(r->writes, strbuf_str(&r->names));
    r->io.timer_start(r->options.client, &r->timer, LOOK_MS);
}

/* ---- writing ---- */

static void put_node(const struct node_state *node, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(NODE_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("name"), node->name);
    json_key(&w, STR("labels"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < node->wanted_count; i++)
        json_put_member(&w, str_of(node->wanted[i].key), STR("true"));
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
}

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct leaving_nodes_controller *r = ctx;
    struct cache_view view;
    struct node_state node;
    char nodes[KIND_PATH_SIZE];
    (void)err; /* the writer notices a body that does not fit */
    if (!r->is_known || !kube_path_segment(name))
        return 0;
    kind_path(&watched_kinds[KIND_NODE], nodes);
    cache_view_open(r->options.cache, &view);
    const struct topology *t = view.nodes.topology;
    uint32_t slot = topology_find(&view.nodes, name);
    if (slot != TOPOLOGY_NONE && slot < r->written_cap) {
        compare(r, t, slot, &node);
        if (!node.is_right) {
            r->written[slot] = (struct written){hash_str(name), node.hash, now_ms(r)};
            ret->verb = WRITE_APPLY;
            strbuf_appendf(&ret->path, "%s/%.*s", nodes, STR_ARG(name));
            put_node(&node, &ret->body);
        }
    }
    cache_view_close(&view);
    return 0;
}

/* Forgets the node's last write, so that the same write may be made again. */
static void forget(struct leaving_nodes_controller *r, struct str name) {
    struct cache_view view;
    cache_view_open(r->options.cache, &view);
    uint32_t slot = topology_find(&view.nodes, name);
    if (slot != TOPOLOGY_NONE && slot < r->written_cap)
        r->written[slot].at_ms = 0;
    cache_view_close(&view);
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct leaving_nodes_controller *r = ctx;
    bool good = result->end == WRITE_DONE || result->end == WRITE_GONE;
    bool refused = result->end == WRITE_REFUSED;
    if (!good && !(refused && r->refused))
        LOG_W("a node was not labelled", LOG_STR("node", name), LOG_INT("status", result->status),
              LOG_STR("err", result->problem));
    else if (good)
        LOG_I("applied the labels of the datasets that are leaving a node", LOG_STR("node", name));
    r->refused = refused;
    if (result->end != WRITE_DONE)
        forget(r, name);
}

/* ---- life ---- */

static int begin(struct leaving_nodes_controller *r, struct err *err) {
    const struct write_owner owner = {.what = kind_name(&watched_kinds[KIND_NODE]),
                                      .manager = "evenkeel-leaving-nodes",
                                      .lane = {.objects = NODES,
                                               .pace_ms = PACE_MS,
                                               .again_ms = AGAIN_MS,
                                               .retry_ms = RETRY_MS,
                                               .retry_max_ms = REFUSED_MS,
                                               .refused_ms = REFUSED_MS,
                                               .may_write_ms = may_write_ms,
                                               .ctx = r},
                                      .make = make,
                                      .done = done,
                                      .ctx = r};
    r->wanted = calloc(LIMIT_LEAVING_NODES, sizeof *r->wanted);
    if (r->wanted == NULL)
        return err_set(err, -ENOMEM, "no memory to label nodes");
    return writer_join(r->options.writer, &owner, &r->writes, err);
}

int leaving_nodes_start(const struct leaving_nodes_options *options,
                        struct leaving_nodes_controller **ret, struct err *err) {
    struct leaving_nodes_controller *r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, -ENOMEM, "no memory to label nodes");
    r->options = *options;
    if (r->options.clock == NULL)
        r->options.clock = clock_real();
    r->io = kube_io_or_real(options->io);
    arena_init(&r->arena, ARENA_BYTES);
    r->names.max = NAMES_BYTES;
    r->timer = (struct kube_timer){.fn = look, .ctx = r};
    r->labels = (struct metric){.name = "evenkeel_leaving_nodes",
                                .help = "Labels that nodes should have because workers of datasets "
                                        "are leaving them.",
                                .labels = "",
                                .kind = METRIC_GAUGE};
    metric_register(&r->labels);
    int result = begin(r, err);
    if (result != 0) {
        leaving_nodes_free(r);
        return result;
    }
    *ret = r;
    r->io.timer_start(r->options.client, &r->timer, 0);
    return 0;
}

void leaving_nodes_free(struct leaving_nodes_controller *r) {
    if (r == NULL)
        return;
    r->io.timer_cancel(r->options.client, &r->timer);
    writer_leave(r->writes);
    metric_unregister(&r->labels);
    arena_done(&r->arena);
    strbuf_done(&r->names);
    free(r->wanted);
    free(r->written);
    free(r);
}
