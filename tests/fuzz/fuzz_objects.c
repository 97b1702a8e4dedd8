/*
 * Any text as Kubernetes objects. A cache that counted before they came must count like one that is
 * asked afterwards; every pod may be asked about; and when all are removed again nothing is left.
 */
#include "cache/cache.h"
#include "engine/engine.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

static const size_t ARENA_BYTES = 16u << 20;

static const struct spread_constraint defaults[] = {
    {.topology_key = {"zone", 4}, .max_skew = 1, .min_domains = 1, .hard = true},
    {.topology_key = {"zone", 4}, .max_skew = 1, .min_domains = 1, .honor_taints = true},
};
static const struct engine_options options = {.default_constraints = defaults,
                                              .default_constraint_count = 2,
                                              .empty_selector_counts_all = true,
                                              .spread_weight = 1};
static const struct selector everything = {0};

struct world {
    struct cache *cache;
    bool ask; /* the engine about every pod */
};

/* ---- what is done with each object ---- */

static void ask_about(struct cache *cache, const struct pod *pod) {
    struct str names[] = {STR("a"), pod->node_name};
    struct candidates candidates = {names, 2};
    struct preemption preemption = {pod->node_name, &pod->meta, 1};
    struct filter_result filtered;
    struct score_result scored;
    struct arena arena;
    bool *fits;
    arena_init(&arena, ARENA_BYTES);
    struct err err = {0};
    int r = engine_filter(&options, cache, pod, &candidates, &arena, &filtered, &err);
    require(r == 0 || err.text[0] != '\0');
    if (r == 0)
        require(engine_preempt(&options, cache, pod, &preemption, 1, &arena, &fits, &err) == 0);
    r = engine_score(&options, cache, pod, &candidates, &arena, &scored, &err);
    require(r == 0 || err.text[0] != '\0');
    for (uint32_t i = 0; r == 0 && i < 2; i++)
        require(scored.priorities[i] >= 0 && scored.priorities[i] <= ENGINE_MAX_PRIORITY);
    arena_done(&arena);
}

static int apply(void *ctx, const struct object *object, struct err *err) {
    const struct world *w = ctx;
    (void)err;
    if (w->ask && object->kind == OBJECT_POD)
        ask_about(w->cache, &object->pod);
    cache_write_begin(w->cache);
    int r = cache_apply(w->cache, object);
    cache_write_end(w->cache);
    return r;
}

static int drop(void *ctx, const struct object *object, struct err *err) {
    const struct world *w = ctx;
    (void)err;
    cache_write_begin(w->cache);
    cache_remove(w->cache, object);
    cache_write_end(w->cache);
    return 0;
}

/* ---- questions ---- */

/* The counters of `{}` in namespace "default" and the column "zone" must be equal. */
static void compare(struct cache *one, struct cache *two) {
    struct cache_view a, b;
    const uint32_t *counts_a, *counts_b;
    struct topology_column column_a, column_b;
    cache_view_open(one, &a);
    cache_view_open(two, &b);
    require(cache_counter(&a, STR("default"), &everything, &counts_a) == 0);
    require(cache_counter(&b, STR("default"), &everything, &counts_b) == 0);
    require(topology_column(&a.nodes, STR("zone"), &column_a) == 0);
    require(topology_column(&b.nodes, STR("zone"), &column_b) == 0);
    require(topology_slots(a.nodes.topology) == topology_slots(b.nodes.topology));
    for (uint32_t slot = 0; slot < topology_slots(a.nodes.topology); slot++) {
        require(counts_a[slot] == counts_b[slot]);
        require((column_a.domain_of[slot] == TOPOLOGY_NONE) ==
                (column_b.domain_of[slot] == TOPOLOGY_NONE));
    }
    cache_view_close(&a);
    cache_view_close(&b);
}

/* Whether the text was good to its end. */
static bool read_all(struct str text, enum pod_detail detail, object_visit_fn *visit,
                     struct world *w) {
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    int r = objects_read(text, detail, &arena, visit, w, &err);
    require((r == 0) == (err.code == 0) && (r == 0 || err.text[0] != '\0'));
    arena_done(&arena);
    return r == 0;
}

static void check_empty(struct cache *cache) {
    struct cache_stats stats = cache_stats(cache);
    require(stats.nodes + stats.pods + stats.classes + stats.workloads + stats.namespaces == 0);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    struct world before = {.ask = true}, after = {0};
    const struct cache_options small = {.max_counters = 8, .max_feasibilities = 2};
    require(cache_new(&small, &before.cache, NULL) == 0);
    require(cache_new(&small, &after.cache, NULL) == 0);
    compare(before.cache, after.cache); /* both empty; `before` counts from now on */
    cache_free(after.cache);
    require(cache_new(&small, &after.cache, NULL) == 0);
    bool whole = read_all(text, POD_WHOLE, apply, &before);
    bool placement = read_all(text, POD_RUNNING, apply, &after);
    require(placement || !whole); /* who looks closer finds more wrong */
    if (whole)
        compare(before.cache, after.cache);
    (void)read_all(text, POD_WHOLE, drop, &before); /* ends where it ended before */
    (void)read_all(text, POD_RUNNING, drop, &after);
    check_empty(before.cache);
    check_empty(after.cache);
    cache_free(before.cache);
    cache_free(after.cache);
    return 0;
}
