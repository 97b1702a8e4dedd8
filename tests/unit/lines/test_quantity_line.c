/*
 * The step `quantity`: its members, and what is refused. Expectations are recorded answers of
 * Kubernetes' code and the fleet contract, 5 and 10.
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

/* The members behind the step, and those behind the id. */
static void expect(const char *members, bool good, const char *answer) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, want = {0};
    strbuf_appendf(&text, "{\"id\":1,\"step\":\"quantity\"%s}", members);
    strbuf_appendf(&want, "{\"id\":1,%s}", answer);
    strbuf_append_char(&want, '\0');
    arena_reset(&arena);
    strbuf_clear(&out);
    assert_int_equal(line_answer(strbuf_str(&text), &arena, &out), good);
    assert_str(strbuf_str(&out), want.p);
}

static void one_is_told_in_all_its_forms(void **state) {
    (void)state;
    expect(",\"text\":\"2723.6207\"", true,
           "\"canonical\":\"2723620700u\",\"value\":2724,\"milli\":2723621,"
           "\"format\":\"DecimalSI\",\"wire\":\"0a0b3237323336323037303075\"");
    expect(",\"text\":\"168Ki\",\"wrap\":true", true,
           "\"canonical\":\"168Ki\",\"value\":172032,\"milli\":172032000,"
           "\"format\":\"BinarySI\",\"wire\":\"0a053136384b69\"");
    expect(",\"text\":\"+1\"", true,
           "\"canonical\":\"+1\",\"value\":1,\"milli\":1000,"
           "\"format\":\"DecimalSI\",\"wire\":\"0a022b31\"");
    expect(",\"text\":\"1e3\"", true,
           "\"canonical\":\"1e3\",\"value\":1000,\"milli\":1000000,"
           "\"format\":\"DecimalExponent\",\"wire\":\"0a03316533\"");
}

static void it_wraps_only_where_asked(void **state) {
    (void)state;
    expect(",\"text\":\"1E\"", true,
           "\"canonical\":\"1E\",\"value\":1000000000000000000,\"milli\":9223372036854775807,"
           "\"format\":\"DecimalSI\",\"wire\":\"0a023145\"");
    expect(",\"text\":\"1E\",\"wrap\":true", true,
           "\"canonical\":\"1E\",\"value\":1000000000000000000,\"milli\":0,"
           "\"format\":\"DecimalSI\",\"wire\":\"0a023145\"");
    expect(",\"text\":\"1000E\",\"wrap\":false", true,
           "\"canonical\":\"1e21\",\"value\":9223372036854775807,\"milli\":9223372036854775807,"
           "\"format\":\"DecimalSI\",\"wire\":\"0a0431653231\"");
}

/* Lengths of 127 and 128 have one byte, and two. */
static void the_length_of_a_long_text_is_a_varint(void **state) {
    (void)state;
    for (size_t n = 127; n <= 128; n++) {
        CLEANUP(strbuf_done) struct strbuf text = {0}, canonical = {0}, answer = {0}, hex = {0};
        for (size_t i = 0; i + 1 < n; i++) {
            strbuf_append_char(&canonical, '0');
            strbuf_append_str(&hex, STR("30"));
        }
        strbuf_append_str(&canonical, STR("1"));
        strbuf_append_str(&hex, STR("31"));
        strbuf_append_str(&text, STR(",\"text\":\""));
        strbuf_append_str(&text, strbuf_str(&canonical));
        strbuf_append(&text, "\"", 2);
        strbuf_append_str(&answer, STR("\"canonical\":\""));
        strbuf_append_str(&answer, strbuf_str(&canonical));
        strbuf_append_str(&answer, STR("\",\"value\":1,\"milli\":1000,\"format\":\"DecimalSI\","
                                       "\"wire\":\"0a"));
        strbuf_append_str(&answer, n == 127 ? STR("7f") : STR("8001"));
        strbuf_append_str(&answer, strbuf_str(&hex));
        strbuf_append(&answer, "\"", 2);
        expect(text.p, true, answer.p);
    }
}

static void two_are_added_subtracted_and_compared(void **state) {
    (void)state;
    expect(",\"a\":\"3357058600e-9\",\"b\":\"935M\",\"wrap\":true", true,
           "\"add\":\"935000003357058600e-9\",\"sub\":\"-934999996642941400e-9\","
           "\"subFormat\":\"DecimalExponent\",\"cmp\":-1");
    expect(",\"a\":\"1e30\",\"b\":\"1e31\",\"wrap\":true", true,
           "\"add\":\"11e30\",\"sub\":\"-9e30\",\"subFormat\":\"DecimalExponent\",\"cmp\":-1");
    expect(",\"a\":\"1e30\",\"b\":\"1e31\"", true,
           "\"add\":\"20e27\",\"sub\":\"0\",\"subFormat\":\"DecimalExponent\",\"cmp\":0");
    expect(",\"a\":\"1Gi\",\"b\":\"1Mi\"", true,
           "\"add\":\"1025Mi\",\"sub\":\"1023Mi\",\"subFormat\":\"BinarySI\",\"cmp\":1");
    expect(",\"a\":\"1\",\"b\":\"1000m\"", true,
           "\"add\":\"2\",\"sub\":\"0\",\"subFormat\":\"DecimalSI\",\"cmp\":0");
}

static void an_unreadable_one_is_no_bad_line(void **state) {
    (void)state;
    expect(",\"text\":\"1K\"", true, "\"error\":\"cannot parse quantity '1K': unknown suffix\"");
    expect(",\"text\":\"\"", true, "\"error\":\"cannot parse quantity '': it is empty\"");
    expect(",\"text\":\"1 \"", true, "\"error\":\"cannot parse quantity '1 ': unknown suffix\"");
    expect(",\"a\":\"1\",\"b\":\"x\"", true,
           "\"error\":\"cannot parse quantity 'x': unknown suffix\"");
    expect(",\"a\":\"y\",\"b\":\"x\"", true,
           "\"error\":\"cannot parse quantity 'y': unknown suffix\"");
}

static void a_question_has_one_or_two(void **state) {
    static const char *const wrong[] = {
        "",
        ",\"a\":\"1\"",
        ",\"b\":\"1\"",
        ",\"text\":null",
        ",\"text\":\"1\",\"a\":\"1\"",
        ",\"text\":\"1\",\"b\":\"1\"",
        ",\"text\":\"1\",\"a\":\"1\",\"b\":\"1\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect(wrong[i], false,
               "\"error\":\"question: either text, or a and b are required\","
               "\"errorKind\":\"Input\"");
    expect(",\"text\":1", false,
           "\"error\":\"question.text: expected a string, found a number, at byte 33\","
           "\"errorKind\":\"Input\"");
    expect(",\"text\":\"1\",\"wrap\":1", false,
           "\"error\":\"question.wrap: expected a boolean, found a number, at byte 44\","
           "\"errorKind\":\"Input\"");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_is_told_in_all_its_forms),          TEST(it_wraps_only_where_asked),
        TEST(the_length_of_a_long_text_is_a_varint), TEST(two_are_added_subtracted_and_compared),
        TEST(an_unreadable_one_is_no_bad_line),      TEST(a_question_has_one_or_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
