/* ManagedClusters in a fleet, and the slots of clusters that are not known. */
#include "unit/fleet/fleet_builder.h"

#include <stdio.h>

static void a_cluster(void **state) {
    struct fleet_builder b;
    struct topology_column column;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_CLUSTERS,
               "{'metadata':{'name':'c1','labels':{'region':'eu'},'deletionTimestamp':"
               "'2026-01-01T00:00:00Z'},'spec':{'hubAcceptsClient':true,'taints':[{'key':'k',"
               "'value':'v','effect':'NoSelect','timeAdded':'1970-01-01T00:00:02Z'},{'key':'l',"
               "'effect':'NoSelectIfNew'}]},'status':{'allocatable':{'cpu':'3'},'capacity':{"
               "'cpu':'4','memory':'5'},'clusterClaims':[{'name':'zone','value':'z'}]}}");
    struct fleet_view view = *fleet_look(&b);
    const uint32_t slot = topology_find(&view.clusters, STR("c1"));
    const struct fleet_cluster *c = fleet_cluster(&view, slot);
    assert_int_equal(topology_column(&view.clusters, STR("claim:zone"), &column), 0);
    assert_str(topology_value(&view.clusters, &column, column.domain_of[slot]), "z");
    assert_int_equal(topology_column(&view.clusters, STR("region"), &column), 0);
    assert_str(topology_value(&view.clusters, &column, column.domain_of[slot]), "eu");
    b.view = view; /* with what it has built */
    assert_int_equal(c->taint_count, 2);
    assert_str(c->taints[0].taint.key, "k");
    assert_str(c->taints[0].taint.value, "v");
    assert_str(c->taints[0].taint.effect, "NoSelect");
    assert_int_equal(c->taints[0].added_ms, 2000);
    assert_str(c->taints[1].taint.key, "l");
    assert_true(c->taints[1].added_ms == INT64_MIN);
    assert_true(c->cpu_allocatable.given && c->cpu_allocatable.value == 3);
    assert_true(c->cpu_capacity.given && c->cpu_capacity.value == 4);
    assert_false(c->memory_allocatable.given);
    assert_true(c->memory_capacity.given && c->memory_capacity.value == 5);
    assert_true(c->terminating && c->accepted);
    assert_int_equal(fleet_decided(&view)[slot], 0);
    fleet_builder_close(&b);
}

/* What the topology does not have changes although the topology does not. */
static void it_changes(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c'},'spec':{'taints':[{'key':'k'}]}}");
    fleet_give(&b, FLEET_CLUSTERS,
               "{'metadata':{'name':'c'},'spec':{'hubAcceptsClient':true,'taints':[{'key':'k',"
               "'timeAdded':'1970-01-01T00:00:01Z'}]}}");
    const struct fleet_cluster *c = fleet_cluster(fleet_look(&b), fleet_slot(&b, "c"));
    assert_int_equal(c->taints[0].added_ms, 1000);
    assert_true(c->accepted);
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c'}}");
    c = fleet_cluster(fleet_look(&b), fleet_slot(&b, "c"));
    assert_int_equal(c->taint_count, 0);
    assert_null(c->taints);
    assert_false(c->accepted);
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c");
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c"); /* once more is no matter */
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "never there");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* A decision names a cluster before it is known, and after. */
static void a_slot_without_a_cluster(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'d','namespace':'n'},'status':{'decisions':[{'clusterName':"
               "'c'}]}}");
    assert_int_equal(topology_slot(b.c->clusters, STR("c")), TOPOLOGY_NONE);
    fleet_give(&b, FLEET_CLUSTERS,
               "{'metadata':{'name':'c'},'spec':{'hubAcceptsClient':true,'taints':[{'key':'k'}]}}");
    const uint32_t slot = fleet_slot(&b, "c");
    assert_int_equal(fleet_decided(fleet_look(&b))[slot], 1);
    assert_true(fleet_cluster(fleet_look(&b), slot)->accepted);
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c");
    assert_int_equal(fleet_slot(&b, "c"), slot);
    assert_false(topology_is_known(b.c->clusters, slot));
    assert_false(fleet_cluster(fleet_look(&b), slot)->accepted);
    assert_int_equal(fleet_cluster(fleet_look(&b), slot)->taint_count, 0);
    assert_int_equal(fleet_decided(fleet_look(&b))[slot], 1);
    fleet_drop(&b, FLEET_DECISIONS, "n", "d");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* Slots are used again, and what was in them is not seen. */
static void many_come_and_go(void **state) {
    enum { MANY = 3000 };
    struct fleet_builder b;
    char text[200];
    (void)state;
    fleet_builder_open(&b);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(text, sizeof text,
                           "{'metadata':{'name':'c%d','labels':{'a':'%d'}},'spec':{'taints':[{"
                           "'key':'%d'}]}}",
                           i + round, i, i);
            fleet_give(&b, FLEET_CLUSTERS, text);
        }
        assert_int_equal(contents_stats(b.c).clusters, MANY);
        for (int i = 0; i < MANY; i += 100) {
            (void)snprintf(text, sizeof text, "c%d", i + round);
            const uint32_t slot = fleet_slot(&b, text);
            (void)snprintf(text, sizeof text, "%d", i);
            assert_str(fleet_cluster(fleet_look(&b), slot)->taints[0].taint.key, text);
        }
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(text, sizeof text, "c%d", i + round);
            fleet_drop(&b, FLEET_CLUSTERS, NULL, text);
        }
        fleet_is_empty(&b);
    }
    assert_true(topology_slots(b.c->clusters) <= MANY);
    fleet_builder_close(&b);
}

/* What was known before a listing without end stays, and nothing else. */
static void a_listing_without_end(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    informer_list(&fleet_store, b.c, FLEET_CLUSTERS, LISTING_BEGINS);
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'a'}}");
    informer_list(&fleet_store, b.c, FLEET_CLUSTERS, LISTING_ENDS);
    uint64_t before = fleet_store.kept_bytes(b.c);
    const uint32_t slots = topology_slots(b.c->clusters);
    informer_list(&fleet_store, b.c, FLEET_CLUSTERS, LISTING_BEGINS);
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'b'},'spec':{'taints':[{'key':'k'}]}}");
    informer_list(&fleet_store, b.c, FLEET_CLUSTERS,
                  LISTING_BEGINS); /* the one before was given up */
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'a'}}");
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c','labels':{'x':'y'}}}");
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n'}}");
    assert_true(fleet_store.kept_bytes(b.c) > before + b.c->taint_bytes);
    assert_true(b.c->taint_bytes > 0);
    informer_list(&fleet_store, b.c, FLEET_PLACEMENTS,
                  LISTING_FAILS); /* of which there are no listings */
    assert_int_equal(topology_stats(b.c->clusters).candidates, 3);
    informer_list(&fleet_store, b.c, FLEET_CLUSTERS, LISTING_FAILS);
    assert_int_equal(topology_stats(b.c->clusters).candidates, 1);
    (void)fleet_slot(&b, "a");
    assert_int_equal(b.c->taint_bytes, 0);
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    before += (topology_slots(b.c->clusters) - slots) * sizeof *b.c->cluster_of;
    assert_int_equal(fleet_store.kept_bytes(b.c), before);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster),
        cmocka_unit_test(it_changes),
        cmocka_unit_test(a_slot_without_a_cluster),
        cmocka_unit_test(many_come_and_go),
        cmocka_unit_test(a_listing_without_end),
    };
    return cmocka_run_group_tests_name("clusters of a fleet", tests, NULL, NULL);
}
