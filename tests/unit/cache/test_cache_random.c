/*
 * The cache against the naive model of naive.h: random sequences of everything that can happen to
 * it, and after every step all answers must be those of a recount. TEST_SEED repeats a sequence
 * (with EVENKEEL_TEST_SEQUENCES=1), EVENKEEL_TEST_SEQUENCES says how many there are.
 */
#include "unit/cache/naive_check.h"

#include <errno.h>
#include <stdatomic.h>

enum { SEQUENCES = 2000, STEPS = 40 };

struct world {
    uint64_t random;
    struct naive model;
    struct cluster c;
    struct naive_questions q;
    const char *step; /* what was done last */
};

static uint32_t below(struct world *w, uint32_t n) {
    return unit_below(&w->random, n);
}

static bool chance(struct world *w, uint32_t percent) {
    return below(w, 100) < percent;
}

static int64_t now_ms(struct world *w) {
    return w->c.clock.clock.now_ms(&w->c.clock.clock);
}

/* ---- what happens ---- */

static struct naive_labels random_labels(struct world *w) {
    struct naive_labels labels;
    for (uint32_t k = 0; k < NAIVE_KEYS; k++)
        labels.value[k] = (int8_t)((int)below(w, NAIVE_VALUES + 2) - 2);
    for (uint32_t k = 0; k < NAIVE_KEYS; k++)
        if (labels.value[k] < 0)
            labels.value[k] = -1;
    return labels;
}

static struct naive_pod random_pod(struct world *w, uint32_t i) {
    struct naive_pod pod = {
        .node = below(w, w->q.nodes),
        .namespace =
            (uint8_t)(naive_pod_has_uid(i) ? below(w, NAIVE_NAMESPACES) : i / 2 % NAIVE_NAMESPACES),
        .terminating = chance(w, 10),
        .labels = random_labels(w),
        .requests = (uint8_t)below(w, NAIVE_REQUESTS),
    };
    return pod;
}

static void apply_node(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.nodes);
    struct naive_node node = {.labels = random_labels(w),
                              .taints = (uint8_t)below(w, NAIVE_TAINTS),
                              .has = (uint8_t)below(w, NAIVE_REQUESTS)};
    if (chance(w, 30))
        node = w->model.nodes[i]; /* the same again */
    naive_node_object(&node, i, &o);
    cluster_apply(&w->c, &o.object);
    naive_apply_node(&w->model, i, &node);
}

static void remove_node(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.nodes);
    naive_node_object(&w->model.nodes[i], i, &o);
    cluster_remove(&w->c, &o.object);
    w->model.nodes[i].known = false;
}

static void apply_pod(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.pods);
    struct naive_pod pod = random_pod(w, i);
    if (chance(w, 40) && w->model.pods[i].present) { /* one thing changes, or nothing */
        uint32_t node = pod.node;
        pod = w->model.pods[i];
        pod.node = chance(w, 50) ? node : pod.node;
        pod.requests = (uint8_t)(chance(w, 30) ? below(w, NAIVE_REQUESTS) : pod.requests);
    }
    bool bound = !chance(w, 8), finished = chance(w, 8);
    naive_pod_object(&pod, i, bound, finished, &o);
    cluster_apply(&w->c, &o.object);
    naive_apply_pod(&w->model, i, &pod, bound, finished);
}

static void remove_pod(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.pods);
    struct naive_pod pod = random_pod(w, i); /* known by its identity, whatever else it says */
    naive_pod_object(&pod, i, chance(w, 50), false, &o);
    cluster_remove(&w->c, &o.object);
    w->model.pods[i].present = w->model.pods[i].reserved = false;
}

static void change_namespace(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, NAIVE_NAMESPACES);
    naive_namespace_object(i, &o);
    if (chance(w, 50)) {
        cluster_apply(&w->c, &o.object);
        naive_apply_namespace(&w->model, i);
    } else {
        cluster_remove(&w->c, &o.object);
        w->model.namespaces[i] = false;
    }
}

static void change_workload(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, NAIVE_WORKLOADS);
    uint8_t selector = (uint8_t)below(w, 9);
    naive_workload_object(i, selector, &o);
    if (chance(w, 60)) {
        cluster_apply(&w->c, &o.object);
        naive_apply_workload(&w->model, i, selector);
    } else {
        cluster_remove(&w->c, &o.object);
        w->model.workloads[i].present = false;
    }
}

static void reserve(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.pods);
    struct naive_pod pod = random_pod(w, i);
    naive_pod_object(&pod, i, true, false, &o);
    cache_write_begin(w->c.cache);
    int r = cache_reserve(w->c.cache, &o.object.pod, o.object.pod.node_name);
    cache_write_end(w->c.cache);
    assert_int_equal(r, naive_reserve(&w->model, i, &pod, now_ms(w)) ? 0 : -ENOENT);
}

static void release(struct world *w) {
    struct naive_object o;
    uint32_t i = below(w, w->q.pods);
    struct naive_pod pod = random_pod(w, i);
    naive_pod_object(&pod, i, false, false, &o);
    cache_write_begin(w->c.cache);
    cache_release(w->c.cache, &o.object.meta);
    cache_write_end(w->c.cache);
    naive_release(&w->model, i);
}

static void expire(struct world *w) {
    atomic_fetch_add(&w->c.clock.at_ms, below(w, NAIVE_TTL_MS));
    cache_write_begin(w->c.cache);
    cache_expire(w->c.cache);
    cache_write_end(w->c.cache);
    naive_expire(&w->model, now_ms(w));
}

static void sync_begin(struct world *w) {
    cache_write_begin(w->c.cache);
    cache_sync_begin(w->c.cache, CACHE_ALL_KINDS);
    cache_write_end(w->c.cache);
    w->model.generation++;
}

static void sync_end(struct world *w) {
    cache_write_begin(w->c.cache);
    cache_sync_end(w->c.cache, CACHE_ALL_KINDS);
    cache_write_end(w->c.cache);
    naive_sync_end(&w->model);
}

/* A listing that has most of what there is, as it is. */
static void relist(struct world *w) {
    struct naive_object o;
    sync_begin(w);
    for (uint32_t i = 0; i < w->q.nodes; i++)
        if (w->model.nodes[i].known && chance(w, 90)) {
            naive_node_object(&w->model.nodes[i], i, &o);
            cluster_apply(&w->c, &o.object);
            naive_apply_node(&w->model, i, &w->model.nodes[i]);
        }
    for (uint32_t i = 0; i < w->q.pods; i++)
        if (w->model.pods[i].present && chance(w, 90)) {
            struct naive_pod pod = w->model.pods[i];
            naive_pod_object(&pod, i, true, false, &o);
            cluster_apply(&w->c, &o.object);
            naive_apply_pod(&w->model, i, &pod, true, false);
        }
    sync_end(w);
}

static const struct action {
    const char *name;
    void (*run)(struct world *w);
    uint32_t weight;
} actions[] = {
    {"apply node", apply_node, 18},
    {"remove node", remove_node, 5},
    {"apply pod", apply_pod, 40},
    {"remove pod", remove_pod, 8},
    {"change namespace", change_namespace, 3},
    {"change workload", change_workload, 6},
    {"reserve", reserve, 10},
    {"release", release, 3},
    {"expire", expire, 3},
    {"begin listing", sync_begin, 2},
    {"end listing", sync_end, 1},
    {"list again", relist, 1},
};

static void act(struct world *w) {
    uint32_t at = below(w, 100), i = 0;
    while (at >= actions[i].weight)
        at -= actions[i++].weight;
    w->step = actions[i].name;
    actions[i].run(w);
}

/* ---- sequences ---- */

static void open_world(struct world *w, uint64_t seed) {
    static const uint32_t counters[] = {2, 5, 128}, feasibilities[] = {1, 3, 64};
    static const uint32_t columns[] = {1, 3, 64};
    static const uint32_t nodes[] = {3, 12, NAIVE_NODES}, pods[] = {6, 24, NAIVE_PODS};
    *w = (struct world){.random = seed, .step = "start"};
    cluster_open_with(&w->c, (struct cache_options){.max_counters = counters[below(w, 3)],
                                                    .max_feasibilities = feasibilities[below(w, 3)],
                                                    .max_columns = columns[below(w, 3)],
                                                    .reservation_ttl_ms = NAIVE_TTL_MS});
    uint32_t node_count = nodes[below(w, 3)], pod_count = pods[below(w, 3)];
    naive_questions_open(&w->q, &w->c, node_count, pod_count);
}

static void check(struct world *w, uint32_t percent) {
    naive_check(&w->model, &w->q, &w->c, &w->random, percent);
}

/* For the message when a sequence fails: cmocka does not come back from a failed assertion. */
static struct world world;
static uint64_t world_seed;

static int report(void **state) {
    (void)state;
    if (world.step != NULL)
        print_error("failed after '%s'; repeat with TEST_SEED=%llu EVENKEEL_TEST_SEQUENCES=1\n",
                    world.step, (unsigned long long)world_seed);
    return 0;
}

static void the_cache_agrees_with_a_recount(void **state) {
    (void)state;
    const char *wish = getenv("EVENKEEL_TEST_SEQUENCES");
    unsigned long sequences = wish != NULL ? strtoul(wish, NULL, 10) : SEQUENCES;
    uint64_t seed = unit_seed();
    for (unsigned long s = 0; s < sequences; s++) {
        world_seed = seed + s;
        open_world(&world, world_seed);
        bool every_step = chance(&world, 70);
        for (int step = 0; step < STEPS * (world.q.nodes > 20 ? 5 : 1); step++) {
            act(&world);
            if (every_step || chance(&world, 10))
                check(&world, world.q.nodes > 20 ? 20 : 60);
        }
        check(&world, 100);
        naive_check_empties(&world.model, &world.q, &world.c);
        cluster_close(&world.c);
        world.step = NULL;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_cache_agrees_with_a_recount, report),
    };
    return cmocka_run_group_tests_name("cache, random", tests, NULL, NULL);
}
