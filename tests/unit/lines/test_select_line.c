/*
 * The steps `groups` and `select`: what they answer, and what is refused and how. Expectations are
 * those of the fleet contract, 3, 5, 9 and 10.
 */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

static struct arena arena;
static struct strbuf out;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, LIMIT_LINE_ARENA);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    strbuf_done(&out);
    return 0;
}

static void expect(const char *text, const char *answer) {
    arena_reset(&arena);
    strbuf_clear(&out);
    const bool good = line_answer(str_of(text), &arena, &out);
    assert_str(strbuf_str(&out), answer);
    assert_true(good);
}

static void expect_refused(const char *text, const char *sentence) {
    CLEANUP(strbuf_done) struct strbuf answer = {0};
    arena_reset(&arena);
    strbuf_clear(&out);
    strbuf_appendf(&answer, "{\"id\":null,\"error\":\"%s\",\"errorKind\":\"Input\"}", sentence);
    const bool good = line_answer(str_of(text), &arena, &out);
    assert_int_equal(str_cmp(strbuf_str(&out), strbuf_str(&answer)), 0);
    assert_false(good);
}

/* ---- groups ---- */

#define GROUPS(items, rest) "{\"step\":\"groups\",\"items\":[" items "]" rest "}"
#define ITEM(name, value, weight)                                                                  \
    "{\"name\":\"" name "\",\"value\":" value ",\"weight\":" weight "}"

static void groups(void **state) {
    (void)state;
    expect(GROUPS(ITEM("R1", "1", "60") "," ITEM("R2", "2", "50"),
                  ",\"min\":1,\"max\":2,\"target\":3"),
           "{\"id\":null,\"groups\":[\"R1\",\"R2\"]}");
    expect(GROUPS(ITEM("R1", "1", "60"), ",\"min\":1,\"max\":1,\"target\":2"),
           "{\"id\":null,\"groups\":[]}");
    expect("{\"step\":\"groups\"}", "{\"id\":null,\"groups\":[]}");
    expect("{\"step\":\"groups\",\"items\":null,\"min\":1,\"max\":2}",
           "{\"id\":null,\"groups\":[]}");
    expect(GROUPS(ITEM("R1", "1", "-9223372036854775808"), ",\"min\":1,\"max\":1,\"target\":1"),
           "{\"id\":null,\"groups\":[\"R1\"]}");
    expect(GROUPS(ITEM("R1", "0", "0"), ",\"min\":1,\"max\":9223372036854775807"),
           "{\"id\":null,\"groups\":[\"R1\"]}");
}

static void groups_refused(void **state) {
    (void)state;
    expect_refused(
        GROUPS(ITEM("R1", "-1", "0"), ""),
        "question.items[0].value: -1 is not between 0 and 9223372036854775807, at byte 49");
    expect_refused(GROUPS(ITEM("R1", "1", "0"), ",\"min\":-1"),
                   "question.min: -1 is not between 0 and 9223372036854775807, at byte 70");
    expect_refused(GROUPS(ITEM("R1", "1", "0"), ",\"max\":-1"),
                   "question.max: -1 is not between 0 and 9223372036854775807, at byte 70");
    expect_refused(GROUPS(ITEM("R1", "1", "0"), ",\"target\":-1"),
                   "question.target: -1 is not between 0 and 9223372036854775807, at byte 73");
    expect_refused(GROUPS("{\"value\":1}", ""), "question.items[0]: name is required, at byte 37");
    expect_refused(
        GROUPS(ITEM("R1", "1", "0") "," ITEM("R2", "1", "0") "," ITEM("R1", "2", "0"), ""),
        "question.items: 'R1' is there twice, at byte 131");
}

/* ---- select ---- */

#define SELECT(candidates, rest) "{\"step\":\"select\",\"candidates\":[" candidates "]" rest "}"
#define M1                                                                                         \
    "{\"name\":\"m1\",\"region\":\"R1\",\"zones\":[\"Z1\",\"Z2\"],\"score\":9,\"allocatable\":3}"
#define M2                                                                                         \
    "{\"name\":\"m2\",\"region\":\"R2\",\"score\":5,\"allocatable\":3,\"previous\":4,"             \
    "\"labels\":{\"row\":\"a\"}}"
#define SPREAD(items) ",\"placement\":{\"spreadConstraints\":[" items "]}"
#define DIVIDED(items)                                                                             \
    ",\"placement\":{\"spreadConstraints\":[" items                                                \
    "],\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","                              \
    "\"replicaDivisionPreference\":\"Aggregated\"}}"
#define BY(field) "{\"spreadByField\":\"" field "\",\"minGroups\":1,\"maxGroups\":1}"

static void selections(void **state) {
    (void)state;
    expect(
        SELECT(M1 "," M2, ""),
        "{\"id\":null,\"clusters\":[\"m1\",\"m2\"],\"scores\":{},\"proven\":true,\"error\":\"\"}");
    expect(SELECT(M1 "," M2, SPREAD(BY("cluster"))),
           "{\"id\":null,\"clusters\":[\"m1\"],\"scores\":{},\"proven\":true,\"error\":\"\"}");
    expect(SELECT(M1 "," M2, SPREAD(BY("region") "," BY("cluster"))),
           "{\"id\":null,\"clusters\":[\"m1\"],\"scores\":{\"region\":{\"R1\":1009,\"R2\":1005}},"
           "\"proven\":true,\"error\":\"\"}");
    expect(SELECT(M1 "," M2, SPREAD(BY("zone") "," BY("region"))),
           "{\"id\":null,\"clusters\":[\"m1\"],\"scores\":{\"region\":{\"R1\":9,\"R2\":5},"
           "\"zone\":{\"R1/Z1\":9,\"R1/Z2\":9}},\"proven\":true,\"error\":\"\"}");
    expect(
        SELECT(M1 "," M2, SPREAD("{\"spreadByLabel\":\"row\"}")),
        "{\"id\":null,\"clusters\":[\"m2\"],\"scores\":{\"label:row\":{\"a\":5}},\"proven\":true,"
        "\"error\":\"\"}");
    expect(SELECT("", SPREAD(BY("zone"))),
           "{\"id\":null,\"clusters\":[],\"scores\":{\"zone\":{}},\"proven\":true,\"error\":"
           "\"no zone combination satisfies the spread constraints\"}");
}

/* available is allocatable and previous; of one that is given neither counts. */
static void available(void **state) {
    (void)state;
    expect(SELECT(M2, ",\"replicas\":7" DIVIDED(BY("region"))),
           "{\"id\":null,\"clusters\":[\"m2\"],\"scores\":{\"region\":{\"R2\":5}},\"proven\":true,"
           "\"error\":\"\"}");
    expect(SELECT(M2, ",\"replicas\":8" DIVIDED(BY("region"))),
           "{\"id\":null,\"clusters\":[],\"scores\":{\"region\":{\"R2\":5}},\"proven\":true,"
           "\"error\":\"no cluster combination satisfies the spread constraints\"}");
    expect(SELECT("{\"name\":\"m\",\"region\":\"R\",\"available\":9,\"allocatable\":1}",
                  ",\"replicas\":9" DIVIDED(BY("region"))),
           "{\"id\":null,\"clusters\":[\"m\"],\"scores\":{\"region\":{\"R\":0}},\"proven\":true,"
           "\"error\":\"\"}");
    expect(SELECT("{\"name\":\"m\",\"region\":\"R\",\"available\":null,\"allocatable\":1}",
                  ",\"replicas\":1" DIVIDED(BY("region"))),
           "{\"id\":null,\"clusters\":[\"m\"],\"scores\":{\"region\":{\"R\":0}},\"proven\":true,"
           "\"error\":\"\"}");
    expect(SELECT("{\"name\":\"m\",\"region\":\"R\",\"previous\":9223372036854775807,"
                  "\"allocatable\":9223372036854775807}",
                  ",\"replicas\":2147483647" DIVIDED(BY("region"))),
           "{\"id\":null,\"clusters\":[\"m\"],\"scores\":{\"region\":{\"R\":0}},\"proven\":true,"
           "\"error\":\"\"}");
}

static void the_options(void **state) {
    (void)state;
    expect(SELECT(M1 "," M2, SPREAD(BY("zone")) ",\"options\":{\"compat\":\"v1.18.1\"}"),
           "{\"id\":null,\"clusters\":[],\"scores\":{\"zone\":{\"Z1\":1009,\"Z2\":1009}},"
           "\"proven\":true,\"error\":\"just support cluster and region spread constraint\"}");
    expect(SELECT(M2, SPREAD(BY("zone")) ",\"options\":{\"missingTopology\":\"Default\"}"),
           "{\"id\":null,\"clusters\":[\"m2\"],\"scores\":{\"zone\":{\"default\":0}},"
           "\"proven\":true,\"error\":\"\"}");
    expect(SELECT(M1 "," M2, DIVIDED(BY("zone")) ",\"options\":{\"searchBudget\":1}"),
           "{\"id\":null,\"clusters\":[],\"scores\":{\"zone\":{\"Z1\":9,\"Z2\":9}},\"proven\":true,"
           "\"error\":\"search budget used up\"}");
}

static void selections_refused(void **state) {
    (void)state;
    expect_refused(SELECT("{\"name\":\"m\",\"allocatable\":-1}", ""),
                   "question.candidates[0].allocatable: -1 is not between 0 and "
                   "9223372036854775807, at byte 59");
    expect_refused(
        SELECT("{\"name\":\"m\",\"previous\":-1}", ""),
        "question.candidates[0].previous: -1 is not between 0 and 9223372036854775807, at byte 56");
    expect_refused(SELECT("{\"name\":\"m\",\"available\":-1}", ""),
                   "question.candidates[0].available: -1 is not between 0 and 9223372036854775807, "
                   "at byte 57");
    expect_refused(
        SELECT("{\"name\":\"m\",\"overflowOrder\":-1}", ""),
        "question.candidates[0].overflowOrder: -1 is not between 0 and 2147483647, at byte 61");
    expect_refused(SELECT("{\"name\":\"m\"}", ",\"replicas\":-1"),
                   "question.replicas: -1 is not between 0 and 2147483647, at byte 58");
    expect_refused(SELECT("{\"name\":\"m\",\"zones\":\"Z\"}", ""),
                   "question.candidates[0].zones: expected an array, found a string, at byte 51");
    expect_refused(SELECT("{\"region\":\"R\"}", ""),
                   "question.candidates[0]: name is required, at byte 45");
    expect_refused(SELECT("{\"name\":\"m\"},{\"name\":\"m\"}", ""),
                   "question.candidates: 'm' is there twice, at byte 57");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),      cmocka_unit_test(groups_refused),
        cmocka_unit_test(selections),  cmocka_unit_test(available),
        cmocka_unit_test(the_options), cmocka_unit_test(selections_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
