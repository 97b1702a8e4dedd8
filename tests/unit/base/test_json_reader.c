/* What the reader accepts, and what it then says the values are. */
#include "base/json_reader.h"

#include "unit/unit.h"

#include <stdio.h>

static struct arena arena;
static struct json_reader r;

static void start(struct str text) {
    arena_reset(&arena);
    json_reader_init(&r, text, &arena, "Doc");
}

static void expect_end(void) {
    struct err err = {0};
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 64u << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void test_peek(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum json_kind kind;
    } cases[] = {
        {"null", JSON_NULL},  {"true", JSON_BOOL}, {" false", JSON_BOOL},   {"-1", JSON_NUMBER},
        {"\n0", JSON_NUMBER}, {"9", JSON_NUMBER},  {"\t\"\"", JSON_STRING}, {"\r[]", JSON_ARRAY},
        {"{}", JSON_OBJECT},  {"", JSON_NOTHING},  {"  ", JSON_NOTHING},    {"]", JSON_NOTHING},
        {"+1", JSON_NOTHING}, {"N", JSON_NOTHING}, {"\v1", JSON_NOTHING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(str_of(cases[i].text));
        assert_int_equal(json_peek(&r), cases[i].kind);
        assert_int_equal(json_peek(&r), cases[i].kind);
        assert_false(json_failed(&r));
    }
}

static void test_a_typical_decoder(void **state) {
    (void)state;
    start(STR(" { \"name\" : \"web-1\" , \"n\":3,\"on\":true,\"tags\":[\"a\",\"b\"],"
              "\"other\":{\"x\":[1,{}]},\"sub\":{\"size\":-4} }\n"));
    struct str name = {0}, tags[2] = {{0}};
    int64_t n = 0, size = 0;
    bool on = false;
    int tag_count = 0, members = 0;
    struct str key = {0};
    if (json_object(&r))
        while (json_member(&r, &key)) {
            members++;
            if (str_eq(key, STR("name"))) {
                name = json_string(&r);
            } else if (str_eq(key, STR("n"))) {
                n = json_integer(&r, 0, 10);
            } else if (str_eq(key, STR("on"))) {
                on = json_bool(&r);
            } else if (str_eq(key, STR("tags"))) {
                if (json_array(&r))
                    while (json_element(&r))
                        tags[tag_count++] = json_string(&r);
            } else if (str_eq(key, STR("sub"))) {
                if (json_object(&r))
                    while (json_member(&r, &key))
                        size = json_integer(&r, -10, 10);
            } else {
                assert_str(json_skip(&r), "{\"x\":[1,{}]}");
            }
        }
    expect_end();
    assert_int_equal(members, 6);
    assert_str(name, "web-1");
    assert_int_equal(n, 3);
    assert_true(on);
    assert_int_equal(tag_count, 2);
    assert_str(tags[1], "b");
    assert_int_equal(size, -4);
}

static void test_empty_containers(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "{ }", "[]", "[ \n]", " [ ] "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        start(str_of(texts[i]));
        struct str key = {0};
        if (json_peek(&r) == JSON_OBJECT) {
            assert_true(json_object(&r));
            assert_false(json_member(&r, &key));
        } else {
            assert_true(json_array(&r));
            assert_false(json_element(&r));
        }
        expect_end();
    }
}

/* Values of each kind, at each place of an object and of an array, in one that is read and in one
 * that is not. */
static void test_unread_values_are_passed_over(void **state) {
    static const char *const values[] = {"null", "true", "-1.5e3",          "\"}]\\\"\"",
                                         "[]",   "{}",   "[[1],{\"a\":2}]", "{\"a\":{\"a\":[]}}"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[256];
        (void)snprintf(
            text, sizeof text,
            "{ \"x\" : %s ,\"in\":{\"x\":%s,\"n\":1,\"y\": %s},\"of\":[%s, 2 ,%s ],\"y\":%s }",
            values[i], values[i], values[i], values[i], values[i], values[i]);
        struct str key = {0};
        int64_t n = 0, second = 0, members = 0, elements = 0;
        start(str_of(text));
        assert_true(json_object(&r));
        for (; json_member(&r, &key); members++)
            if (str_eq(key, STR("in")) && json_object(&r)) {
                for (; json_member(&r, &key); members++)
                    if (str_eq(key, STR("n")))
                        n = json_integer(&r, 0, 9);
            } else if (str_eq(key, STR("of")) && json_array(&r)) {
                for (; json_element(&r); elements++)
                    if (elements == 1)
                        second = json_integer(&r, 0, 9);
            }
        expect_end();
        assert_int_equal(members, 7);
        assert_int_equal(elements, 3);
        assert_int_equal(n, 1);
        assert_int_equal(second, 2);
    }
}

/* It is not a value of JSON, or it has no end. */
static void test_unread_values_are_checked(void **state) {
    static const char *const texts[] = {"{\"a\":nul}",     "{\"a\":}",           "{\"a\":[1,}",
                                        "{\"a\":\"\\x\"}", "{\"a\":01,\"b\":1}", "{\"a\":1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct str key = {0};
        start(str_of(texts[i]));
        assert_true(json_object(&r));
        while (json_member(&r, &key))
            continue;
        assert_int_not_equal(json_finish(&r, NULL), 0);
    }
}

static void test_null_means_absent(void **state) {
    (void)state;
    start(STR("[null,null,null,null,null,null,null]"));
    assert_true(json_array(&r));
    assert_true(json_element(&r));
    assert_int_equal(json_string(&r).n, 0);
    assert_true(json_element(&r));
    assert_int_equal(json_integer(&r, 5, 9), 0);
    assert_true(json_element(&r));
    assert_false(json_bool(&r));
    assert_true(json_element(&r));
    assert_false(json_object(&r));
    assert_true(json_element(&r));
    assert_false(json_array(&r));
    assert_true(json_element(&r));
    assert_int_equal(json_number_text(&r).n, 0);
    assert_true(json_element(&r));
    assert_true(json_null(&r));
    assert_false(json_element(&r));
    expect_end();
}

static void test_null_is_consumed_only_if_there(void **state) {
    (void)state;
    start(STR("[1]"));
    assert_true(json_array(&r) && json_element(&r));
    assert_false(json_null(&r));
    assert_int_equal(json_integer(&r, 0, 1), 1);
    assert_false(json_element(&r));
    expect_end();
}

static void test_plain_strings_point_into_the_text(void **state) {
    (void)state;
    struct str text = STR("{\"k\":\"v\xc3\xa4lue\"}");
    start(text);
    struct str key = {0};
    assert_true(json_object(&r) && json_member(&r, &key));
    struct str value = json_string(&r);
    assert_ptr_equal(key.p, text.p + 2);
    assert_ptr_equal(value.p, text.p + 6);
    assert_str(value, "v\xc3\xa4lue");
    assert_int_equal(arena.total, 0);
}

static void test_escapes(void **state) {
    (void)state;
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e4\\u20AC\\u20ac\"", "A\xc3\xa4\xe2\x82\xac\xe2\x82\xac"},
        {"\"\\uFFFF\\ud7ff\\ue000\"", "\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80"},
        {"\"\\ud83d\\uDE00!\"", "\xf0\x9f\x98\x80!"},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"a\\n\xc3\xa4\\n\xe2\x82\xac\xf0\x9f\x98\x80z\"",
         "a\n\xc3\xa4\n\xe2\x82\xac\xf0\x9f\x98\x80z"},
        {"\"\x7f/\"", "\x7f/"},
        {"\"\"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(str_of(cases[i].text));
        assert_str(json_string(&r), cases[i].value);
        expect_end();
    }
    start(STR("\"a\\u0000b\""));
    assert_true(str_eq(json_string(&r), STR("a\0b")));
    expect_end();
}

static void test_escaped_member_names(void **state) {
    (void)state;
    struct str key = {0};
    start(STR("{\"n\\u0061me\":1,\"\":2,\"n\\u0061me\":3}"));
    assert_true(json_object(&r) && json_member(&r, &key));
    assert_str(key, "name");
    assert_int_equal(json_integer(&r, 0, 9), 1);
    assert_true(json_member(&r, &key));
    assert_str(key, "");
    assert_int_equal(json_integer(&r, 0, 9), 2);
    /* a repeated name is the decoder's business */
    assert_true(json_member(&r, &key));
    assert_str(key, "name");
    assert_int_equal(json_integer(&r, 0, 9), 3);
    assert_false(json_member(&r, &key));
    expect_end();
}

/* The scanner looks at eight bytes at a time: each kind of byte at every distance from the start.
 */
static void test_strings_at_every_alignment(void **state) {
    (void)state;
    static const struct {
        const char *text, *value;
    } middles[] = {
        {"", ""},
        {"\\n", "\n"},
        {"\\u00e4", "\xc3\xa4"},
        {"\xc3\xa4", "\xc3\xa4"},
        {"\\\"", "\""},
        {"!\x7f#[]", "!\x7f#[]"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    };
    for (size_t m = 0; m < sizeof middles / sizeof middles[0]; m++)
        for (int before = 0; before < 20; before++)
            for (int after = 0; after < 20; after++) {
                char text[128], value[128];
                (void)snprintf(text, sizeof text, "\"%.*s%s%.*s\"", before, "aaaaaaaaaaaaaaaaaaaa",
                               middles[m].text, after, "zzzzzzzzzzzzzzzzzzzz"); /* fits, as below */
                (void)snprintf(value, sizeof value, "%.*s%s%.*s", before, "aaaaaaaaaaaaaaaaaaaa",
                               middles[m].value, after, "zzzzzzzzzzzzzzzzzzzz");
                start(str_of(text));
                assert_str(json_string(&r), value);
                expect_end();
                start(str_of(text));
                assert_str(json_skip(&r), text);
                expect_end();
            }
}

static size_t encode(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code /= 64)
        out[i] = (char)(0x80 + code % 64);
    out[0] = (char)((0xf00 >> n & 0xf0) + code);
    return n;
}

/* Every code point there is, as itself and escaped, gives the same bytes. */
static void test_all_of_unicode(void **state) {
    (void)state;
    struct strbuf raw = {0}, escaped = {0};
    strbuf_append_char(&raw, '"');
    strbuf_append_char(&escaped, '"');
    for (uint32_t code = 0x20; code <= 0x10ffff; code++) {
        if (code == '"' || code == '\\' || (code >= 0xd800 && code <= 0xdfff))
            continue;
        char bytes[4];
        strbuf_append(&raw, bytes, encode(code, bytes));
        if (code < 0x10000)
            strbuf_appendf(&escaped, "\\u%04x", code);
        else
            strbuf_appendf(&escaped, "\\u%04X\\u%04X", 0xd800 + ((code - 0x10000) >> 10),
                           0xdc00 + (code - 0x10000) % 1024);
    }
    strbuf_append_char(&raw, '"');
    strbuf_append_char(&escaped, '"');
    start(strbuf_str(&raw));
    struct str plain = json_string(&r);
    expect_end();
    assert_int_equal(plain.n, raw.n - 2);
    start(strbuf_str(&escaped));
    assert_true(str_eq(json_string(&r), plain));
    expect_end();
    strbuf_done(&raw);
    strbuf_done(&escaped);
}

static void test_number_texts(void **state) {
    (void)state;
    static const char *const numbers[] = {"0",      "-0",
                                          "1",      "10",
                                          "-9.5",   "0.0",
                                          "1e5",    "1E+5",
                                          "1e-05",  "0e0",
                                          "1.25e2", "123456789",
                                          "1e400",  "100000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        start(str_of(numbers[i]));
        assert_str(json_number_text(&r), numbers[i]);
        expect_end();
        start(str_of(numbers[i]));
        assert_str(json_skip(&r), numbers[i]);
        expect_end();
    }
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"0", 0},
                 {"-0", 0},
                 {"-17", -17},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(str_of(cases[i].text));
        assert_true(json_integer(&r, INT64_MIN, INT64_MAX) == cases[i].value);
        expect_end();
        start(str_of(cases[i].text));
        assert_true(json_integer(&r, cases[i].value, cases[i].value) == cases[i].value);
        expect_end();
    }
}

static void test_any_number(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0", 0},          {"-0.0", 0},
                 {"50.5", 50.5},    {"-1e-2", -0.01},
                 {"1e-999", 0},     {"1.7976931348623157e308", 1.7976931348623157e308},
                 {"0.1", 0.1},      {"9007199254740993", 9007199254740992.0},
                 {"5e-324", 5e-324}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(str_of(cases[i].text));
        assert_true(json_number(&r) == cases[i].value);
        expect_end();
    }
}

static void test_booleans(void **state) {
    (void)state;
    start(STR("[true,false,true ]"));
    assert_true(json_array(&r) && json_element(&r) && json_bool(&r));
    assert_true(json_element(&r));
    assert_false(json_bool(&r));
    assert_true(json_element(&r) && json_bool(&r));
    assert_false(json_element(&r));
    expect_end();
}

static void test_skip_returns_the_bytes(void **state) {
    (void)state;
    static const char *const values[] = {"null",
                                         "true",
                                         "-1.5e3",
                                         "\"a\\u0041\\\"}]\"",
                                         "[]",
                                         "{}",
                                         "[1, [2,\n3], {\"]\": \"}\"}]",
                                         "{ \"a\\n\" : [ ] , \"b\" : { } }"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct strbuf text = {0};
        strbuf_appendf(&text, "[ 0, %s , 7]", values[i]);
        start(strbuf_str(&text));
        assert_true(json_array(&r) && json_element(&r));
        assert_str(json_skip(&r), "0");
        assert_true(json_element(&r));
        assert_str(json_skip(&r), values[i]);
        assert_true(json_element(&r));
        assert_int_equal(json_integer(&r, 0, 9), 7);
        assert_false(json_element(&r));
        expect_end();
        strbuf_done(&text);
    }
}

static void test_offset(void **state) {
    (void)state;
    start(STR("  [ 10, \"x\" ] "));
    assert_int_equal(json_offset(&r), 0);
    assert_true(json_array(&r));
    assert_int_equal(json_offset(&r), 3);
    assert_true(json_element(&r));
    assert_int_equal(json_integer(&r, 0, 99), 10);
    assert_int_equal(json_offset(&r), 6);
    assert_true(json_element(&r));
    assert_int_equal(json_peek(&r), JSON_STRING);
    assert_int_equal(json_offset(&r), 8);
    assert_str(json_skip(&r), "\"x\"");
    assert_int_equal(json_offset(&r), 11);
    assert_false(json_element(&r));
    assert_int_equal(json_offset(&r), 13);
    expect_end();
    assert_int_equal(json_offset(&r), 14);
}

static void append_nested(struct strbuf *text, int depth, bool objects) {
    for (int i = 0; i < depth; i++)
        strbuf_append_str(text, objects && i % 2 == 0 ? STR("{\"k\":") : STR("["));
    strbuf_append_str(text, objects && depth % 2 == 1 ? STR("{}") : STR("[]"));
    for (int i = depth - 1; i >= 0; i--)
        strbuf_append_char(text, objects && i % 2 == 0 ? '}' : ']');
}

static void test_depth_up_to_the_limit(void **state) {
    (void)state;
    for (int objects = 0; objects <= 1; objects++) {
        struct strbuf text = {0};
        append_nested(&text, LIMIT_JSON_DEPTH - 1, objects != 0);
        start(strbuf_str(&text));
        assert_int_equal(json_skip(&r).n, text.n);
        expect_end();
        start(strbuf_str(&text));
        struct str key = {0};
        for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
            assert_true(json_peek(&r) == JSON_OBJECT
                            ? json_object(&r) &&
                                  (json_member(&r, &key) || i == LIMIT_JSON_DEPTH - 1)
                            : json_array(&r) && (json_element(&r) || i == LIMIT_JSON_DEPTH - 1));
        assert_false(json_failed(&r));
        strbuf_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peek),
        cmocka_unit_test(test_a_typical_decoder),
        cmocka_unit_test(test_empty_containers),
        cmocka_unit_test(test_unread_values_are_passed_over),
        cmocka_unit_test(test_unread_values_are_checked),
        cmocka_unit_test(test_null_means_absent),
        cmocka_unit_test(test_null_is_consumed_only_if_there),
        cmocka_unit_test(test_plain_strings_point_into_the_text),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_escaped_member_names),
        cmocka_unit_test(test_strings_at_every_alignment),
        cmocka_unit_test(test_all_of_unicode),
        cmocka_unit_test(test_number_texts),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_any_number),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_skip_returns_the_bytes),
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_depth_up_to_the_limit),
    };
    return cmocka_run_group_tests_name("json_reader", tests, set_up, tear_down);
}
