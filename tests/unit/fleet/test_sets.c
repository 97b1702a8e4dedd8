/* ManagedClusterSets, bindings and namespaces in a fleet. */
#include "unit/fleet/fleet_builder.h"

#include <stdio.h>

#include "model/selector_problem.h"

static void bindings_are(struct fleet_builder *b, const char *namespace, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    uint32_t count;
    const struct str *names = fleet_bindings(fleet_look(b), str_of(namespace), &count);
    assert_int_equal(names == NULL, count == 0);
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(&got, "%s%.*s", i > 0 ? " " : "", STR_ARG(names[i]));
    assert_str(strbuf_str(&got), wanted);
}

static void bind(struct fleet_builder *b, const char *namespace, const char *set) {
    char text[200];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s','namespace':'%s'}}", set,
                   namespace);
    fleet_give(b, FLEET_BINDINGS, text);
}

static void bindings_by_name(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    bindings_are(&b, "n", "");
    bind(&b, "n", "b");
    bind(&b, "n", "c");
    bindings_are(&b, "n", "b c");
    bind(&b, "n", "a");
    bind(&b, "n", "B");
    bind(&b, "n", "b"); /* once more */
    bind(&b, "m", "b");
    bindings_are(&b, "n", "B a b c");
    bindings_are(&b, "m", "b");
    assert_int_equal(contents_stats(b.c).bindings, 5);
    fleet_drop(&b, FLEET_BINDINGS, "n", "b");
    fleet_drop(&b, FLEET_BINDINGS, "n", "b");
    fleet_drop(&b, FLEET_BINDINGS, "m", "a"); /* not there */
    fleet_drop(&b, FLEET_BINDINGS, "no", "b");
    fleet_drop(&b, FLEET_BINDINGS, "n", "no");
    bindings_are(&b, "n", "B a c");
    bindings_are(&b, "m", "b");
    fleet_drop(&b, FLEET_BINDINGS, "n", "a");
    fleet_drop(&b, FLEET_BINDINGS, "n", "B");
    fleet_drop(&b, FLEET_BINDINGS, "n", "c");
    bindings_are(&b, "n", "");
    fleet_drop(&b, FLEET_BINDINGS, "m", "b");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* It goes, and comes back before anybody has looked. */
static void a_binding_comes_back(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    bind(&b, "n", "a");
    fleet_drop(&b, FLEET_BINDINGS, "n", "a");
    bind(&b, "n", "a");
    bindings_are(&b, "n", "a");
    fleet_drop(&b, FLEET_BINDINGS, "n", "a");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

static void sets(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_SETS, "{'metadata':{'name':'plain'}}");
    fleet_give(&b, FLEET_SETS,
               "{'metadata':{'name':'eu'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{'matchLabels':{'region':'eu'}}}}}");
    fleet_give(&b, FLEET_SETS,
               "{'metadata':{'name':'nil'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector'}}}");
    fleet_give(&b, FLEET_SETS,
               "{'metadata':{'name':'global'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{}}}}");
    const struct fleet_view *v = fleet_look(&b);
    assert_null(fleet_set_find(v, STR("no")));
    assert_int_equal(fleet_set_find(v, STR("plain"))->type, CLUSTER_SET_BY_LABEL);
    assert_str(fleet_set_find(v, STR("plain"))->name, "plain");
    const struct fleet_set *eu = fleet_set_find(v, STR("eu"));
    assert_int_equal(eu->type, CLUSTER_SET_BY_SELECTOR);
    assert_str(eu->problem, "");
    assert_int_equal(eu->selector.count, 1);
    assert_str(eu->selector.items[0].key, "region");
    assert_str(eu->selector.items[0].values[0], "eu");
    assert_true(fleet_set_find(v, STR("nil"))->selector.nothing);
    assert_false(fleet_set_find(v, STR("global"))->selector.nothing);
    assert_int_equal(fleet_set_find(v, STR("global"))->selector.count, 0);
    assert_int_equal(contents_stats(b.c).sets, 4);
    fleet_drop(&b, FLEET_SETS, NULL, "plain");
    fleet_drop(&b, FLEET_SETS, NULL, "plain");
    fleet_drop(&b, FLEET_SETS, NULL, "eu");
    fleet_drop(&b, FLEET_SETS, NULL, "nil");
    fleet_drop(&b, FLEET_SETS, NULL, "global");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

static void a_selector_that_does_not_compile(void **state) {
    struct fleet_builder b;
    struct label_expression bad = {.key = STR("a"), .op = STR("Near")};
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_SETS,
               "{'metadata':{'name':'s'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{'matchExpressions':[{'key':'a','operator':"
               "'Near'}]}}}}");
    const struct fleet_set *s = fleet_set_find(fleet_look(&b), STR("s"));
    struct label_selector selector = {.present = true, .expressions = &bad, .expression_count = 1};
    assert_true(str_eq(s->problem, selector_problem(&selector, &b.arena)));
    assert_true(s->problem.n > 0);
    /* mended */
    fleet_give(&b, FLEET_SETS, "{'metadata':{'name':'s'}}");
    s = fleet_set_find(fleet_look(&b), STR("s"));
    assert_str(s->problem, "");
    assert_int_equal(s->type, CLUSTER_SET_BY_LABEL);
    assert_int_equal(b.c->sets_with_selector, FLEET_NONE);
    fleet_builder_close(&b);
}

/* A set that is only bound is none; and one that goes stays bound. */
static void bound_and_not_known(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    bind(&b, "n", "s");
    assert_null(fleet_set_find(fleet_look(&b), STR("s")));
    fleet_give(&b, FLEET_SETS, "{'metadata':{'name':'s'}}");
    assert_non_null(fleet_set_find(fleet_look(&b), STR("s")));
    fleet_drop(&b, FLEET_SETS, NULL, "s");
    assert_null(fleet_set_find(fleet_look(&b), STR("s")));
    bindings_are(&b, "n", "s");
    assert_int_equal(contents_stats(b.c).sets, 0);
    fleet_drop(&b, FLEET_BINDINGS, "n", "s");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* A cluster, a binding and its set: nothing can be decided without one of each. */
static void what_a_decision_needs(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    assert_true(fleet_lacks_all(fleet_look(&b)));
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c'}}");
    assert_true(fleet_lacks_all(fleet_look(&b)));
    bind(&b, "n", "s");
    assert_true(fleet_lacks_all(fleet_look(&b))); /* the set is only bound */
    fleet_give(&b, FLEET_SETS, "{'metadata':{'name':'s'}}");
    assert_false(fleet_lacks_all(fleet_look(&b)));
    fleet_drop(&b, FLEET_BINDINGS, "n", "s");
    assert_true(fleet_lacks_all(fleet_look(&b)));
    bind(&b, "n", "s");
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c");
    assert_true(fleet_lacks_all(fleet_look(&b)));
    fleet_give(&b, FLEET_CLUSTERS, "{'metadata':{'name':'c'}}");
    assert_false(fleet_lacks_all(fleet_look(&b)));
    fleet_drop(&b, FLEET_SETS, NULL, "s");
    assert_true(fleet_lacks_all(fleet_look(&b)));
    fleet_builder_close(&b);
}

static void namespaces(void **state) {
    struct fleet_builder b;
    struct label_set_ref labels;
    struct str value;
    (void)state;
    fleet_builder_open(&b);
    assert_false(fleet_namespace(fleet_look(&b), STR("n"), &labels));
    bind(&b, "n", "s");
    assert_false(fleet_namespace(fleet_look(&b), STR("n"), &labels)); /* only referred to */
    fleet_give(&b, FLEET_NAMESPACES,
               "{'metadata':{'name':'n','labels':{'team':'a'}},'spec':{'finalizers':['x']},"
               "'status':{'phase':'Active'}}");
    assert_true(fleet_namespace(fleet_look(&b), STR("n"), &labels));
    assert_true(label_set_lookup(&labels, STR("team"), &value));
    assert_str(value, "a");
    fleet_give(&b, FLEET_NAMESPACES, "{'metadata':{'name':'n','labels':{'tier':'b'}}}");
    assert_true(fleet_namespace(fleet_look(&b), STR("n"), &labels));
    assert_false(label_set_lookup(&labels, STR("team"), &value));
    assert_true(label_set_lookup(&labels, STR("tier"), &value));
    fleet_drop(&b, FLEET_NAMESPACES, NULL, "n");
    assert_false(fleet_namespace(fleet_look(&b), STR("n"), &labels));
    bindings_are(&b, "n", "s");
    fleet_drop(&b, FLEET_BINDINGS, "n", "s");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings_by_name),
        cmocka_unit_test(a_binding_comes_back),
        cmocka_unit_test(sets),
        cmocka_unit_test(a_selector_that_does_not_compile),
        cmocka_unit_test(bound_and_not_known),
        cmocka_unit_test(what_a_decision_needs),
        cmocka_unit_test(namespaces),
    };
    return cmocka_run_group_tests_name("sets of a fleet", tests, NULL, NULL);
}
