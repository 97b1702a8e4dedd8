/* Placements in a fleet, and what is decided of them. */
#include "unit/fleet/fleet_builder.h"

#include <errno.h>
#include <stdio.h>

#include "model/ocm.h"

static void json_is(struct fleet_builder *b, const char *name, const char *wanted) {
    char *text = arena_cstr(&b->arena, str_of(wanted));
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    assert_str(fleet_placement_json(fleet_look(b), STR("n"), str_of(name)), text);
}

/* What decides it is kept, without blanks; what a server wrote beside it is not. */
static void what_is_kept(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_PLACEMENTS,
               "{ 'apiVersion' : 'cluster.open-cluster-management.io/v1beta1',\n\t'kind':"
               "'Placement',\r'metadata': {'name':'p','namespace':'n','uid':'u','generation':7,"
               "'resourceVersion':'1','creationTimestamp':'x','labels':{'a' : 'b'},"
               "'managedFields':[{'a':[1, 2]}],'annotations':{"
               "'kubectl.kubernetes.io/last-applied-configuration':'{}', 'x': 'a b \\\\ \\\" c',"
               "'\\u0061\\\"':'1'}},"
               "'spec':{'clusterSets' : [ 'a b' , 'c' ], 'numberOfClusters' : 3},"
               "'status':{'numberOfSelectedClusters':1}}");
    json_is(&b, "p",
            "{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':'Placement',"
            "'metadata':{'name':'p','namespace':'n','uid':'u','labels':{'a':'b'},'annotations':{"
            "'x':'a b \\\\ \\\" c','\\u0061\\\"':'1'}},'spec':{'clusterSets':['a b','c'],"
            "'numberOfClusters':3}}");
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n'}}");
    json_is(&b, "p", "{'metadata':{'name':'p','namespace':'n'}}");
    json_is(&b, "q", "");
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'spec':null,'metadata':{'annotations':null,'namespace':'n','name':'p'}}");
    json_is(&b, "p", "{'spec':null,'metadata':{'annotations':{},'namespace':'n','name':'p'}}");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    fleet_drop(&b, FLEET_PLACEMENTS, "m", "p");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* What is kept decodes as the whole did. */
static void it_decodes_again(void **state) {
    struct fleet_builder b;
    struct placement p;
    struct json_reader r;
    struct str value;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'apiVersion':'cluster.open-cluster-management.io/v1alpha1','metadata':{'name':"
               "'p','deletionTimestamp':'2026-01-01T00:00:00Z','annotations':{"
               "'placements.evenkeel.io/mode':'Off'}},'spec':{'prioritizerPolicy':{"
               "'configurations':[{'name':'Steady'}]}}}");
    json_reader_init(&r, fleet_placement_json(fleet_look(&b), STR("default"), STR("p")), &b.arena,
                     "Placement");
    placement_decode(&r, &p);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_str(p.meta.namespace, "default");
    assert_true(p.meta.terminating);
    assert_true(labels_lookup(&p.annotations, STR(PLACEMENT_MODE_ANNOTATION), &value));
    assert_int_equal(p.warning_count, 2);
    assert_int_equal(p.prioritizer_count, 1);
    fleet_builder_close(&b);
}

/* Of the status, and of decisions, whoever writes them wants to know what there is. */
static void what_a_writer_wants(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'metadata':{'name':'p','namespace':'n','resourceVersion':'17'},'spec':{},"
               "'status':{ 'numberOfSelectedClusters' : 1 }}");
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'q','namespace':'n'},'status':null}");
    struct fleet_placement_state s = fleet_placement_state(fleet_look(&b), STR("n"), STR("p"));
    assert_str(s.status, "{\"numberOfSelectedClusters\":1}");
    assert_str(s.version, "17");
    s = fleet_placement_state(fleet_look(&b), STR("n"), STR("q"));
    assert_str(s.status, "");
    assert_str(s.version, "");
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'d','namespace':'n','resourceVersion':'18','labels':{"
               "'" PLACEMENT_LABEL "':'p','" PLACEMENT_GROUP_INDEX_LABEL "':'0',"
               "'" PLACEMENT_GROUP_NAME_LABEL "':'g'},'ownerReferences':[{'uid':'no'},{"
               "'controller':true,'uid':'u'}]}}");
    const struct fleet_decision *d = fleet_decisions(fleet_look(&b), STR("n"), STR("p"));
    assert_str(d->version, "18");
    assert_str(d->group_index, "0");
    assert_str(d->group_name, "g");
    assert_str(d->owner_uid, "u");
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'d','namespace':'n','labels':{'" PLACEMENT_LABEL "':'p'}}}");
    d = fleet_decisions(fleet_look(&b), STR("n"), STR("p"));
    assert_str(d->version, "");
    assert_str(d->owner_uid, "");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "q");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

struct visited {
    struct strbuf names;
    int stop_after;
};

static int visit(void *ctx, struct str name) {
    struct visited *v = ctx;
    strbuf_appendf(&v->names, "%.*s ", STR_ARG(name));
    return --v->stop_after == 0 ? 17 : 0;
}

static int visited_are(struct fleet_builder *b, const char *selector, int stop_after,
                       size_t wanted) {
    struct visited v = {.stop_after = stop_after};
    struct selector s;
    assert_int_equal(selector_parse(str_of(selector), &b->arena, &s, NULL), 0);
    struct steps steps = {0};
    int r = fleet_placements_visit(fleet_look(b), STR("n"), &s, &steps, visit, &v);
    size_t count = 0;
    for (size_t i = 0; i < v.names.n; i++)
        count += v.names.p[i] == ' ';
    assert_int_equal(count, wanted);
    strbuf_done(&v.names);
    return r;
}

static void by_their_labels(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    assert_int_equal(visited_are(&b, "", 0, 0), 0);
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'metadata':{'name':'p','namespace':'n','labels':{'app':'web','x':'1'}}}");
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'metadata':{'name':'q','namespace':'n','labels':{'app':'web'}}}");
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'metadata':{'name':'r','namespace':'n','labels':{'app':'db'}}}");
    fleet_give(&b, FLEET_PLACEMENTS,
               "{'metadata':{'name':'s','namespace':'m','labels':{'app':'web'}}}");
    fleet_give(&b, FLEET_DECISIONS, /* of one that is not known */
               "{'metadata':{'name':'d','namespace':'n','labels':{'" PLACEMENT_LABEL "':'t'}}}");
    assert_int_equal(visited_are(&b, "app=web", 0, 2), 0);
    assert_int_equal(visited_are(&b, "app=web,x=1", 0, 1), 0);
    assert_int_equal(visited_are(&b, "", 0, 3), 0);
    assert_int_equal(visited_are(&b, "", 2, 2), 17);
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'q','namespace':'n'}}");
    assert_int_equal(visited_are(&b, "app=web", 0, 1), 0);
    fleet_builder_close(&b);
}

/* Steps for each that is compared, whether or not the selector picks it. */
static int visit_some(struct fleet_builder *b, const struct selector *s, uint64_t max,
                      uint64_t *ret_used) {
    struct visited v = {0};
    struct steps steps = {.max = max};
    const int r = fleet_placements_visit(fleet_look(b), STR("n"), s, &steps, visit, &v);
    *ret_used = steps.used;
    strbuf_done(&v.names);
    return r;
}

static void each_comparison_takes_steps(void **state) {
    CLEANUP(arena_done) struct arena arena;
    struct fleet_builder b;
    struct selector short_one, long_one;
    uint64_t few, many, used;
    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(selector_parse(STR("a=b"), &arena, &short_one, NULL), 0);
    assert_int_equal(selector_parse(STR("a=b,!c,!d,!e,!f"), &arena, &long_one, NULL), 0);
    fleet_builder_open(&b);
    for (unsigned i = 0; i < 10; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "{'metadata':{'name':'p%u','namespace':'n'}}", i);
        fleet_give(&b, FLEET_PLACEMENTS, text);
    }
    assert_int_equal(visit_some(&b, &short_one, 0, &few), 0);
    assert_int_equal(visit_some(&b, &long_one, 0, &many), 0);
    assert_true(few >= 20 && many >= 60);
    assert_int_equal(visit_some(&b, &long_one, many, &used), 0);
    assert_int_equal(visit_some(&b, &long_one, many - 1, &used), -E2BIG);
    fleet_builder_close(&b);
}

/* ---- decisions ---- */

static void decide(struct fleet_builder *b, const char *name, const char *placement,
                   const char *clusters) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "{'metadata':{'name':'%s','namespace':'n'", name);
    if (placement != NULL)
        strbuf_appendf(&text, ",'labels':{'" PLACEMENT_LABEL "':'%s'}", placement);
    strbuf_appendf(&text, "},'status':{'decisions':[");
    for (const char *p = clusters; *p != '\0'; p++)
        strbuf_appendf(&text, "%s{'clusterName':'%c','reason':''}", p > clusters ? "," : "", *p);
    strbuf_appendf(&text, "]}}%c", '\0');
    fleet_give(b, FLEET_DECISIONS, text.p);
}

/* "name=clusters" of each. */
static void decisions_are(struct fleet_builder *b, const char *placement, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct fleet_view *v = fleet_look(b);
    for (const struct fleet_decision *d = fleet_decisions(v, STR("n"), str_of(placement));
         d != NULL; d = d->next) {
        strbuf_appendf(&got, "%s%.*s=", got.n > 0 ? " " : "", STR_ARG(d->name));
        for (uint32_t i = 0, stranger = 0; i < d->slot_count + d->stranger_count; i++)
            if (stranger < d->stranger_count && d->strangers[stranger].place == i)
                strbuf_append_str(&got, d->strangers[stranger++].name);
            else
                strbuf_append_str(&got, topology_name(b->c->clusters, d->slots[i - stranger]));
    }
    assert_str(strbuf_str(&got), wanted);
}

static void decided_is(struct fleet_builder *b, const char *name, uint32_t wanted) {
    uint32_t count;
    const uint32_t stranger = contents_stranger_find(b->c, str_of(name));
    if (stranger != FLEET_NONE)
        assert_int_equal(fleet_strangers(fleet_look(b), &count)[stranger], wanted);
    else
        assert_int_equal(fleet_decided(fleet_look(b))[fleet_slot(b, name)], wanted);
}

static void decisions_by_name(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    decisions_are(&b, "p", "");
    decide(&b, "p-decision-2", "p", "c");
    decide(&b, "p-decision-10", "p", "ba");
    decide(&b, "other", "p", "");
    decide(&b, "q-decision-1", "q", "a");
    decide(&b, "without", NULL, "a");
    decide(&b, "unnamed", "", "a");
    decisions_are(&b, "p", "other= p-decision-10=ba p-decision-2=c");
    decisions_are(&b, "q", "q-decision-1=a");
    decisions_are(&b, "", "");
    decisions_are(&b, "r", "");
    decided_is(&b, "a", 4);
    decided_is(&b, "b", 1);
    decided_is(&b, "c", 1);
    assert_int_equal(contents_stats(b.c).decisions, 6);
    assert_int_equal(contents_stats(b.c).placements, 0);
    fleet_builder_close(&b);
}

static void decisions_change(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    decide(&b, "d1", "p", "abba");
    decide(&b, "d2", "p", "b");
    decided_is(&b, "a", 2);
    decided_is(&b, "b", 3);
    decide(&b, "d1", "p", "bc"); /* another list */
    decisions_are(&b, "p", "d1=bc d2=b");
    decided_is(&b, "b", 2);
    decided_is(&b, "c", 1);
    assert_int_equal(contents_stranger_find(b.c, STR("a")), FLEET_NONE);
    decide(&b, "d1", "q", "bc"); /* of another Placement */
    decisions_are(&b, "p", "d2=b");
    decisions_are(&b, "q", "d1=bc");
    decide(&b, "d1", NULL, "b"); /* of none */
    decisions_are(&b, "q", "");
    decided_is(&b, "b", 2);
    decide(&b, "d1", "p", "b"); /* and back */
    decisions_are(&b, "p", "d1=b d2=b");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d1");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d1");
    fleet_drop(&b, FLEET_DECISIONS, "n", "no");
    decisions_are(&b, "p", "d2=b");
    decided_is(&b, "b", 1);
    decide(&b, "d2", NULL, "");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d2");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* A Placement that goes leaves its decisions, and they leave it. */
static void decisions_without_their_placement(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n'}}");
    decide(&b, "d", "p", "a");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    json_is(&b, "p", "");
    decisions_are(&b, "p", "d=a");
    fleet_give(&b, FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n'}}");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d");
    json_is(&b, "p", "{'metadata':{'name':'p','namespace':'n'}}");
    decisions_are(&b, "p", "");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

static void cluster(struct fleet_builder *b, const char *name) {
    char text[100];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s'}}", name);
    fleet_give(b, FLEET_CLUSTERS, text);
}

/* Names that no cluster has make no slot, and get one, at their places, when a cluster comes. */
static void strangers_meet_their_clusters(void **state) {
    struct fleet_builder b;
    uint32_t count;
    (void)state;
    fleet_builder_open(&b);
    assert_null(fleet_strangers(fleet_look(&b), &count));
    cluster(&b, "m");
    decide(&b, "d1", "p", "abmacb");
    decide(&b, "d2", "p", "a");
    decide(&b, "d3", "p", "m");
    assert_int_equal(topology_slots(b.c->clusters), 1);
    decided_is(&b, "a", 3);
    decided_is(&b, "b", 2);
    decided_is(&b, "m", 2);
    static const char *const coming[] = {"c", "a", "b"};
    for (int i = 0; i < 3; i++) {
        cluster(&b, coming[i]);
        assert_int_equal(topology_slots(b.c->clusters), 2 + i);
        assert_int_equal(contents_stranger_find(b.c, str_of(coming[i])), FLEET_NONE);
        decisions_are(&b, "p", "d1=abmacb d2=a d3=m");
        decided_is(&b, "a", 3);
        decided_is(&b, "b", 2);
        decided_is(&b, "c", 1);
    }
    assert_null(fleet_strangers(fleet_look(&b), &count));
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "a"); /* its slot stays as long as it is decided */
    decisions_are(&b, "p", "d1=abmacb d2=a d3=m");
    decided_is(&b, "a", 3);
    cluster(&b, "a");
    decided_is(&b, "a", 3);
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "a");
    decide(&b, "d1", "p", "xb");
    decide(&b, "d2", "p", "xa"); /* nobody has named it for a moment */
    decisions_are(&b, "p", "d1=xb d2=xa d3=m");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d1");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d2");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d3");
    assert_int_equal(b.c->record_bytes, 0);
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "b");
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c");
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "m");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* A score makes a slot for its namespace, with or without a cluster: the name is no stranger's
 * then, or it would be counted at both places. */
static void strangers_meet_scores(void **state) {
    struct fleet_builder b;
    uint32_t count;
    (void)state;
    fleet_builder_open(&b);
    decide(&b, "d1", "p", "ab");
    fleet_give(&b, FLEET_SCORES,
               "{'metadata':{'name':'r','namespace':'a'},'status':{'scores':[]}}");
    decide(&b, "d2", "p", "a");
    assert_int_equal(contents_stranger_find(b.c, STR("a")), FLEET_NONE);
    decisions_are(&b, "p", "d1=ab d2=a");
    decided_is(&b, "a", 2);
    decided_is(&b, "b", 1);
    fleet_drop(&b, FLEET_SCORES, "a", "r");
    decided_is(&b, "a", 2);
    fleet_drop(&b, FLEET_DECISIONS, "n", "d1");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d2");
    assert_null(fleet_strangers(fleet_look(&b), &count));
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* More than there is room for at first, in whatever order they come. */
static void many_decisions_of_one(void **state) {
    enum { MANY = 1000 };
    struct fleet_builder b;
    char name[16];
    uint32_t count = 0;
    struct str before = {0};
    (void)state;
    fleet_builder_open(&b);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "d%d", i * 7 % MANY);
        decide(&b, name, "p", "a");
    }
    for (const struct fleet_decision *d = fleet_decisions(fleet_look(&b), STR("n"), STR("p"));
         d != NULL; d = d->next, count++) {
        assert_true(str_cmp(before, d->name) < 0);
        before = d->name;
    }
    assert_int_equal(count, MANY);
    decided_is(&b, "a", MANY);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "d%d", i);
        fleet_drop(&b, FLEET_DECISIONS, "n", name);
    }
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(what_a_writer_wants),
        cmocka_unit_test(it_decodes_again),
        cmocka_unit_test(by_their_labels),
        cmocka_unit_test(each_comparison_takes_steps),
        cmocka_unit_test(decisions_by_name),
        cmocka_unit_test(decisions_change),
        cmocka_unit_test(decisions_without_their_placement),
        cmocka_unit_test(many_decisions_of_one),
        cmocka_unit_test(strangers_meet_their_clusters),
        cmocka_unit_test(strangers_meet_scores),
    };
    return cmocka_run_group_tests_name("placements of a fleet", tests, NULL, NULL);
}
