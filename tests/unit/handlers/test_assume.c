/* What prioritize, filter and bind leave behind for soft constraints. */
#include "unit/handlers/called.h"

#define POD(uid, when)                                                                             \
    "{\"metadata\":{\"name\":\"" uid "\",\"namespace\":\"default\",\"uid\":\"" uid                 \
    "\",\"labels\":{"                                                                              \
    "\"foo\":\"\"}},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"      \
    "\"zone\",\"whenUnsatisfiable\":\"" when "\",\"labelSelector\":{\"matchLabels\":{"             \
    "\"foo\":\"\"}}}]}}"
#define ASK(uid, when, names) "{\"Pod\":" POD(uid, when) ",\"NodeNames\":[" names "]}"
#define SOFT(uid) ASK(uid, "ScheduleAnyway", "\"a\",\"b\",\"x\",\"y\"")
#define ANSWER(a, b, x, y)                                                                         \
    "[{\"Host\":\"a\",\"Score\":" #a "},{\"Host\":\"b\",\"Score\":" #b                             \
    "},{\"Host\":\"x\",\"Score\":" #x "},{\"Host\":\"y\",\"Score\":" #y "}]"

static int setup(void **state) {
    static struct called called;
    called_init(&called);
    called.x.assume = true;
    *state = &called;
    return 0;
}

static int teardown(void **state) {
    called_done(*state);
    return 0;
}

static void assert_assumed(struct called *called, uint32_t want) {
    assert_int_equal(cache_stats(called->c.cache).assumed, want);
}

/* Zone1 has a pod, zone2 gets the next, and the third sees both though nobody was bound. */
static void test_a_pod_counts_from_the_answer_on(void **state) {
    struct called *called = *state;
    call_expecting(called, extender_prioritize, SOFT("1"), 200, ANSWER(0, 0, 10, 10));
    assert_assumed(called, 1);
    call_expecting(called, extender_prioritize, SOFT("1"), 200,
                   ANSWER(0, 0, 10, 10)); /* not itself */
    assert_assumed(called, 1);
    call_handler(called, extender_prioritize, SOFT("2"));
    struct str tie = strbuf_str(&called->response.text);
    assert_true(str_eq(tie, STR(ANSWER(10, 10, 5, 5))) || str_eq(tie, STR(ANSWER(5, 5, 10, 10))));
    assert_assumed(called, 2);
    call_handler(called, extender_prioritize, SOFT("3"));
    struct str third = strbuf_str(&called->response.text); /* 2 pods to 1: 50 points apart */
    assert_true(str_eq(third, STR(ANSWER(2, 2, 10, 10))) ||
                str_eq(third, STR(ANSWER(10, 10, 2, 2))));
}

static void test_switched_off(void **state) {
    struct called *called = *state;
    called->x.assume = false;
    for (int i = 0; i < 2; i++)
        call_expecting(called, extender_prioritize, SOFT("1"), 200, ANSWER(0, 0, 10, 10));
    call_expecting(called, extender_prioritize, SOFT("2"), 200, ANSWER(0, 0, 10, 10));
    call_handler(called, extender_filter, ASK("3", "ScheduleAnyway", "\"x\""));
    assert_assumed(called, 0);
}

static void test_asked_again(void **state) {
    struct called *called = *state;
    call_handler(called, extender_prioritize, SOFT("1"));
    assert_assumed(called, 1);
    call_handler(called, extender_filter,
                 SOFT("1")); /* four nodes are left: prioritize will come */
    assert_assumed(called, 0);
    call_handler(called, extender_filter, ASK("1", "ScheduleAnyway", "\"b\"")); /* no choice */
    assert_assumed(called, 1);
    call_handler(called, extender_filter, ASK("1", "DoNotSchedule", "\"b\"")); /* no node */
    assert_assumed(called, 0);
}

/* Hard constraints keep the rules they have. */
static void test_hard_constraints_do_not_look(void **state) {
    struct called *called = *state;
    call_handler(called, extender_filter, SOFT("1"));
    call_handler(called, extender_filter, ASK("2", "ScheduleAnyway", "\"x\""));
    call_handler(called, extender_filter, ASK("3", "ScheduleAnyway", "\"x\""));
    assert_assumed(called, 2); /* with them zone2 would be the fuller one */
    call_handler(called, extender_filter, ASK("4", "DoNotSchedule", "\"a\",\"x\""));
    assert_non_null(
        memmem(called->response.text.p, called->response.text.n, "\"NodeNames\":[\"x\"]", 17));
}

/* Beside the in-tree plugin: nothing is said of what that plugin scores, and nothing assumed. */
static void test_complement(void **state) {
    struct called *called = *state;
    call_expecting(called, extender_complement, SOFT("1"), 200, "[]");
    assert_assumed(called, 0);
    struct ordered_rule rule = {
        .pods = cluster_selector(&called->c, "{\"matchLabels\":{\"foo\":\"\"}}")};
    rule.terms = cluster_constraints(&called->c, "1/zone/nil,soft", &rule.term_count);
    called->c.options.ordered_rules = &rule;
    called->c.options.ordered_rule_count = 1;
    call_expecting(called, extender_complement, SOFT("1"), 200, ANSWER(0, 0, 10, 10));
    assert_assumed(called, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_pod_counts_from_the_answer_on), TEST(test_switched_off), TEST(test_asked_again),
        TEST(test_hard_constraints_do_not_look),    TEST(test_complement),
    };
    return cmocka_run_group_tests_name("assume", tests, NULL, NULL);
}
