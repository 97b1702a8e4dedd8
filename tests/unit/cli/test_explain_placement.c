/* Whose answer about a Placement is taken, and the document that is made of it. */
#include "cli/explain_placement.h"

#include "unit/unit.h"

#define OBJECT(planner)                                                                            \
    "{\"replica\":{\"name\":\"r\"},\"placement\":\"n/p\",\"planner\":" planner "}"

static int setup(void **state) {
    static struct arena arena;
    arena_init(&arena, 1 << 20);
    *state = &arena;
    return 0;
}

static int teardown(void **state) {
    arena_done(*state);
    return 0;
}

static void consider(struct explained_placement *best, const char *server, const char *document) {
    struct err err;
    if (explained_placement_consider(best, server, str_of(document), &err) != 0)
        fail_msg("%s", err.text);
}

static void the_leader_is_believed(void **state) {
    (void)state;
    struct explained_placement best = {.why = "nobody"};
    consider(&best, "no", "{\"decisions\":[]}");
    assert_int_equal(best.object.n, 0);
    consider(&best, "first", OBJECT("null"));
    assert_string_equal(best.server, "first");
    consider(&best, "second", OBJECT("{\"leads\":false}"));
    assert_string_equal(best.server, "first");
    consider(&best, "leader", OBJECT("{\"x\":[1],\"leads\":true}"));
    assert_string_equal(best.server, "leader");
    consider(&best, "another leader", OBJECT("{\"leads\":true}"));
    assert_string_equal(best.server, "leader");
    consider(&best, "last", OBJECT("null"));
    assert_string_equal(best.server, "leader");
    struct err err;
    assert_int_not_equal(explained_placement_consider(&best, "x", STR("{\"planner\":"), &err), 0);
}

static void merged(const struct explained_placement *p, const char *decisions, const char *wanted,
                   struct arena *arena) {
    struct strbuf out = {0};
    struct err err;
    assert_int_equal(explained_placement_merge(p, str_of(decisions), arena, &out, &err), 0);
    assert_str(strbuf_str(&out), wanted);
    strbuf_done(&out);
}

static void one_document(void **state) {
    struct explained_placement best = {.why = "nobody"};
    merged(&best, "{\"replica\":{},\"replicas\":[],\"decisions\":[1]}",
           "{\"replica\":{},\"placementNotAnswered\":\"nobody\",\"replicas\":[],\"decisions\":[1]}",
           *state);
    consider(&best, "s", OBJECT("null"));
    merged(&best, "{\"replica\":{},\"replicas\":[],\"decisions\":[1]}",
           "{\"replica\":{\"name\":\"r\"},\"placement\":\"n/p\",\"planner\":null,\"answeredBy\":"
           "\"s\",\"replicas\":[],\"decisions\":[1]}",
           *state);
    /* once more, of a document that was made elsewhere */
    best = (struct explained_placement){.why = "nobody"};
    consider(&best, "t",
             "{\"placement\":\"n/p\",\"answeredBy\":\"s\",\"replicas\":[],\"decisions\":[2]}");
    merged(&best, "{\"replicas\":[3],\"decisions\":[]}",
           "{\"placement\":\"n/p\",\"answeredBy\":\"t\",\"replicas\":[3],\"decisions\":[]}",
           *state);
}

static void which_kind(void **state) {
    (void)state;
    struct subject s = {.group = STR("cluster.open-cluster-management.io"),
                        .kind = STR("Placement")};
    assert_true(explained_is_placement(&s));
    s.group = STR("example.com");
    assert_false(explained_is_placement(&s));
    s.group = STR("cluster.open-cluster-management.io");
    s.kind = STR("PlacementDecision");
    assert_false(explained_is_placement(&s));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_leader_is_believed),
        TEST(one_document),
        TEST(which_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
