/*
 * The step `assign`: what each member of a question means, and which questions are refused. How
 * replicas are divided is tested beside karmada/assign.c, and with recorded cases.
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
    strbuf_append_str(&text, STR("{\"id\":1,\"step\":\"assign\","));
    strbuf_append_str(&text, str_of(members));
    strbuf_append_char(&text, '}');
    return line_answer(strbuf_str(&text), &arena, &out);
}

static void expect(const char *members, const char *answer) {
    const bool good = ask(members);
    assert_str(strbuf_str(&out), answer);
    assert_true(good);
}

static void expect_refused(const char *members, const char *sentence) {
    assert_false(ask(members));
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, sentence);
    assert_true(str_has_prefix(strbuf_str(&out), STR("{\"id\":1,\"error\":\"question")));
    assert_contains(out.p, "\",\"errorKind\":\"Input\"}");
}

#define ANSWER(clusters) "{\"id\":1,\"clusters\":{" clusters "},\"errorKind\":\"\",\"error\":\"\"}"
#define FAILS(kind, error)                                                                         \
    "{\"id\":1,\"clusters\":{},\"errorKind\":\"" kind "\",\"error\":\"" error "\"}"

#define ONE(name, number) "{\"name\":\"" name "\",\"allocatable\":" number "}"
#define BOTH "\"candidates\":[" ONE("m1", "5") "," ONE("m2", "5") "]"
#define DIVIDED(more)                                                                              \
    "\"placement\":{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"," more "}}"
#define DYNAMIC                                                                                    \
    DIVIDED("\"replicaDivisionPreference\":\"Weighted\","                                          \
            "\"weightPreference\":{\"dynamicWeight\":\"AvailableReplicas\"}")
#define AGGREGATED DIVIDED("\"replicaDivisionPreference\":\"Aggregated\"")
#define STATIC(rules)                                                                              \
    DIVIDED("\"replicaDivisionPreference\":\"Weighted\","                                          \
            "\"weightPreference\":{\"staticWeightList\":[" rules "]}")
#define RULE(target, weight) "{\"targetCluster\":{" target "},\"weight\":" weight "}"

static void answers(void **state) {
    (void)state;
    expect(BOTH ",\"spec\":{\"replicas\":3," DYNAMIC "}", ANSWER("\"m1\":2,\"m2\":1"));
    expect(BOTH ",\"spec\":{\"replicas\":3," AGGREGATED "}", ANSWER("\"m1\":3"));
    expect(BOTH ",\"spec\":{\"replicas\":3}", ANSWER("\"m1\":3,\"m2\":3"));
    expect(BOTH ",\"spec\":{}", ANSWER("\"m1\":0,\"m2\":0"));
    expect(BOTH ",\"spec\":null,\"status\":null,\"options\":null,\"overflow\":null",
           ANSWER("\"m1\":0,\"m2\":0"));
    expect(BOTH, ANSWER("\"m1\":0,\"m2\":0"));
    expect("\"candidates\":[],\"spec\":{}", FAILS("error", "no clusters available to schedule"));
    expect("\"candidates\":null", FAILS("error", "no clusters available to schedule"));
    expect("\"more\":1", FAILS("error", "no clusters available to schedule"));
    expect(BOTH ",\"spec\":{\"replicas\":11," DYNAMIC "}",
           FAILS("UnschedulableError", "failed to scale up: Clusters available replicas 10 are not "
                                       "enough to schedule."));
    expect(BOTH ",\"spec\":{\"replicas\":11," DIVIDED("\"more\":1") "}",
           FAILS("error",
                 "unsupported replica scheduling strategy, replicaSchedulingType: Divided, "
                 "replicaDivisionPreference: , please try another scheduling strategy"));
}

/* K10ax and K10bx of the founding documents, and rules by what else candidates have. */
static void static_weights(void **state) {
    (void)state;
    expect(BOTH ",\"spec\":{\"replicas\":6,"
                "\"replicaRequirements\":{}," STATIC(RULE("\"clusterNames\":[\"m1\"]", "2")) "}",
           ANSWER("\"m1\":6"));
    expect(BOTH ",\"spec\":{\"replicas\":6,"
                "\"replicaRequirements\":{}," STATIC(RULE("\"clusterNames\":[\"other\"]", "1")) "}",
           ANSWER("\"m1\":3,\"m2\":3"));
    expect("\"candidates\":[{\"name\":\"m1\",\"labels\":{\"a\":\"b\"}},"
           "{\"name\":\"m2\",\"region\":\"r\"},{\"name\":\"m3\",\"provider\":\"p\"},"
           "{\"name\":\"m4\",\"zones\":[\"y\",\"z\"]},{\"name\":\"m5\"}],"
           "\"spec\":{\"replicas\":10," STATIC(
               RULE("\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}", "1") "," RULE(
                   "\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"region\",\"operator\":"
                   "\"In\",\"values\":[\"r\"]}]}",
                   "2") "," RULE("\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"provider\","
                                 "\"operator\":\"In\",\"values\":[\"p\"]}]}",
                                 "3") "," RULE("\"fieldSelector\":{\"matchExpressions\":[{"
                                               "\"key\":\"zone\",\"operator\":\"In\",\"values\":["
                                               "\"z\"]}]}",
                                               "4")) "}",
           ANSWER("\"m1\":1,\"m2\":2,\"m3\":3,\"m4\":4"));
}

#define TIERS                                                                                      \
    "\"candidates\":[{\"name\":\"m1\",\"allocatable\":5,\"overflowOrder\":1},"                     \
    "{\"name\":\"m2\",\"allocatable\":1,\"previous\":2,\"overflowOrder\":0}]"
#define TERMS                                                                                      \
    "\"clusterAffinities\":[{\"affinityName\":\"a\",\"overflowAffinities\":[{\"affinityName\":"    \
    "\"b\"}]}]"
#define IN_TERMS                                                                                   \
    "\"spec\":{\"replicas\":4,\"clusters\":[{\"name\":\"m2\",\"replicas\":2}],"                    \
    "\"placement\":{" TERMS ",\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","       \
    "\"replicaDivisionPreference\":\"Aggregated\"}}}"

/* As a caller sends them who leaves `previous` to spec.clusters, where m2 is twice. */
#define BARE_TIERS                                                                                 \
    "\"candidates\":[{\"name\":\"m1\",\"allocatable\":5,\"overflowOrder\":1},"                     \
    "{\"name\":\"m2\",\"allocatable\":1,\"overflowOrder\":0}]"
#define TWICE_IN_TERMS                                                                             \
    "\"spec\":{\"replicas\":6,\"clusters\":[{\"name\":\"m2\",\"replicas\":2},"                     \
    "{\"name\":\"m2\",\"replicas\":1}],\"placement\":{" TERMS                                      \
    ",\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","                               \
    "\"replicaDivisionPreference\":\"Aggregated\"}}}"
#define IN_FORCE(name) ",\"status\":{\"schedulerObservingAffinityName\":\"" name "\"}"

/* What m2 can hold is the two that it has and one more; without tiers m1 gets what is new. */
static void overflow(void **state) {
    const char *filled = ANSWER("\"m1\":1,\"m2\":3"), *one_tier = ANSWER("\"m1\":2,\"m2\":2");
    (void)state;
    expect(TIERS "," IN_TERMS IN_FORCE("a"), filled);
    expect(TIERS "," IN_TERMS IN_FORCE("b"), one_tier);
    expect(TIERS "," IN_TERMS, one_tier);
    expect(TIERS "," IN_TERMS ",\"overflow\":true", filled);
    expect(TIERS "," IN_TERMS IN_FORCE("a") ",\"overflow\":false", one_tier);
    expect(BARE_TIERS "," IN_TERMS IN_FORCE("a"), filled);
    expect(BARE_TIERS "," TWICE_IN_TERMS IN_FORCE("a"), ANSWER("\"m1\":2,\"m2\":4"));
    expect(TIERS "," IN_TERMS IN_FORCE("a") ",\"overflow\":null", filled);
}

static void when_it_was_done(void **state) {
    (void)state;
#define AGAIN(time)                                                                                \
    "\"candidates\":[" ONE("m1", "4") "," ONE(                                                     \
        "m2", "0") "],"                                                                            \
                   "\"spec\":{\"replicas\":4,\"clusters\":[{\"name\":\"m2\",\"replicas\":4}],"     \
                   "\"rescheduleTriggeredAt\":\"" time "\"," DYNAMIC "},"                          \
                   "\"status\":{\"lastScheduledTime\":\"2026-03-01T12:00:00Z\"}"
    expect(AGAIN("2026-03-01T12:00:00Z"), ANSWER("\"m2\":4"));
    expect(AGAIN("2026-03-01T12:00:01Z"), ANSWER("\"m1\":2,\"m2\":2"));
}

static void options(void **state) {
    (void)state;
#define UNEVEN                                                                                     \
    BOTH ",\"spec\":{\"replicas\":2,"                                                              \
         "\"replicaRequirements\":{}," STATIC(RULE("\"clusterNames\":[\"m1\"]", "7") "," RULE(     \
             "\"clusterNames\":[\"m2\"]", "3")) "}"
    expect(UNEVEN, ANSWER("\"m1\":1,\"m2\":1"));
    expect(UNEVEN ",\"options\":{\"division\":\"Webster\"}", ANSWER("\"m1\":1,\"m2\":1"));
    expect(UNEVEN ",\"options\":{\"division\":\"Remainder\"}", ANSWER("\"m1\":2"));
    /* before and behind the options, which begin with the defaults */
    expect(UNEVEN ",\"enableEmptyWorkloadPropagation\":true,"
                  "\"options\":{\"division\":\"Remainder\"}",
           ANSWER("\"m1\":2,\"m2\":0"));
    expect(UNEVEN ",\"options\":{\"division\":\"Remainder\"},"
                  "\"enableEmptyWorkloadPropagation\":true",
           ANSWER("\"m1\":2,\"m2\":0"));
    expect(UNEVEN ",\"options\":{\"division\":\"Remainder\"},"
                  "\"enableEmptyWorkloadPropagation\":false",
           ANSWER("\"m1\":2"));
}

static void refused(void **state) {
    (void)state;
    expect_refused(BOTH ",\"spec\":{\"replicas\":-1}", "question.spec.replicas");
    expect_refused(BOTH ",\"spec\":{\"replicas\":2147483648}", "question.spec.replicas");
    expect_refused("\"candidates\":[" ONE("m1", "-1") "]", "question.candidates[0].allocatable");
    expect_refused("\"candidates\":[{\"name\":\"m1\",\"available\":-1}]",
                   "question.candidates[0].available");
    expect_refused("\"candidates\":[" ONE("m1", "1") "," ONE("m1", "1") "]", "'m1' is there twice");
    expect_refused("\"candidates\":3", "question.candidates: expected an array");
    expect_refused(BOTH ",\"overflow\":1", "question.overflow: expected");
    expect_refused(BOTH ",\"enableEmptyWorkloadPropagation\":\"yes\"",
                   "question.enableEmptyWorkloadPropagation: expected");
    expect_refused(BOTH ",\"options\":{\"division\":\"Remainders\"}", "Remainder");
    expect_refused(BOTH ",\"spec\":{\"replicas\":1,\"placement\":{\"replicaScheduling\":{"
                        "\"replicaSchedulingType\":\"Divide\"}}}",
                   "Divided");
    expect_refused(BOTH ",\"status\":{\"lastScheduledTime\":\"noon\"}",
                   "question.status.lastScheduledTime");
}

/* Such a quantity is no bad line: the answer says what is wrong with it. */
static void unreadable_quantity(void **state) {
    (void)state;
    assert_true(ask(BOTH ",\"spec\":{\"replicas\":1,\"replicaRequirements\":"
                         "{\"resourceRequest\":{\"cpu\":\"1K\"}}}"));
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, "{\"id\":1,\"error\":\"question.spec.replicaRequirements");
    assert_null(strstr(out.p, "errorKind"));
    expect_refused(BOTH ",\"spec\":{\"replicas\":1,\"replicaRequirements\":"
                        "{\"resourceRequest\":{\"cpu\":[]}}}",
                   "question.spec.replicaRequirements");
}

/* As many replicas as there can be, weights as large as there can be: no wrap, and quick. */
static void extremes(void **state) {
    (void)state;
    expect("\"candidates\":[" ONE("m1", "9223372036854775807") "," ONE(
               "m2", "9223372036854775807") "],\"spec\":{\"replicas\":2147483647," DYNAMIC "}",
           ANSWER("\"m1\":1073741824,\"m2\":1073741823"));
    expect(BOTH ",\"spec\":{\"replicas\":2147483647," STATIC(
               RULE("\"clusterNames\":[\"m1\"]", "9223372036854775807") "," RULE(
                   "\"clusterNames\":[\"m2\"]", "9223372036854775807")) "}",
           ANSWER("\"m1\":1073741824,\"m2\":1073741823"));
    expect(BOTH ",\"spec\":{\"replicas\":2147483647," STATIC(
               RULE("\"clusterNames\":[\"m1\"]",
                    "9223372036854775807") "," RULE("\"clusterNames\":[\"m2\"]", "1")) "}",
           ANSWER("\"m1\":2147483647"));
}

static void budget(void **state) {
    (void)state;
    arena_reset(&arena);
    strbuf_clear(&out);
    arena.steps = (struct steps){.max = 10};
    assert_false(line_answer(
        STR("{\"id\":1,\"step\":\"assign\"," BOTH ",\"spec\":{\"replicas\":9," DYNAMIC "}}"),
        &arena, &out));
    strbuf_append_char(&out, '\0');
    assert_contains(out.p,
                    "{\"id\":1,\"error\":\"question: more clusters than there is time for\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(static_weights),
        cmocka_unit_test(overflow),
        cmocka_unit_test(when_it_was_done),
        cmocka_unit_test(options),
        cmocka_unit_test(refused),
        cmocka_unit_test(unreadable_quantity),
        cmocka_unit_test(extremes),
        cmocka_unit_test(budget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
