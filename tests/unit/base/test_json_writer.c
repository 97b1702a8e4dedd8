#include "base/json_writer.h"

#include "base/json_reader.h"
#include "unit/unit.h"

static struct strbuf out;
static struct json_writer w;

static int start(void **state) {
    (void)state;
    out = (struct strbuf){0};
    w = (struct json_writer){.out = &out};
    return 0;
}

static int end(void **state) {
    (void)state;
    strbuf_done(&out);
    return 0;
}

static void test_every_kind_and_its_commas(void **state) {
    (void)state;
    json_begin_object(&w);
    json_put_member(&w, STR("s"), STR("x"));
    json_key(&w, STR("a"));
    json_begin_array(&w);
    json_put_integer(&w, 1);
    json_put_bool(&w, true);
    json_put_bool(&w, false);
    json_put_null(&w);
    json_put_string(&w, STR("y"));
    json_begin_object(&w);
    json_end_object(&w);
    json_begin_array(&w);
    json_end_array(&w);
    json_put_raw(&w, STR("2,3"));
    json_put_integer(&w, 4);
    json_end_array(&w);
    json_key(&w, STR("o"));
    json_begin_object(&w);
    json_key(&w, STR("n"));
    json_put_null(&w);
    json_end_object(&w);
    json_key(&w, STR("z"));
    json_put_raw(&w, STR("{}"));
    json_end_object(&w);
    assert_str(strbuf_str(&out), "{\"s\":\"x\",\"a\":[1,true,false,null,\"y\",{},[],2,3,4],"
                                 "\"o\":{\"n\":null},\"z\":{}}");
}

static void test_lone_values(void **state) {
    (void)state;
    json_put_string(&w, (struct str){0});
    assert_str(strbuf_str(&out), "\"\"");
    json_put_integer(&w, 0);
    assert_str(strbuf_str(&out), "\"\",0");
}

static void test_integers(void **state) {
    (void)state;
    json_begin_array(&w);
    json_put_integer(&w, INT64_MIN);
    json_put_integer(&w, INT64_MAX);
    json_put_integer(&w, -1);
    json_end_array(&w);
    assert_str(strbuf_str(&out), "[-9223372036854775808,9223372036854775807,-1]");
}

static void test_any_number(void **state) {
    uint64_t random = unit_seed();
    (void)state;
    json_begin_array(&w);
    json_put_number(&w, 220);
    json_put_number(&w, -0.5);
    json_put_number(&w, 0.1);
    json_put_number(&w, 1.0 / 3);
    json_put_number(&w, 0.1 + 0.2);
    json_put_number(&w, 1e300);
    json_put_number(&w, 9007199254740992.0);
    json_end_array(&w);
    assert_str(strbuf_str(&out), "[220,-0.5,0.1,0.3333333333333333,0.30000000000000004,1e+300,"
                                 "9007199254740992]");
    for (int i = 0; i < 2000; i++) { /* and every other is read back */
        const uint64_t bits = unit_random(&random);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (value - value != 0) /* not finite */
            continue;
        strbuf_clear(&out);
        w.comma = false;
        json_put_number(&w, value);
        strbuf_append_char(&out, '\0');
        back = strtod(out.p, NULL);
        assert_memory_equal(&back, &value, sizeof back);
    }
}

static void test_escapes(void **state) {
    (void)state;
    json_put_string(&w, STR("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\xc3\xa4\xf0\x9f\x98\x80\0z"));
    assert_str(strbuf_str(&out), "\"a\\\"b\\\\c/\\u0008\\u000c\\u000a\\u000d\\u0009\\u0001\\u001f"
                                 "\x7f\xc3\xa4\xf0\x9f\x98\x80\\u0000z\"");
}

static void test_malformed_text_is_replaced(void **state) {
    (void)state;
    json_put_text(&w, STR("\xc3\xa4 cut: \xf0\x9f\x98"));
    assert_str(strbuf_str(&out), "\"\xc3\xa4 cut: \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* What is well-formed stays, byte for byte; each other byte becomes U+FFFD. */
static void test_random_bytes_are_made_text(void **state) {
    (void)state;
    static const char *const parts[] = {"a",        "an ordinary run of letters",
                                        "\"",       "\\",
                                        "\n",       "\xc3\xa4",
                                        "\xe2\x82", "\x80",
                                        "\xff",     "\xf0\x9f\x98\x80",
                                        "\xed\xa0", "\xc3"};
    uint64_t random = unit_seed();
    for (int i = 0; i < 5000; i++) {
        struct strbuf text = {0}, made = {0}, expected = {0};
        struct json_writer plain = {.out = &expected}, putting = {.out = &made};
        while (unit_below(&random, 12) != 0)
            strbuf_append_str(&text, str_of(parts[unit_below(&random, 12)]));
        struct strbuf replaced = {0};
        for (struct str rest = strbuf_str(&text); rest.n > 0;) {
            size_t n = (unsigned char)rest.p[0] < 0x80 ? 1 : str_utf8_length(rest);
            strbuf_append_str(&replaced, n > 0 ? (struct str){rest.p, n} : STR("\xef\xbf\xbd"));
            rest = (struct str){rest.p + (n > 0 ? n : 1), rest.n - (n > 0 ? n : 1)};
        }
        json_put_string(&plain, strbuf_str(&replaced));
        json_put_text(&putting, strbuf_str(&text));
        assert_true(str_eq(strbuf_str(&made), strbuf_str(&expected)));
        strbuf_done(&text);
        strbuf_done(&made);
        strbuf_done(&expected);
        strbuf_done(&replaced);
    }
}

static void test_member_names_are_escaped(void **state) {
    (void)state;
    json_begin_object(&w);
    json_put_member(&w, STR("a\"b\n"), STR("c"));
    json_end_object(&w);
    assert_str(strbuf_str(&out), "{\"a\\\"b\\u000a\":\"c\"}");
}

/* Any string of valid UTF-8 comes back from the reader as it was. */
static void test_random_strings_come_back(void **state) {
    (void)state;
    static const char *const parts[] = {"a",  "\"",   "\\",       "\n",           "\x01", "\x7f",
                                        "\t", "\\u0", "\xc3\xa4", "\xe2\x82\xac", "zone", "\x1f"};
    uint64_t random = unit_seed();
    for (int i = 0; i < 5000; i++) {
        struct strbuf text = {0};
        while (unit_below(&random, 20) != 0)
            strbuf_append_str(&text, str_of(parts[unit_below(&random, 12)]));
        (void)start(NULL); /* always 0 */
        json_begin_object(&w);
        json_put_member(&w, strbuf_str(&text), strbuf_str(&text));
        json_end_object(&w);
        struct arena arena;
        struct json_reader r;
        struct str key = {0};
        arena_init(&arena, 1 << 20);
        json_reader_init(&r, strbuf_str(&out), &arena, "Doc");
        assert_true(json_object(&r) && json_member(&r, &key));
        assert_true(str_eq(key, strbuf_str(&text)));
        assert_true(str_eq(json_string(&r), strbuf_str(&text)));
        assert_false(json_member(&r, &key));
        assert_int_equal(json_finish(&r, NULL), 0);
        arena_done(&arena);
        strbuf_done(&text);
        strbuf_done(&out);
    }
}

static void test_a_full_buffer_is_noticed(void **state) {
    (void)state;
    for (size_t max = 1; max < 30; max++) {
        out = (struct strbuf){.max = max};
        w = (struct json_writer){.out = &out};
        json_begin_object(&w);
        json_put_member(&w, STR("name"), STR("a\nlong value"));
        json_end_object(&w);
        assert_int_equal(strbuf_failed(&out), max < strlen("{'name':'a_u000along value'}"));
        assert_true(out.n <= max);
        strbuf_done(&out);
    }
}

#define WITH_WRITER(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WRITER(test_every_kind_and_its_commas),
        WITH_WRITER(test_lone_values),
        WITH_WRITER(test_integers),
        WITH_WRITER(test_any_number),
        WITH_WRITER(test_escapes),
        WITH_WRITER(test_malformed_text_is_replaced),
        cmocka_unit_test(test_random_bytes_are_made_text),
        WITH_WRITER(test_member_names_are_escaped),
        WITH_WRITER(test_random_strings_come_back),
        WITH_WRITER(test_a_full_buffer_is_noticed),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
