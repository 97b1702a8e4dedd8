/*
 * Readers against the writer at full speed, for ThreadSanitizer to watch; without it the readers'
 * own invariants are the test. In every batch the writer keeps the number of pods of the group: it
 * moves some to other nodes, replaces some, reserves a place and gives it up again. So whoever
 * opens a view, whenever, must count GROUP pods.
 */
#include "unit/cluster_builder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { READERS = 3, NODES = 20, GROUP = 60, BATCHES = 20000, SELECTORS = 6 };

struct shared {
    struct cluster c;
    struct selector group, others[SELECTORS];
    struct pod asker;
    _Atomic bool stop;
    _Atomic uint32_t wrong, questions;
};

static void fail_if(struct shared *s, bool condition) {
    if (condition)
        atomic_fetch_add(&s->wrong, 1);
}

/* ---- the writer ---- */

static void put_node(struct shared *s, uint32_t i, uint32_t zone) {
    char name[16], value[16];
    (void)snprintf(name, sizeof name, "n%u", i); /* fit, here and below */
    (void)snprintf(value, sizeof value, "z%u", zone);
    struct label labels[] = {{STR("zone"), str_of(value)}};
    struct object node = {.kind = OBJECT_NODE,
                          .node.meta = {.name = str_of(name), .labels = {labels, 1}}};
    fail_if(s, cache_apply(s->c.cache, &node) != 0);
}

static struct object pod_object(char uid[16], uint32_t i, char node[16], uint32_t at) {
    static const struct label labels[] = {{{"app", 3}, {"web", 3}}};
    (void)snprintf(uid, 16, "u%u", i);
    (void)snprintf(node, 16, "n%u", at);
    return (struct object){.kind = OBJECT_POD,
                           .pod = {.meta = {.name = str_of(uid),
                                            .namespace = STR("default"),
                                            .uid = str_of(uid),
                                            .labels = {labels, 1}},
                                   .node_name = str_of(node)}};
}

static void put_pod(struct shared *s, uint32_t i, uint32_t at) {
    char uid[16], node[16];
    struct object pod = pod_object(uid, i, node, at);
    fail_if(s, cache_apply(s->c.cache, &pod) != 0);
}

static void drop_pod(struct shared *s, uint32_t i) {
    char uid[16], node[16];
    struct object pod = pod_object(uid, i, node, 0);
    cache_remove(s->c.cache, &pod);
}

static void reserve_and_release(struct shared *s, uint32_t at) {
    char uid[16], node[16];
    struct object pod = pod_object(uid, 1000000, node, at);
    fail_if(s, cache_reserve(s->c.cache, &pod.pod, pod.pod.node_name) != 0);
    cache_release(s->c.cache, &pod.meta);
}

static void *write_batches(void *ctx) {
    struct shared *s = ctx;
    uint64_t random = 1;
    uint32_t first = 0; /* pods first .. first + GROUP - 1 are there */
    for (int b = 0; b < BATCHES; b++) {
        cache_write_begin(s->c.cache);
        put_pod(s, first + unit_below(&random, GROUP), unit_below(&random, NODES));
        put_pod(s, first + GROUP, unit_below(&random, NODES));
        drop_pod(s, first);
        first++;
        put_node(s, unit_below(&random, NODES), unit_below(&random, 5));
        reserve_and_release(s, unit_below(&random, NODES));
        cache_expire(s->c.cache);
        cache_write_end(s->c.cache);
        if (b % 64 == 0) {
            struct cache_stats stats = cache_stats(s->c.cache);
            fail_if(s, stats.pods != GROUP || stats.nodes != NODES || stats.reservations != 0);
        }
    }
    atomic_store(&s->stop, true);
    return NULL;
}

/* ---- readers ---- */

static void count_group(struct shared *s) {
    struct cache_view view;
    const uint32_t *counts;
    uint64_t total = 0;
    cache_view_open(s->c.cache, &view);
    int r = cache_counter(&view, STR("default"), &s->group, &counts);
    for (uint32_t slot = 0; r == 0 && slot < topology_slots(view.nodes.topology); slot++)
        total += counts[slot];
    cache_view_close(&view);
    fail_if(s, r != 0 || total != GROUP);
}

/* Selectors, which find the group as well, and keys nobody else asks for: they make and drop
 * counters and columns, and need more of them than the limits allow. */
static void disturb(struct shared *s, uint32_t which) {
    struct cache_view view;
    const uint32_t *counts;
    struct topology_column column;
    const uint8_t *flags;
    uint64_t total = 0;
    char name[16], key[16];
    (void)snprintf(name, sizeof name, "n%u", which);
    cache_view_open(s->c.cache, &view);
    fail_if(s, cache_counter(&view, STR("default"), &s->others[which % SELECTORS], &counts) != 0);
    for (uint32_t slot = 0; slot < topology_slots(view.nodes.topology); slot++)
        total += counts[slot];
    fail_if(s, total != GROUP);
    fail_if(s, topology_column(&view.nodes, STR("zone"), &column) != 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct topology_column other;
        (void)snprintf(key, sizeof key, "key%u", (which + i) % 7); /* fits */
        fail_if(s, topology_column(&view.nodes, str_of(key), &other) != 0);
    }
    fail_if(s, topology_feasibility(&view.nodes, &s->asker.affinity, s->asker.tolerations,
                                    &flags) != 0);
    uint32_t slot = topology_find(&view.nodes, str_of(name));
    fail_if(s, slot == TOPOLOGY_NONE || !topology_is_known(view.nodes.topology, slot) ||
                   !str_eq(topology_name(view.nodes.topology, slot), str_of(name)));
    fail_if(s, column.domain_of[slot] == TOPOLOGY_NONE || flags[slot] == 0);
    cache_view_close(&view);
}

static void ask_engine(struct shared *s) {
    struct str names[2] = {STR("n1"), STR("n2")};
    struct candidates candidates = {names, 2};
    struct arena arena;
    struct filter_result filter;
    struct score_result score;
    bool *fits;
    struct object_meta victim = {.uid = STR("u5")};
    struct preemption preemption = {names[0], &victim, 1};
    arena_init(&arena, 1u << 20);
    fail_if(s, engine_filter(&s->c.options, s->c.cache, &s->asker, &candidates, &arena, &filter,
                             NULL) != 0);
    fail_if(s, engine_score(&s->c.options, s->c.cache, &s->asker, &candidates, &arena, &score,
                            NULL) != 0);
    fail_if(s, engine_preempt(&s->c.options, s->c.cache, &s->asker, &preemption, 1, &arena, &fits,
                              NULL) != 0);
    arena_done(&arena);
}

static void *read_all_the_time(void *ctx) {
    struct shared *s = ctx;
    uint64_t random = (uint64_t)(uintptr_t)pthread_self();
    while (!atomic_load(&s->stop)) {
        uint32_t what = unit_below(&random, 10);
        if (what < 6)
            count_group(s);
        else if (what < 8)
            disturb(s, unit_below(&random, NODES));
        else
            ask_engine(s);
        fail_if(s, cache_ready(s->c.cache));
        atomic_fetch_add(&s->questions, 1);
    }
    return NULL;
}

static void open_shared(struct shared *s) {
    cluster_open_with(
        &s->c, (struct cache_options){.max_counters = 3, .max_feasibilities = 2, .max_columns = 2});
    s->group = cluster_selector(&s->c, "{\"matchLabels\":{\"app\":\"web\"}}");
    for (uint32_t i = 0; i < SELECTORS; i++) {
        char json[160];
        (void)snprintf(json, sizeof json,
                       "{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":["
                       "{\"key\":\"other\",\"operator\":\"NotIn\",\"values\":[\"%u\"]}]}",
                       i);
        s->others[i] = cluster_selector(&s->c, json);
    }
    s->asker = cluster_pod(&s->c, "app=web", "1/zone/app=web 3/zone/app=web,soft",
                           "\"nodeSelector\":{\"zone\":\"z1\"},");
    for (uint32_t i = 0; i < NODES; i++)
        put_node(s, i, i % 3);
    for (uint32_t i = 0; i < GROUP; i++)
        put_pod(s, i, i % NODES);
}

static void readers_and_a_writer(void **state) {
    (void)state;
    static struct shared s;
    pthread_t writer, readers[READERS];
    open_shared(&s);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all_the_time, &s), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_batches, &s), 0);
    assert_int_equal(pthread_join(writer, NULL), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    assert_int_equal(atomic_load(&s.wrong), 0);
    assert_true(atomic_load(&s.questions) > 0);
    cluster_close(&s.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_and_a_writer)};
    return cmocka_run_group_tests_name("cache, threads", tests, NULL, NULL);
}
