#include "unit/cache/probe.h"

struct question {
    struct str namespace, key;
    const struct selector *selector;
    const struct pod *pod;
    /* the answer, valid while the view is open */
    const uint32_t *counts;
    const int64_t *assumed;
    struct topology_column column;
    const uint8_t *flags;
};

typedef int ask_fn(struct cache_view *view, struct question *q);

static int ask_counter(struct cache_view *view, struct question *q) {
    return cache_counter_assumed(view, q->namespace, q->selector, &q->counts, &q->assumed);
}

static int ask_column(struct cache_view *view, struct question *q) {
    return topology_column(&view->nodes, q->key, &q->column);
}

static int ask_feasibility(struct cache_view *view, struct question *q) {
    return topology_feasibility(&view->nodes, &q->pod->affinity, q->pod->tolerations, &q->flags);
}

static void view_of(struct cache *cache, ask_fn *ask, struct question *q,
                    struct cache_view *ret_view) {
    cache_view_open(cache, ret_view);
    assert_int_equal(ask(ret_view, q), 0);
}

uint32_t probe_count(struct cache *cache, const char *namespace, const struct selector *selector,
                     const char *node) {
    struct question q = {.namespace = str_of(namespace), .selector = selector};
    struct cache_view view;
    view_of(cache, ask_counter, &q, &view);
    uint32_t slot = topology_find(&view.nodes, str_of(node));
    uint32_t count = slot == TOPOLOGY_NONE ? TOPOLOGY_NONE : q.counts[slot];
    cache_view_close(&view);
    return count;
}

int64_t probe_assumed(struct cache *cache, const char *namespace, const struct selector *selector,
                      const char *node) {
    struct question q = {.namespace = str_of(namespace), .selector = selector};
    struct cache_view view;
    view_of(cache, ask_counter, &q, &view);
    uint32_t slot = topology_find(&view.nodes, str_of(node));
    int64_t parts = slot == TOPOLOGY_NONE || q.assumed == NULL ? 0 : q.assumed[slot];
    cache_view_close(&view);
    return parts;
}

uint64_t probe_total(struct cache *cache, const char *namespace, const struct selector *selector) {
    struct question q = {.namespace = str_of(namespace), .selector = selector};
    struct cache_view view;
    uint64_t total = 0;
    view_of(cache, ask_counter, &q, &view);
    for (uint32_t slot = 0; slot < topology_slots(view.nodes.topology); slot++)
        total += q.counts[slot];
    cache_view_close(&view);
    return total;
}

uint32_t probe_domain(struct cache *cache, const char *topology_key, const char *node) {
    struct question q = {.key = str_of(topology_key)};
    struct cache_view view;
    view_of(cache, ask_column, &q, &view);
    uint32_t slot = topology_find(&view.nodes, str_of(node));
    uint32_t domain = slot == TOPOLOGY_NONE ? TOPOLOGY_NONE : q.column.domain_of[slot];
    assert_true(domain == TOPOLOGY_NONE || domain < q.column.domains);
    cache_view_close(&view);
    return domain;
}

uint8_t probe_flags(struct cache *cache, const struct pod *pod, const char *node) {
    struct question q = {.pod = pod};
    struct cache_view view;
    view_of(cache, ask_feasibility, &q, &view);
    uint32_t slot = topology_find(&view.nodes, str_of(node));
    uint8_t flags = slot == TOPOLOGY_NONE ? 0 : q.flags[slot];
    cache_view_close(&view);
    return flags;
}

bool probe_pod(struct cache *cache, const struct object_meta *meta, struct cache_pod *ret) {
    struct cache_view view;
    cache_view_open(cache, &view);
    bool found = cache_pod_find(&view, meta, ret);
    cache_view_close(&view);
    return found;
}
