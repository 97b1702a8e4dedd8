/* What gRPC writes into headers. upstream: gRPC's PROTOCOL-HTTP2.md, "Requests" and "Responses". */
#include "grpc/metadata.h"

#include "base/err.h"
#include "unit/unit.h"

static void timeouts(void **state) {
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } rows[] = {
        {"1H", 3600000},
        {"2M", 120000},
        {"3S", 3000},
        {"4m", 4},
        {"1000u", 1},
        {"1001u", 2},
        {"999u", 1},
        {"1000000n", 1},
        {"1000001n", 2},
        {"0S", 0},
        {"0n", 0},
        {"2999876u", 3000},
        {"99999999H", INT64_C(359999996400000)},
        {"00000001S", 1000},
        {"", -1},
        {"S", -1},
        {"3", -1},
        {"3s", -1},
        {"3 S", -1},
        {"-3S", -1},
        {"+3S", -1},
        {"3.0S", -1},
        {"123456789S", -1},
        {"000000001S", -1},
        {"3SS", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ms = -1;
        print_message("# '%s'\n", rows[i].text);
        assert_int_equal(grpc_timeout_parse(str_of(rows[i].text), &ms), rows[i].ms >= 0);
        assert_int_equal(ms, rows[i].ms);
    }
}

static void timeouts_are_written(void **state) {
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{-1, "1m"},
                {0, "1m"},
                {1, "1m"},
                {2999, "2999m"},
                {99999999, "99999999m"},
                {100000000, "99999999m"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf out = {0};
        int64_t ms = -1;
        grpc_timeout_write(rows[i].ms, &out);
        assert_str(strbuf_str(&out), rows[i].text);
        assert_true(grpc_timeout_parse(strbuf_str(&out), &ms));
    }
}

static void messages_are_decoded(void **state) {
    static const struct {
        const char *message, *text;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"a%20b", "a b"},
        {"%e4%BD%a0", "\xe4\xbd\xa0"},
        {"100%25", "100%"},
        {"%", "%"},
        {"%2", "%2"},
        {"%2g%g2", "%2g%g2"},
        {"%00%1b%7f", "   "},
        {"%0A%0d", "  "},
        {"a\tb", "a b"},
        {"%%41", "%A"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf out = {0};
        grpc_message_decode(str_of(rows[i].message), &out);
        assert_str(strbuf_str(&out), rows[i].text);
    }
}

static void content_types(void **state) {
    static const char *const good[] = {"application/grpc", "application/grpc+proto",
                                       "application/grpc;x", "Application/gRPC"};
    static const char *const wrong[] = {"",
                                        "application/grp",
                                        "application/grpc-web",
                                        "application/grpcx",
                                        "text/application/grpc",
                                        "application/grpc "};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(grpc_content_type(str_of(good[i])));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(grpc_content_type(str_of(wrong[i])));
}

static void messages_are_printable(void **state) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    (void)state;
    grpc_message_encode(STR(" a~%\x1f\x7f\n\xc3\xa4"), &out);
    assert_str(strbuf_str(&out), " a~%25%1F%7F%0A%C3%A4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts),
        cmocka_unit_test(timeouts_are_written),
        cmocka_unit_test(messages_are_decoded),
        cmocka_unit_test(content_types),
        cmocka_unit_test(messages_are_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
