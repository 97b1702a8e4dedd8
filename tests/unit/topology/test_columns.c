/* Columns: the domains of nodes under a topology key. */
#include "unit/cache/probe.h"

#include <errno.h>
#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

static uint32_t zone(struct cluster *c, const char *node) {
    return probe_domain(c->cache, "zone", node);
}

static void equal_values_are_one_domain(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x y o,-zone");
    assert_int_equal(zone(c, "a"), zone(c, "b"));
    assert_int_equal(zone(c, "x"), zone(c, "y"));
    assert_int_not_equal(zone(c, "a"), zone(c, "x"));
    assert_int_equal(zone(c, "o"), TOPOLOGY_NONE);
    assert_int_equal(zone(c, "nowhere"), TOPOLOGY_NONE);
    assert_int_equal(probe_domain(c->cache, "no-such-key", "a"), TOPOLOGY_NONE);
}

static void what_a_view_builds_is_kept(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column column;
    cluster_nodes(c, "a");
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_int_equal(view.nodes.built, 1);
    cache_view_close(&view);
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_int_equal(view.nodes.built, 0);
    assert_int_equal(topology_column(&view.nodes, STR("rack"), &column), 0);
    assert_int_equal(view.nodes.built, 1);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c->cache).columns, 2);
}

static void columns_follow_labels(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x");
    uint32_t zone1 = zone(c, "a"), zone2 = zone(c, "x");
    cluster_nodes(c, "b,+zone=zone2");
    assert_int_equal(zone(c, "b"), zone2);
    assert_int_equal(zone(c, "a"), zone1);
    cluster_nodes(c, "b,-zone");
    assert_int_equal(zone(c, "b"), TOPOLOGY_NONE);
    cluster_nodes(c, "b,+zone=zone9");
    assert_int_not_equal(zone(c, "b"), zone1);
    assert_int_not_equal(zone(c, "b"), zone2);
    cluster_remove(c, &c->nodes[0]);
    assert_int_equal(zone(c, "a"), TOPOLOGY_NONE);
    assert_int_equal(zone(c, "x"), zone2);
}

static void domains_stand_for_values(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column column;
    cluster_nodes(c, "a x,+zone=other");
    uint32_t first = zone(c, "a"), second = zone(c, "x");
    cluster_nodes(c, "x,+zone=zone1");
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_str(topology_value(&view.nodes, &column, first), "zone1");
    assert_str(topology_value(&view.nodes, &column, second), ""); /* unused now */
    cache_view_close(&view);
}

/* However long nodes come and go with ever new values, the table does not grow. */
static void unused_domains_are_taken_again(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column column;
    char json[128];
    cluster_nodes(c, "a x");
    (void)zone(c, "a");
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"a\",\"labels\":{\"zone\":\"value-%u\"}}}", i);
        cluster_apply_json(c, OBJECT_NODE, json);
    }
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_true(column.domains <= 3); /* the new one is taken before the old one is given */
    cache_view_close(&view);
    assert_int_not_equal(zone(c, "a"), zone(c, "x"));
}

static uint32_t empty_domain(struct cluster *c) {
    struct cache_view view;
    struct topology_column column;
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    cache_view_close(&view);
    return column.empty;
}

static void the_empty_value_is_named(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    assert_int_equal(empty_domain(c), TOPOLOGY_NONE);
    cluster_nodes(c, "b,+other"); /* "" is known to the cache, but is no zone */
    assert_int_equal(empty_domain(c), TOPOLOGY_NONE);
    cluster_nodes(c, "x,+zone");
    assert_int_equal(empty_domain(c), zone(c, "x"));
    assert_int_not_equal(empty_domain(c), TOPOLOGY_NONE);
    cluster_nodes(c, "x,+zone=zone2");
    assert_int_equal(empty_domain(c), TOPOLOGY_NONE);
}

static void unknown_nodes_have_no_domain(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column column;
    cluster_nodes(c, "a");
    (void)zone(c, "a");
    cluster_pods(c, "ghost:1");
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    uint32_t with_domain = 0;
    for (uint32_t slot = 0; slot < topology_slots(view.nodes.topology); slot++)
        with_domain += column.domain_of[slot] != TOPOLOGY_NONE;
    assert_int_equal(topology_slots(view.nodes.topology), 2);
    assert_int_equal(with_domain, 1);
    cache_view_close(&view);
}

static void columns_outlive_growth(void **state) {
    struct cluster *c = *state;
    char json[128], name[16];
    cluster_nodes(c, "a");
    uint32_t zone1 = zone(c, "a");
    for (unsigned i = 0; i < 200; i++) {
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"zone%u\"}}}", i,
                       i % 40);
        cluster_apply_json(c, OBJECT_NODE, json);
    }
    assert_int_equal(zone(c, "a"), zone1);
    assert_int_equal(zone(c, "n1"), zone1);
    for (unsigned i = 0; i < 40; i++) {
        char twin[16];
        (void)snprintf(name, sizeof name, "n%u", i);
        (void)snprintf(twin, sizeof twin, "n%u", i + 160);
        assert_int_equal(zone(c, name), zone(c, twin));
        assert_true(i == 1 || zone(c, name) != zone1);
    }
}

static void the_least_recently_used_column_makes_room(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column column;
    char key[16];
    cluster_nodes(c, "a");
    for (unsigned i = 0; i < LIMIT_COLUMNS; i++) {
        (void)snprintf(key, sizeof key, "key%u", i);
        (void)probe_domain(c->cache, key, "a");
    }
    assert_int_equal(cache_stats(c->cache).columns, LIMIT_COLUMNS);
    (void)probe_domain(c->cache, "key0", "a"); /* now key1 is the oldest */
    (void)zone(c, "a");
    assert_int_equal(cache_stats(c->cache).columns, LIMIT_COLUMNS);
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("key0"), &column), 0);
    assert_int_equal(topology_column(&view.nodes, STR("key2"), &column), 0);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &column), 0);
    assert_int_equal(view.nodes.built, 0);
    assert_int_equal(topology_column(&view.nodes, STR("key1"), &column), 0);
    assert_int_equal(view.nodes.built, 1);
    cache_view_close(&view);
}

/* More columns than the limit in one view: none of them goes before the view is closed. */
static void what_a_view_uses_stays(void **state) {
    struct cluster c;
    struct cache_view view;
    struct topology_column columns[4];
    static const struct str keys[4] = {{"zone", 4}, {"node", 4}, {"k", 1}, {"l", 1}};
    (void)state;
    cluster_open_with(&c, (struct cache_options){.max_columns = 2});
    cluster_nodes(&c, "a,+k=1,+l=2");
    (void)zone(&c, "a");
    cache_view_open(c.cache, &view);
    uint32_t slot = topology_find(&view.nodes, STR("a"));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(topology_column(&view.nodes, keys[i], &columns[i]), 0);
    const char *const values[4] = {"zone1", "a", "1", "2"};
    for (unsigned i = 0; i < 4; i++)
        assert_str(topology_value(&view.nodes, &columns[i], columns[i].domain_of[slot]), values[i]);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c.cache).columns, 2);
    (void)probe_domain(c.cache, "new", "a");
    assert_int_equal(cache_stats(c.cache).columns, 2);
    cluster_close(&c);
}

/* The zones of nodes labelled host=..., as "a,b"; cluster_nodes() gives every node a zone. */
static void zones_with(struct cluster *c, const char *label, int expected, const char *zones) {
    struct cache_view view;
    struct str *found;
    uint32_t count;
    struct strbuf text = {0};
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_places(&view.nodes, (struct label){str_of(label), STR("true")},
                                     STR("zone"), &c->arena, &found, &count),
                     expected);
    cache_view_close(&view);
    for (uint32_t i = 0; expected == 0 && i < count; i++)
        strbuf_appendf(&text, "%s%.*s", i > 0 ? "," : "", STR_ARG(found[i]));
    if (zones != NULL)
        assert_str(strbuf_str(&text), zones);
    strbuf_done(&text);
}

static void places_of_a_label(void **state) {
    struct cluster *c = *state;
    zones_with(c, "data", 0, "");
    cluster_nodes(c, "x,+data=true b a,+data=true o,-zone,+data=true y,+data=false");
    zones_with(c, "data", 0, "zone1,zone2");
    zones_with(c, "zone", 0, "");
    cluster_nodes(c, "x,+data=no");
    zones_with(c, "data", 0, "zone1");
    for (uint32_t i = 0; i < LIMIT_PLACES; i++) {
        char node[128];
        (void)snprintf(node, sizeof node,
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"n%u\",\"many\":"
                       "\"true\"}}}",
                       i, i);
        cluster_apply_json(c, OBJECT_NODE, node);
    }
    zones_with(c, "many", 0, NULL);
    cluster_nodes(c, "a,+many=true");
    zones_with(c, "many", -E2BIG, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_values_are_one_domain),
        TEST(what_a_view_builds_is_kept),
        TEST(domains_stand_for_values),
        TEST(columns_follow_labels),
        TEST(unused_domains_are_taken_again),
        TEST(the_empty_value_is_named),
        TEST(unknown_nodes_have_no_domain),
        TEST(columns_outlive_growth),
        TEST(the_least_recently_used_column_makes_room),
        TEST(what_a_view_uses_stays),
        TEST(places_of_a_label),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
