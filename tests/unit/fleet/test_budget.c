/* What is kept of a user's objects: limits of one object, and the share of a namespace. */
#include "unit/fleet/fleet_builder.h"

#include "base/limits.h"

#include <stdio.h>

#define MODE "'" PLACEMENT_MODE_ANNOTATION "':'Owner'"
#define TERM                                                                                       \
    "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone','topologyKeyType':'Claim',"        \
    "'maxSkew':2,'whenUnsatisfiable':'DoNotSchedule'}]}"
#define CONDITION "{'type':'PlacementSatisfied','status':'True'}"

/* A Placement with an annotation and a status that have so many bytes of their own. */
static void give(struct fleet_builder *b, const char *namespace, const char *name, size_t fill,
                 size_t status_fill) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{'metadata':{'name':'%s','namespace':'%s','uid':'u','resourceVersion':'7',"
                   "'labels':{'a':'b'},'annotations':{" MODE ",'fill':'",
                   name, namespace);
    for (size_t i = 0; i < fill; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "'}},'spec':{" TERM "},'status':{'fill':'");
    for (size_t i = 0; i < status_fill; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "','conditions':[" CONDITION "]}}");
    strbuf_append_char(&text, '\0');
    fleet_give(b, FLEET_PLACEMENTS, text.p);
}

static struct fleet_placement_state state_of(struct fleet_builder *b, const char *namespace,
                                             const char *name) {
    return fleet_placement_state(fleet_look(b), str_of(namespace), str_of(name));
}

static bool is_too_large(struct fleet_builder *b, const char *namespace, const char *name) {
    return state_of(b, namespace, name).too_large;
}

static void is_json(struct str got, const char *wanted) {
    char text[1000];
    (void)snprintf(text, sizeof text, "%s", wanted);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    assert_str(got, text);
}

static void drop(struct fleet_builder *b, const char *namespace, const char *name) {
    fleet_drop(b, FLEET_PLACEMENTS, namespace, name);
}

static void a_placement_that_is_too_long(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    give(&b, "n", "p", 0, 0);
    const size_t text = fleet_placement_json(fleet_look(&b), STR("n"), STR("p")).n;
    const size_t status = state_of(&b, "n", "p").status.n;
    give(&b, "n", "p", LIMIT_PLACEMENT_TEXT - text, LIMIT_PLACEMENT_STATUS - status);
    assert_false(is_too_large(&b, "n", "p"));
    assert_int_equal(fleet_placement_json(fleet_look(&b), STR("n"), STR("p")).n,
                     LIMIT_PLACEMENT_TEXT);
    assert_int_equal(state_of(&b, "n", "p").status.n, LIMIT_PLACEMENT_STATUS);
    give(&b, "n", "p", LIMIT_PLACEMENT_TEXT - text + 1, 0);
    assert_true(is_too_large(&b, "n", "p"));
    is_json(
        fleet_placement_json(fleet_look(&b), STR("n"), STR("p")),
        "{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':'Placement',"
        "'metadata':{'name':'p','namespace':'n','uid':'u','labels':{'a':'b'},'annotations':{" MODE
        "}},"
        "'spec':{'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone',"
        "'topologyKeyType':'Claim'}]}}}");
    is_json(state_of(&b, "n", "p").status, "{'conditions':[" CONDITION "]}");
    assert_false(state_of(&b, "n", "p").status_cut);
    assert_str(state_of(&b, "n", "p").version, "7");
    give(&b, "n", "p", 0, LIMIT_PLACEMENT_STATUS - status);
    assert_false(is_too_large(&b, "n", "p"));
    give(&b, "n", "p", 0, LIMIT_PLACEMENT_STATUS - status + 1);
    assert_true(is_too_large(&b, "n", "p"));
    drop(&b, "n", "p");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* What labels an outline has, with one whose value has so many bytes. */
static struct str labels_with(struct fleet_builder *b, size_t bytes) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "{'metadata':{'name':'p','namespace':'n','annotations':{'fill':'");
    for (size_t i = 0; i < LIMIT_PLACEMENT_TEXT; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "'},'labels':{'a':'b','c':'");
    for (size_t i = 0; i < bytes; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "'}}}%c", '\0');
    fleet_give(b, FLEET_PLACEMENTS, text.p);
    assert_true(is_too_large(b, "n", "p"));
    return fleet_placement_json(fleet_look(b), STR("n"), STR("p"));
}

static int count_visited(void *ctx, struct str name) {
    (void)name;
    ++*(int *)ctx;
    return 0;
}

/* Who selects a Placement by its labels finds it when it is too large, too. */
static void labels_stay(void **state) {
    struct fleet_builder b;
    struct arena arena;
    struct selector selector;
    (void)state;
    fleet_builder_open(&b);
    arena_init(&arena, 1 << 20);
    assert_int_equal(selector_parse(STR("a=b"), &arena, &selector, NULL), 0);
    for (int more = -1; more <= 1; more++) {
        struct steps steps = {.max = 1000};
        int visited = 0;
        const struct str json = labels_with(&b, LIMIT_PLACEMENT_OUTLINE - 3 + (size_t)(long)more);
        const bool stay = more <= 0;
        assert_int_equal(memmem(json.p, json.n, "\"a\":\"b\"", 7) != NULL, stay);
        assert_int_equal(fleet_placements_visit(fleet_look(&b), STR("n"), &selector, &steps,
                                                count_visited, &visited),
                         0);
        assert_int_equal(visited, stay);
    }
    drop(&b, "n", "p");
    fleet_is_empty(&b);
    arena_done(&arena);
    fleet_builder_close(&b);
}

/* One that is too long is read only as far as its outline: its predicates may be anything. */
static void only_the_outline_is_read(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    strbuf_appendf(&text, "{'metadata':{'name':'p','namespace':'n'},'spec':{'predicates':7," TERM
                          ",'fill':'");
    for (size_t i = 0; i < LIMIT_PLACEMENT_TEXT; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "'}}");
    strbuf_append_char(&text, '\0');
    fleet_give(&b, FLEET_PLACEMENTS, text.p);
    assert_true(is_too_large(&b, "n", "p"));
    fleet_builder_close(&b);
}

/* Conditions with so many bytes. */
static void give_conditions(struct fleet_builder *b, size_t bytes) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const size_t fixed = sizeof "{'conditions':['']}" - 1;
    strbuf_appendf(&text, "{'metadata':{'name':'p','namespace':'n','annotations':{'fill':'");
    for (size_t i = 0; i < LIMIT_PLACEMENT_TEXT; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "'}},'status':{'conditions':['");
    for (size_t i = fixed; i < bytes; i++)
        strbuf_append_char(&text, 'x');
    strbuf_appendf(&text, "']}}");
    strbuf_append_char(&text, '\0');
    fleet_give(b, FLEET_PLACEMENTS, text.p);
}

static void conditions_that_are_too_long(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    for (int more = -1; more <= 1; more++) {
        const size_t bytes = LIMIT_PLACEMENT_OUTLINE + (size_t)(long)more;
        give_conditions(&b, bytes);
        const struct fleet_placement_state s = state_of(&b, "n", "p");
        assert_true(s.too_large);
        assert_int_equal(s.status_cut, more > 0);
        assert_int_equal(s.status.n, more > 0 ? 0 : bytes);
    }
    fleet_builder_close(&b);
}

/* One namespace takes what it can get; the next one has room all the same, and each as much as
 * the other. */
static void a_namespace_has_a_share(void **state) {
    enum { FILL = 1000, MANY = 400 };
    struct fleet_builder b;
    uint32_t whole[3] = {0};
    char name[20];
    (void)state;
    fleet_builder_open(&b);
    b.c->charged_max = 2000000;
    for (int n = 0; n < 3; n++)
        for (unsigned i = 0; i < MANY; i++) {
            (void)snprintf(name, sizeof name, "p%u", i);
            give(&b, n == 0 ? "first" : n == 1 ? "second" : "third", name, 16 * FILL, 0);
            whole[n] += !is_too_large(&b, n == 0 ? "first" : n == 1 ? "second" : "third", name);
        }
    print_message("# %u, %u, %u of %d\n", whole[0], whole[1], whole[2], MANY);
    /* a sixth of 2,000,000 in pieces of some 17,000, outlines not counted: 19 at most */
    assert_in_range(whole[0], 10, 19);
    assert_in_range(whole[1], 5, whole[0]);
    assert_in_range(whole[2], 1, whole[1]);
    for (unsigned i = 1; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "p%u", i);
        drop(&b, "first", name);
    }
    give(&b, "first", "p1", 16 * FILL, 0);
    assert_false(is_too_large(&b, "first", "p1"));
    give(&b, "first", "p0", 16 * FILL, 0); /* in its own place */
    assert_false(is_too_large(&b, "first", "p0"));
    fleet_builder_close(&b);
}

/* To the byte. */
static void the_share_is_exact(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    give(&b, "n", "p", 5000, 0);
    const uint64_t bytes = b.c->charged;
    assert_true(bytes > 5000 && bytes < 6500);
    for (int more = -1; more <= 1; more++) {
        drop(&b, "n", "p");
        assert_int_equal(b.c->charged, 0);
        b.c->charged_max = 6 * bytes + (uint64_t)(int64_t)more;
        give(&b, "n", "p", 5000, 0);
        assert_int_equal(is_too_large(&b, "n", "p"), more < 0);
    }
    fleet_builder_close(&b);
}

static void give_named(struct fleet_builder *b, const char *name, const char *placement,
                       unsigned clusters) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{'metadata':{'name':'%s','namespace':'n','labels':{'" PLACEMENT_LABEL
                   "':'%s'}},'status':{'decisions':[",
                   name, placement);
    for (unsigned i = 0; i < clusters; i++)
        strbuf_appendf(&text, "%s{'clusterName':'c%u'}", i > 0 ? "," : "", i);
    strbuf_appendf(&text, "]}}");
    strbuf_append_char(&text, '\0');
    fleet_give(b, FLEET_DECISIONS, text.p);
}

static void give_decision(struct fleet_builder *b, const char *placement, unsigned clusters) {
    give_named(b, "d", placement, clusters);
}

static const struct fleet_decision *decision(struct fleet_builder *b) {
    return fleet_decision_find(fleet_look(b), STR("n"), STR("d"));
}

static void a_decision_of_too_many_clusters(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    give(&b, "n", "p", 0, 0);
    give(&b, "n", "q", 0, 0);
    for (unsigned i = 0; i < 2; i++) { /* one object, again and again */
        for (unsigned count = 199; count <= 201; count++) {
            give_decision(&b, "p", count);
            assert_int_equal(decision(&b)->stranger_count, count <= 200 ? count : 0);
            assert_int_equal(decision(&b)->too_large, count > 200);
            assert_int_equal(is_too_large(&b, "n", "p"), count > 200);
        }
        give_decision(&b, "q", 201);
        assert_false(is_too_large(&b, "n", "p"));
        assert_true(is_too_large(&b, "n", "q"));
        give_decision(&b, "q", 1);
        assert_false(is_too_large(&b, "n", "q"));
    }
    give_decision(&b, "q", 201);
    b.c->charged_max = b.c->charged; /* there is no room */
    give_decision(&b, "q", 2);
    assert_true(is_too_large(&b, "n", "q"));
    b.c->charged_max = LIMIT_HUB_BYTES;
    fleet_drop(&b, FLEET_DECISIONS, "n", "d");
    assert_false(is_too_large(&b, "n", "q"));
    drop(&b, "n", "p");
    drop(&b, "n", "q");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

/* However many objects of a namespace find no room, what is kept of them is not taken from others.
 */
static void what_finds_no_room_takes_none(void **state) {
    enum { MANY = 1000 };
    struct fleet_builder b;
    char name[20];
    (void)state;
    fleet_builder_open(&b);
    b.c->charged_max = 60000;
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "d%u", i);
        give_named(&b, name, "p", i % 2 == 0 ? 1 : 201);
    }
    assert_in_range(b.c->charged, 60000 / 6 - 1000, 60000 / 6);
    give(&b, "other", "p", 1000, 0);
    assert_false(is_too_large(&b, "other", "p"));
    give(&b, "other", "p", 5000, 0);
    assert_false(is_too_large(&b, "other", "p"));
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "d%u", i);
        fleet_drop(&b, FLEET_DECISIONS, "n", name);
    }
    drop(&b, "other", "p");
    assert_int_equal(b.c->charged, 0);
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

#define SCORES(items) "{'metadata':{'name':'r','namespace':'c'},'status':{'scores':[" items "]}}"

static struct fleet_score score(struct fleet_builder *b) {
    const struct fleet_view *v = fleet_look(b);
    return fleet_score_of(fleet_scores_find(v, STR("r")), fleet_slot(b, "c"),
                          fleet_score_name(v, STR("s")));
}

/* The object is there, and no score. */
static void scores_without_room(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    fleet_give(&b, FLEET_SCORES, SCORES("{'name':'s','value':7}"));
    const uint64_t bytes = b.c->charged;
    for (int more = -1; more <= 1; more++) {
        fleet_drop(&b, FLEET_SCORES, "c", "r");
        fleet_is_empty(&b);
        b.c->charged_max = 6 * bytes + (uint64_t)(int64_t)more;
        fleet_give(&b, FLEET_SCORES, SCORES("{'name':'s','value':7}"));
        assert_true(score(&b).has_object);
        assert_int_equal(score(&b).has_item, more >= 0);
        assert_int_equal(score(&b).too_large, more < 0);
    }
    fleet_give(&b, FLEET_SCORES, SCORES("{'name':'s','value':7},{'name':'t','value':8}"));
    assert_true(score(&b).has_object && !score(&b).has_item);
    fleet_give(&b, FLEET_SCORES, SCORES("{'name':'s','value':9}"));
    assert_int_equal(score(&b).value, 9);
    assert_false(score(&b).too_large);
    fleet_builder_close(&b);
}

/* Whoever writes one item of ours writes all that are known: none is cut. */
static void ours_have_room(void **state) {
    struct fleet_builder b;
    struct fleet_score_object o;
    (void)state;
    fleet_builder_open(&b);
    b.c->charged_max = 1;
    fleet_give(&b, FLEET_SCORES,
               "{'metadata':{'name':'evenkeel-1','namespace':'c','resourceVersion':'5'},"
               "'status':{'scores':[{'name':'s','value':7}]}}");
    assert_true(fleet_score_object(fleet_look(&b), STR("c"), STR("evenkeel-1"), &o));
    assert_int_equal(o.item_count, 1);
    fleet_drop(&b, FLEET_SCORES, "c", "evenkeel-1");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_placement_that_is_too_long),
        cmocka_unit_test(labels_stay),
        cmocka_unit_test(only_the_outline_is_read),
        cmocka_unit_test(conditions_that_are_too_long),
        cmocka_unit_test(a_namespace_has_a_share),
        cmocka_unit_test(the_share_is_exact),
        cmocka_unit_test(a_decision_of_too_many_clusters),
        cmocka_unit_test(what_finds_no_room_takes_none),
        cmocka_unit_test(scores_without_room),
        cmocka_unit_test(ours_have_room),
    };
    return cmocka_run_group_tests_name("what is kept of a fleet", tests, NULL, NULL);
}
