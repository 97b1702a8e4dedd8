/* The step `available`. Expectations: karmada pkg/scheduler/core util.go calAvailableReplicas()
 * (v1.18.1), and the fleet contract, 5. */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

static void answers(const char *members, const char *answer, bool good) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, out = {0};
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_LINE_ARENA);
    strbuf_appendf(&text, "{\"id\":1,\"step\":\"available\",%s}", members);
    assert_int_equal(line_answer(strbuf_str(&text), &arena, &out), good);
    if (good)
        assert_str(strbuf_str(&out), answer);
    else
        assert_true(memmem(out.p, out.n, answer, strlen(answer)) != NULL);
}

static void the_least_of_those_that_know(void **state) {
    (void)state;
    answers("\"replicas\":7,\"clusters\":[\"m2\",\"m1\",\"m2\"],\"estimates\":{\"a\":{\"m1\":5,"
            "\"m2\":9,\"m3\":1},\"b\":{\"m1\":-1,\"m2\":8},\"c\":null,\"d\":{\"m1\":6}}",
            "{\"id\":1,\"available\":{\"m1\":5,\"m2\":8}}", true);
    answers("\"estimates\":{\"a\":{\"m1\":0}},\"clusters\":[\"m1\"],\"replicas\":7",
            "{\"id\":1,\"available\":{\"m1\":0}}", true); /* whatever the order of the members */
}

static void nobody_knows(void **state) {
    (void)state;
    answers("\"replicas\":7,\"clusters\":[\"m1\"]", "{\"id\":1,\"available\":{\"m1\":7}}", true);
    answers("\"replicas\":7,\"clusters\":[\"m1\"],\"estimates\":{\"a\":{\"m1\":-1},\"b\":{}}",
            "{\"id\":1,\"available\":{\"m1\":7}}", true);
    answers("\"replicas\":7,\"clusters\":[\"m1\"],\"estimates\":{\"a\":{\"m1\":2147483647}}",
            "{\"id\":1,\"available\":{\"m1\":7}}", true);
    answers("\"replicas\":7,\"clusters\":[\"m1\"],\"estimates\":{\"a\":{\"m1\":2147483646}}",
            "{\"id\":1,\"available\":{\"m1\":2147483646}}", true);
    answers("\"replicas\":7,\"clusters\":[]", "{\"id\":1,\"available\":{}}", true);
}

static void nothing_is_to_be_placed(void **state) {
    (void)state;
    answers("\"replicas\":0,\"clusters\":[\"m1\"],\"estimates\":{\"a\":{\"m1\":3}}",
            "{\"id\":1,\"available\":{\"m1\":2147483647}}", true);
    answers("\"replicas\":1,\"clusters\":[\"m1\"],\"estimates\":{\"a\":{\"m1\":3}}",
            "{\"id\":1,\"available\":{\"m1\":3}}", true);
}

static void bad_lines(void **state) {
    (void)state;
    answers("\"clusters\":[\"m1\"]", "question: replicas is required", false);
    answers("\"replicas\":-1,\"clusters\":[]", "question.replicas", false);
    answers("\"replicas\":1,\"clusters\":[\"m\"],\"estimates\":{\"a\":{\"m\":-2}}",
            "question.estimates.a.m", false);
    answers("\"replicas\":1,\"clusters\":[\"m\"],\"estimates\":{\"a\":{\"m\":2147483648}}",
            "question.estimates.a.m", false);
    answers("\"replicas\":1,\"clusters\":{},\"estimates\":{}", "question.clusters", false);
    answers("\"replicas\":1,\"clusters\":[],\"estimates\":[]", "question.estimates", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_those_that_know),
        cmocka_unit_test(nobody_knows),
        cmocka_unit_test(nothing_is_to_be_placed),
        cmocka_unit_test(bad_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
