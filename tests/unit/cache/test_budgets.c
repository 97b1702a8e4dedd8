/*
 * What is kept for the next question costs bounded bytes and steps, whatever is asked; and what is
 * not kept is answered all the same.
 */
#include "base/limits.h"
#include "cache/internal.h"
#include "cache/placed.h"

#include "unit/cache/probe.h"

#include <errno.h>
#include <stdio.h>

enum { NODES = 6, VALUES = 40000, MINUTE_MS = 60000 };

/* key NotIn (or In) <first>, <first>-1, ...; the first value only if `with_first`. */
static struct selector long_selector(struct cluster *c, enum selector_operator op, const char *key,
                                     const char *first) {
    struct str *values = arena_array(&c->arena, VALUES, sizeof *values);
    struct requirement *items = arena_array(&c->arena, 1, sizeof *items);
    assert_non_null(values);
    assert_non_null(items);
    char text[32];
    values[0] = arena_str(&c->arena, str_of(first));
    for (uint32_t i = 1; i < VALUES; i++) {
        (void)snprintf(text, sizeof text, "%s-%05u", first, i); /* fits; sorted */
        values[i] = arena_str(&c->arena, str_of(text));
    }
    items[0] =
        (struct requirement){.key = str_of(key), .op = op, .values = values, .value_count = VALUES};
    return (struct selector){.items = items, .count = 1};
}

static struct selector small_selector(struct cluster *c, uint32_t i) {
    char json[64];
    (void)snprintf(json, sizeof json, "{\"matchLabels\":{\"n\":\"%u\"}}", i); /* fits */
    return cluster_selector(c, json);
}

static void open_cluster(struct cluster *c, struct cache_options options) {
    cluster_open_with(c, options);
    cluster_nodes(c, "a b c x y z");
}

/* How much a view has to build for this. */
static uint32_t missing(struct cluster *c, const char *namespace, const struct selector *selector) {
    struct cache_view view;
    const uint32_t *counts;
    cache_view_open(c->cache, &view);
    assert_int_equal(cache_counter(&view, str_of(namespace), selector, &counts), 0);
    uint32_t built = view.nodes.built;
    cache_view_close(&view);
    return built;
}

/* ---- too large ---- */

static void a_selector_that_is_too_long_is_answered_and_not_kept(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, (struct cache_options){0});
    cluster_pods(&c, "a:app=web a:app=web x:app=no x:app=other");
    struct selector in = long_selector(&c, SELECTOR_IN, "app", "web");
    struct selector not_in = long_selector(&c, SELECTOR_NOT_IN, "app", "no");
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(probe_count(c.cache, "default", &in, "a"), 2);
        assert_int_equal(probe_count(c.cache, "default", &in, "x"), 0);
        assert_int_equal(probe_count(c.cache, "default", &not_in, "x"), 1);
        cluster_pods(&c, "a:app=new");
        assert_int_equal(probe_count(c.cache, "default", &not_in, "a"), 3 + i);
    }
    assert_int_equal(cache_stats(c.cache).counters, 0);
    assert_int_equal(cache_load(c.cache).counters.bytes, 0);
    assert_int_equal(cache_load(c.cache).counters.refused, 12);
    cluster_close(&c);
}

static void an_affinity_that_is_too_long_is_answered_and_not_kept(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, (struct cache_options){0});
    struct selector values = long_selector(&c, SELECTOR_NOT_IN, "zone", "zone1");
    struct node_selector_term term = {.expressions = values.items, .expression_count = 1};
    const struct pod pod = {.affinity = {.required = true, .terms = &term, .term_count = 1}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(probe_flags(c.cache, &pod, "a") & CANDIDATE_AFFINITY, 0);
        assert_int_equal(probe_flags(c.cache, &pod, "x") & CANDIDATE_AFFINITY, CANDIDATE_AFFINITY);
    }
    cluster_nodes(&c, "x,+zone=zone1");
    assert_int_equal(probe_flags(c.cache, &pod, "x") & CANDIDATE_AFFINITY, 0);
    assert_int_equal(cache_stats(c.cache).feasibilities, 0);
    assert_int_equal(cache_load(c.cache).feasibilities.bytes, 0);
    assert_int_equal(cache_load(c.cache).feasibilities.refused, 7);
    cluster_close(&c);
}

/* ---- bytes ---- */

static void all_of_it_stays_within_the_bytes(void **state) {
    struct cluster c;
    char key[32];
    (void)state;
    const uint64_t bytes = 256u << 10;
    open_cluster(&c, (struct cache_options){.max_bytes = bytes});
    for (uint32_t i = 0; i < 300; i++) {
        struct selector selector = small_selector(&c, i);
        (void)snprintf(key, sizeof key, "\"nodeSelector\":{\"n\":\"%u\"},", i); /* fit */
        struct pod pod = cluster_pod(&c, "", "", key);
        (void)probe_total(c.cache, i % 2 == 0 ? "even" : "odd", &selector);
        (void)probe_flags(c.cache, &pod, "a");
        (void)snprintf(key, sizeof key, "key%u", i);
        (void)probe_domain(c.cache, key, "a");
        const struct cache_load load = cache_load(c.cache);
        assert_true(load.counters.bytes + load.columns.bytes + load.feasibilities.bytes +
                        load.trees.bytes <=
                    bytes);
    }
    assert_in_range(cache_stats(c.cache).counters, 8, 100);
    assert_in_range(cache_stats(c.cache).feasibilities, 2, 100);
    assert_in_range(cache_stats(c.cache).columns, 8, 299);
    cluster_close(&c);
}

/* One namespace asks for ever new selectors; the other two find theirs where they were. */
static void a_namespace_that_asks_for_much_forgets_its_own(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, (struct cache_options){.max_counters = 40});
    struct selector mine = small_selector(&c, 1000), theirs = small_selector(&c, 1001);
    (void)missing(&c, "one", &mine);
    (void)missing(&c, "two", &theirs);
    for (uint32_t i = 0; i < 200; i++) {
        struct selector other = small_selector(&c, i);
        assert_int_equal(missing(&c, "greedy", &other), 1);
    }
    assert_int_equal(cache_stats(c.cache).counters, 40);
    assert_int_equal(missing(&c, "one", &mine), 0);
    assert_int_equal(missing(&c, "two", &theirs), 0);
    cluster_close(&c);
}

static uint32_t missing_flags(struct cluster *c, const char *namespace, uint32_t i) {
    char json[64];
    struct cache_view view;
    const uint8_t *flags;
    (void)snprintf(json, sizeof json, "\"nodeSelector\":{\"n\":\"%u\"},", i); /* fits */
    struct pod pod = cluster_pod(c, "", "", json);
    cache_view_open(c->cache, &view);
    view.nodes.asker = hash_str(str_of(namespace));
    assert_int_equal(topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &flags), 0);
    uint32_t built = view.nodes.built;
    cache_view_close(&view);
    return built;
}

static uint32_t missing_column(struct cluster *c, const char *namespace, const char *key) {
    struct cache_view view;
    struct topology_column column;
    cache_view_open(c->cache, &view);
    view.nodes.asker = hash_str(str_of(namespace));
    assert_int_equal(topology_column(&view.nodes, str_of(key), &column), 0);
    uint32_t built = view.nodes.built;
    cache_view_close(&view);
    return built;
}

static void so_it_is_with_columns_and_feasibilities(void **state) {
    struct cluster c;
    char key[16];
    (void)state;
    open_cluster(&c, (struct cache_options){.max_feasibilities = 16, .max_columns = 16});
    (void)missing_flags(&c, "one", 1000);
    (void)missing_column(&c, "one", "zone");
    for (uint32_t i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof key, "key%u", i); /* fits */
        assert_int_equal(missing_flags(&c, "greedy", i), 1);
        assert_int_equal(missing_column(&c, "greedy", key), 1);
    }
    assert_int_equal(missing_flags(&c, "one", 1000), 0);
    assert_int_equal(missing_column(&c, "one", "zone"), 0);
    cluster_close(&c);
}

/* ---- pods that are on their way ---- */

/* A pod of a namespace with so many labels, of about 64 bytes each. */
static struct pod labelled(struct cluster *c, const char *namespace, uint32_t number,
                           uint32_t count) {
    struct label *labels = arena_array(&c->arena, count, sizeof *labels);
    char text[32];
    assert_non_null(labels);
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "label-%020u", i); /* fits; sorted */
        labels[i].key = arena_str(&c->arena, str_of(text));
        labels[i].value = labels[i].key;
    }
    (void)snprintf(text, sizeof text, "%s-%u", namespace, number);
    struct str uid = arena_str(&c->arena, str_of(text));
    return (struct pod){.meta = {.name = uid,
                                 .uid = uid,
                                 .namespace = arena_str(&c->arena, str_of(namespace)),
                                 .labels = {labels, count}}};
}

static void flights_of_others_are_not_pushed_out(void **state) {
    struct cluster c;
    const struct str nodes[] = {{"a", 1}, {"x", 1}};
    (void)state;
    open_cluster(&c, (struct cache_options){.reservation_ttl_ms = 1000});
    struct pod mine = labelled(&c, "mine", 0, 10);
    struct pod greedy = labelled(&c, "greedy", 0, 5000); /* 0.5 MiB of copies */
    cache_write_begin(c.cache);
    assert_int_equal(cache_expect(c.cache, &mine, nodes, 2, 0), 0);
    atomic_fetch_add(&c.clock.at_ms, 1); /* it would be the first to end */
    for (uint32_t i = 0; i < 300; i++) {
        char uid[16];
        (void)snprintf(uid, sizeof uid, "g%u", i); /* fits */
        greedy.meta.uid = str_of(uid);
        assert_int_equal(cache_expect(c.cache, &greedy, nodes, 2, 0), 0);
        assert_true(c.cache->flights_kept.all.cost.bytes <= LIMIT_FLIGHTS_BYTES);
    }
    cache_write_end(c.cache);
    assert_in_range(cache_stats(c.cache).flights, 20, 100);
    cache_write_begin(c.cache);
    assert_int_equal(cache_bind_begin(c.cache, &mine.meta, STR("a")), 0);
    cache_write_end(c.cache);
    cluster_close(&c);
}

/* One long pod after many short ones: their records are not all freed while others wait. */
static void a_flight_frees_few_others(void **state) {
    enum { SHORT = 4000, LONG = 60 };
    struct cluster c;
    const struct str nodes[] = {{"a", 1}, {"x", 1}};
    (void)state;
    open_cluster(&c, (struct cache_options){.reservation_ttl_ms = 1000});
    cache_write_begin(c.cache);
    for (uint32_t i = 0; i < SHORT; i++) {
        const struct pod small = labelled(&c, "ns", i, 1);
        assert_int_equal(cache_expect(c.cache, &small, nodes, 2, 0), 0);
    }
    atomic_fetch_add(&c.clock.at_ms, 1);
    for (uint32_t i = 0; i < LONG; i++) {
        const struct pod large = labelled(&c, "ns", SHORT + i, 5000);
        uint32_t before = c.cache->flights.count;
        int r = cache_expect(c.cache, &large, nodes, 2, 0);
        assert_true(r == 0 || r == -ENOMEM);
        assert_true(c.cache->flights.count + LRU_AT_A_TIME >= before);
        assert_true(c.cache->flights_kept.all.cost.bytes <= LIMIT_FLIGHTS_BYTES);
    }
    cache_write_end(c.cache);
    cluster_close(&c);
}

static void a_pod_with_very_long_labels_is_not_assumed(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, (struct cache_options){.reservation_ttl_ms = 1000});
    struct pod usual = labelled(&c, "ns", 0, 100), large = labelled(&c, "ns", 1, 1000);
    cache_write_begin(c.cache);
    assert_int_equal(cache_assume_on(c.cache, &usual.meta, STR("a")), 0);
    assert_int_equal(cache_assume_on(c.cache, &large.meta, STR("a")), 0);
    cache_write_end(c.cache);
    assert_int_equal(cache_stats(c.cache).assumed, 1);
    assert_int_equal(cache_stats(c.cache).classes, 1);
    cluster_close(&c);
}

/* Its memory is not kept, and the others of the namespace have their defaults. */
static void a_workload_with_a_very_long_selector_adds_nothing(void **state) {
    struct cluster c;
    struct cache_view view;
    struct selector found;
    (void)state;
    open_cluster(&c, (struct cache_options){0});
    struct pod pod = labelled(&c, "default", 0, 2000);
    struct object service = {
        .kind = OBJECT_SERVICE,
        .workload = {.meta = {.name = STR("long"), .namespace = STR("default")},
                     .selector = {true, pod.meta.labels, NULL, 0}}};
    cluster_apply(&c, &service);
    service.workload.meta.name = STR("short");
    service.workload.selector.match_labels.count = 2;
    cluster_apply(&c, &service);
    cache_view_open(c.cache, &view);
    assert_int_equal(cache_default_selector(&view, &pod.meta, &c.arena, &found, NULL), 0);
    assert_int_equal(found.count, 2);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c.cache).workloads, 2);
    cluster_close(&c);
}

/* ---- age ---- */

static void what_nobody_asks_for_is_forgotten(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, (struct cache_options){0});
    struct selector old = small_selector(&c, 1), used = small_selector(&c, 2);
    (void)missing(&c, "ns", &old);
    (void)missing_flags(&c, "ns", 1);
    (void)missing_column(&c, "ns", "zone");
    for (uint32_t minute = 0; minute < 20; minute++) {
        atomic_fetch_add(&c.clock.at_ms, MINUTE_MS);
        assert_int_equal(missing(&c, "ns", &used), minute == 0 ? 1 : 0);
        cache_write_begin(c.cache);
        cache_expire(c.cache);
        cache_write_end(c.cache);
        if ((minute + 1) * MINUTE_MS < LIMIT_CACHED_IDLE_MS)
            assert_int_equal(cache_stats(c.cache).counters, 2);
    }
    assert_int_equal(cache_stats(c.cache).counters, 1);
    assert_int_equal(cache_stats(c.cache).columns, 0);
    assert_int_equal(cache_stats(c.cache).feasibilities, 0);
    assert_int_equal(missing(&c, "ns", &used), 0);
    cluster_close(&c);
}

/* ---- steps of writers ---- */

/* Pods with as much text as is kept, then changes of everything that has to be matched with it. */
static void no_change_takes_many_steps(void **state) {
    enum { ASKED = 600, PAIRS = 120, LABELS = 200, MANY_NODES = 1000 };
    struct cluster c;
    struct label pairs[PAIRS];
    char json[128], keys[PAIRS][16];
    (void)state;
    open_cluster(&c, (struct cache_options){0});
    for (uint32_t i = 0; i < MANY_NODES; i++) {
        (void)snprintf(json, sizeof json, /* fits, here and below */
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"host\":\"h%u\"}}}", i, i);
        cluster_apply_json(&c, OBJECT_NODE, json);
    }
    for (uint32_t i = 0; i < ASKED; i++) {
        struct cache_view view;
        struct topology_column column;
        const uint32_t *counts;
        const uint8_t *flags;
        struct requirement items[PAIRS];
        struct arena arena;
        arena_init(&arena, 1u << 20);
        for (uint32_t k = 0; k < PAIRS; k++) {
            (void)snprintf(keys[k], sizeof keys[k], "k%05u-%u", i, k);
            pairs[k] = (struct label){str_of(keys[k]), STR("v")};
            items[k] = (struct requirement){.key = pairs[k].key, .op = SELECTOR_DOES_NOT_EXIST};
        }
        struct selector selector = {.items = items, .count = PAIRS};
        const struct node_affinity affinity = {.node_selector = {pairs, PAIRS}};
        cache_view_open(c.cache, &view);
        assert_int_equal(cache_counter(&view, STR("ns"), &selector, &counts), 0);
        assert_int_equal(topology_column(&view.nodes, str_of(keys[0]), &column), 0);
        assert_int_equal(topology_column(&view.nodes, STR("host"), &column), 0);
        assert_int_equal(
            topology_feasibility(&view.nodes, &affinity, (struct tolerations){0}, &flags), 0);
        cache_view_close(&view);
        arena_done(&arena);
    }
    assert_true(cache_stats(c.cache).counters > 100);
    assert_true(cache_stats(c.cache).feasibilities > 100);
    for (uint32_t i = 0; i < LABELS; i++) { /* pods of labels that are new, and nodes that change */
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"ns\",\"labels\":"
                       "{\"l\":\"%u\"}},\"spec\":{\"nodeName\":\"n1\"}}",
                       i, i);
        struct object pod = cluster_object(&c, OBJECT_POD, json);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"x\":\"%u\"}}}", i, i);
        struct object node = cluster_object(&c, OBJECT_NODE, json);
        cache_write_begin(c.cache);
        assert_int_equal(cache_apply(c.cache, &pod), 0);
        cache_write_end(c.cache);
        cache_write_begin(c.cache);
        assert_int_equal(cache_apply(c.cache, &node), 0);
        cache_write_end(c.cache);
    }
    cache_write_begin(c.cache);
    cache_sync_begin(c.cache, CACHE_ALL_KINDS);
    cache_sync_end(c.cache, CACHE_ALL_KINDS); /* everything goes */
    cache_write_end(c.cache);
    assert_int_equal(cache_stats(c.cache).nodes, 0);
    uint64_t steps = cache_load(c.cache).write_steps;
    print_message("# at most %llu steps\n", (unsigned long long)steps);
    assert_in_range(steps, LIMIT_UPDATE_STEPS / 2, LIMIT_WRITE_STEPS + LIMIT_UPDATE_STEPS + 1000);
    cluster_close(&c);
}

/* ---- what changes between the read lock and the write lock ---- */

/* What cache_view_open() has taken. */
static void end_reading(struct cluster *c) NOT_ANALYSED {
    rwlock_read_done(&c->cache->lock);
}

/* Closes a view as cache_view_close() does, with something happening in the middle. */
static void close_around(struct cluster *c, struct cache_view *view,
                         void (*happens)(struct cluster *c)) {
    end_reading(c);
    happens(c);
    cache_publish(view);
    topology_view_close(&view->nodes);
}

static void a_pod_comes(struct cluster *c) {
    cluster_pods(c, "a:1");
}

static void a_pod_comes_elsewhere(struct cluster *c) {
    cluster_pods(c, "ns1/a:1");
}

static void a_node_moves(struct cluster *c) {
    cluster_nodes(c, "a,+zone=zone2");
}

static void nodes_come(struct cluster *c) {
    char json[64];
    for (uint32_t i = 0; i < 200; i++) {
        (void)snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"n%u\"}}", i); /* fits */
        cluster_apply_json(c, OBJECT_NODE, json);
    }
}

static void nothing_is_kept_as_it_was_before(void **state) {
    static const struct {
        void (*happens)(struct cluster *c);
        uint32_t pods, columns, feasibilities;
    } cases[] = {{a_pod_comes, 4, 1, 1},
                 {a_pod_comes_elsewhere, 3, 1, 1},
                 {a_node_moves, 3, 0, 0},
                 {nodes_come, 3, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        struct cache_view view;
        struct topology_column column;
        const uint32_t *counts;
        const uint8_t *flags;
        open_cluster(&c, (struct cache_options){0});
        cluster_pods(&c, "a:2 x:1");
        struct selector all = cluster_selector(&c, "{}");
        struct pod pod = cluster_pod(&c, "", "", "\"nodeSelector\":{\"zone\":\"zone1\"},");
        cache_view_open(c.cache, &view);
        assert_int_equal(cache_counter(&view, STR("default"), &all, &counts), 0);
        assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
        assert_int_equal(topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &flags),
                         0);
        close_around(&c, &view, cases[i].happens);
        assert_int_equal(cache_stats(c.cache).columns, cases[i].columns);
        assert_int_equal(cache_stats(c.cache).feasibilities, cases[i].feasibilities);
        bool moved = cases[i].happens == a_node_moves;
        assert_int_equal(cache_stats(c.cache).counters, cases[i].happens == nodes_come ? 0 : 1);
        assert_int_equal(probe_total(c.cache, "default", &all), cases[i].pods);
        assert_int_equal(probe_domain(c.cache, "zone", "a") == probe_domain(c.cache, "zone", "x"),
                         moved);
        assert_int_equal((probe_flags(c.cache, &pod, "a") & CANDIDATE_AFFINITY) == 0, moved);
        cluster_close(&c);
    }
}

/* Pods come all the time, also while it is counted for the second time; and are assumed. */
static void a_busy_namespace_has_counters_too(void **state) {
    struct cluster c;
    struct cache_view view;
    const uint32_t *counts;
    const int64_t *assumed;
    (void)state;
    open_cluster(&c, (struct cache_options){.reservation_ttl_ms = 1000});
    cluster_pods(&c, "a:2 x:1");
    struct selector foo = cluster_selector(&c, "{\"matchLabels\":{\"foo\":\"\"}}");
    struct pod first = cluster_pod(&c, "foo", "", ""), second = first;
    first.meta.uid = STR("first");
    second.meta.uid = STR("second");
    cache_write_begin(c.cache);
    assert_int_equal(cache_assume_on(c.cache, &first.meta, STR("b")), 0);
    cache_write_end(c.cache);
    cache_view_open(c.cache, &view);
    assert_int_equal(cache_counter(&view, STR("default"), &foo, &counts), 0);
    end_reading(&c);
    cluster_pods(&c, "a:1");
    cache_write_begin(c.cache);
    struct built_counter *built = view.counters;
    view.counters = NULL;
    assert_true(counter_publish(&view, built));
    cache_write_end(c.cache);
    cluster_pods(&c,
                 "a:1 y:1"); /* are changes that it counts, and among those of the second time */
    cluster_unpods(&c, "x:1");
    cache_write_begin(c.cache);
    assert_int_equal(cache_assume_on(c.cache, &second.meta, STR("c")), 0);
    cache_unassume(c.cache, &first.meta);
    cache_write_end(c.cache);
    struct cache_view other; /* which finds no answer there */
    cache_view_open(c.cache, &other);
    assert_int_equal(cache_counter(&other, STR("default"), &foo, &counts), 0);
    assert_int_equal(other.nodes.built, 1);
    assert_int_equal(counts[topology_find(&other.nodes, STR("a"))], 4);
    cache_view_close(&other);
    counter_complete(&view, built);
    built_counter_free(built);
    topology_view_close(&view.nodes);
    cluster_pods(&c, "y:1");
    cache_view_open(c.cache, &view);
    assert_int_equal(cache_counter_assumed(&view, STR("default"), &foo, &counts, &assumed), 0);
    assert_int_equal(view.nodes.built, 0);
    assert_int_equal(counts[topology_find(&view.nodes, STR("a"))], 4);
    assert_int_equal(counts[topology_find(&view.nodes, STR("x"))], 0);
    assert_int_equal(counts[topology_find(&view.nodes, STR("y"))], 2);
    assert_int_equal(assumed[topology_find(&view.nodes, STR("b"))], 0);
    assert_int_equal(assumed[topology_find(&view.nodes, STR("c"))], CACHE_POD);
    cache_view_close(&view);
    cluster_close(&c);
}

/* ---- which nodes pods may be on ---- */

/* A pod bound to node a, with `count` times `item` between `open` and `close` in its spec; @ in it
 * is the pod's name and the number. */
static void apply_long_pod(struct cluster *c, const char *namespace, const char *name,
                           const char *open, const char *item, uint32_t count, const char *close) {
    struct strbuf json = {0};
    strbuf_appendf(&json,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s\"},\"spec\":{"
                   "\"nodeName\":\"a\",%s",
                   name, namespace, name, open);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(&json, i == 0 ? STR("") : STR(","));
        const char *at = strchr(item, '@');
        strbuf_append(&json, item, at != NULL ? (size_t)(at - item) : strlen(item));
        if (at != NULL)
            strbuf_appendf(&json, "%s-%u%s", name, i, at + 1);
    }
    strbuf_appendf(&json, "%s}}", close);
    strbuf_append_char(&json, '\0');
    cluster_apply_json(c, OBJECT_POD, json.p);
    strbuf_done(&json);
}

/* Pods of whose reach something is known, and of whose it is not. */
static void count_reaches(struct cluster *c, uint32_t *ret_known, uint32_t *ret_unknown) {
    struct cache_view view;
    struct cache_placed pods[400];
    struct cache_may_run may;
    uint32_t from = 0;
    *ret_known = *ret_unknown = 0;
    cache_view_open(c->cache, &view);
    uint32_t count = cache_placed_next(&view, &from, pods, 400);
    assert_int_equal(from, CACHE_PLACED_END);
    for (uint32_t i = 0; i < count; i++)
        ++*(cache_reach(&view, pods[i].reach, &may) ? ret_known : ret_unknown);
    cache_view_close(&view);
}

/* Kubernetes takes them, so they are no reason to stop watching pods. Terms that do not parse are
 * short as a key and long as a copy. */
static void a_pod_with_very_many_terms_is_counted(void **state) {
    struct cluster c;
    uint32_t known, unknown;
    (void)state;
    open_cluster(&c, (struct cache_options){.max_bytes = 64 << 20});
    apply_long_pod(
        &c, "shop", "nodes",
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\""
        ":{\"nodeSelectorTerms\":[",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"x\"]}]}",
        LIMIT_POD_REACH_BYTES - 20, "]}}}");
    apply_long_pod(
        &c, "shop", "pods",
        "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[",
        "{\"topologyKey\":\"a\",\"labelSelector\":{\"matchLabels\":{\"\":\"\"}}}", 16000, "]}}");
    assert_int_equal(cache_stats(c.cache).pods, 2);
    count_reaches(&c, &known, &unknown);
    assert_int_equal(unknown, 1);
    cluster_close(&c);
}

static void a_namespace_has_a_share_of_reaches(void **state) {
    struct cluster c;
    uint32_t known, unknown, after;
    (void)state;
    open_cluster(&c, (struct cache_options){.max_bytes = 64 << 20});
    for (uint32_t i = 0; i < 300; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "pod-%u", i); /* fits */
        apply_long_pod(&c, "greedy", name, "\"tolerations\":[", "{\"key\":\"@\"}", 450, "]");
    }
    count_reaches(&c, &known, &unknown);
    assert_in_range(unknown, 1, 299);
    apply_long_pod(&c, "shop", "web", "\"tolerations\":[", "{\"key\":\"@\"}", 3, "]");
    count_reaches(&c, &after, &unknown);
    assert_int_equal(after, known + 1);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selector_that_is_too_long_is_answered_and_not_kept),
        cmocka_unit_test(an_affinity_that_is_too_long_is_answered_and_not_kept),
        cmocka_unit_test(all_of_it_stays_within_the_bytes),
        cmocka_unit_test(a_namespace_that_asks_for_much_forgets_its_own),
        cmocka_unit_test(so_it_is_with_columns_and_feasibilities),
        cmocka_unit_test(flights_of_others_are_not_pushed_out),
        cmocka_unit_test(a_flight_frees_few_others),
        cmocka_unit_test(a_pod_with_very_long_labels_is_not_assumed),
        cmocka_unit_test(a_workload_with_a_very_long_selector_adds_nothing),
        cmocka_unit_test(what_nobody_asks_for_is_forgotten),
        cmocka_unit_test(no_change_takes_many_steps),
        cmocka_unit_test(nothing_is_kept_as_it_was_before),
        cmocka_unit_test(a_busy_namespace_has_counters_too),
        cmocka_unit_test(a_pod_with_very_many_terms_is_counted),
        cmocka_unit_test(a_namespace_has_a_share_of_reaches),
    };
    return cmocka_run_group_tests_name("cache, budgets", tests, NULL, NULL);
}
