/* The truths of cache.h about nodes, pods, counters and listings, one by one. */
#include "unit/cache/probe.h"

#include <errno.h>
#include <stdio.h>

static const char foo[] = "{\"matchLabels\":{\"app\":\"foo\"}}";

struct fixture {
    struct cluster c;
    struct selector foo, all;
};

static int setup(void **state) {
    static struct fixture f;
    cluster_open(&f.c);
    f.foo = cluster_selector(&f.c, foo);
    f.all = cluster_selector(&f.c, "{}");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

/* A pod object from its name, node and some more of its JSON. */
static struct object pod_json(struct cluster *c, const char *uid, const char *meta,
                              const char *node, const char *phase) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"%s\",%s"
                   "\"labels\":{\"app\":\"foo\"}},\"spec\":{\"nodeName\":\"%s\"},"
                   "\"status\":{\"phase\":\"%s\"}}",
                   uid, meta, node, phase); /* fits: the test's own words */
    return cluster_object(c, OBJECT_POD, json);
}

static void apply_pod(struct cluster *c, const char *uid, const char *node, const char *phase) {
    struct object pod = pod_json(c, uid, "", node, phase);
    cluster_apply(c, &pod);
}

static uint64_t total(struct fixture *f) {
    return probe_total(f->c.cache, "ns", &f->foo);
}

static uint32_t at(struct fixture *f, const char *node) {
    return probe_count(f->c.cache, "ns", &f->foo, node);
}

/* ---- pods ---- */

static void finished_pods_do_not_exist(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Succeeded");
    apply_pod(&f->c, "2", "a", "Failed");
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
    apply_pod(&f->c, "1", "a", "Running");
    apply_pod(&f->c, "2", "a", "Pending");
    apply_pod(&f->c, "3", "a", "Unknown");
    assert_int_equal(at(f, "a"), 3);
    apply_pod(&f->c, "1", "a", "Failed");
    apply_pod(&f->c, "2", "a", "Succeeded");
    assert_int_equal(at(f, "a"), 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 1);
}

static void unbound_pods_do_not_exist(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "", "Pending");
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
    apply_pod(&f->c, "1", "a", "Pending");
    assert_int_equal(at(f, "a"), 1);
    apply_pod(&f->c, "1", "", "Pending"); /* never seen in practice; the last word counts */
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
    assert_int_equal(at(f, "a"), 0);
}

static void terminating_pods_are_known_but_not_counted(void **state) {
    struct fixture *f = *state;
    struct cache_pod found;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    assert_int_equal(at(f, "a"), 1);
    struct object going =
        pod_json(&f->c, "1", "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",", "a", "Running");
    cluster_apply(&f->c, &going);
    assert_int_equal(at(f, "a"), 0);
    assert_int_equal(probe_total(f->c.cache, "ns", &f->all), 0);
    assert_int_equal(cache_stats(f->c.cache).pods, 1);
    assert_true(probe_pod(f->c.cache, &going.meta, &found));
    assert_true(found.terminating);
    cluster_remove(&f->c, &going);
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
}

static void a_pod_is_known_by_its_uid(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b");
    apply_pod(&f->c, "1", "a", "Running"); /* same name and namespace, two lives */
    apply_pod(&f->c, "2", "a", "Running");
    assert_int_equal(at(f, "a"), 2);
    apply_pod(&f->c, "1", "b", "Running"); /* the same life elsewhere: moved */
    assert_int_equal(at(f, "a"), 1);
    assert_int_equal(at(f, "b"), 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 2);
    struct object stranger = pod_json(&f->c, "3", "", "a", "Running");
    cluster_remove(&f->c, &stranger);
    assert_int_equal(total(f), 2);
    struct object one = pod_json(&f->c, "1", "", "somewhere", "Running");
    cluster_remove(&f->c, &one);
    assert_int_equal(at(f, "b"), 0);
}

static void apply_named(struct cluster *c, const char *namespace, const char *name) {
    char json[256];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\"},"
                   "\"spec\":{\"nodeName\":\"a\"}}",
                   name, namespace); /* fits: the test's own words */
    cluster_apply_json(c, OBJECT_POD, json);
}

/* Hand-written files have no UIDs: then namespace and name together tell pods apart, whichever way
 * round the two words stand. */
static void without_uid_a_pod_is_known_by_namespace_and_name(void **state) {
    struct fixture *f = *state;
    struct cache_pod found;
    cluster_nodes(&f->c, "a");
    apply_named(&f->c, "web", "api");
    apply_named(&f->c, "web", "api");
    assert_int_equal(cache_stats(f->c.cache).pods, 1);
    apply_named(&f->c, "api", "web");
    assert_int_equal(cache_stats(f->c.cache).pods, 2);
    apply_named(&f->c, "web", "web");
    apply_named(&f->c, "api", "api");
    assert_int_equal(cache_stats(f->c.cache).pods, 4);
    struct object_meta meta = {.namespace = STR("api"), .name = STR("web")};
    assert_true(probe_pod(f->c.cache, &meta, &found));
    meta.name = STR("other");
    assert_false(probe_pod(f->c.cache, &meta, &found));
}

static void pods_wait_for_their_node(void **state) {
    struct fixture *f = *state;
    apply_pod(&f->c, "1", "a", "Running");
    apply_pod(&f->c, "2", "a", "Running");
    assert_int_equal(at(f, "a"), TOPOLOGY_NONE);
    assert_int_equal(cache_stats(f->c.cache).nodes, 0);
    cluster_nodes(&f->c, "a");
    assert_int_equal(at(f, "a"), 2);
    cluster_remove(&f->c, &f->c.nodes[0]);
    assert_int_equal(at(f, "a"), TOPOLOGY_NONE);
    assert_int_equal(cache_stats(f->c.cache).nodes, 0);
    cluster_nodes(&f->c, "a");
    assert_int_equal(at(f, "a"), 2);
}

static void labels_and_namespaces_may_change(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    assert_int_equal(at(f, "a"), 1);
    cluster_apply_json(&f->c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"1\","
                       "\"labels\":{\"app\":\"bar\"}},\"spec\":{\"nodeName\":\"a\"}}");
    assert_int_equal(at(f, "a"), 0);
    assert_int_equal(probe_count(f->c.cache, "ns", &f->all, "a"), 1);
    assert_int_equal(probe_count(f->c.cache, "other", &f->all, "a"), 0);
}

static void pods_of_a_class_share_it(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b");
    for (char uid[] = "a"; uid[0] <= 'z'; uid[0]++)
        apply_pod(&f->c, uid, uid[0] % 2 == 0 ? "a" : "b", "Running");
    assert_int_equal(cache_stats(f->c.cache).classes, 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 26);
    assert_int_equal(at(f, "a"), 13);
}

static struct object pod_of_scheduler(struct cluster *c, const char *uid, struct str scheduler) {
    struct object pod = pod_json(c, uid, "", "a", "Running");
    pod.pod.scheduler = scheduler;
    return pod;
}

/* The schedulers of all pods, in the order in which their groups were made. */
static void expect_schedulers(struct fixture *f, const char *want) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct cache_view view;
    struct cache_group group;
    uint32_t at = 0;
    cache_view_open(f->c.cache, &view);
    while (cache_group_next(&view, &at, &f->c.arena, &group) > 0)
        strbuf_appendf(&got, "%.*s:%u ", STR_ARG(group.scheduler), group.pods);
    cache_view_close(&view);
    assert_str(strbuf_str(&got), want);
}

/* They are groups of their own, and every selector counts them together. What no object can be
 * called is not kept whole: nobody can fill the memory with it. */
static void pods_of_several_schedulers(void **state) {
    enum { LONGEST = 253 };
    struct fixture *f = *state;
    char name[2 * LONGEST], want[2 * LONGEST];
    memset(name, 'x', sizeof name);
    const struct str schedulers[] = {
        STR(""),  STR("default-scheduler"), STR("mine"),
        STR("y"), {name, LONGEST},          {name, LONGEST + 1},
    };
    struct object pods[sizeof schedulers / sizeof schedulers[0]];
    const size_t count = sizeof schedulers / sizeof schedulers[0];
    cluster_nodes(&f->c, "a");
    for (size_t i = 0; i < count; i++) {
        pods[i] = pod_of_scheduler(&f->c, (const char[]){(char)('1' + i), '\0'}, schedulers[i]);
        cluster_apply(&f->c, &pods[i]);
    }
    (void)snprintf(want, sizeof want, ":2 mine:1 y:1 %.*s:2 ", LONGEST, name); /* fits */
    expect_schedulers(f, want);
    assert_int_equal(at(f, "a"), 6);
    pods[2].pod.scheduler = STR("y"); /* no pod changes it, but the cache does not rely on that */
    cluster_apply(&f->c, &pods[2]);
    (void)snprintf(want, sizeof want, ":2 y:2 %.*s:2 ", LONGEST, name); /* fits */
    expect_schedulers(f, want);
    for (size_t i = 0; i < count; i++)
        cluster_remove(&f->c, &pods[i]);
    assert_int_equal(cache_stats(f->c.cache).classes, 0);
    expect_schedulers(f, "");
}

static void cache_pod_counts_asks_for_namespace_and_selector(void **state) {
    struct fixture *f = *state;
    struct cache_view view;
    struct cache_pod found;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    struct selector bar = cluster_selector(&f->c, "{\"matchLabels\":{\"app\":\"bar\"}}");
    cache_view_open(f->c.cache, &view);
    assert_true(cache_pod_find(&view, &(struct object_meta){.uid = STR("1")}, &found));
    assert_int_equal(found.slot, topology_find(&view.nodes, STR("a")));
    assert_false(found.terminating || found.reserved);
    assert_true(cache_pod_counts(&view, &found, STR("ns"), &f->foo));
    assert_false(cache_pod_counts(&view, &found, STR("ns"), &bar));
    assert_false(cache_pod_counts(&view, &found, STR("other"), &f->foo));
    cache_view_close(&view);
}

/* ---- counters ---- */

static void what_a_view_builds_is_kept(void **state) {
    struct fixture *f = *state;
    struct cache_view view;
    const uint32_t *counts;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    for (uint32_t i = 0; i < 2; i++) {
        cache_view_open(f->c.cache, &view);
        assert_int_equal(cache_counter(&view, STR("ns"), &f->foo, &counts), 0);
        assert_int_equal(counts[topology_find(&view.nodes, STR("a"))], 1);
        assert_int_equal(view.nodes.built, i == 0 ? 1 : 0);
        cache_view_close(&view);
    }
    assert_int_equal(cache_stats(f->c.cache).counters, 1);
}

static void equal_selectors_share_a_counter(void **state) {
    struct fixture *f = *state;
    struct selector one = cluster_selector(&f->c, "{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}");
    struct selector two = cluster_selector(
        &f->c, "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":[\"2\",\"2\"]}"
               "],\"matchLabels\":{\"a\":\"1\"}}");
    (void)probe_total(f->c.cache, "ns", &one);
    (void)probe_total(f->c.cache, "ns", &two);
    assert_int_equal(cache_stats(f->c.cache).counters, 1);
    (void)probe_total(f->c.cache, "other", &two);
    assert_int_equal(cache_stats(f->c.cache).counters, 2);
}

static void nil_selects_nothing_and_empty_everything(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    struct selector nil = cluster_selector(&f->c, "null");
    assert_int_equal(probe_count(f->c.cache, "ns", &nil, "a"), 0);
    assert_int_equal(probe_count(f->c.cache, "ns", &f->all, "a"), 1);
}

static void the_least_recently_used_counter_makes_room(void **state) {
    (void)state;
    struct cluster c;
    struct cache_view view;
    const uint32_t *counts;
    cluster_open_with(&c, (struct cache_options){.max_counters = 2});
    struct selector s[3] = {cluster_selector(&c, "{\"matchLabels\":{\"n\":\"0\"}}"),
                            cluster_selector(&c, "{\"matchLabels\":{\"n\":\"1\"}}"),
                            cluster_selector(&c, "{\"matchLabels\":{\"n\":\"2\"}}")};
    (void)probe_total(c.cache, "ns", &s[0]);
    (void)probe_total(c.cache, "ns", &s[1]);
    (void)probe_total(c.cache, "ns", &s[0]); /* now s[1] is the oldest */
    (void)probe_total(c.cache, "ns", &s[2]);
    assert_int_equal(cache_stats(c.cache).counters, 2);
    cache_view_open(c.cache, &view);
    assert_int_equal(cache_counter(&view, STR("ns"), &s[0], &counts), 0);
    assert_int_equal(cache_counter(&view, STR("ns"), &s[2], &counts), 0);
    assert_int_equal(view.nodes.built, 0);
    assert_int_equal(cache_counter(&view, STR("ns"), &s[1], &counts), 0);
    assert_int_equal(view.nodes.built, 1);
    cache_view_close(&view);
    cluster_close(&c);
}

/* More counters than the limit in one view: none of them goes before the view is closed. */
static void counters_that_a_view_uses_stay(void **state) {
    (void)state;
    struct cluster c;
    struct cache_view view;
    const uint32_t *counts[4];
    cluster_open_with(&c, (struct cache_options){.max_counters = 2});
    cluster_nodes(&c, "a");
    cluster_pods(&c, "ns/a:n0 ns/a:n1 ns/a:n1 ns/a:n3");
    struct selector s[4] = {
        cluster_selector(&c, "{\"matchExpressions\":[{\"key\":\"n0\",\"operator\":\"Exists\"}]}"),
        cluster_selector(&c, "{\"matchExpressions\":[{\"key\":\"n1\",\"operator\":\"Exists\"}]}"),
        cluster_selector(&c, "{\"matchExpressions\":[{\"key\":\"n2\",\"operator\":\"Exists\"}]}"),
        cluster_selector(&c, "{}")};
    cache_view_open(c.cache, &view);
    uint32_t slot = topology_find(&view.nodes, STR("a"));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(cache_counter(&view, STR("ns"), &s[i], &counts[i]), 0);
    const uint32_t want[4] = {1, 2, 0, 4};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(counts[i][slot], want[i]);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c.cache).counters, 2);
    cluster_close(&c);
}

/* Per-node arrays grow with the nodes: what was made before must go on counting. */
static void counters_outlive_growth(void **state) {
    struct fixture *f = *state;
    char name[16], uid[16];
    assert_int_equal(total(f), 0);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "n%u", i); /* fits, as do the next */
        (void)snprintf(uid, sizeof uid, "u%u", i);
        struct object node = {.kind = OBJECT_NODE, .node.meta.name = str_of(name)};
        cluster_apply(&f->c, &node);
        apply_pod(&f->c, uid, name, "Running");
    }
    assert_int_equal(total(f), 300);
    for (unsigned i = 0; i < 300; i += 13) {
        (void)snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(at(f, name), 1);
    }
}

/* A slot that was free for a while starts from zero. */
static void slots_are_reused_clean(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a");
    apply_pod(&f->c, "1", "a", "Running");
    assert_int_equal(at(f, "a"), 1);
    assert_int_not_equal(probe_domain(f->c.cache, "zone", "a"), TOPOLOGY_NONE);
    struct object pod = pod_json(&f->c, "1", "", "a", "Running");
    cluster_remove(&f->c, &pod);
    cluster_remove(&f->c, &f->c.nodes[0]);
    cluster_nodes(&f->c, "b,-zone");
    assert_int_equal(at(f, "b"), 0);
    assert_int_equal(probe_domain(f->c.cache, "zone", "b"), TOPOLOGY_NONE);
}

/* ---- listings ---- */

static void sync(struct cluster *c, bool begin) {
    cache_write_begin(c->cache);
    if (begin)
        cache_sync_begin(c->cache, CACHE_ALL_KINDS);
    else
        cache_sync_end(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void ready_after_the_first_listing(void **state) {
    struct fixture *f = *state;
    assert_false(cache_ready(f->c.cache));
    sync(&f->c, true);
    cluster_nodes(&f->c, "a");
    assert_false(cache_ready(f->c.cache));
    sync(&f->c, false);
    assert_true(cache_ready(f->c.cache));
    sync(&f->c, true);
    assert_true(cache_ready(f->c.cache));
}

static void apply_everything(struct cluster *c, const char *nodes, const char *uid) {
    cluster_nodes(c, nodes);
    apply_pod(c, uid, nodes, "Running");
    cluster_apply_json(c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"ns\"}}");
    cluster_apply_json(c, OBJECT_SERVICE,
                       "{\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"},"
                       "\"spec\":{\"selector\":{\"app\":\"foo\"}}}");
}

static void a_listing_forgets_what_it_does_not_have(void **state) {
    struct fixture *f = *state;
    sync(&f->c, true);
    apply_everything(&f->c, "a", "1");
    apply_everything(&f->c, "b", "2");
    sync(&f->c, false);
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes, 2);
    assert_int_equal(stats.pods, 2);
    assert_int_equal(stats.namespaces, 1);
    assert_int_equal(stats.workloads, 1);
    sync(&f->c, true);
    cluster_nodes(&f->c, "b");
    apply_pod(&f->c, "2", "b", "Running");
    stats = cache_stats(f->c.cache);
    assert_int_equal(stats.pods, 2); /* until the end of the listing */
    sync(&f->c, false);
    stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes, 1);
    assert_int_equal(stats.pods, 1);
    assert_int_equal(stats.namespaces, 0);
    assert_int_equal(stats.workloads, 0);
    assert_int_equal(at(f, "b"), 1);
    sync(&f->c, true);
    sync(&f->c, false);
    stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes + stats.pods, 0);
}

/* A listing may break off any number of times; the next whole one must not take what an old one
 * brought for its own. */
static void a_broken_listing_changes_nothing(void **state) {
    struct fixture *f = *state;
    sync(&f->c, true);
    apply_everything(&f->c, "a", "1");
    sync(&f->c, false);
    for (int i = 0; i < 256; i++) {
        sync(&f->c, true);
        assert_int_equal(cache_stats(f->c.cache).pods, 1);
    }
    cluster_nodes(&f->c, "b");
    sync(&f->c, false);
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes, 1);
    assert_int_equal(stats.pods + stats.workloads + stats.namespaces, 0);
}

/* ---- the rest ---- */

static void other_kinds_are_ignored(void **state) {
    struct fixture *f = *state;
    struct object other = {.kind = OBJECT_OTHER, .meta.name = STR("a")};
    cluster_nodes(&f->c, "a");
    cluster_apply(&f->c, &other);
    cluster_remove(&f->c, &other);
    assert_int_equal(cache_stats(f->c.cache).nodes, 1);
}

static void removing_the_unknown_is_harmless(void **state) {
    struct fixture *f = *state;
    for (int kind = OBJECT_OTHER; kind <= OBJECT_STATEFUL_SET; kind++) {
        struct object object = {.kind = (enum object_kind)kind,
                                .meta = {.name = STR("x"), .namespace = STR("y")}};
        cluster_remove(&f->c, &object);
    }
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes + stats.pods + stats.namespaces + stats.workloads, 0);
}

static void everything_can_go(void **state) {
    struct fixture *f = *state;
    apply_everything(&f->c, "a", "1");
    assert_int_equal(total(f), 1);
    struct object gone[] = {
        {.kind = OBJECT_NODE, .meta.name = STR("a")},
        {.kind = OBJECT_POD, .meta.uid = STR("1")},
        {.kind = OBJECT_NAMESPACE, .meta.name = STR("ns")},
        {.kind = OBJECT_SERVICE, .meta = {.name = STR("s"), .namespace = STR("ns")}},
    };
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        cluster_remove(&f->c, &gone[i]);
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes + stats.pods + stats.classes + stats.namespaces + stats.workloads,
                     0);
    assert_int_equal(total(f), 0);
}

static void node_names_are_found_by_slot(void **state) {
    struct fixture *f = *state;
    struct cache_view view;
    cluster_nodes(&f->c, "a b");
    cluster_remove(&f->c, &f->c.nodes[0]);
    cache_view_open(f->c.cache, &view);
    uint32_t known = 0;
    for (uint32_t slot = 0; slot < topology_slots(view.nodes.topology); slot++)
        if (topology_is_known(view.nodes.topology, slot)) {
            known++;
            assert_str(topology_name(view.nodes.topology, slot), "b");
            assert_int_equal(topology_find(&view.nodes, STR("b")), slot);
        }
    assert_int_equal(known, 1);
    assert_false(topology_is_known(view.nodes.topology, topology_slots(view.nodes.topology)));
    assert_int_equal(topology_find(&view.nodes, STR("a")), TOPOLOGY_NONE);
    cache_view_close(&view);
}

/* Names in any order, unknown and repeated ones too; the second time, and after nodes went, the
 * answers come from what is remembered of the first. */
static void lists_of_names_are_found(void **state) {
    struct fixture *f = *state;
    struct cache_view view;
    cluster_nodes(&f->c, "a b x y");
    struct str names[] = {STR("b"), STR("a"), STR("nowhere"), STR("y"),
                          STR("a"), STR("a"), STR("x")};
    enum { COUNT = sizeof names / sizeof names[0] };
    uint32_t slots[COUNT];
    for (int round = 0; round < 4; round++) {
        cache_view_open(f->c.cache, &view);
        topology_find_all(&view.nodes, names, COUNT, slots);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(slots[i], topology_find(&view.nodes, names[i]));
        assert_int_equal(slots[2], TOPOLOGY_NONE);
        topology_find_all(&view.nodes, names, 0, slots);
        cache_view_close(&view);
        if (round == 1)
            cluster_remove(&f->c, &f->c.nodes[0]); /* a goes, and its slot */
        if (round == 2)
            cluster_nodes(&f->c, "c a");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- namespaces ---- */

static int namespace_labels(struct fixture *f, struct labels *ret) {
    struct cache_view view;
    cache_view_open(f->c.cache, &view);
    int r = cache_namespace_labels(&view, STR("ns"), &f->c.arena, ret);
    cache_view_close(&view);
    return r;
}

static void a_namespace_has_the_labels_it_last_had(void **state) {
    struct fixture *f = *state;
    struct labels labels = {0};
    struct object namespace =
        cluster_object(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"ns\",\"labels\":{\"b\":\"2\",\"a\":\"1\"}}}");
    assert_int_equal(namespace_labels(f, &labels), -ENOENT);
    apply_pod(&f->c, "1", "a", "Running"); /* a name that pods have is not an object */
    assert_int_equal(namespace_labels(f, &labels), -ENOENT);
    cluster_apply(&f->c, &namespace);
    assert_int_equal(namespace_labels(f, &labels), 0);
    assert_int_equal(labels.count, 2);
    assert_str(labels.items[0].key, "a");
    assert_str(labels.items[1].value, "2");
    cluster_apply_json(&f->c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"ns\"}}");
    assert_int_equal(namespace_labels(f, &labels), 0);
    assert_int_equal(labels.count, 0);
    cluster_remove(&f->c, &namespace);
    assert_int_equal(namespace_labels(f, &labels), -ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(finished_pods_do_not_exist),
        TEST(unbound_pods_do_not_exist),
        TEST(terminating_pods_are_known_but_not_counted),
        TEST(a_pod_is_known_by_its_uid),
        TEST(without_uid_a_pod_is_known_by_namespace_and_name),
        TEST(pods_wait_for_their_node),
        TEST(labels_and_namespaces_may_change),
        TEST(pods_of_a_class_share_it),
        TEST(pods_of_several_schedulers),
        TEST(cache_pod_counts_asks_for_namespace_and_selector),
        TEST(what_a_view_builds_is_kept),
        TEST(equal_selectors_share_a_counter),
        TEST(nil_selects_nothing_and_empty_everything),
        TEST(the_least_recently_used_counter_makes_room),
        TEST(counters_that_a_view_uses_stay),
        TEST(counters_outlive_growth),
        TEST(slots_are_reused_clean),
        TEST(ready_after_the_first_listing),
        TEST(a_listing_forgets_what_it_does_not_have),
        TEST(a_broken_listing_changes_nothing),
        TEST(other_kinds_are_ignored),
        TEST(removing_the_unknown_is_harmless),
        TEST(everything_can_go),
        TEST(node_names_are_found_by_slot),
        TEST(lists_of_names_are_found),
        TEST(a_namespace_has_the_labels_it_last_had),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
