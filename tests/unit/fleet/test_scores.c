/* AddOnPlacementScores in a fleet: by resource, cluster and name. */
#include "unit/fleet/fleet_builder.h"

#include <stdio.h>

static struct fleet_score score(struct fleet_builder *b, const char *resource, const char *cluster,
                                const char *name) {
    const struct fleet_view *v = fleet_look(b);
    const struct fleet_scores *scores = fleet_scores_find(v, str_of(resource));
    assert_non_null(scores);
    return fleet_score_of(scores, fleet_slot(b, cluster), fleet_score_name(v, str_of(name)));
}

static void by_resource_and_cluster(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    assert_null(fleet_scores_find(fleet_look(&b), STR("demo")));
    assert_int_equal(fleet_score_name(fleet_look(&b), STR("cpu")), INTERN_NONE);
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c1'}}");
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c2'}}");
    fleet_give(&b, FLEET_SCORES,
               "{'metadata':{'name':'demo','namespace':'c1'},'status':{'validUntil':"
               "'1970-01-01T00:00:03Z','scores':[{'name':'mem','value':-7},{'name':'cpu','value':"
               "30},{'name':'net','value':5}]}}");
    fleet_give(&b, FLEET_SCORES, "{'metadata':{'name':'other','namespace':'c2'}}");
    struct fleet_score s = score(&b, "demo", "c1", "cpu");
    assert_true(s.has_object && s.has_end && s.has_item);
    assert_int_equal(s.valid_until_ms, 3000);
    assert_int_equal(s.value, 30);
    assert_int_equal(score(&b, "demo", "c1", "mem").value, -7);
    assert_int_equal(score(&b, "demo", "c1", "net").value, 5);
    s = score(&b, "demo", "c1", "no such score");
    assert_true(s.has_object && s.has_end && !s.has_item);
    assert_int_equal(s.value, 0);
    s = score(&b, "demo", "c2", "cpu");
    assert_false(s.has_object || s.has_end || s.has_item);
    s = score(&b, "other", "c2", "cpu");
    assert_true(s.has_object && !s.has_end && !s.has_item);
    assert_null(fleet_scores_find(fleet_look(&b), STR("cpu"))); /* a name, but of no resource */
    assert_int_equal(contents_stats(b.c).scores, 2);
    fleet_builder_close(&b);
}

static void they_change_and_go(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_SCORES, /* the cluster is not known */
               "{'metadata':{'name':'r','namespace':'c'},'status':{'validUntil':"
               "'1970-01-01T00:00:03Z','scores':[{'name':'a','value':1},{'name':'b','value':2}]}}");
    assert_false(topology_is_known(b.c->clusters, fleet_slot(&b, "c")));
    assert_int_equal(score(&b, "r", "c", "b").value, 2);
    fleet_give(&b, FLEET_SCORES,
               "{'metadata':{'name':'r','namespace':'c'},'status':{'scores':[{'name':'a',"
               "'value':3}]}}");
    assert_int_equal(score(&b, "r", "c", "a").value, 3);
    assert_false(score(&b, "r", "c", "a").has_end);
    assert_int_equal(fleet_score_name(fleet_look(&b), STR("b")), INTERN_NONE);
    fleet_give(&b, FLEET_SCORES, "{'metadata':{'name':'r','namespace':'d'}}");
    fleet_drop(&b, FLEET_SCORES, "c", "r");
    fleet_drop(&b, FLEET_SCORES, "c", "r");
    fleet_drop(&b, FLEET_SCORES, "c", "no");
    fleet_drop(&b, FLEET_SCORES, "no", "r");
    assert_int_equal(topology_slot(b.c->clusters, STR("c")), TOPOLOGY_NONE);
    assert_true(score(&b, "r", "d", "a").has_object);
    fleet_drop(&b, FLEET_SCORES, "d", "r");
    assert_null(fleet_scores_find(fleet_look(&b), STR("r")));
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* Each of many names is found, whatever order their numbers have. */
static void many_items(void **state) {
    enum { MANY = 500 };
    struct fleet_builder b;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char name[16];
    (void)state;
    fleet_builder_open(&b);
    for (int i = MANY; i > 0; i -= 7) { /* some are known from elsewhere */
        (void)snprintf(name, sizeof name, "s%d", i);
        assert_int_not_equal(intern_ref(&b.c->strings, str_of(name)), INTERN_NONE);
    }
    strbuf_appendf(&text, "{'metadata':{'name':'r','namespace':'c'},'status':{'scores':[");
    for (int i = 0; i < MANY; i++)
        strbuf_appendf(&text, "%s{'name':'s%d','value':%d}", i > 0 ? "," : "", i, i - 200);
    strbuf_appendf(&text, "]}}%c", '\0');
    fleet_give(&b, FLEET_SCORES, text.p);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        assert_true(score(&b, "r", "c", name).has_item);
        assert_int_equal(score(&b, "r", "c", name).value, i - 200);
    }
    assert_false(score(&b, "r", "c", "s500").has_item);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_resource_and_cluster),
        cmocka_unit_test(they_change_and_go),
        cmocka_unit_test(many_items),
    };
    return cmocka_run_group_tests_name("scores of a fleet", tests, NULL, NULL);
}
