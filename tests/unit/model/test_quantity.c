/* What the recorded answers (tests/conformance/test_quantity.c) do not reach. */
#include "model/quantity.h"

#include "unit/model/decoding.h"

#include <errno.h>
#include <math.h>

static struct quantity parsed(const char *text) {
    struct quantity q = {0};
    struct err err = {0};
    if (quantity_parse(str_of(text), &q, &err) != 0)
        fail_msg("%s", err.text);
    return q;
}

static void assert_text(const char *text, const char *canonical) {
    struct quantity q = parsed(text);
    struct strbuf out = {.max = 100};
    quantity_format(&q, &out);
    assert_str(strbuf_str(&out), canonical);
    strbuf_done(&out);
}

static void test_errors_quote_the_text(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "cannot parse quantity '': it is empty"},
        {"12x", "cannot parse quantity '12x': unknown suffix"},
        {"1.2.3", "cannot parse quantity '1.2.3': unknown suffix"},
        {"--1", "cannot parse quantity '--1': unknown suffix"},
        {"1e99999999999999999999", "unknown suffix"},
        {"Ei", "cannot parse quantity 'Ei': no digits"},
        {"e-10", "cannot parse quantity 'e-10': no digits"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct quantity q = {.nano = 42};
        struct err err = {0};
        assert_int_equal(quantity_parse(str_of(wrong[i][0]), &q, &err), -EINVAL);
        assert_contains(err.text, wrong[i][1]);
        assert_true(q.nano == 42);
    }
}

static void test_no_digits_is_zero_where_upstream_says_so(void **state) {
    (void)state;
    static const char *const zeros[] = {"k", "+m", "Gi", "-Ti", "e3", "e-9", ".", "-.M"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        assert_text(zeros[i], "0");
}

static void test_saturates(void **state) {
    (void)state;
    struct quantity large = parsed("1e1000000000000");
    assert_true(large.nano == QUANTITY_MAX_NANO);
    assert_int_equal(quantity_value(&large), INT64_MAX);
    assert_int_equal(quantity_milli_value(&large), INT64_MAX);
    struct quantity small = parsed("-99999999999999999999999999999999999999999999999999E");
    assert_true(small.nano == -QUANTITY_MAX_NANO);
    assert_int_equal(quantity_value(&small), INT64_MIN);
    struct quantity tiny = parsed("0.1e-1000000000000");
    assert_true(tiny.nano == 1);
    struct quantity zero = parsed("0e1000000000000");
    assert_true(zero.nano == 0);
    struct quantity binary = parsed("-8Ei");
    assert_int_equal(quantity_value(&binary), -INT64_MAX);
    struct quantity below = parsed("7.99999999999999999999999999999Ei");
    assert_true(below.nano == (__int128)INT64_MAX * 1000000000);
}

static void test_beyond_exa_needs_an_exponent(void **state) {
    (void)state;
    assert_text("1000E", "1e21");
    assert_text("1e21", "1e21");
    assert_text("1000000E", "1e24");
}

/* Exact far below a nano: only a fraction that is really above it rounds up. */
static void test_long_binary_fractions(void **state) {
    (void)state;
    struct quantity exact = parsed("1.00000000000000000000000000000000000000000000000000000Ki");
    assert_true(exact.nano == (__int128)1024 * 1000000000);
    struct quantity above = parsed("1.00000000000000000000000000000000000000000000000000001Ki");
    assert_true(above.nano == (__int128)1024 * 1000000000 + 1);
    struct quantity many = parsed("0.111111111111111111111111111111Ei");
    assert_text("0.111111111111111111111111111111Ei", "128102389400760775111111112n");
    assert_int_equal(quantity_value(&many), 128102389400760776);
    assert_int_equal(quantity_milli_value(&many), INT64_MAX);
    /* digits 30 to 47 carry into the nano */
    assert_text("0.123456789842778692118447375459"
                "99999999999999999Ei",
                "142335987899467712839111060n");
}

static void test_negative_rounds_away_from_zero(void **state) {
    (void)state;
    struct quantity q = parsed("-1.0000000001");
    assert_int_equal(quantity_value(&q), -2);
    assert_int_equal(quantity_milli_value(&q), -1001);
    assert_true(q.nano == -1000000001);
}

/* Nanos that an int64 holds, the last of them, and the first that it does not hold. */
static void test_positive_rounds_up(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value, milli;
    } cases[] = {
        {"0", 0, 0},
        {"1n", 1, 1},
        {"1", 1, 1000},
        {"1.000000001", 2, 1001},
        {"1.5", 2, 1500},
        {"9223372036.854775807", 9223372037, 9223372036855},
        {"9223372036.854775808", 9223372037, 9223372036855},
        {"9223372037", 9223372037, 9223372037000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct quantity q = parsed(cases[i].text);
        assert_int_equal(quantity_value(&q), cases[i].value);
        assert_int_equal(quantity_milli_value(&q), cases[i].milli);
    }
}

static void test_formats(void **state) {
    (void)state;
    assert_int_equal(parsed("1").format, QUANTITY_DECIMAL_SI);
    assert_int_equal(parsed("1e0").format, QUANTITY_DECIMAL_EXPONENT);
    assert_int_equal(parsed("1.5Ki").format, QUANTITY_BINARY_SI);
    assert_int_equal(parsed("0.0009765625Ki").format, QUANTITY_BINARY_SI); /* 1 */
    assert_int_equal(parsed("0.0009Ki").format, QUANTITY_DECIMAL_SI);
    assert_int_equal(parsed("-0.0009Ki").format, QUANTITY_DECIMAL_SI);
    assert_int_equal(parsed("0.0Ki").format, QUANTITY_BINARY_SI);
}

static void test_as_typed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool as_typed;
    } rows[] = {
        {"+1", true},           {"00012", true}, {"5.", true},     {"1000", false},
        {"0.001", false},       {"1.5", false},  {"1.500", true},  {"1e3", true},
        {"1e4", false},         {"1Ki", true},   {"8Ki", false},   {"4Ki", true},
        {"1.5Ki", false},       {"1Ei", false},  {"10.00", false}, {"10.01", false},
        {"12.345678912", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct quantity q = parsed(rows[i].text);
        if (q.as_typed != rows[i].as_typed)
            fail_msg("%s", rows[i].text);
    }
}

static struct quantity decoded(const char *json, struct str *text, struct err *err) {
    *err = (struct err){0};
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct json_reader r;
    json_reader_init(&r, str_of(json), &arena, "Pod");
    struct quantity q = quantity_decode(&r, text);
    int code = json_finish(&r, err);
    assert_int_equal(code, err->code);
    arena_done(&arena);
    return q;
}

static void test_decode(void **state) {
    (void)state;
    struct err err = {0};
    struct str text;
    struct quantity q = decoded("\" 1.5Gi \"", &text, &err);
    assert_int_equal(err.code, 0);
    assert_int_equal(quantity_value(&q), 1610612736);
    assert_str(text, "1.5Gi");
    q = decoded("2.50", &text, &err);
    assert_int_equal(err.code, 0);
    assert_int_equal(quantity_milli_value(&q), 2500);
    q = decoded("null", NULL, &err);
    assert_int_equal(err.code, 0);
    assert_true(q.nano == 0);
    (void)decoded("\"12x\"", NULL, &err); /* only the error matters, here and below */
    assert_contains(err.text, "Pod: cannot parse quantity '12x': unknown suffix");
    (void)decoded("\"\"", NULL, &err);
    assert_contains(err.text, "it is empty");
    (void)decoded("true", NULL, &err);
    assert_contains(err.text, "found a boolean");
}

/* The short way gives what the long way gives, and refuses what it refuses. */
static void test_value_alone(void **state) {
    (void)state;
    static const char *const texts[] = {"null",
                                        "0",
                                        "12",
                                        "\"0m\"",
                                        "\"250m\"",
                                        "\"999999999Gi\"",
                                        "\"1234567890Gi\"",
                                        "1.5",
                                        "\"512Mi\"",
                                        "\"7Ki\"",
                                        "\"007\"",
                                        "\"1.5Gi\"",
                                        "\"12k\"",
                                        "\"1e3\"",
                                        "-1",
                                        "\"+1\"",
                                        "\"-5m\"",
                                        "\" 5Mi \"",
                                        "\"m\"",
                                        "\"Ki\"",
                                        "\"\"",
                                        "true",
                                        "\"5mi\"",
                                        "\"5 Mi\"",
                                        "\"5M\"",
                                        "\"123456789\"",
                                        "\"99999999999999999999m\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct json_reader a = decoding_reader(texts[i]), b = decoding_reader(texts[i]);
        struct quantity long_way = quantity_decode(&a, NULL);
        __int128 short_way = quantity_decode_nano(&b);
        struct err why_a = {0}, why_b = {0};
        int failed = json_finish(&a, &why_a);
        assert_int_equal(json_finish(&b, &why_b), failed);
        assert_string_equal(why_b.text, why_a.text);
        assert_true(failed != 0 || short_way == long_way.nano);
    }
}

/* As go-units prints them, which is how Fluid does. */
static void test_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {"2GiB", (int64_t)2 << 30},
        {"1.50GiB", (int64_t)3 << 29},
        {"0.00B", 0},
        {"512", 512},
        {"10.0KiB", 10240},
        {"3MB", 3000000},
        {"", -1},
        {"B", -1},
        {"[Calculating]", -1},
        {"-1GiB", -1},
        {"2 GiB", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (quantity_bytes(str_of(rows[i].text)) != rows[i].bytes)
            fail_msg("'%s' is %lld", rows[i].text, (long long)quantity_bytes(str_of(rows[i].text)));
}

/* What apimachinery's AsApproximateFloat64() says of these. */
static void test_as_a_double(void **state) {
    (void)state;
    static const struct {
        const char *json;
        double value;
    } rows[] = {
        {"\"0\"", 0x0p+00},
        {"\"0.3\"", 0x1.3333333333334p-02},
        {"\"100m\"", 0x1.999999999999ap-04},
        {"\"1500m\"", 0x1.8p+00},
        {"\"7.5\"", 0x1.ep+02},
        {"\"15.5Gi\"", 0x1.f000000000001p+33},
        {"\"1Ki\"", 0x1p+10},
        {"\"16Gi\"", 0x1p+34},
        {"\"999999999999999999\"", 0x1.bc16d674ec8p+59},
        {"\"1234567890123456789\"", 0x1.12210f47de982p+60},
        {"\"1234567890123456789n\"", 0x1.26580b487e6b8p+30},
        {"\"9223372036854775807Ki\"", 0x1p+63},
        {"\"8Ei\"", 0x1p+63},
        {"\"-8Ei\"", -0x1p+63},
        {"\"-0.3\"", -0x1.3333333333334p-02},
        {"\"1e30\"", 0x1.93e5939a08ceap+99},
        {"\"1e300\"", 0x1.7e43c8800759cp+996},
        {"\"1e-9\"", 0x1.12e0be826d695p-30},
        {"\"12e-3\"", 0x1.89374bc6a7efap-07},
        {"\"1E\"", 0x1.bc16d674ec8p+59},
        {"\"1e309\"", INFINITY},
        {"\"0.0Gi\"", 0x0p+00},
        {"\"0.1Ki\"", 0x1.999999999999ap+06},
        {"\"1.5Ei\"", 0x1.8p+60},
        {"\"12345678901234.5\"", 0x1.674e79c5fe5p+43},
        {"\"1.0000000001\"", 0x1.000000044b83p+00},
        {"\"33.3Mi\"", 0x1.0a66666666667p+25},
        {"\"1000000000000000n\"", 0x1.e848000000001p+19},
        {"4", 0x1p+02},
        {"0.5", 0x1p-01},
        {"1e3", 0x1.f4p+09},
        {"\"1k\"", 0x1.f4p+09},
        {"\"18446744073709551615\"", 0x1p+64},
        {"\"3.14159265358979\"", 0x1.921fb5452455p+01},
        {"\"9007199254740993\"", 0x1p+53},
        {"\"+5\"", 0x1.4p+02},
        {"\"  7  \"", 0x1.cp+02},
        {"\".5\"", 0x1p-01},
        {"\"5.\"", 0x1.4p+02},
        {"null", 0x0p+00},
        {"\"1e31\"", 0x1.f8def8808b024p+102},
        {"\"1e33\"", 0x1.8a6e32246c99dp+109},
        {"\"7e-9\"", 0x1.e1094d643f785p-28},
        {"\"3u\"", 0x1.92a737110e454p-19},
        {"\"12345678901234567.8\"", 0x1.5ee2a2eb5a5c4p+53},
        {"\"99999999999999Ki\"", 0x1.6bcc41e8fffc1p+56},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_reader r = decoding_reader(rows[i].json);
        const double got = quantity_decode_double(&r);
        decoding_good(&r);
        if (got != rows[i].value)
            fail_msg("%s is %a, not %a", rows[i].json, got, rows[i].value);
    }
    struct json_reader r = decoding_reader("\"12x\"");
    assert_true(quantity_decode_double(&r) == 0);
    decoding_refused(&r, "doc: cannot parse quantity '12x': unknown suffix");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_quote_the_text),
        DECODING_TEST(test_value_alone),
        cmocka_unit_test(test_bytes),
        DECODING_TEST(test_as_a_double),
        cmocka_unit_test(test_no_digits_is_zero_where_upstream_says_so),
        cmocka_unit_test(test_saturates),
        cmocka_unit_test(test_beyond_exa_needs_an_exponent),
        cmocka_unit_test(test_long_binary_fractions),
        cmocka_unit_test(test_negative_rounds_away_from_zero),
        cmocka_unit_test(test_positive_rounds_up),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_as_typed),
        cmocka_unit_test(test_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
