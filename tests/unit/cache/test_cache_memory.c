/*
 * Memory runs out, at every place where it can. The Nth call of malloc() fails, for every N:
 * whatever was under way must answer -ENOMEM and leave the cache as it was, and the next attempt
 * must work. Nothing may leak.
 *
 * Sanitizers and valgrind have a malloc() of their own: there the tests are skipped.
 */
#include "cache/file_target.h"

#include "base/file.h"
#include "unit/cache/naive_check.h"
#include "unit/cache/probe.h"
#include "unit/short_memory.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- steps: each does one thing to cache and model, or returns -ENOMEM ---- */

struct world {
    struct cluster c;
    struct naive model;
    struct naive_questions q;
    struct pod askers[2]; /* of the engine: with own constraints, and with the defaults */
    struct ordered_rule rule;
    struct arena arena; /* of the step under way */
};

static int apply(struct world *w, const struct object *object) {
    cache_write_begin(w->c.cache);
    int r = cache_apply(w->c.cache, object);
    cache_write_end(w->c.cache);
    return r;
}

static int node_step(struct world *w, uint32_t i) {
    struct naive_object o;
    struct naive_node node = {
        .labels = {{(int8_t)(i % 4 - 1), (int8_t)(i % 3 - 1), (int8_t)(i / 2 % 4 - 1)}},
        .taints = (uint8_t)(i % NAIVE_TAINTS),
        .has = (uint8_t)(i % NAIVE_REQUESTS)};
    naive_node_object(&node, i % 70, &o);
    int r = apply(w, &o.object);
    if (r == 0)
        naive_apply_node(&w->model, i % 70, &node);
    return r;
}

static struct naive_pod pod_of(uint32_t i) {
    return (struct naive_pod){
        .node = i % 7,
        .namespace = (uint8_t)(i / 2 % NAIVE_NAMESPACES),
        .terminating = i % 11 == 3,
        .requests = (uint8_t)(i / 3 % NAIVE_REQUESTS),
        .labels = {{(int8_t)(i % 4 - 1), (int8_t)(i % 3 - 1), (int8_t)(i % 2)}}};
}

/* What some pods want to be apart from. */
static const struct label labels_of_term[] = {
    {{"app", sizeof "app" - 1}, {"one", sizeof "one" - 1}}};
static const struct pod_affinity_term terms[] = {
    {.topology_key = {"zone", sizeof "zone" - 1}, .pods = {true, {labels_of_term, 1}, NULL, 0}},
    {.topology_key = {"rack", sizeof "rack" - 1}, .pods = {true, {NULL, 0}, NULL, 0}}};

static int pod_step(struct world *w, uint32_t i) {
    struct naive_object o;
    struct naive_pod pod = pod_of(i);
    uint32_t which = i % 24;
    if (!naive_pod_has_uid(which))
        pod.namespace = (uint8_t)(which / 2 % NAIVE_NAMESPACES);
    naive_pod_object(&pod, which, true, false, &o);
    if (i % 3 == 0)
        o.object.pod.apart = (struct pod_affinity){.terms = &terms[i % 2], .term_count = 1};
    int r = apply(w, &o.object);
    if (r == 0)
        naive_apply_pod(&w->model, which, &pod, true, false);
    return r;
}

static int reserve_step(struct world *w, uint32_t i) {
    struct naive_object o;
    struct naive_pod pod = pod_of(i);
    uint32_t which = 30 + 2 * i;
    pod.labels.value[1] = 2; /* as no other pod has them */
    naive_pod_object(&pod, which, true, false, &o);
    cache_write_begin(w->c.cache);
    int r = cache_reserve(w->c.cache, &o.object.pod, o.object.pod.node_name);
    cache_write_end(w->c.cache);
    if (r == 0)
        assert_true(naive_reserve(&w->model, which, &pod, 1000000));
    return r;
}

static int namespace_step(struct world *w, uint32_t i) {
    struct naive_object o;
    naive_namespace_object(i, &o);
    int r = apply(w, &o.object);
    if (r == 0)
        naive_apply_namespace(&w->model, i);
    return r;
}

static int workload_step(struct world *w, uint32_t i) {
    struct naive_object o;
    naive_workload_object(i % NAIVE_WORKLOADS, (uint8_t)(i % 9), &o);
    int r = apply(w, &o.object);
    if (r == 0)
        naive_apply_workload(&w->model, i % NAIVE_WORKLOADS, (uint8_t)(i % 9));
    return r;
}

static int counter_step(struct world *w, uint32_t i) {
    struct cache_view view;
    const uint32_t *counts;
    cache_view_open(w->c.cache, &view);
    int r = cache_counter(&view, naive_namespace_name(i % NAIVE_NAMESPACES),
                          &w->q.selectors[i % NAIVE_SELECTORS], &counts);
    cache_view_close(&view);
    return r;
}

static int column_step(struct world *w, uint32_t i) {
    struct cache_view view;
    struct topology_column column;
    cache_view_open(w->c.cache, &view);
    int r = topology_column(&view.nodes, str_of(naive_topology_keys[i]), &column);
    cache_view_close(&view);
    return r;
}

static int feasibility_step(struct world *w, uint32_t i) {
    struct cache_view view;
    const uint8_t *flags;
    cache_view_open(w->c.cache, &view);
    int r = topology_feasibility(&view.nodes, &w->q.askers[i].affinity, w->q.askers[i].tolerations,
                                 &flags);
    cache_view_close(&view);
    return r;
}

/* The engine's three questions; i says which. */
static int engine_step(struct world *w, uint32_t i) {
    struct str names[] = {STR("n0"), STR("n1"), STR("nowhere")};
    struct candidates candidates = {names, 3};
    struct filter_result filter;
    struct score_result score;
    bool *fits;
    struct object_meta victims[] = {{.uid = STR("pod-0")}, {.uid = STR("pod-2")}};
    struct preemption preemption = {names[0], victims, 2};
    struct err err = {0};
    const struct pod *pod = &w->askers[i % 2];
    w->c.options.filters = i < 6 ? 0 : FILTERS_ALL;
    int r =
        i < 2 || i >= 6
            ? engine_filter(&w->c.options, w->c.cache, pod, &candidates, &w->arena, &filter, &err)
        : i < 4 ? engine_score(&w->c.options, w->c.cache, pod, &candidates, &w->arena, &score, &err)
                : engine_preempt(&w->c.options, w->c.cache, pod, &preemption, 1, &w->arena, &fits,
                                 &err);
    assert_true(r == 0 || err.text[0] != '\0');
    return r;
}

static const struct {
    int (*run)(struct world *w, uint32_t i);
    uint32_t from, to;
} steps[] = {
    {namespace_step, 0, 1},
    {workload_step, 5, 6},
    {counter_step, 0, 2},
    {column_step, 0, 1},
    {feasibility_step, 0, 1},
    {node_step, 0, 6},
    {pod_step, 0, 24},
    {namespace_step, 0, NAIVE_NAMESPACES},
    {workload_step, 0, 5},
    {counter_step, 0, 21},
    {column_step, 0, NAIVE_KEYS},
    {engine_step, 0, 8},
    {reserve_step, 0, 3},
    {feasibility_step, 0, NAIVE_FEASIBILITIES},
    {pod_step, 24, 60},
    {node_step, 6, 70}, /* beyond the first 64 slots */
    {node_step, 70, 90},
    {pod_step, 60, 70},
    {workload_step, 5, 30},
};

/* ---- failing every one of them ---- */

static void open_world(struct world *w) {
    *w = (struct world){0};
    cluster_open_with(&w->c, (struct cache_options){.max_counters = 16,
                                                    .max_feasibilities = 3,
                                                    .max_columns = 2,
                                                    .reservation_ttl_ms = NAIVE_TTL_MS});
    naive_questions_open(&w->q, &w->c, NAIVE_NODES, NAIVE_PODS);
    w->askers[0] = cluster_pod(&w->c, "app=one", "1/zone/app=one 2/rack/tier,soft", "");
    w->askers[1] = cluster_pod(&w->c, "app=one", "", "");
    w->askers[0].beside = (struct pod_affinity){.terms = terms, .term_count = 1};
    w->askers[1].apart = (struct pod_affinity){.terms = terms, .term_count = 2};
    w->c.options.default_constraints = cluster_constraints(&w->c, "1/zone/nil 2/disk/nil,soft",
                                                           &w->c.options.default_constraint_count);
}

/* One step while memory is short. Returns whether anything failed. */
static bool try_step(struct world *w, size_t s, uint32_t i) {
    arena_init(&w->arena, 1u << 20);
    armed = true;
    int r = steps[s].run(w, i);
    armed = false;
    arena_done(&w->arena);
    if (r != 0 && r != -ENOMEM)
        fail_msg("step %zu, %u answers %d", s, i, r);
    if (r != 0 && !has_failed)
        fail_msg("step %zu, %u fails although memory was there", s, i);
    return r != 0;
}

/* The whole scenario with the nth allocation failing; false: there are not that many. */
static bool run_scenario(long n, bool all_after) {
    static struct world w;
    uint64_t random = (uint64_t)n;
    long before = blocks;
    bool done = false;
    open_world(&w);
    arm(n, all_after);
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
        for (uint32_t i = steps[s].from; i < steps[s].to; i++) {
            bool failed = try_step(&w, s, i);
            if (!has_failed || done)
                continue;
            done = true;
            arm(1000000000, false);
            if (failed) {
                naive_check(&w.model, &w.q, &w.c, &random, 100);
                assert_false(try_step(&w, s, i));
            }
            naive_check(&w.model, &w.q, &w.c, &random, 100);
        }
    naive_check(&w.model, &w.q, &w.c, &random, 100);
    naive_check_empties(&w.model, &w.q, &w.c);
    cluster_close(&w.c);
    assert_int_equal(blocks, before);
    return done;
}

static void every_allocation(bool all_after) {
    long n = 0;
    if (!can_fail())
        skip();
    while (run_scenario(n, all_after))
        n++;
    print_message("# %ld allocations failed, one by one\n", n);
    assert_true(n > 300);
}

static void one_allocation_fails(void **state) {
    (void)state;
    every_allocation(false);
}

static void memory_is_gone_for_a_while(void **state) {
    (void)state;
    every_allocation(true);
}

/* ---- the rest of the folder ---- */

static void a_cache_that_cannot_be_made(void **state) {
    (void)state;
    struct cache *cache = NULL;
    struct err err = {0};
    if (!can_fail())
        skip();
    long before = blocks;
    arm(0, true);
    armed = true;
    int r = cache_new(&(struct cache_options){0}, &cache, &err);
    armed = false;
    assert_int_equal(r, -ENOMEM);
    assert_contains(err.text, "no memory");
    assert_null(cache);
    assert_int_equal(blocks, before);
}

/* 0, or what was refused. The load that failed must not keep the next one from working. */
static int load_files(const char *const *paths, size_t count, long n) {
    struct cluster c;
    struct file_source *source = NULL;
    struct file_source_result result;
    struct err err = {0};
    cluster_open(&c);
    struct cache_stats before = cache_stats(c.cache);
    arm(n, false);
    armed = true;
    int r = file_source_new(paths, count, cache_file_target(c.cache), &source, &err);
    if (r == 0)
        r = file_source_load(source, &result, &err);
    armed = false;
    assert_true(r == 0 || (has_failed && r < 0 && err.text[0] != '\0'));
    struct cache_stats after = cache_stats(c.cache);
    assert_true(r == 0 || memcmp(&after, &before, sizeof before) == 0);
    assert_int_equal(cache_ready(c.cache), r == 0);
    if (r != 0 && source != NULL)
        assert_int_equal(file_source_load(source, &result, &err), 0);
    if (source != NULL) {
        assert_int_equal(cache_stats(c.cache).nodes, 1);
        assert_int_equal(cache_stats(c.cache).pods, 2);
    }
    file_source_free(source);
    cluster_close(&c);
    return r;
}

static void state_files_that_do_not_fit(void **state) {
    (void)state;
    char folder[] = "/tmp/evenkeel-test-XXXXXX", json[64], yaml[64];
    if (!can_fail())
        skip();
    assert_non_null(mkdtemp(folder));
    (void)snprintf(json, sizeof json, "%s/a.json", folder); /* fit */
    (void)snprintf(yaml, sizeof yaml, "%s/b.yaml", folder);
    struct str text = STR("{\"kind\":\"List\",\"items\":[{\"kind\":\"Node\",\"metadata\":"
                          "{\"name\":\"\\u0061\",\"labels\":{\"zone\":\"z\"}}},{\"kind\":\"Pod\","
                          "\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"a\"}}]}");
    assert_int_equal(file_write_atomic(json, text, 0600, NULL), 0);
    text = STR("kind: Pod\nmetadata:\n  name: q\nspec: {nodeName: a}\n");
    assert_int_equal(file_write_atomic(yaml, text, 0600, NULL), 0);
    const char *paths[] = {folder, json};
    assert_int_equal(load_files(paths, 2, 1000000), 0); /* libc makes its own caches */
    long before = blocks, n = 0;
    do {
        if (load_files(paths, 2, n) == 0 && !has_failed)
            break;
        assert_int_equal(blocks, before);
    } while (n++ < 100000);
    assert_true(n > 50);
    assert_int_equal(unlink(json) + unlink(yaml) + rmdir(folder), 0);
}

/* Files that were good are read again, changed and good: memory runs out while they are applied. */
struct reload {
    struct cluster c;
    struct selector all;
    char path[64];
    struct file_source *source;
    struct file_source_result result;
    struct err err;
    bool in_part;
};

static void put_state(const struct reload *w, const char *text) {
    struct err err = {0};
    if (file_write_atomic(w->path, str_of(text), 0600, &err) != 0)
        fail_msg("%s", err.text);
}

static const char state_before[] =
    "{\"kind\":\"List\",\"items\":[{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}},"
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"moves\"},\"spec\":{\"nodeName\":\"a\"}},"
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"goes\"},\"spec\":{\"nodeName\":\"a\"}}]}";
static const char state_after[] =
    "{\"kind\":\"List\",\"items\":[{\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}},"
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"moves\"},\"spec\":{\"nodeName\":\"b\"}},"
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"comes\",\"labels\":{\"x\":\"y\"}},"
    "\"spec\":{\"nodeName\":\"b\"}}]}";

/* What is served is a mixture: each object is the old or the new one, and none was forgotten. */
static void check_mixture(struct reload *w) {
    uint32_t on_a = probe_count(w->c.cache, "default", &w->all, "a");
    struct cache_stats stats = cache_stats(w->c.cache);
    assert_true(cache_ready(w->c.cache));
    assert_true(stats.nodes == 1 || stats.nodes == 2);
    assert_true(on_a == 1 || on_a == 2); /* "moves" has moved or not; "goes" is there */
    if (stats.nodes == 2)
        assert_int_equal(probe_count(w->c.cache, "default", &w->all, "b"), stats.pods - on_a);
    assert_true(w->in_part || (stats.nodes == 1 && on_a == 2));
}

static void reload(struct reload *w, long n) {
    put_state(w, state_before);
    assert_int_equal(file_source_load(w->source, &w->result, &w->err), 0);
    assert_int_equal(probe_count(w->c.cache, "default", &w->all, "a"), 2);
    put_state(w, state_after);
    arm(n, false);
    armed = true;
    int r = file_source_load(w->source, &w->result, &w->err);
    armed = false;
    w->in_part = r != 0 && strncmp(w->err.text, "applied in part: ", 17) == 0;
    assert_true(r == 0 || has_failed);
    if (r != 0)
        check_mixture(w);
    assert_true(!w->in_part || file_source_changed(w->source));
    if (r != 0)
        assert_int_equal(file_source_load(w->source, &w->result, &w->err), 0);
    assert_false(file_source_changed(w->source));
    assert_int_equal(cache_stats(w->c.cache).nodes, 1);
    assert_int_equal(cache_stats(w->c.cache).pods, 2);
    assert_int_equal(probe_count(w->c.cache, "default", &w->all, "b"), 2);
}

static void a_reload_that_does_not_fit(void **state) {
    (void)state;
    char folder[] = "/tmp/evenkeel-test-XXXXXX";
    uint32_t in_part = 0;
    if (!can_fail())
        skip();
    assert_non_null(mkdtemp(folder));
    for (long n = 0; n == 0 || has_failed; n++) {
        struct reload w = {0};
        const char *path = w.path;
        cluster_open(&w.c);
        w.all = cluster_selector(&w.c, "{}");
        (void)snprintf(w.path, sizeof w.path, "%s/a.json", folder); /* fits */
        assert_int_equal(file_source_new(&path, 1, cache_file_target(w.c.cache), &w.source, &w.err),
                         0);
        reload(&w, n);
        in_part += w.in_part;
        file_source_free(w.source);
        cluster_close(&w.c);
        assert_int_equal(unlink(w.path), 0);
    }
    assert_true(in_part > 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_allocation_fails),
        cmocka_unit_test(memory_is_gone_for_a_while),
        cmocka_unit_test(a_cache_that_cannot_be_made),
        cmocka_unit_test(state_files_that_do_not_fit),
        cmocka_unit_test(a_reload_that_does_not_fit),
    };
    return cmocka_run_group_tests_name("cache, out of memory", tests, NULL, NULL);
}
