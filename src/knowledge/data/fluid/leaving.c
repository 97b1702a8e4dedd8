#include "data/fluid/leaving.h"

#include <errno.h>
#include <stdlib.h>

struct worker {
    const char *node, *name; /* borrowed from the store */
    int64_t replicas;        /* as in struct leaving_node */
    bool leaves;
};

struct search {
    int64_t replicas; /* number of wanted workers; -1: not known */
    struct worker *workers;
    uint32_t count, max, leaving; /* counts; if `workers` is NULL, the search only counts */
};

static struct worker read_worker(const struct search *s, const cJSON *pod) {
    const cJSON *metadata = doc_object(pod, "metadata");
    const cJSON *ordinal = cJSON_GetObjectItemCaseSensitive(pod, FLUID_ORDINAL);
    bool deleted = doc_string(metadata, "deletionTimestamp")[0] != '\0';
    bool surplus =
        s->replicas >= 0 && cJSON_IsNumber(ordinal) && ordinal->valuedouble >= (double)s->replicas;
    return (struct worker){.node = doc_string(doc_object(pod, "spec"), "nodeName"),
                           .name = doc_string(metadata, "name"),
                           .replicas = deleted ? -1 : s->replicas,
                           .leaves = deleted || surplus};
}

static bool add_worker(void *ctx, const cJSON *pod) {
    struct search *s = ctx;
    if (s->count == s->max)
        return false;
    const struct worker worker = read_worker(s, pod);
    s->leaving += worker.leaves;
    if (s->workers != NULL)
        s->workers[s->count] = worker;
    s->count++;
    return true;
}

/* Orders by node; on a node the workers that stay come first. */
static int by_node(const void *a, const void *b) {
    const struct worker *x = a, *y = b;
    int order = strcmp(x->node, y->node);
    if (order == 0)
        order = (int)x->leaves - (int)y->leaves;
    return order != 0 ? order : strcmp(x->name, y->name);
}

/* Finds the nodes that all their workers leave; the workers are sorted by_node(). */
static void take_nodes(const struct search *s, struct arena *arena, struct leaving_node *nodes,
                       uint32_t *ret_count) {
    *ret_count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct worker *w = &s->workers[i];
        bool first = i == 0 || strcmp(s->workers[i - 1].node, w->node) != 0;
        if (first && w->leaves)
            nodes[(*ret_count)++] = (struct leaving_node){
                arena_str(arena, str_of(w->node)), arena_str(arena, str_of(w->name)), w->replicas};
    }
}

int fluid_find_leaving(const struct fluid_store *store, const struct fluid_identity *dataset,
                       uint32_t *budget, struct arena *arena, const struct leaving_node **ret,
                       uint32_t *ret_count) {
    const char *id = fluid_label_key("", dataset, arena);
    *ret = NULL;
    *ret_count = 0;
    if (id == NULL)
        return -ENOMEM;
    struct search s = {.replicas = fluid_wanted_workers(store, dataset), .max = *budget};
    fluid_store_each_worker(store, dataset->namespace, id, add_worker, &s);
    *budget -= s.count;
    if (s.leaving == 0) /* the usual case */
        return 0;
    struct leaving_node *nodes = arena_array(arena, s.leaving, sizeof *nodes);
    s.workers = arena_array(arena, s.count, sizeof *s.workers);
    if (nodes == NULL || s.workers == NULL)
        return -ENOMEM;
    s.max = s.count;
    s.count = s.leaving = 0;
    fluid_store_each_worker(store, dataset->namespace, id, add_worker, &s);
    qsort(s.workers, s.count, sizeof *s.workers, by_node);
    take_nodes(&s, arena, nodes, ret_count);
    *ret = nodes;
    return arena_failed(arena) ? -ENOMEM : 0;
}

void leaving_put_reason(const struct leaving_node *leaving, struct strbuf *out) {
    strbuf_appendf(out, "worker '%.*s' ", STR_ARG(leaving->worker));
    if (leaving->replicas < 0)
        strbuf_appendf(out, "is being deleted");
    else
        strbuf_appendf(out, "is one too many for replicas: %lld", (long long)leaving->replicas);
}
