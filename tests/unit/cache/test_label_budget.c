/*
 * Labels of living pods take bounded memory, whoever writes them. A pod that finds no room for its
 * labels counts in everything else; what is asked about its labels has no answer, rather than a
 * wrong one; and when there is room again all is as it would have been.
 */
#include "base/limits.h"
#include "cache/internal.h"
#include "cache/neighbours.h"
#include "cache/placed.h"
#include "engine/engine.h"
#include "unit/cache/probe.h"

#include <errno.h>
#include <stdio.h>

enum { ONE = 96 + 2 }; /* what a label k=v takes */

static void open_cluster(struct cluster *c, uint64_t max_label_bytes) {
    struct cache_options options = cluster_limits();
    options.max_label_bytes = max_label_bytes;
    cluster_open_with(c, options);
    cluster_nodes(c, "a b");
}

/* A pod on node a with these labels ("\"k\":\"v\""). */
static struct object pod_in(struct cluster *c, const char *namespace, const char *name,
                            const char *labels) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s/%s\","
                   "\"labels\":{%s},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                   "\"ReplicaSet\",\"name\":\"web-6f\",\"controller\":true}]},\"spec\":{"
                   "\"nodeName\":\"a\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
                   "\"1\"}}}]}}",
                   name, namespace, namespace, name, labels);
    strbuf_append_char(&text, '\0');
    return cluster_object(c, OBJECT_POD, arena_cstr(&c->arena, strbuf_str(&text)));
}

static struct object add(struct cluster *c, const char *namespace, const char *name,
                         const char *labels) {
    struct object pod = pod_in(c, namespace, name, labels);
    cluster_apply(c, &pod);
    return pod;
}

/* A label k<i>=v<i>, of ONE bytes and two more. */
static struct object add_numbered(struct cluster *c, const char *namespace, uint32_t i) {
    char name[20], label[40];
    (void)snprintf(name, sizeof name, "p%u", i);
    (void)snprintf(label, sizeof label, "\"k%u\":\"v%u\"", i % 10, i % 10); /* both fit */
    return add(c, namespace, name, label);
}

static uint32_t cut(const struct cluster *c) {
    return cache_stats(c->cache).pods_without_labels;
}

static uint64_t bytes(const struct cluster *c) {
    return cache_load(c->cache).label_bytes;
}

/* 0, or why there is no answer. */
static int ask(struct cluster *c, const char *namespace, const char *json, uint32_t *ret_count) {
    struct selector selector = cluster_selector(c, json);
    struct cache_view view;
    const uint32_t *counts;
    cache_view_open(c->cache, &view);
    int r = cache_counter(&view, str_of(namespace), &selector, &counts);
    if (r == 0)
        *ret_count = counts[topology_find(&view.nodes, STR("a"))];
    cache_view_close(&view);
    return r;
}

static void counts(struct cluster *c, const char *namespace, const char *json, uint32_t want) {
    uint32_t count = UINT32_MAX;
    assert_int_equal(ask(c, namespace, json, &count), 0);
    assert_int_equal(count, want);
}

static void has_no_answer(struct cluster *c, const char *namespace, const char *json) {
    uint32_t count;
    assert_int_equal(ask(c, namespace, json, &count), -ENODATA);
}

/* ---- where the limit is ---- */

/* One namespace alone may have a sixth: as much as a fifth of what it leaves. */
static void a_namespace_has_its_share(void **state) {
    (void)state;
    for (int over = -1; over <= 1; over++) {
        struct cluster c;
        open_cluster(&c, (uint64_t)6 * 3 * (ONE + 2) + (uint64_t)over);
        add_numbered(&c, "shop", 0);
        add_numbered(&c, "shop", 1);
        assert_int_equal(cut(&c), 0);
        add_numbered(&c, "shop", 2);
        assert_int_equal(cut(&c), over < 0);
        assert_int_equal(bytes(&c), (over < 0 ? 2 : 3) * (ONE + 2));
        add_numbered(&c, "shop", 3);
        assert_int_equal(cut(&c), over < 0 ? 2 : 1);
        cluster_close(&c);
    }
}

/* Equal labels are paid for once, and those of equal pods with another owner are not equal. */
static void equal_pods_pay_once(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, 6 * ONE);
    for (int i = 0; i < 50; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "p%d", i);
        add(&c, "shop", name, "\"k\":\"v\"");
    }
    assert_int_equal(cut(&c), 0);
    assert_int_equal(bytes(&c), ONE);
    counts(&c, "shop", "{\"matchLabels\":{\"k\":\"v\"}}", 50);
    cluster_close(&c);
}

/* Many that take all they can get leave room for one more. */
static void there_is_room_for_a_newcomer(void **state) {
    enum { GREEDY = 40, EACH = 60 };
    struct cluster c;
    (void)state;
    open_cluster(&c, (uint64_t)400 * (ONE + 2));
    for (uint32_t i = 0; i < EACH; i++)
        for (uint32_t n = 0; n < GREEDY; n++) {
            char namespace[20], name[20], label[40];
            (void)snprintf(namespace, sizeof namespace, "greedy-%u", n);
            (void)snprintf(name, sizeof name, "p%u", i);
            (void)snprintf(label, sizeof label, "\"k\":\"%u\"", i); /* all fit */
            add(&c, namespace, name, label);
        }
    assert_true(cut(&c) > GREEDY * EACH / 2);
    assert_true(bytes(&c) <= 400 * (ONE + 2));
    uint32_t before = cut(&c);
    for (uint32_t i = 0; i < 5; i++)
        add_numbered(&c, "newcomer", i);
    assert_int_equal(cut(&c), before);
    counts(&c, "newcomer", "{\"matchLabels\":{\"k1\":\"v1\"}}", 1);
    cluster_close(&c);
}

static void the_limit_is_that_of_the_table(void **state) {
    struct cluster c;
    (void)state;
    open_cluster(&c, 0);
    assert_int_equal(c.cache->options.max_label_bytes, LIMIT_LABELS_BYTES);
    cluster_close(&c);
}

/* ---- what is known of a pod without its labels ---- */

#define LONG "\"app\":\"db\",\"x\":\"0123456789\""
#define APP "{\"matchLabels\":{\"app\":\"db\"}}"
#define OTHER "{\"matchLabels\":{\"other\":\"\"}}"

/* Room for k=v and not for more. */
static void open_small(struct cluster *c) {
    open_cluster(c, 6 * ONE + 5);
    add(c, "shop", "first", "\"k\":\"v\"");
    add(c, "mall", "there", "");
    assert_int_equal(cut(c), 0);
}

static void what_labels_say_has_no_answer(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    counts(&c, "shop", APP, 0);
    struct object pod = add(&c, "shop", "second", LONG);
    assert_int_equal(cut(&c), 1);
    has_no_answer(&c, "shop", APP);
    has_no_answer(&c, "shop", OTHER);
    has_no_answer(&c, "shop",
                  "{\"matchExpressions\":[{\"key\":\"y\",\"operator\":\"DoesNotExist\"}]}");
    has_no_answer(&c, "shop", "{\"matchLabels\":{\"k\":\"v\",\"fluid.io/dataset\":\"d\"}}");
    /* nothing is asked about them */
    counts(&c, "shop", "{}", 2);
    counts(&c, "mall", APP, 0);
    counts(&c, "mall", "{}", 1);
    counts(&c, "nowhere", APP, 0);
    cluster_remove(&c, &pod);
    assert_int_equal(cut(&c), 0);
    counts(&c, "shop", APP, 0);
    counts(&c, "shop", "{\"matchLabels\":{\"k\":\"v\"}}", 1);
    counts(&c, "shop", "{}", 1);
    cluster_close(&c);
}

/* Where no labels are asked for, a nil selector among others, none need be known. */
static void nothing_matches_nothing(void **state) {
    const struct selector nothing = {.nothing = true};
    struct cluster c;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", LONG);
    assert_int_equal(probe_total(c.cache, "shop", &nothing), 0);
    cluster_close(&c);
}

/* A counter that was there before is right again after. */
static void counters_are_right_afterwards(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    const char *not_x = "{\"matchExpressions\":[{\"key\":\"x\",\"operator\":\"DoesNotExist\"}]}";
    counts(&c, "shop", not_x, 1);
    struct object one = add(&c, "shop", "one", LONG), two = add(&c, "shop", "two", LONG);
    has_no_answer(&c, "shop", not_x);
    cluster_remove(&c, &one);
    has_no_answer(&c, "shop", not_x);
    struct object terminating = two;
    terminating.pod.meta.terminating = true; /* matched by no counter, whatever its labels */
    cluster_apply(&c, &terminating);
    assert_int_equal(cut(&c), 0);
    counts(&c, "shop", not_x, 1);
    cluster_remove(&c, &two);
    counts(&c, "shop", not_x, 1);
    cluster_close(&c);
}

static void the_pod_counts_in_everything_else(void **state) {
    struct cluster c;
    struct cache_view view;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", LONG);
    cache_view_open(c.cache, &view);
    struct cache_node node = cache_node(&view, topology_find(&view.nodes, STR("a")));
    assert_int_equal(node.pods, 3);
    assert_int_equal(node.filled[FILLED_CPU], 3000);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c.cache).pods, 3);
    cluster_close(&c);
}

/* Evenkeel's own questions are answered: of which Deployment it is, and of which dataset. */
static void own_labels_are_kept(void **state) {
    struct cluster c;
    struct cache_view view;
    struct cache_placed placed[4];
    struct str value;
    uint32_t from = 0;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second",
        LONG ",\"pod-template-hash\":\"6f\",\"rollouts-pod-template-hash\":\"7\","
             "\"fluid.io/dataset\":\"shop-images\"");
    assert_int_equal(cut(&c), 1);
    counts(&c, "shop", "{\"matchLabels\":{\"fluid.io/dataset\":\"shop-images\"}}", 1);
    counts(&c, "shop", "{\"matchLabels\":{\"fluid.io/dataset\":\"other\"}}", 0);
    counts(&c, "shop",
           "{\"matchExpressions\":[{\"key\":\"pod-template-hash\",\"operator\":\"Exists\"},"
           "{\"key\":\"rollouts-pod-template-hash\",\"operator\":\"In\",\"values\":[\"7\"]}]}",
           1);
    cache_view_open(c.cache, &view);
    assert_int_equal(cache_placed_next(&view, &from, placed, 4), 3);
    assert_true(cache_placed_label(&view, placed[2].group, STR("pod-template-hash"), &value));
    assert_str(value, "6f");
    assert_false(cache_placed_label(&view, placed[2].group, STR("app"), &value));
    cache_view_close(&view);
    cluster_close(&c);
}

/* No label's value is that long, so nobody can ask for it, or fill the memory with it. */
static void no_value_is_too_long(void **state) {
    char labels[200], value[65];
    struct cluster c;
    (void)state;
    open_small(&c);
    memset(value, 'x', sizeof value);
    for (int n = 62; n <= 64; n++) {
        (void)snprintf(labels, sizeof labels, LONG ",\"pod-template-hash\":\"%.*s\"", n, value);
        struct object pod = add(&c, "shop", "second", labels);
        counts(&c, "shop",
               "{\"matchExpressions\":[{\"key\":\"pod-template-hash\",\"operator\":\"Exists\"}]}",
               n <= 63);
        cluster_remove(&c, &pod);
    }
    cluster_close(&c);
}

/* A pod of which nothing is left out is as good as any. */
static void who_has_only_own_labels_is_whole(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", "\"pod-template-hash\":\"6f\"");
    add(&c, "shop", "third", "");
    assert_int_equal(cut(&c), 0);
    counts(&c, "shop", APP, 0);
    cluster_close(&c);
}

/* ---- room comes back ---- */

static void a_pod_that_is_seen_again_finds_room(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    struct object first = pod_in(&c, "shop", "first", "");
    struct object second = add(&c, "shop", "second", "\"l\":\"v\"");
    assert_int_equal(cut(&c), 1);
    cluster_apply(&c, &second);
    assert_int_equal(cut(&c), 1);
    cluster_remove(&c, &first);
    assert_int_equal(cut(&c), 1);
    cluster_apply(&c, &second);
    assert_int_equal(cut(&c), 0);
    counts(&c, "shop", "{\"matchLabels\":{\"l\":\"v\"}}", 1);
    assert_int_equal(bytes(&c), ONE);
    cluster_remove(&c, &second);
    assert_int_equal(bytes(&c), 0);
    cluster_close(&c);
}

/* A pod that is known whole stays so, however full it is. */
static void what_is_kept_stays(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", LONG);
    add(&c, "shop", "first", "\"k\":\"v\"");
    add(&c, "shop", "third", "\"k\":\"v\"");
    assert_int_equal(cut(&c), 1);
    assert_int_equal(bytes(&c), ONE);
    cluster_close(&c);
}

/* ---- who else asks ---- */

static void groups_say_what_they_do_not_know(void **state) {
    struct cluster c;
    struct cache_view view;
    struct cache_group group;
    struct label_set_ref labels;
    uint32_t at = 0, known = 0, unknown = 0;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", LONG);
    cache_view_open(c.cache, &view);
    while (cache_group_next(&view, &at, &c.arena, &group) > 0)
        if (group.labels_known)
            known += group.pods;
        else
            unknown += group.pods;
    assert_int_equal(known, 2);
    assert_int_equal(unknown, 1);
    at = 0;
    assert_int_equal(cache_labels_next(&view, STR("shop"), &at, &labels), 1);
    assert_int_equal(labels.set->count, 1); /* the long one is passed over */
    assert_int_equal(cache_labels_next(&view, STR("shop"), &at, &labels), 0);
    at = 0;
    assert_int_equal(cache_labels_next(&view, STR("mall"), &at, &labels), 1);
    assert_int_equal(cache_labels_next(&view, STR("mall"), &at, &labels), 0);
    cache_view_close(&view);
    cluster_close(&c);
}

static void count_sibling(void *ctx, label_lookup_fn *lookup, const void *labels, uint32_t pods) {
    (void)lookup;
    (void)labels;
    *(uint32_t *)ctx += pods;
}

static void siblings_without_labels_say_nothing(void **state) {
    struct cluster c;
    struct cache_view view;
    uint32_t pods = 0;
    (void)state;
    open_small(&c);
    struct object pod = add(&c, "shop", "second", LONG);
    cache_view_open(c.cache, &view);
    cache_siblings(&view, &pod.pod.meta, 9, count_sibling, &pods);
    cache_view_close(&view);
    assert_int_equal(pods, 1);
    cluster_close(&c);
}

static void count_meant(void *ctx, uint32_t slot, const bool *means) {
    (void)slot;
    *(uint32_t *)ctx += means[0];
}

/* Returns the pods that a term means; those of which that is not known are in *ret_unknown. */
static uint32_t meant(struct cluster *c, const char *namespace, const char *json,
                      uint32_t *ret_unknown) {
    struct str in = str_of(namespace);
    struct pod_term term = {.pods = cluster_selector(c, json),
                            .namespaces = &in,
                            .namespace_count = 1,
                            .by_labels = {.nothing = true},
                            .steps = 1};
    struct cache_meant of;
    struct cache_view view;
    uint32_t count = 0;
    cache_view_open(c->cache, &view);
    assert_int_equal(cache_meant_open(&view, &term, 1, &c->arena, &of), 0);
    assert_int_equal(cache_meant_visit(&view, &of, &c->arena, count_meant, &count), 0);
    cache_view_close(&view);
    *ret_unknown = of.unknown;
    return count;
}

static void terms_pass_over_them_and_say_so(void **state) {
    struct cluster c;
    uint32_t unknown;
    (void)state;
    open_small(&c);
    add(&c, "shop", "second", LONG);
    assert_int_equal(meant(&c, "shop", "{\"matchLabels\":{\"k\":\"v\"}}", &unknown), 1);
    assert_int_equal(unknown, 1);
    assert_int_equal(meant(&c, "shop", "{}", &unknown), 2);
    assert_int_equal(unknown, 0);
    assert_int_equal(meant(&c, "mall", APP, &unknown), 0);
    assert_int_equal(unknown, 0);
    cluster_close(&c);
}

/* A pod that waits to be seen is not assumed without its labels, and counts where it is reserved.
 */
static void assumed_and_reserved(void **state) {
    struct cluster c;
    (void)state;
    open_small(&c);
    struct object pod = pod_in(&c, "shop", "second", LONG);
    cache_write_begin(c.cache);
    assert_int_equal(cache_assume_on(c.cache, &pod.pod.meta, STR("a")), 0);
    cache_write_end(c.cache);
    assert_int_equal(cache_stats(c.cache).assumed, 0);
    assert_int_equal(cache_stats(c.cache).classes, 2);
    pod.pod.node_name = STR("");
    cache_write_begin(c.cache);
    assert_int_equal(cache_reserve(c.cache, &pod.pod, STR("a")), 0);
    cache_write_end(c.cache);
    has_no_answer(&c, "shop", APP);
    counts(&c, "shop", "{}", 2);
    /* its binding has an unclear end: it goes on counting, as it cannot be in flight */
    cache_write_begin(c.cache);
    assert_int_equal(cache_bind_begin(c.cache, &pod.pod.meta, STR("a")), 0);
    cache_bind_end(c.cache, &pod.pod.meta, CACHE_MAYBE_BOUND);
    cache_write_end(c.cache);
    assert_int_equal(cache_stats(c.cache).flights, 0);
    counts(&c, "shop", "{}", 2);
    cache_write_begin(c.cache);
    cache_release(c.cache, &pod.pod.meta);
    c.clock.at_ms += 1001;
    cache_expire(c.cache);
    cache_write_end(c.cache);
    counts(&c, "shop", APP, 0);
    assert_int_equal(bytes(&c), ONE);
    cluster_close(&c);
}

static void the_engine_says_why(void **state) {
    static const char *const constraints[] = {"1/zone/app", "1/zone/app,soft"};
    const struct str names[] = {STR("a"), STR("b")};
    const struct candidates candidates = {.names = names, .count = 2};
    struct cluster c;
    (void)state;
    open_small(&c);
    add(&c, "default", "first", LONG);
    for (int soft = 0; soft < 2; soft++) {
        struct pod pod = cluster_pod(&c, "app", constraints[soft], "");
        struct filter_result filtered;
        struct score_result scored;
        struct err err = {0};
        int r =
            soft ? engine_score(&c.options, c.cache, &pod, &candidates, &c.arena, &scored, &err)
                 : engine_filter(&c.options, c.cache, &pod, &candidates, &c.arena, &filtered, &err);
        assert_int_equal(r, -ENODATA);
        assert_contains(err.text, "pods that it counts have labels that are not kept");
    }
    struct pod other = cluster_pod(&c, "app", "", "");
    struct filter_result passed;
    assert_int_equal(
        engine_filter(&c.options, c.cache, &other, &candidates, &c.arena, &passed, NULL), 0);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_namespace_has_its_share),
        cmocka_unit_test(equal_pods_pay_once),
        cmocka_unit_test(there_is_room_for_a_newcomer),
        cmocka_unit_test(the_limit_is_that_of_the_table),
        cmocka_unit_test(what_labels_say_has_no_answer),
        cmocka_unit_test(nothing_matches_nothing),
        cmocka_unit_test(counters_are_right_afterwards),
        cmocka_unit_test(the_pod_counts_in_everything_else),
        cmocka_unit_test(own_labels_are_kept),
        cmocka_unit_test(no_value_is_too_long),
        cmocka_unit_test(who_has_only_own_labels_is_whole),
        cmocka_unit_test(a_pod_that_is_seen_again_finds_room),
        cmocka_unit_test(what_is_kept_stays),
        cmocka_unit_test(groups_say_what_they_do_not_know),
        cmocka_unit_test(siblings_without_labels_say_nothing),
        cmocka_unit_test(terms_pass_over_them_and_say_so),
        cmocka_unit_test(assumed_and_reserved),
        cmocka_unit_test(the_engine_says_why),
    };
    return CLUSTER_RUN_TESTS("label_budget", tests);
}
