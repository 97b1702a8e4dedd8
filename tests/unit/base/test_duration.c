#include "base/duration.h"

#include "unit/unit.h"

#include <errno.h>

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"0", 0},
        {"-0", 0},
        {"+0", 0},
        {"0s", 0},
        {"5s", 5000000000},
        {"+5s", 5000000000},
        {"-5s", -5000000000},
        {"1.5s", 1500000000},
        {".5s", 500000000},
        {"5.s", 5000000000},
        {"500ms", 500000000},
        {"2m", 120000000000},
        {"1h30m", 5400000000000},
        {"1h1m1s1ms1us1ns", 3661001001001},
        {"10ns", 10},
        {"11us", 11000},
        {"12\xc2\xb5s", 12000},
        {"12\xce\xbcs", 12000},
        {"0.000000001s", 1},
        {"0.0000000019s", 1},
        {"1.123456789h", 4044444440400},
        {"2562047h47m16.854775807s", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err err;
        int64_t ns;
        if (duration_parse(str_of(rows[i].text), &ns, &err) != 0)
            fail_msg("'%s': %s", rows[i].text, err.text);
        if (ns != rows[i].ns)
            fail_msg("'%s': %lld", rows[i].text, (long long)ns);
    }
}

static void test_refuse(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "s",
                                        "1",
                                        ".",
                                        ".s",
                                        "1.5",
                                        "1x",
                                        "1 s",
                                        " 1s",
                                        "1s ",
                                        "--1s",
                                        "1d",
                                        "1S",
                                        "1e3s",
                                        "-.s",
                                        "1s2",
                                        "0x1s",
                                        "3000000h",
                                        "9223372036854775808ns",
                                        "2562047h47m16.854775808s",
                                        "99999999999999999999s",
                                        "1\0s"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err err = {0};
        int64_t ns = 77;
        struct str text = i + 1 == sizeof texts / sizeof texts[0] ? STR("1\0s") : str_of(texts[i]);
        if (duration_parse(text, &ns, &err) != -EINVAL)
            fail_msg("'%s' is taken for %lld", texts[i], (long long)ns);
        assert_int_equal(err.code, -EINVAL);
        assert_int_equal(ns, 77);
    }
}

static void test_format(void **state) {
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{0, "0s"},      {1, "1ms"},     {1500, "1500ms"}, {10000, "10s"},
                {90000, "90s"}, {120000, "2m"}, {3600000, "1h"},  {5400000, "90m"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf out = {.max = 100};
        int64_t ns;
        duration_format_ms(rows[i].ms, &out);
        assert_str(strbuf_str(&out), rows[i].text);
        assert_int_equal(duration_parse(strbuf_str(&out), &ns, NULL), 0);
        assert_int_equal(ns, rows[i].ms * 1000000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
