/*
 * The step `plan`: what each member of a question means, and which questions are refused. What is
 * selected and why is tested beside ocm/plan.c; here are vectors of the fleet contract.
 */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

static struct arena arena;
static struct strbuf out, text;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, LIMIT_LINE_ARENA);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    strbuf_done(&out);
    strbuf_done(&text);
    return 0;
}

/* The question's members behind id and step. */
static bool ask(const char *members) {
    arena_reset(&arena);
    arena.steps = (struct steps){.max = LIMIT_LINE_STEPS};
    strbuf_clear(&out);
    strbuf_clear(&text);
    strbuf_append_str(&text, STR("{\"id\":1,\"step\":\"plan\","));
    strbuf_append_str(&text, str_of(members));
    strbuf_append_char(&text, '}');
    return line_answer(strbuf_str(&text), &arena, &out);
}

static void expect(const char *members, const char *answer) {
    const bool good = ask(members);
    assert_str(strbuf_str(&out), answer);
    assert_true(good);
}

/* A part of the sentence; byte numbers are the reader's, and tested there. */
static void expect_refused(const char *members, const char *sentence) {
    assert_false(ask(members));
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, sentence);
    assert_true(str_has_prefix(strbuf_str(&out), STR("{\"id\":1,\"error\":\"question")));
    assert_contains(out.p, "\",\"errorKind\":\"Input\"}");
}

#define CLUSTER(name, labels) "{\"name\":\"" name "\",\"labels\":{" labels "}}"
#define ZONE(name, zone) CLUSTER(name, "\"zone\":\"" zone "\"")
#define TERM(key, more)                                                                            \
    "{\"topologyKey\":\"" key "\",\"topologyKeyType\":\"Label\",\"maxSkew\":1,"                    \
    "\"whenUnsatisfiable\":\"" more "\"}"
#define SOFT(key) TERM(key, "ScheduleAnyway")
#define HARD(key) TERM(key, "DoNotSchedule")
#define FOUR                                                                                       \
    "\"clusters\":[" ZONE("a", "1") "," ZONE("b", "1") "," ZONE("c", "2") "," ZONE("d", "2") "]"
#define KEEPS(selected, kept, unscheduled, skew)                                                   \
    "{\"id\":1,\"selected\":[" selected "],\"kept\":[" kept "],\"unscheduled\":" unscheduled       \
    ",\"skew\":[" skew "]}"
#define ANSWER(selected, unscheduled, skew) KEEPS(selected, "", unscheduled, skew)

#define PLACE(name, region, zone) CLUSTER(name, "\"region\":\"" region "\",\"zone\":\"" zone "\"")
#define EAST_A PLACE("c1", "us-east", "us-east-1a") "," PLACE("c2", "us-east", "us-east-1a")
#define EAST_B PLACE("c3", "us-east", "us-east-1b")
#define WEST PLACE("c4", "us-west", "us-west-1a") "," PLACE("c5", "us-west", "us-west-1a")
#define WORKED_SUMS "\"sums\":{\"c1\":50,\"c2\":50,\"c5\":50}"
#define WORKED_TERMS "\"terms\":[" SOFT("region") "," HARD("zone") "]"
#define WORKED                                                                                     \
    "\"clusters\":[" EAST_A "," EAST_B "," WEST "]," WORKED_SUMS "," WORKED_TERMS ",\"number\":2"

static void the_worked_example(void **state) {
    (void)state;
    expect(WORKED, ANSWER("\"c1\",\"c5\"", "0", "0,1"));
    expect(WORKED ",\"weight\":2", ANSWER("\"c1\",\"c5\"", "0", "0,1"));
    expect("\"terms\":[" SOFT("zone") "],\"number\":3," FOUR, /* in any order */
           ANSWER("\"a\",\"c\",\"b\"", "0", "1"));
}

static void what_may_be_absent(void **state) {
    (void)state;
    expect("\"number\":3", ANSWER("", "3", ""));
    expect("\"clusters\":null,\"sums\":null,\"terms\":null,\"number\":null,\"current\":null,"
           "\"others\":null,\"weight\":null",
           ANSWER("", "0", ""));
    expect(FOUR, ANSWER("\"a\",\"b\",\"c\",\"d\"", "0", ""));
    expect(FOUR ",\"terms\":[],\"weight\":5,\"sums\":{\"c\":1}",
           ANSWER("\"c\",\"a\",\"b\",\"d\"", "0", ""));
    /* defaults of the CRD: 1, ScheduleAnyway; and a type need not be given */
    expect(FOUR ",\"number\":2,\"terms\":[{\"topologyKey\":\"zone\"}]",
           ANSWER("\"a\",\"c\"", "0", "0"));
    expect(FOUR ",\"number\":2,\"terms\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":null,"
                "\"maxSkew\":null,"
                "\"whenUnsatisfiable\":null,\"minDomains\":null}]",
           ANSWER("\"a\",\"c\"", "0", "0"));
    expect("\"clusters\":[{\"name\":\"x\",\"more\":[1]}],\"other\":{\"a\":1}",
           ANSWER("\"x\"", "0", ""));
}

static void number(void **state) {
    (void)state;
#define BY_ZONE FOUR ",\"terms\":[" HARD("zone") "]"
    expect(BY_ZONE ",\"number\":0", ANSWER("", "0", "0"));
    expect(BY_ZONE ",\"number\":1", ANSWER("\"a\"", "0", "1"));
    expect(BY_ZONE ",\"number\":2147483647", ANSWER("\"a\",\"c\",\"b\",\"d\"", "2147483643", "0"));
    expect_refused(BY_ZONE ",\"number\":2147483648",
                   "question.number: 2147483648 is not between 0 and 2147483647");
    expect_refused(BY_ZONE ",\"number\":-1", "question.number: -1 is not between 0 and 2147483647");
    expect_refused(BY_ZONE ",\"number\":1.5",
                   "question.number: expected a whole number, found 1.5");
    expect_refused(BY_ZONE ",\"number\":\"1\"",
                   "question.number: expected a number, found a string");
}

static void members_and_others(void **state) {
    (void)state;
#define ONE BY_ZONE ",\"number\":1"
    expect(ONE ",\"current\":[\"nobody\",\"d\",\"d\"]", ANSWER("\"d\"", "0", "1"));
    expect(ONE ",\"current\":[\"d\"],\"sums\":{\"b\":1}", ANSWER("\"b\"", "0", "1"));
    expect(ONE ",\"others\":[\"a\"]", ANSWER("\"c\"", "0", "0"));
    expect(ONE ",\"others\":[\"a\",\"nobody\",\"a\",\"b\",\"c\"]", ANSWER("\"c\"", "0", "1"));
    expect(FOUR ",\"terms\":[" HARD("zone") "],\"others\":[\"a\",\"a\",\"a\"]",
           ANSWER("\"c\",\"d\"", "0", "1"));
    expect(BY_ZONE ",\"number\":4,\"others\":[\"a\",\"a\",\"a\"],\"current\":[\"b\",\"a\",\"e\"]",
           KEEPS("\"c\",\"d\",\"a\",\"b\"", "\"a\",\"b\"", "0", "3"));
    expect_refused(ONE ",\"current\":[7]",
                   "question.current[0]: expected a string, found a number");
    expect_refused(ONE ",\"others\":\"a\"", "question.others: expected an array, found a string");
}

static void sums(void **state) {
    (void)state;
    expect(FOUR ",\"number\":2,\"sums\":{\"b\":-1,\"nobody\":9,\"a\":-2,\"c\":-1}",
           ANSWER("\"d\",\"b\"", "0", ""));
    expect(FOUR ",\"number\":1,\"sums\":{\"b\":1,\"b\":-1,\"d\":0}",
           ANSWER("\"a\"", "0", "")); /* the last */
    expect(FOUR ",\"number\":1,\"sums\":{\"b\":1},\"sums\":{\"c\":1}", ANSWER("\"c\"", "0", ""));
    expect(FOUR ",\"number\":1,\"sums\":{\"b\":9007199254740992,\"c\":-9007199254740992}",
           ANSWER("\"b\"", "0", ""));
    expect_refused(FOUR ",\"sums\":{\"b\":9007199254740993}",
                   "question.sums.b: 9007199254740993 is not between");
    expect_refused(FOUR ",\"sums\":{\"b\":-9007199254740993}",
                   "question.sums.b: -9007199254740993 is not between");
    expect_refused(FOUR ",\"sums\":{\"b\":1.5}", "question.sums.b: expected a whole number");
}

static void weight(void **state) {
    (void)state;
#define SUMS FOUR ",\"terms\":[" SOFT("zone") "],\"number\":2,\"sums\":{\"a\":150,\"b\":150}"
    expect(SUMS, ANSWER("\"a\",\"c\"", "0", "0"));
    expect(SUMS ",\"weight\":0", ANSWER("\"a\",\"c\"", "0", "0"));
    expect(SUMS ",\"weight\":1", ANSWER("\"a\",\"c\"", "0", "0"));
    expect(SUMS ",\"weight\":-1", ANSWER("\"a\",\"b\"", "0", "2"));
    expect(SUMS ",\"weight\":2147483647", ANSWER("\"a\",\"c\"", "0", "0"));
    expect(SUMS ",\"weight\":-2147483648", ANSWER("\"a\",\"b\"", "0", "2"));
    expect_refused(SUMS ",\"weight\":2147483648", "question.weight: 2147483648 is not between");
    expect_refused(SUMS ",\"weight\":0.5", "question.weight: expected a whole number");
}

static void claims(void **state) {
    (void)state;
#define CLAIM                                                                                      \
    "{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Claim\",\"whenUnsatisfiable\":"               \
    "\"DoNotSchedule\"}"
#define MIXED                                                                                      \
    "\"clusters\":[{\"name\":\"a\",\"claims\":{\"zone\":\"1\",\"x\":\"\"}},{\"name\":\"b\","       \
    "\"labels\":{\"zone\":\"1\"}},"                                                                \
    "{\"name\":\"c\",\"labels\":{\"claim:zone\":\"1\"},\"claims\":{}}]"
    expect(MIXED ",\"terms\":[" CLAIM "]", ANSWER("\"a\"", "0", "0"));
    expect(MIXED ",\"terms\":[" HARD("zone") "]", ANSWER("\"b\"", "0", "0"));
    expect(MIXED ",\"terms\":[" HARD("claim:zone") "]", ANSWER("", "0", "0"));
    expect(MIXED ",\"terms\":[" CLAIM "," HARD("zone") "," CLAIM "]", ANSWER("", "0", "0,0,0"));
    expect(MIXED ",\"terms\":[" CLAIM "," SOFT("zone") "," SOFT("claim:zone") "," CLAIM "]",
           ANSWER("\"a\"", "0", "0,0,0,0"));
    /* the label that looks like the claim does not take its place */
    expect(MIXED ",\"terms\":[" SOFT("claim:zone") "," CLAIM "]", ANSWER("\"a\"", "0", "0,0"));
}

static void terms(void **state) {
    (void)state;
#define WITH(more)                                                                                 \
    FOUR ",\"terms\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\"," more "}]"
    expect(WITH("\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":3"),
           ANSWER("\"a\",\"c\"", "0", "1"));
    expect(WITH("\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":0"),
           ANSWER("\"a\",\"c\",\"b\",\"d\"", "0", "0"));
    expect(WITH("\"maxSkew\":2147483647,\"minDomains\":2147483647"),
           ANSWER("\"a\",\"c\",\"b\",\"d\"", "0", "2"));
    expect_refused(WITH("\"maxSkew\":0"),
                   "question.terms[0].maxSkew: 0 is not between 1 and 2147483647");
    expect_refused(WITH("\"maxSkew\":-1"), "question.terms[0].maxSkew: -1 is not between");
    expect_refused(WITH("\"minDomains\":-1"),
                   "question.terms[0].minDomains: -1 is not between 0 and");
    expect_refused(
        WITH("\"whenUnsatisfiable\":\"DoNotSchedul\""),
        "question.terms[0].whenUnsatisfiable: 'DoNotSchedul': did you mean 'DoNotSchedule'?");
    expect_refused(WITH("\"whenUnsatisfiable\":\"\""), "question.terms[0].whenUnsatisfiable: ''");
    expect_refused(FOUR ",\"terms\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":\"label\"}]",
                   "question.terms[0].topologyKeyType: 'label': did you mean 'Label'?");
    expect_refused(FOUR ",\"terms\":[{\"topologyKeyType\":\"Label\"}]", "question.terms[0]");
    expect_refused(FOUR ",\"terms\":{}", "question.terms: expected an array, found an object");
#define TWO SOFT("zone") "," SOFT("zone")
    expect(FOUR ",\"number\":2,\"terms\":[" TWO "," TWO "," TWO "," TWO "]",
           ANSWER("\"a\",\"c\"", "0", "0,0,0,0,0,0,0,0"));
    expect_refused(FOUR ",\"terms\":[" TWO "," TWO "," TWO "," TWO "," SOFT("zone") "]",
                   "question.terms");
}

static void clusters(void **state) {
    (void)state;
    expect_refused("\"clusters\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]",
                   "question.clusters[2].name: 'a' is there twice");
    expect_refused("\"clusters\":[{\"name\":\"a\"},{}]", "question.clusters[1]");
    expect_refused("\"clusters\":[{\"name\":\"\"}]", "question.clusters[0]");
    expect_refused("\"clusters\":[{\"name\":7}]", "question.clusters[0].name: expected a string");
    expect_refused("\"clusters\":[{\"name\":\"a\",\"labels\":{\"zone\":1}}]",
                   "question.clusters[0].labels.zone: expected a string");
    expect_refused("\"clusters\":{}", "question.clusters: expected an array");
    expect("\"clusters\":[{\"name\":\"\\u00e4\\\"\"},{\"name\":\"b\"}]",
           ANSWER("\"b\",\"\xc3\xa4\\\"\"", "0", "")); /* by bytes */
}

static void put_clusters(uint32_t count, struct strbuf *ret) {
    strbuf_append_str(ret, STR("\"clusters\":["));
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(ret, "%s{\"name\":\"c%u\"}", i > 0 ? "," : "", i);
    strbuf_append_str(ret, STR("],\"number\":0"));
    strbuf_append_char(ret, '\0');
}

static void as_many_clusters_as_the_limit(void **state) {
    CLEANUP(strbuf_done) struct strbuf many = {0};
    (void)state;
    put_clusters(LIMIT_LINE_CLUSTERS, &many);
    expect(many.p, ANSWER("", "0", ""));
    strbuf_clear(&many);
    put_clusters(LIMIT_LINE_CLUSTERS + 1, &many);
    expect_refused(many.p, "question.clusters[100000]: more than 100000 items");
}

/* Whatever memory and steps there are: an answer, or a sentence. */
static void memory_and_steps_end(void **state) {
    static const struct str question = STR("{\"id\":1,\"step\":\"plan\"," WORKED ",\"weight\":1}");
    (void)state;
    assert_true(line_answer(question, &arena, &out));
    arena_reset(&arena);
    arena.steps = (struct steps){0};
    strbuf_clear(&out);
    assert_true(line_answer(question, &arena, &out));
    const uint64_t used = arena.steps.used;
    for (uint64_t max = 1; max <= used; max++) {
        arena_reset(&arena);
        arena.steps = (struct steps){.max = max};
        strbuf_clear(&out);
        assert_int_equal(line_answer(question, &arena, &out), max == used);
        if (max < used)
            assert_str(strbuf_str(&out),
                       "{\"id\":1,\"error\":\"question: too large to be answered\","
                       "\"errorKind\":\"Input\"}");
    }
    for (size_t max = 0; max < 40000; max += 200) {
        struct arena small;
        arena_init(&small, max);
        strbuf_clear(&out);
        if (!line_answer(question, &small, &out))
            assert_true(str_has_suffix(strbuf_str(&out), STR(",\"errorKind\":\"Input\"}")));
        arena_done(&small);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_worked_example),
        TEST(what_may_be_absent),
        TEST(number),
        TEST(members_and_others),
        TEST(sums),
        TEST(weight),
        TEST(claims),
        TEST(terms),
        TEST(clusters),
        TEST(as_many_clusters_as_the_limit),
        TEST(memory_and_steps_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
