/*
 * Questions of one JSON object: what comes back as the id, what is refused and how, and each step's
 * answers. Expectations are those of the fleet contract, 5 and 11.
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

static bool ask(struct str text) {
    arena_reset(&arena);
    strbuf_clear(&out);
    return line_answer(text, &arena, &out);
}

static void expect(const char *text, const char *answer) {
    const bool good = ask(str_of(text));
    assert_str(strbuf_str(&out), answer);
    assert_true(good);
}

#define REFUSED(id, sentence) "{\"id\":" id ",\"error\":\"" sentence "\",\"errorKind\":\"Input\"}"

static void expect_refused(const char *text, const char *answer) {
    const bool good = ask(str_of(text));
    assert_str(strbuf_str(&out), answer);
    assert_false(good);
}

/* ---- the frame ---- */

#define NORMALISE "\"step\":\"normalise\",\"value\":1,\"min\":0,\"max\":1"

static void the_id_comes_back(void **state) {
    static const char *const ids[] = {"1",    "-1.50e+3",          "\"a\\u0041 \\\"\"",  "null",
                                      "true", "[1, {\"a\":null}]", "{\"id\":{\"id\":2}}"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0}, answer = {0};
        strbuf_appendf(&text, "{\"id\":%s," NORMALISE "}", ids[i]);
        strbuf_appendf(&answer, "{\"id\":%s,\"value\":100}", ids[i]);
        assert_true(ask(strbuf_str(&text)));
        assert_int_equal(str_cmp(strbuf_str(&out), strbuf_str(&answer)), 0);
        strbuf_clear(&text); /* behind the rest, and of a step that is refused */
        strbuf_appendf(&text, "{\"step\":\"normalise\",\"id\": %s }", ids[i]);
        assert_false(ask(strbuf_str(&text)));
        strbuf_clear(&answer);
        strbuf_appendf(&answer, "{\"id\":%s,\"error\":", ids[i]);
        assert_true(str_has_prefix(strbuf_str(&out), strbuf_str(&answer)));
    }
    expect("{" NORMALISE "}", "{\"id\":null,\"value\":100}");
    expect("{\"id\":1,\"id\":2," NORMALISE "}", "{\"id\":2,\"value\":100}");
    expect(" {\"other\":[{\"id\":3}], " NORMALISE " }\r", "{\"id\":null,\"value\":100}");
}

static void what_is_no_question(void **state) {
    (void)state;
    expect_refused("",
                   REFUSED("null", "question: expected an object, but the text ends, at byte 0"));
    expect_refused("  ",
                   REFUSED("null", "question: expected an object, but the text ends, at byte 2"));
    expect_refused("[{\"id\":1}]",
                   REFUSED("null", "question: expected an object, found an array, at byte 0"));
    expect_refused("null", REFUSED("null", "question: expected an object, found null"));
    expect_refused("{\"id\":1,\"step\":\"plan\"",
                   REFUSED("null", "question.step: the text ends inside an object, at byte 21"));
    expect_refused("{\"id\":1,\"step\":\"plan\"}}",
                   REFUSED("null", "question: unexpected text after the value, at byte 22"));
    expect_refused("{\"id\":01}", REFUSED("null", "question.id: malformed number, at byte 8"));
    assert_false(ask(STR("{\"id\":1,\"step\":\"pl\xff\"}")));
    assert_true(str_has_prefix(strbuf_str(&out), STR("{\"id\":null,")));
    expect_refused("{\"id\":1}", REFUSED("1", "question: step is required"));
    expect_refused("{\"id\":1,\"step\":null}",
                   REFUSED("1", "question.step: there is no step '', at byte 19"));
    expect_refused("{\"id\":1,\"step\":7}",
                   REFUSED("1", "question.step: expected a string, found a number, at byte 15"));
    expect_refused(
        "{\"id\":1,\"step\":\"plans\"}",
        REFUSED("1", "question.step: there is no step 'plans'; did you mean 'plan'?, at byte 22"));
    expect_refused("{\"id\":1,\"step\":\"launch\"}",
                   REFUSED("1", "question.step: there is no step 'launch', at byte 23"));
    expect_refused(
        "{\"id\":1,\"step\":\"Plan\"}",
        REFUSED("1", "question.step: there is no step 'Plan'; did you mean 'plan'?, at byte 21"));
}

/* The question can be read without being answered: an endpoint looks at its step first. */
static void reading_alone(void **state) {
    struct line_question q;
    struct err err;
    (void)state;
    assert_int_equal(
        line_question_read(STR("{\"step\":\"range\",\"id\":4,\"values\":7}"), &arena, &q, &err), 0);
    assert_string_equal(q.step->name, "range");
    assert_str(q.id, "4");
    assert_int_not_equal(line_question_read(STR("{\"id\":4}"), &arena, &q, &err), 0);
    assert_null(q.step);
    assert_str(q.id, "4");
    strbuf_clear(&out);
    line_question_refuse(&q, &err, &out);
    assert_str(strbuf_str(&out), REFUSED("4", "question: step is required"));
}

static void every_step_can_be_named(void **state) {
    (void)state;
    for (size_t i = 0; i < line_step_count; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        struct line_question q;
        struct err err;
        strbuf_appendf(&text, "{\"step\":\"%s\"}", line_steps[i].name);
        assert_int_equal(line_question_read(strbuf_str(&text), &arena, &q, &err), 0);
        assert_ptr_equal(q.step, &line_steps[i]);
        assert_true(line_steps[i].question[0] != '\0' && line_steps[i].answer[0] != '\0');
    }
}

/* ---- raw values ---- */

static void normalise(void **state) {
    (void)state;
    expect("{\"id\":1,\"step\":\"normalise\",\"value\":50.5,\"min\":1,\"max\":100}",
           "{\"id\":1,\"value\":0}");
    expect("{\"id\":1,\"step\":\"normalise\",\"value\":250,\"min\":1,\"max\":100}",
           "{\"id\":1,\"value\":100}");
    expect("{\"id\":1,\"step\":\"normalise\",\"value\":0.5,\"min\":1,\"max\":100}",
           "{\"id\":1,\"value\":-100}");
    expect("{\"id\":1,\"step\":\"normalise\",\"value\":-1e-999,\"min\":-1,\"max\":1e0}",
           "{\"id\":1,\"value\":0}");
}

static void normalise_refused(void **state) {
    (void)state;
#define MISSING REFUSED("1", "question: value, min and max are required")
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"min\":1,\"max\":5}", MISSING);
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":1,\"max\":5}", MISSING);
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":1,\"min\":1}", MISSING);
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":null,\"min\":1,\"max\":2}", MISSING);
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":1,\"min\":5,\"max\":5}",
                   REFUSED("1", "question: min 5 is not below max 5"));
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":1e999,\"min\":1,\"max\":5}",
                   REFUSED("1", "question.value: 1e999 is too large, at byte 40"));
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":1,\"min\":-1e999,\"max\":5}",
                   REFUSED("1", "question.min: -1e999 is too large, at byte 49"));
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":0,\"min\":-1e308,\"max\":1e308}",
                   REFUSED("1", "question: min -1e+308 and max 1e+308 are too far apart"));
    expect_refused("{\"id\":1,\"step\":\"normalise\",\"value\":\"1\",\"min\":1,\"max\":5}",
                   REFUSED("1", "question.value: expected a number, found a string, at byte 35"));
    assert_false(ask(STR("{\"id\":1,\"step\":\"normalise\",\"value\":NaN,\"min\":1,\"max\":5}")));
    assert_true(str_has_prefix(strbuf_str(&out), STR("{\"id\":null,")));
}

static void range(void **state) {
    (void)state;
    expect("{\"id\":1,\"step\":\"range\",\"values\":[50,1,100]}",
           "{\"id\":1,\"low\":1,\"high\":100}");
    expect("{\"id\":1,\"step\":\"range\",\"values\":[50,200],\"low\":0,\"high\":100}",
           "{\"id\":1,\"low\":0,\"high\":220}");
    expect("{\"id\":1,\"step\":\"range\",\"values\":[],\"low\":0.25,\"high\":100}",
           "{\"id\":1,\"low\":0.25,\"high\":100}");
    expect("{\"id\":1,\"step\":\"range\",\"values\":[]}", "{\"id\":1,\"low\":null,\"high\":null}");
    expect("{\"id\":1,\"step\":\"range\",\"values\":[0],\"low\":1e308,\"high\":1.7e308}",
           "{\"id\":1,\"low\":-1.7e+307,\"high\":1.7e+308}");
    expect("{\"id\":1,\"step\":\"range\",\"values\":[1e16],\"low\":5,\"high\":5}",
           "{\"id\":1,\"low\":5,\"high\":5}");
}

static void range_refused(void **state) {
    (void)state;
    expect_refused("{\"id\":1,\"step\":\"range\"}", REFUSED("1", "question: values is required"));
    expect_refused("{\"id\":1,\"step\":\"range\",\"values\":[1],\"low\":1}",
                   REFUSED("1", "question: low and high come together"));
    expect_refused("{\"id\":1,\"step\":\"range\",\"values\":[1],\"high\":1}",
                   REFUSED("1", "question: low and high come together"));
    expect_refused("{\"id\":1,\"step\":\"range\",\"values\":[1],\"low\":2,\"high\":1}",
                   REFUSED("1", "question: low 2 is above high 1"));
    expect_refused("{\"id\":1,\"step\":\"range\",\"values\":[1,null]}",
                   REFUSED("1", "question.values[1]: expected a number, found null, at byte 35"));
    expect_refused("{\"id\":1,\"step\":\"range\",\"values\":[1,1e999]}",
                   REFUSED("1", "question.values[1]: 1e999 is too large, at byte 40"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_id_comes_back),
        TEST(what_is_no_question),
        TEST(reading_alone),
        TEST(every_step_can_be_named),
        TEST(normalise),
        TEST(normalise_refused),
        TEST(range),
        TEST(range_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
