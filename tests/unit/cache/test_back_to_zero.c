/*
 * What is counted comes back to nothing when all is gone, whatever came and went between: bytes of
 * terms, strings, what pods request of a node, slots, records of every kind. And what has a limit
 * is met on both sides of it.
 */
#include "base/limits.h"
#include "cache/internal.h"
#include "cache/neighbours.h"
#include "cache/placed.h"
#include "unit/cache/incoming.h"

#include <stdio.h>

/* ---- all of it ---- */

#define TERMS                                                                                      \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"     \
    "\"topologyKey\":\"zone\",\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}}],"             \
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":3,\"podAffinityTerm\":{"     \
    "\"topologyKey\":\"host\",\"labelSelector\":{}}}]}},"
#define REQUESTS                                                                                   \
    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\",\"example.com/gpu\":2}},"         \
    "\"ports\":[{\"hostPort\":80}]}],"

static struct object watched(struct cluster *c, struct str text) {
    struct object object; /* as a watch decodes it */
    struct err err;
    if (object_decode(text, OBJECT_POD, POD_RUNNING, &c->arena, &object, &err) != 0)
        fail_msg("%s", err.text);
    return object;
}

static struct object pod_on(struct cluster *c, const char *namespace, const char *name,
                            const char *node, const char *spec) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(
        &text,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s-%s\",\"labels\":"
        "{\"foo\":\"\",\"name\":\"%s\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"ReplicaSet\",\"name\":\"o\",\"uid\":\"o\",\"controller\":true}]},"
        "\"spec\":{%s\"tolerations\":[{\"key\":\"%s\"}],\"nodeName\":\"%s\"}}",
        name, namespace, namespace, name, name, spec, namespace, node);
    return watched(c, arena_str(&c->arena, strbuf_str(&text)));
}

static void is_empty(const struct cluster *c) {
    const struct cache *cache = c->cache;
    const struct cache_stats stats = cache_stats(c->cache);
    assert_int_equal(stats.nodes + stats.pods + stats.classes + stats.namespaces, 0);
    assert_int_equal(stats.reservations + stats.workloads + stats.flights + stats.assumed, 0);
    assert_int_equal(cache->terms.count, 0);
    assert_int_equal(cache->terms_bytes, 0);
    assert_int_equal(cache->requests.count, 0);
    assert_int_equal(cache->owners.count, 0);
    assert_int_equal(cache->reaches.count, 0);
    assert_int_equal(cache->reach_bytes, 0);
    assert_int_equal(cache->label_bytes, 0);
    assert_int_equal(cache->list_bytes, 0);
    assert_int_equal(cache->cut_pods, 0);
    assert_int_equal(cache->images.count, 0);
    assert_int_equal(cache->saying_nodes, 0);
    assert_int_equal(cache->flights_kept.all.count, 0);
    assert_int_equal(cache->flights_kept.all.cost.bytes, 0);
    for (uint32_t slot = 0; slot < topology_cap(cache->nodes); slot++) {
        const struct node_record *node = &cache->node_records[slot];
        assert_int_equal(node->pods, 0);
        assert_int_equal(node->requested.count, 0);
        assert_int_equal(node->allocatable.count, 0);
        assert_int_equal(node->filled[FILLED_CPU], 0);
        assert_int_equal(node->filled[FILLED_MEMORY], 0);
    }
}

static const char *const namespaces[] = {"shop", "other", "third"};
enum { NAMESPACES = sizeof namespaces / sizeof namespaces[0] };

static void fill(struct cluster *c) {
    static const char *const nodes[] = {"a", "b", "ghost"};
    static const char *const specs[] = {"", TERMS, REQUESTS, TERMS REQUESTS};
    cluster_apply_json(c, OBJECT_NODE,
                       "{\"metadata\":{\"name\":\"a\",\"labels\":{\"zone\":\"z\"}},\"status\":{"
                       "\"allocatable\":{\"cpu\":\"4\",\"example.com/gpu\":\"9\"},\"images\":[{"
                       "\"names\":[\"web\"],\"sizeBytes\":7}]}}");
    cluster_nodes(c, "b");
    for (uint32_t n = 0; n < NAMESPACES; n++) {
        char json[200];
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"team\":\"%s\"}}}",
                       namespaces[n], namespaces[n]);
        cluster_apply_json(c, OBJECT_NAMESPACE, json);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"o\",\"namespace\":\"%s\"},\"spec\":{\"selector\":"
                       "{\"matchLabels\":{\"foo\":\"%s\"}}}}",
                       namespaces[n], namespaces[n]);
        cluster_apply_json(c, OBJECT_REPLICA_SET, json);
        for (uint32_t i = 0; i < 12; i++) {
            char name[20];
            (void)snprintf(name, sizeof name, "p%u", i);
            struct object pod = pod_on(c, namespaces[n], name, nodes[i % 3], specs[i % 4]);
            cluster_apply(c, &pod);
        }
    }
}

static void empty(struct cluster *c) {
    struct object node = {.kind = OBJECT_NODE, .meta = {.name = STR("a")}};
    for (uint32_t n = 0; n < NAMESPACES; n++) {
        struct object meta = {.kind = OBJECT_NAMESPACE, .meta = {.name = str_of(namespaces[n])}};
        struct object set = {.kind = OBJECT_REPLICA_SET,
                             .meta = {.name = STR("o"), .namespace = str_of(namespaces[n])}};
        for (uint32_t i = 0; i < 12; i++) {
            CLEANUP(strbuf_done) struct strbuf uid = {0};
            strbuf_appendf(&uid, "%s-p%u", namespaces[n], i);
            struct object pod = {.kind = OBJECT_POD, .meta = {.uid = strbuf_str(&uid)}};
            cluster_remove(c, &pod);
        }
        cluster_remove(c, &meta);
        cluster_remove(c, &set);
    }
    cluster_remove(c, &node);
    node.meta.name = STR("b");
    cluster_remove(c, &node);
}

/* The labels of a few pods of each namespace find room, and those of others do not. */
static void round_without_labels(struct cluster *c) {
    const uint64_t before = c->cache->options.max_label_bytes;
    c->cache->options.max_label_bytes = 3000;
    fill(c);
    uint32_t cut = cache_stats(c->cache).pods_without_labels;
    assert_true(cut > 0 && cut < 12 * NAMESPACES);
    c->cache->options.max_label_bytes = before;
    empty(c);
    is_empty(c);
}

/* Every round as the first: nothing grows. */
static void all_that_is_counted_comes_back_to_nothing(void **state) {
    struct cluster c;
    uint32_t strings = 0, slots = 0;
    (void)state;
    cluster_open(&c);
    struct selector foo = cluster_selector(&c, "{\"matchLabels\":{\"foo\":\"\"}}");
    for (int round = 0; round < 6; round++) {
        if (round == 2) { /* and where some find no room for their labels */
            round_without_labels(&c);
            continue;
        }
        fill(&c);
        assert_int_equal(cache_stats(c.cache).pods, 12 * NAMESPACES);
        assert_int_equal(probe_total(c.cache, "shop", &foo), 12);
        assert_true(c.cache->terms.count > 0 && c.cache->terms_bytes > 0);
        assert_true(c.cache->reaches.count > 0 && c.cache->images.count > 0);
        empty(&c);
        is_empty(&c);
        assert_int_equal(probe_total(c.cache, "shop", &foo), 0);
        if (round == 0) {
            strings = c.cache->strings.count - c.cache->strings.free_count;
            slots = topology_slots(c.cache->nodes);
        }
        assert_int_equal(c.cache->strings.count - c.cache->strings.free_count, strings);
        assert_int_equal(topology_slots(c.cache->nodes), slots);
    }
    cluster_close(&c);
}

/* Pods change in place, too: what the old one requested and said is gone. */
static void a_pod_that_changes_leaves_nothing_behind(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a b");
    struct object plain = pod_on(&c, "shop", "p", "a", ""),
                  heavy = pod_on(&c, "shop", "p", "a", TERMS REQUESTS);
    cluster_apply(&c, &plain);
    const uint32_t strings = c.cache->strings.count - c.cache->strings.free_count;
    const uint32_t slot = topology_slot(c.cache->nodes, STR("a"));
    const struct node_record *node = &c.cache->node_records[slot];
    for (int round = 0; round < 3; round++) {
        cluster_apply(&c, &heavy);
        assert_int_equal(node->requested.count, 2);
        assert_int_equal(c.cache->terms.count, 1);
        cluster_apply(&c, &plain);
        assert_int_equal(node->requested.count, 0);
        assert_int_equal(node->pods, 1);
        assert_int_equal(c.cache->terms.count, 0);
        assert_int_equal(c.cache->terms_bytes, 0);
        assert_int_equal(c.cache->requests.count, 1);
        assert_int_equal(c.cache->strings.count - c.cache->strings.free_count, strings);
    }
    cluster_close(&c);
}

/* Names that one pod requests stay while another one does. */
static void a_name_stays_while_a_pod_requests_it(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    struct object first = pod_on(&c, "shop", "p", "a", REQUESTS),
                  second = pod_on(&c, "shop", "q", "a", REQUESTS),
                  third = pod_on(&c, "shop", "r", "a",
                                 "\"containers\":[{\"resources\":{\"requests\":{\"memory\":1}}}],");
    const uint32_t slot = topology_slot(c.cache->nodes, STR("a"));
    const struct node_record *node = &c.cache->node_records[slot];
    static const uint32_t names[] = {2, 2, 3, 3, 1, 0};
    const struct object *const pods[] = {&first, &second, &third};
    for (uint32_t i = 0; i < 6; i++) {
        if (i < 3)
            cluster_apply(&c, pods[i]);
        else
            cluster_remove(&c, pods[i - 3]);
        assert_int_equal(node->requested.count, names[i]);
    }
    cluster_close(&c);
}

/* ---- terms ---- */

/* A pod in "ns" whose only term has a topology key of so many bytes. */
static struct object pod_with_term(struct cluster *c, uint32_t number, uint32_t bytes) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"ns\"},\"spec\":{\"nodeName\":"
                   "\"a\",\"affinity\":{\"podAffinity\":{"
                   "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":{},"
                   "\"topologyKey\":\"%08u",
                   number, number);
    for (uint32_t i = 8; i < bytes; i++)
        strbuf_append_char(&text, 'k');
    strbuf_append_str(&text, STR("\"}]}}}}"));
    return watched(c, arena_str(&c->arena, strbuf_str(&text)));
}

static uint32_t unknown_terms(struct cluster *c) {
    struct cache_view view;
    cache_view_open(c->cache, &view);
    uint32_t unknown = cache_terms_unknown(&view);
    cache_view_close(&view);
    return unknown;
}

/* LIMIT_POD_TERMS_BYTES of one pod: with more, it counts as one whose terms are not known. Every
 * such pod is counted, also if they are alike. */
static void terms_of_one_pod_are_limited(void **state) {
    enum { BESIDE = 200 }; /* bytes of what is kept that are not the topology key */
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    struct object small = pod_with_term(&c, 1, LIMIT_POD_TERMS_BYTES - BESIDE),
                  large = pod_with_term(&c, 2, LIMIT_POD_TERMS_BYTES + 1),
                  same = pod_with_term(&c, 2, LIMIT_POD_TERMS_BYTES + 1);
    same.pod.meta.name = STR("another");
    cluster_apply(&c, &small);
    assert_int_equal(unknown_terms(&c), 0);
    assert_int_equal(c.cache->terms.count, 1);
    cluster_apply(&c, &large);
    assert_int_equal(unknown_terms(&c), 1);
    cluster_apply(&c, &same);
    assert_int_equal(unknown_terms(&c), 2);
    assert_int_equal(c.cache->terms.count, 1);
    cluster_remove(&c, &large);
    assert_int_equal(unknown_terms(&c), 1);
    cluster_remove(&c, &same);
    assert_int_equal(unknown_terms(&c), 0);
    cluster_close(&c);
}

/* Equal terms are stored once, for as long as one pod has them. */
static void equal_terms_are_stored_once(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    struct object first = pod_with_term(&c, 1, 100), second = first;
    second.pod.meta.name = STR("second");
    second.pod.requests.filled[FILLED_CPU] = 1; /* other requests, the same terms */
    cluster_apply(&c, &first);
    const uint64_t bytes = c.cache->terms_bytes;
    cluster_apply(&c, &second);
    assert_int_equal(c.cache->terms.count, 1);
    assert_int_equal(c.cache->terms_bytes, bytes);
    cluster_remove(&c, &first);
    assert_int_equal(c.cache->terms.count, 1);
    assert_int_equal(c.cache->terms_bytes, bytes);
    cluster_remove(&c, &second);
    assert_int_equal(c.cache->terms.count, 0);
    assert_int_equal(c.cache->terms_bytes, 0);
    cluster_close(&c);
}

/* LIMIT_TERMS_BYTES of all: what comes then is not known. When they have gone, the next one is. */
static void terms_of_all_pods_are_limited(void **state) {
    enum { EACH = 15000, FEWER = LIMIT_TERMS_BYTES / (2 * EACH), MORE = LIMIT_TERMS_BYTES / EACH };
    struct cluster c;
    uint32_t count = 0;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    while (unknown_terms(&c) == 0 && count <= MORE + 1) {
        struct object pod = pod_with_term(&c, count++, EACH);
        cluster_apply(&c, &pod);
        arena_done(&c.arena); /* the cache has what it needs */
        arena_init(&c.arena, 64u << 20);
    }
    assert_in_range(count, FEWER, MORE + 1);
    assert_in_range(c.cache->terms_bytes, LIMIT_TERMS_BYTES, LIMIT_TERMS_BYTES + 2 * EACH);
    for (uint32_t i = 0; i < count; i++) {
        struct object gone = pod_with_term(&c, i, 8);
        cluster_remove(&c, &gone);
    }
    assert_int_equal(c.cache->terms_bytes, 0);
    struct object next = pod_with_term(&c, 1, EACH);
    cluster_apply(&c, &next);
    assert_int_equal(unknown_terms(&c), 0);
    cluster_close(&c);
}

/* ---- assumed pods ---- */

static void assume_on(struct incoming *f, struct object_meta *pod, const char *node) {
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_assume_on(f->c.cache, pod, str_of(node)), 0);
    cache_write_end(f->c.cache);
}

static void unassume(struct incoming *f, const struct object_meta *pod) {
    cache_write_begin(f->c.cache);
    cache_unassume(f->c.cache, pod);
    cache_write_end(f->c.cache);
}

/* A counter tells of no parts once there are none, and of none of another namespace. */
static void a_counter_without_assumed_pods_says_so(void **state) {
    struct incoming *f = *state;
    struct object_meta elsewhere = f->pod.meta;
    const uint32_t *counts;
    const int64_t *parts[3];
    struct cache_view view;
    elsewhere.namespace = STR("elsewhere");
    elsewhere.uid = STR("elsewhere");
    cluster_pods(&f->c, "x:1");
    assume_on(f, &elsewhere, "a"); /* before anybody asks */
    assert_int_equal(probe_assumed(f->c.cache, "default", &f->foo, "a"), 0);
    assert_int_equal(probe_assumed(f->c.cache, "elsewhere", &f->foo, "a"), CACHE_POD);
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            assume_on(f, &f->pod.meta, "a");
        if (i == 2)
            unassume(f, &f->pod.meta);
        cache_view_open(f->c.cache, &view);
        assert_int_equal(cache_counter_assumed(&view, STR("default"), &f->foo, &counts, &parts[i]),
                         0);
        assert_int_equal(parts[i] != NULL, i == 1);
        cache_view_close(&view);
    }
}

/* LIMIT_ASSUMED_TEXT of labels. */
static void labels_of_an_assumed_pod_are_limited(void **state) {
    struct incoming *f = *state;
    static char value[LIMIT_ASSUMED_TEXT + 2];
    memset(value, 'v', sizeof value);
    for (int more = -1; more <= 1; more++) {
        struct label label = {STR("k"), {value, (size_t)((int)LIMIT_ASSUMED_TEXT - 1 + more)}};
        struct object_meta meta = f->pod.meta;
        meta.labels = (struct labels){&label, 1};
        assume_on(f, &meta, "a");
        assert_int_equal(cache_stats(f->c.cache).assumed, more <= 0);
        unassume(f, &meta);
    }
}

/* The slot of a node that goes stays in use while a pod is assumed there, wherever it was before,
 * and is free when no pod is. */
static void slots_of_assumed_pods_are_held_and_let_go(void **state) {
    struct incoming *f = *state;
    assume_on(f, &f->pod.meta, "a");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_move_assumed(f->c.cache, &f->pod.meta, STR("x")), 0);
    cache_write_end(f->c.cache);
    cluster_remove(&f->c, &f->c.nodes[2]); /* x */
    cluster_nodes(&f->c, "new");
    assert_int_equal(probe_assumed(f->c.cache, "default", &f->foo, "new"), 0);
    cluster_nodes(&f->c, "x");
    assert_int_equal(probe_assumed(f->c.cache, "default", &f->foo, "x"), CACHE_POD);
    unassume(f, &f->pod.meta);
    const uint32_t slots = topology_slots(f->c.cache->nodes);
    for (int round = 0; round < 5; round++) {
        char name[8];
        (void)snprintf(name, sizeof name, "y%d", round);
        cluster_nodes(&f->c, name);
        assume_on(f, &f->pod.meta, name);
        cluster_remove(&f->c, &f->c.nodes[f->c.node_count - 1]);
        unassume(f, &f->pod.meta);
        assert_in_range(topology_slots(f->c.cache->nodes), slots, slots + 1);
    }
}

/* ---- changes ---- */

static uint64_t changes(struct incoming *f) {
    struct cache_view view;
    cache_view_open(f->c.cache, &view);
    uint64_t now = cache_changes(&view);
    cache_view_close(&view);
    return now;
}

/* What evenness is measured again for: a cordon changes where pods may be. */
static void a_cordon_is_a_change_and_what_stays_is_none(void **state) {
#define CORDONED(yes) "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"unschedulable\":" yes "}}"
    static const struct {
        const char *node;
        bool change;
    } cases[] = {
        {CORDONED("false"), true}, /* it is new */
        {CORDONED("false"), false}, {CORDONED("true"), true},   {CORDONED("true"), false},
        {CORDONED("false"), true},  {CORDONED("false"), false},
    };
    struct incoming *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t before = changes(f);
        cluster_apply_json(&f->c, OBJECT_NODE, cases[i].node);
        if ((changes(f) != before) != cases[i].change)
            fail_msg("case %zu", i);
    }
}

#define INCOMING(name) cmocka_unit_test_setup_teardown(name, incoming_setup, incoming_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_counted_comes_back_to_nothing),
        cmocka_unit_test(a_pod_that_changes_leaves_nothing_behind),
        cmocka_unit_test(a_name_stays_while_a_pod_requests_it),
        cmocka_unit_test(terms_of_one_pod_are_limited),
        cmocka_unit_test(equal_terms_are_stored_once),
        cmocka_unit_test(terms_of_all_pods_are_limited),
        INCOMING(a_counter_without_assumed_pods_says_so),
        INCOMING(labels_of_an_assumed_pod_are_limited),
        INCOMING(slots_of_assumed_pods_are_held_and_let_go),
        INCOMING(a_cordon_is_a_change_and_what_stays_is_none),
    };
    return cmocka_run_group_tests_name("back to zero", tests, NULL, NULL);
}
