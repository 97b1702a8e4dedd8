/* Bursts: pods that are scored one after the other while no watch event shows any of them. */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

enum { NODES = 24, ZONES = 3 };

struct fixture {
    struct cluster c;
    char texts[NODES][8];
    struct str names[NODES];
    struct candidates all;
    uint32_t landed[NODES];
    uint64_t seed;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.seed = unit_seed()};
    cluster_open(&f.c);
    for (uint32_t i = 0; i < NODES; i++) {
        char json[256];
        (void)snprintf(f.texts[i], sizeof f.texts[i], "n%u", i);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\","
                       "\"kubernetes.io/hostname\":\"n%u\"}}}",
                       i, i % ZONES, i);
        cluster_apply_json(&f.c, OBJECT_NODE, json);
        f.names[i] = str_of(f.texts[i]);
    }
    f.all = (struct candidates){f.names, NODES};
    f.c.options.choose = true;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static struct score_result score(struct fixture *f, const struct pod *pod) {
    struct score_result result;
    struct err err;
    if (engine_score(&f->c.options, f->c.cache, pod, &f->all, &f->c.arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

/* What kube-scheduler does with the answer: any of the best nodes. */
static uint32_t take_any_best(struct fixture *f, const struct score_result *result) {
    uint32_t best[NODES], count = 0;
    for (uint32_t i = 0; i < NODES; i++)
        if (result->priorities[i] == ENGINE_MAX_PRIORITY)
            best[count++] = i;
    assert_int_not_equal(count, 0);
    assert_int_equal(count, result->chosen.count);
    return best[unit_below(&f->seed, count)];
}

static uint32_t skew(const struct fixture *f, uint32_t domains) {
    uint32_t counts[NODES] = {0}, most = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < NODES; i++)
        counts[i % domains] += f->landed[i];
    for (uint32_t d = 0; d < domains; d++) {
        most = counts[d] > most ? counts[d] : most;
        least = counts[d] < least ? counts[d] : least;
    }
    return most - least;
}

/* A burst of `count` pods; after every one `domains` differ by one pod at most. */
static void burst(struct fixture *f, const char *constraints, uint32_t count, uint32_t domains) {
    for (uint32_t n = 0; n < count; n++) {
        char uid[16];
        struct pod pod = cluster_pod(&f->c, "foo", constraints, "");
        (void)snprintf(uid, sizeof uid, "%u", n);
        pod.meta.uid = str_of(uid);
        struct score_result result = score(f, &pod);
        f->landed[take_any_best(f, &result)]++;
        cache_write_begin(f->c.cache);
        assert_int_equal(cache_assume(f->c.cache, &pod.meta, &result.chosen), 0);
        cache_write_end(f->c.cache);
        assert_in_range(skew(f, domains), 0, 1);
    }
}

static void zones_stay_even(void **state) {
    burst(*state, "1/zone/foo,soft", 300, ZONES);
}

static void zones_stay_even_with_hostnames_beside(void **state) {
    burst(*state, "5/zone/foo,soft 3/host/foo,soft", 300, ZONES);
}

/* 24 nodes: the first pod is sent to three of them, and those after it to one each. */
static void nodes_are_not_used_twice(void **state) {
    burst(*state, "1/host/foo,soft", 22, NODES);
}

/* A pod that comes alone leaves the other plugins a choice. */
static void one_pod_has_an_eighth_of_the_nodes(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/host/foo,soft", "");
    assert_int_equal(score(f, &pod).chosen.count, NODES / 8);
}

static void taint(struct fixture *f, uint32_t i) {
    char json[256];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\"}},\"spec\":{"
                   "\"taints\":[{\"key\":\"old\",\"effect\":\"PreferNoSchedule\"}]}}",
                   i, i % ZONES);
    cluster_apply_json(&f->c, OBJECT_NODE, json);
}

static bool is_sent_to_zone(struct fixture *f, const char *spec, uint32_t zone) {
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo,soft", spec);
    struct score_result result = score(f, &pod);
    return take_any_best(f, &result) % ZONES == zone;
}

/* One zone is free of pods. Its nodes have a taint, for which kube-scheduler avoids them. */
static void tainted_nodes_are_left_out_while_there_are_others(void **state) {
    struct fixture *f = *state;
    for (uint32_t i = 1; i < ZONES; i++) {
        char json[256];
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"default\",\"uid\":\"p%u\","
                       "\"labels\":{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"n%u\"}}",
                       i, i, i);
        cluster_apply_json(&f->c, OBJECT_POD, json);
    }
    assert_true(is_sent_to_zone(f, "", 0));
    for (uint32_t i = 0; i < NODES; i += ZONES)
        taint(f, i);
    assert_false(is_sent_to_zone(f, "", 0));
    assert_true(is_sent_to_zone(f, "\"tolerations\":[{\"key\":\"old\"}],", 0));
    for (uint32_t i = 0; i < NODES; i++)
        taint(f, i);
    assert_true(is_sent_to_zone(f, "", 0));
}

static void ordered_rules_stay_even(void **state) {
    struct fixture *f = *state;
    struct ordered_rule *rule = arena_alloc(&f->c.arena, sizeof *rule);
    assert_non_null(rule);
    rule->pods = cluster_selector(
        &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}");
    rule->terms = cluster_constraints(&f->c, "1/zone/nil,soft 1/host/nil,soft", &rule->term_count);
    f->c.options.ordered_rules = rule;
    f->c.options.ordered_rule_count = 1;
    burst(f, "", 120, ZONES);
}

/* The chosen are among the best, and the rest of the best are still better than all others. By half
 * the scale: with two of kube-scheduler's weights that is as much as its NodeResourcesFit. */
static void only_the_best_are_chosen(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo,soft", "");
    for (uint32_t i = 0; i < NODES; i++) {
        char json[256];
        if (i % ZONES == 0) {
            (void)snprintf(json, sizeof json,
                           "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"default\",\"uid\":"
                           "\"p%u\",\"labels\":{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"n%u\"}}",
                           i, i, i);
            cluster_apply_json(&f->c, OBJECT_POD, json);
        }
    }
    struct score_result result = score(f, &pod);
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        chosen += result.priorities[i] == 10;
        assert_true(i % ZONES == 0 ? result.priorities[i] == 0
                                   : result.priorities[i] == 10 || result.priorities[i] == 5);
    }
    assert_int_equal(chosen, NODES / ZONES);
    f->c.options.choose = false;
    result = score(f, &pod);
    assert_int_equal(result.chosen.count, 0);
    for (uint32_t i = 0; i < NODES; i++)
        assert_int_equal(result.priorities[i], i % ZONES == 0 ? 0 : 10);
}

static void nothing_is_chosen_where_nothing_is_spread(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    struct score_result result = score(f, &pod);
    assert_int_equal(result.column_count, 0);
    assert_int_equal(result.chosen.count, 0);
}

static void duplicates_and_strangers_are_no_nodes(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"n0", 2}, {"nowhere", 7}, {"n0", 2}};
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo,soft", "");
    f->all = (struct candidates){names, 3};
    struct score_result result = score(f, &pod);
    assert_int_equal(result.chosen.count, 1);
    assert_int_equal(result.priorities[0], 10);
    assert_int_equal(result.priorities[1], 0);
    assert_int_equal(result.priorities[2], 10);
}

/* In one zone, so that only the taint divides them. The order in which they are named says nothing.
 */
static void a_tainted_node_is_no_pick_beside_another(void **state) {
#define OLD ",\"spec\":{\"taints\":[{\"key\":\"old\",\"effect\":\"PreferNoSchedule\"}]}}"
    static const struct {
        struct str names[4];
        int32_t priorities[4];
        uint32_t chosen;
    } cases[] = {
        {{{"old1", 4}, {"new1", 4}, {"old2", 4}, {"new2", 4}}, {5, 10, 5, 10}, 2},
        {{{"new1", 4}, {"old1", 4}, {"new2", 4}, {"old2", 4}}, {10, 5, 10, 5}, 2},
        {{{"old1", 4}, {"old2", 4}, {"old1", 4}, {"new1", 4}}, {5, 5, 5, 10}, 1},
        {{{"new1", 4}, {"old1", 4}, {"old2", 4}, {"old1", 4}}, {10, 5, 5, 5}, 1},
        {{{"old1", 4}, {"old2", 4}, {"old1", 4}, {"old2", 4}}, {10, 10, 10, 10}, 2},
        {{{"new1", 4}, {"new2", 4}, {"new1", 4}, {"new2", 4}}, {10, 10, 10, 10}, 2},
    };
    struct fixture *f = *state;
#define IN_ZONE(name) "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"zone\":\"z0\"}}"
    cluster_apply_json(&f->c, OBJECT_NODE, IN_ZONE("new1") "}");
    cluster_apply_json(&f->c, OBJECT_NODE, IN_ZONE("new2") "}");
    cluster_apply_json(&f->c, OBJECT_NODE, IN_ZONE("old1") OLD);
    cluster_apply_json(&f->c, OBJECT_NODE, IN_ZONE("old2") OLD);
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo,soft", "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->all = (struct candidates){cases[i].names, 4};
        struct score_result result = score(f, &pod);
        assert_int_equal(result.chosen.count, cases[i].chosen);
        for (int k = 0; k < 4; k++)
            assert_int_equal(result.priorities[k], cases[i].priorities[k]);
    }
    /* Better ones with the taint are left out for worse ones without. */
    cluster_apply_json(&f->c, OBJECT_NODE,
                       "{\"metadata\":{\"name\":\"old3\",\"labels\":{\"zone\":\"z9\"}}" OLD);
    cluster_apply_json(&f->c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"p\","
                       "\"labels\":{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"new1\"}}");
    static const struct str orders[2][3] = {{{"old3", 4}, {"new1", 4}, {"new2", 4}},
                                            {{"new1", 4}, {"new2", 4}, {"old3", 4}}};
    for (int order = 0; order < 2; order++) {
        f->all = (struct candidates){orders[order], 3};
        struct score_result result = score(f, &pod);
        assert_int_equal(result.chosen.count, 2);
        assert_int_equal(result.priorities[order == 0 ? 1 : 0], 10);
        assert_int_not_equal(result.priorities[order == 0 ? 0 : 2], 10);
    }
}

/* Where nodes are spread over: an eighth of them, rounded up; a single one while others of the
 * group are on their way and nodes are few, which is fewer than 64. */
static void how_many_nodes_are_chosen(void **state) {
    enum { MOST = 65 };
    static const struct {
        uint32_t nodes, alone, in_a_burst;
    } cases[] = {{1, 1, 1},  {7, 1, 1},  {8, 1, 1},  {9, 2, 1},
                 {16, 2, 1}, {63, 8, 1}, {64, 8, 8}, {65, 9, 9}};
    struct fixture *f = *state;
    static char texts[MOST][8];
    static struct str names[MOST];
    for (uint32_t i = 0; i < MOST; i++) {
        char json[200];
        (void)snprintf(texts[i], sizeof texts[i], "h%u", i);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"h%u\",\"labels\":{\"kubernetes.io/hostname\":"
                       "\"h%u\"}}}",
                       i, i);
        cluster_apply_json(&f->c, OBJECT_NODE, json);
        names[i] = str_of(texts[i]);
    }
    struct pod pod = cluster_pod(&f->c, "foo", "1/host/foo,soft", "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->all = (struct candidates){names, cases[i].nodes};
        assert_int_equal(score(f, &pod).chosen.count, cases[i].alone);
    }
    struct pod other = pod;
    struct cache_nodes elsewhere = {0};
    other.meta.uid = STR("other");
    f->all = (struct candidates){f->names, 1};
    elsewhere = score(f, &pod).chosen;
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_assume(f->c.cache, &other.meta, &elsewhere), 0);
    cache_write_end(f->c.cache);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->all = (struct candidates){names, cases[i].nodes};
        assert_int_equal(score(f, &pod).chosen.count, cases[i].in_a_burst);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(zones_stay_even),
        TEST(zones_stay_even_with_hostnames_beside),
        TEST(nodes_are_not_used_twice),
        TEST(one_pod_has_an_eighth_of_the_nodes),
        TEST(tainted_nodes_are_left_out_while_there_are_others),
        TEST(ordered_rules_stay_even),
        TEST(only_the_best_are_chosen),
        TEST(nothing_is_chosen_where_nothing_is_spread),
        TEST(duplicates_and_strangers_are_no_nodes),
        TEST(a_tainted_node_is_no_pick_beside_another),
        TEST(how_many_nodes_are_chosen),
    };
    return CLUSTER_RUN_TESTS("choice", tests);
}
