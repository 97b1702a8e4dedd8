/*
 * Quantities that wrap around. Expectations were printed by k8s.io/apimachinery v0.36.3:
 * Value(), MilliValue() and String() of what ParseQuantity() returns; Add(), Sub(), Cmp(). Those of
 * numbers beyond 10^28 were computed with big integers after its scaledValue() and
 * AsCanonicalBytes().
 */
#include "model/quantity_wrap.h"

#include "unit/unit.h"

#include <errno.h>

static struct wrapped_quantity parsed(const char *text) {
    struct wrapped_quantity q = {.is_short = false};
    struct err err = {0};
    if (wrapped_quantity_parse(str_of(text), &q, &err) != 0)
        fail_msg("%s", err.text);
    return q;
}

static void assert_text(const struct wrapped_quantity *q, const char *want) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    wrapped_quantity_format(q, &out);
    assert_str(strbuf_str(&out), want);
}

static const struct row {
    const char *text;
    int64_t value, milli;
    const char *canonical; /* NULL: printed as typed */
} rows[] = {
    /* short: an int64 and a scale. Exponents of 1, 2, 3, 6 and 9 wrap, others give 0. */
    {"1E", 1000000000000000000, 0, "1E"},
    {"999999999999999999", 999999999999999999, 3875820019684211736, NULL},
    {"99999999999999999k", 7766279631452240920, 200376420519689664, NULL},
    {"9999999999999999M", 1864712049422024128, 1590897977359414784, NULL},
    {"9223372036854776M", 192000, 192000000, NULL},
    {"9e18", 9000000000000000000, 0, NULL},
    {"-9e18", -9000000000000000000, 0, NULL},
    {"10e17", 1000000000000000000, 0, "1e18"},
    {"1e19", 0, 0, "10e18"},
    {"9223372037n", 10, 9224, NULL},
    {"-1500m", -2, -1500, NULL},
    {"1.5", 2, 1500, "1500m"},
    {"0e3", 0, 0, "0"},
    {"m", 0, 0, "0"},
    {"Gi", 0, 0, "0"},
    {".5", 1, 500, "500m"},
    {"1023Ki", 1047552, 1047552000, NULL},
    {"1024Ki", 1048576, 1048576000, "1Mi"},
    {"-8Ki", -8192, -8192000, "-8Ki"},
    /* long: what does not fit, and what has a binary suffix and a fraction */
    {"1Ei", 1152921504606846976, INT64_MIN, "1Ei"},
    {"9223372036854775807", INT64_MAX, -1000, "9223372036854775807"},
    {"9223372036854775808", INT64_MIN, 0, "9223372036854775808"},
    {"18446744073709551617", 1, 1000, "18446744073709551617"},
    {"9Ei", INT64_MAX, -1000, "9223372036854775807"},
    {"-9Ei", -INT64_MAX, 1000, "-9223372036854775807"},
    {"1.5Ki", 1536, 1536000, "1536"},
    {"0.5Ki", 512, 512000, "512"},
    {"1.0000000000000000001", 2, 1001, "1000000001n"},
    /* negative long ones are divided towards zero, and then one is added */
    {"-1.5000000000000000001", 0, -1499, "-1500000001n"},
    {"-0.5000000000000000001n", 1, 1, "-1n"},
    {"-1112.25166Pi", 2630102183, 2630102182385, "-1252284040379553902755840u"},
    /* no suffix for this power: it is lost */
    {"1000E", 0, 0, "1"},
    {"1000000E", 0, 0, "1"},
    {"1000e18", 0, 0, "1e21"},
    /* beyond what a struct quantity holds */
    {"1e100", 0, 0, "10e99"},
    {"10000000000000000000000000001", 4477988020393345025, -4570789518076017688,
     "10000000000000000000000000001"},
    {"-10000000000000000000000000001", -68739955, -68739956139, "-10000000000000000000000000001"},
    {"99999999999999999999999999999999999999", 687399551400673279, 4870020673419869208,
     "99999999999999999999999999999999999999"},
    {"-99999999999999999999999999999999999999", -6450984251, -6450984252742,
     "-99999999999999999999999999999999999999"},
    {"12345678901234567890123456789.0000000001", 5097733592125636886, 6432227781800638985,
     "12345678901234567890123456789000000001n"},
    {"9999999999999999999999999999.9999999999", 4477988020393345024, -4570789518076018688, "10"},
    {"-12345678901234567890123456789.5", 4302749292, 4302749291489,
     "-12345678901234567890123456789500m"},
    {"1234567890123456789012E", -6345494403488940032, 185557867145723904,
     "1234567890123456789012E"},
    {"12345678901234567890e20", 101249670220611584, 9015949852063825920, "1234567890123456789e21"},
    {"-12345678901234567890E+20", 6994426160, 6994426159690, "-1234567890123456789e21"},
    {"12345678901234567890123456789012345678901234567890n", -4657922801415066570,
     9103449233449988083, "12345678901234567890123456789012345678901234567890n"},
    {"123456789012345678901234567890123456789012345e-10", -5685899923994517638,
     -4302749291975740593, "12345678901234567890123456789012345678901235e-9"},
    {"18446744073709551617000000000001", 1000000000001, 1000000000001000,
     "18446744073709551617000000000001"},
    {"12345678901234567890e110", 0, 0, "1234567890123456789e111"},
};

static void values_are_upstreams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wrapped_quantity q = parsed(rows[i].text);
        print_message("# %s\n", rows[i].text);
        assert_int_equal(wrapped_quantity_value(&q, 0), rows[i].value);
        assert_int_equal(wrapped_quantity_value(&q, -3), rows[i].milli);
        if (rows[i].canonical == NULL)
            assert_true(q.exact.as_typed);
        else if (q.exact.as_typed)
            assert_string_equal(rows[i].text, rows[i].canonical);
        else
            assert_text(&q, rows[i].canonical);
    }
}

static void sums_keep_the_format(void **state) {
    static const struct {
        const char *a, *b, *add, *sub;
        enum quantity_format format; /* of a - b */
    } sums[] = {
        {"2128M", "9223372036854775807", "9223372038982775807", "-9223372034726775807",
         QUANTITY_DECIMAL_SI},
        {"2363m", "1990Pi", "2240540814616821762363m", "-2240540814616821757637m",
         QUANTITY_DECIMAL_SI},
        {"3357058600e-9", "935M", "935000003357058600e-9", "-934999996642941400e-9",
         QUANTITY_DECIMAL_EXPONENT},
        {"10381059500e-9", "-2843E", "-2842999999999999999989618940500e-9",
         "2843000000000000000010381059500e-9", QUANTITY_DECIMAL_EXPONENT},
        {"1Gi", "1Mi", "1025Mi", "1023Mi", QUANTITY_BINARY_SI},
        {"1Gi", "100m", "1073741824100m", "1073741823900m", QUANTITY_BINARY_SI},
        {"0", "1Gi", "1Gi", "-1Gi", QUANTITY_BINARY_SI},
        {"0", "3e30", "3e30", "-3e30", QUANTITY_DECIMAL_EXPONENT},
        {"3e30", "0", "3e30", "3e30", QUANTITY_DECIMAL_EXPONENT},
        {"1Ki", "1Ki", "2Ki", "0", QUANTITY_BINARY_SI},
        {"+1", "0", "1", "1", QUANTITY_DECIMAL_SI}, /* not as typed any more */
        {"9Ei", "9Ei", "18446744073709551614", "0", QUANTITY_BINARY_SI},
        {"1Ki", "1024e30", "1000000000000000000000000000001Ki", "-999999999999999999999999999999Ki",
         QUANTITY_BINARY_SI},
        {"1e30", "1e-9", "1000000000000000000000000000000000000001e-9",
         "999999999999999999999999999999999999999e-9", QUANTITY_DECIMAL_EXPONENT},
        {"1e28", "1e28", "20e27", "0", QUANTITY_DECIMAL_EXPONENT},
        {"123456789012345678901234567890", "0.5", "123456789012345678901234567890500m",
         "123456789012345678901234567889500m", QUANTITY_DECIMAL_SI},
        {"-1e100", "1",
         "-9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
         "999999999999",
         "-1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "0000000000001",
         QUANTITY_DECIMAL_EXPONENT},
        {"1", "99999999999999999999999999999999", "100", "-99999999999999999999999999999998",
         QUANTITY_DECIMAL_SI},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        const struct wrapped_quantity a = parsed(sums[i].a), b = parsed(sums[i].b);
        const struct wrapped_quantity add = wrapped_quantity_add(&a, &b, false);
        const struct wrapped_quantity sub = wrapped_quantity_add(&a, &b, true);
        assert_text(&add, sums[i].add);
        assert_text(&sub, sums[i].sub);
        assert_int_equal(sub.exact.format, sums[i].format);
        assert_false(add.exact.as_typed || sub.exact.as_typed);
    }
}

static void what_is_larger_compares_as_larger(void **state) {
    static const char *const rising[] = {
        "-1e200",
        "-1e31",
        "-10000000000000000000000000000.000000001",
        "-1e28",
        "-1",
        "0",
        "1n",
        "1e28",
        "10000000000000000000000000000.0000000001",
        "99999999999999999999999999999",
        "1e31",
        "1e200",
    };
    const size_t count = sizeof rising / sizeof rising[0];
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            const struct wrapped_quantity a = parsed(rising[i]), b = parsed(rising[k]);
            assert_int_equal(wrapped_quantity_compare(&a, &b), (i > k) - (i < k));
        }
}

/* There is an end to what is counted, too. */
static void what_is_too_large_stays_there(void **state) {
    const struct wrapped_quantity a = parsed("1e200"), b = parsed("1e300");
    const struct wrapped_quantity sum = wrapped_quantity_add(&a, &b, false);
    (void)state;
    assert_int_equal(wrapped_quantity_compare(&a, &b), 0);
    assert_int_equal(wrapped_quantity_compare(&sum, &b), 0);
    assert_text(&b, "1e300"); /* it is short */
}

static void an_unreadable_one_leaves_what_was_there(void **state) {
    struct wrapped_quantity q = {.is_short = true};
    struct err err = {0};
    (void)state;
    assert_int_equal(wrapped_quantity_parse(STR("1K"), &q, &err), -EINVAL);
    assert_string_equal(err.text, "cannot parse quantity '1K': unknown suffix");
    assert_true(q.is_short);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_upstreams),
        cmocka_unit_test(sums_keep_the_format),
        cmocka_unit_test(what_is_larger_compares_as_larger),
        cmocka_unit_test(what_is_too_large_stays_there),
        cmocka_unit_test(an_unreadable_one_leaves_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
