/* What the reader refuses, and how it says so. */
#include "unit/base/json_walk.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

static struct arena arena;
static struct json_reader r;

static void start(struct str text) {
    arena_reset(&arena);
    json_reader_init(&r, text, &arena, "Pod");
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

/* Refused by skipping, by walking and by the reference alike, with this in the sentence. */
static void expect_refused(struct str text, const char *why) {
    struct err err = {0};
    assert_false(json_walk_reference(text));
    if (json_walk_skip(text, &err) != -EINVAL)
        fail_msg("skip took '%.*s'", STR_ARG(text));
    if (why != NULL)
        assert_contains(err.text, why);
    if (json_walk_typed(text, &err) != -EINVAL)
        fail_msg("walk took '%.*s'", STR_ARG(text));
    if (why != NULL)
        assert_contains(err.text, why);
}

static void expect_accepted(struct str text) {
    struct err err = {0};
    assert_true(json_walk_reference(text));
    if (json_walk_skip(text, &err) != 0 || json_walk_typed(text, &err) != 0)
        fail_msg("'%.*s': %s", STR_ARG(text), err.text);
}

static void test_malformed_structure(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[",
        "}",
        "]",
        ",",
        ":",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":}",
        "{:1}",
        "{\"a\"}",
        "{1:2}",
        "{null:1}",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[,]",
        "[1,,2]",
        "[1 2]",
        "[1:2]",
        "[1}",
        "{]",
        "{\"a\":1]",
        "[[]",
        "[]]",
        "{}}",
        "{\"a\":{}",
        "[{]}",
        "// c\n1",
        "/**/1",
        "[1]/**/",
        "1 1",
        "[] []",
        "\"a\"\"b\"",
        "{\"a\":1}x",
        "nullnull",
        "\f1",
        "\302\2401",
        "(1)",
        "undefined",
        "[\"a\",\n4\n,1,",
        "[1,\n1\n,1",
        "[\"\":1]",
        "[\"a\"",
        "{\"x\":true,",
        "[{",
        "[\"x\"]]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(str_of(texts[i]), NULL);
    expect_refused(STR("[1]\0"), NULL);
    expect_refused(STR("\0"), NULL);
    expect_refused(STR("[\0]"), NULL);
}

static void test_malformed_literals(void **state) {
    (void)state;
    static const char *const texts[] = {"n",         "nul",   "nulL",    "NULL",   "t",
                                        "tru",       "True",  "f",       "fals",   "truE",
                                        "falsey",    "nullx", "NaN",     "-NaN",   "Infinity",
                                        "-Infinity", "[nul]", "[nulll]", "[tru,1]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(str_of(texts[i]), NULL);
}

static void test_malformed_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {
        "-",   "+1",    "012",   "-012",  "00",  "-00",  "1.",          "-1.", ".5",
        "-.5", "1.e1",  "1e",    "1e+",   "1e-", "1E",   "0e",          "0e+", "0x10",
        "1_0", "1.2.3", "1e2e3", "1e2.5", "--1", "-+1",  "1-",          "1+1", "2.e+3",
        "0.",  "01.5",  "1,",    "1a",    "- 1", "1 e2", "\xef\xbc\x91"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expect_refused(str_of(texts[i]), NULL);
        char nested[64];
        (void)snprintf(nested, sizeof nested, "{\"a\":[%s]}", texts[i]); /* fits */
        expect_refused(str_of(nested), NULL);
    }
}

static void test_raw_control_characters(void **state) {
    (void)state;
    for (int c = 0; c < 0x20; c++)
        for (size_t at = 1; at < 20; at++) {
            char text[] = "\"aaaaaaaaaaaaaaaaaaa\"";
            text[at] = (char)c;
            expect_refused((struct str){text, sizeof text - 1}, "raw control character");
        }
    expect_refused(STR("{\"a\nb\":1}"), "raw control character 0x0a");
}

static void test_malformed_escapes(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"\\x41\"",   "\"\\a\"",     "\"\\0\"",     "\"\\'\"",     "\"\\U0041\"",   "\"\\ \"",
        "\"\\\n\"",    "\"\\u\"",     "\"\\u1\"",    "\"\\u12\"",   "\"\\u123\"",    "\"\\u123g\"",
        "\"\\u 123\"", "\"\\u-123\"", "\"\\u+123\"", "\"\\u0x12\"", "\"\\\xc3\xa4\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(str_of(texts[i]), NULL);
    expect_refused(STR("\"\\\0\""), "unknown escape");
    expect_refused(STR("\"\\u004\0\""), "four hexadecimal digits");
}

static void test_unterminated_strings(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"",       "\"a",       "\"abcdefghijklmnop", "\"\\",        "\"\\\"",          "\"\\u",
        "\"\\u123", "\"\\u1234", "\"\\ud83d",          "\"\\ud83d\\", "\"\\ud83d\\ude0", "{\"a",
        "[\"a\",\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(str_of(texts[i]), NULL);
}

static void test_lone_surrogates(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"\\ud800\"",        "\"\\udbff\"",        "\"\\udc00\"",        "\"\\udfff\"",
        "\"\\ud83dx\"",       "\"\\ud83d\\n\"",     "\"\\ud83d\\u0041\"", "\"\\ud83d\\ud83d\"",
        "\"\\ude00\\ud83d\"", "\"\\ud83d\\ue000\"", "\"\\ud83d\\udbff\"", "\"\\ud83d ude00\"",
        "{\"\\ud800\":1}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(str_of(texts[i]), "surrogate escape without its other half");
}

static void test_invalid_utf8(void **state) {
    (void)state;
    static const char *const sequences[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\xc2",
        "\xc2\x7f",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xe2\x28\xa1",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x9f\x98",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xfe",
        "\xff",
        "\xc3\xa4\xa4",
    };
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        for (int before = 0; before < 10; before++) {
            char text[64];
            (void)snprintf(text, sizeof text, "\"%.*s%s%s\"", before, "aaaaaaaaaa", sequences[i],
                           before % 2 == 0 ? "" : "zzzzzzzz"); /* fits */
            expect_refused(str_of(text), "invalid UTF-8");
            (void)snprintf(text, sizeof text, "{\"%.*s%s\":1}", before, "aaaaaaaaaa",
                           sequences[i]); /* fits */
            expect_refused(str_of(text), "invalid UTF-8");
        }
    /* a sequence cut off by the end of the text, with its other bytes just behind */
    expect_refused((struct str){"\"\xe2\x82\xac\"", 3}, "invalid UTF-8");
}

static void test_byte_order_mark(void **state) {
    (void)state;
    struct err err = {0};
    expect_refused(STR("\xef\xbb\xbf{}"), NULL);
    start(STR("\xef\xbb\xbf{}"));
    assert_false(json_object(&r));
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_contains(err.text, "byte order mark");
}

static void test_nul_in_member_names(void **state) {
    (void)state;
    expect_refused(STR("{\"a\\u0000b\":1}"), "NUL in a member name");
    expect_refused(STR("{\"x\":{\"\\u0000\":1}}"), "NUL in a member name");
    expect_accepted(STR("{\"a\":\"\\u0000\"}"));
}

static void test_too_deep(void **state) {
    (void)state;
    static char text[2 * (LIMIT_JSON_DEPTH + 1)];
    memset(text, '[', LIMIT_JSON_DEPTH + 1);
    memset(text + LIMIT_JSON_DEPTH + 1, ']', LIMIT_JSON_DEPTH + 1);
    expect_accepted((struct str){text + 1, sizeof text - 2});
    expect_refused((struct str){text, sizeof text}, "nested deeper than 1000 levels");

    struct strbuf objects = {0};
    for (int i = 0; i < 100000; i++)
        strbuf_append_str(&objects, STR("{\"a\":"));
    expect_refused(strbuf_str(&objects), "nested deeper than 1000 levels, at byte 5000");
    strbuf_done(&objects);
}

static void test_every_prefix_is_refused(void **state) {
    (void)state;
    struct str whole = STR(" {\"n\\u0061me\" : [1, -2.5e+3 ,true,false , null,{}, [ ],"
                           "\"\\ud83d\\ude00 \xc3\xa4\\n\"],\"b\":{\"c\":\"d\"}}");
    expect_accepted(whole);
    for (size_t n = 0; n < whole.n; n++) {
        char *copy = malloc(n + 1); /* exactly sized, so that sanitizers see a byte too many */
        assert_non_null(copy);
        memcpy(copy, whole.p, n);
        expect_refused((struct str){copy, n}, NULL);
        free(copy);
    }
}

/* ---- sentences ---- */

/* The first error of the reader, as json_finish() tells it. */
static void expect_sentence(const char *sentence) {
    struct err err = {0};
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, sentence);
}

static void test_a_wrong_kind_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *found;
    } kinds[] = {
        {"true", "a boolean"},
        {"7", "a number"},
        {"\"s\"", "a string"},
        {"[]", "an array"},
        {"{}", "an object"},
        {"x", "byte 0x78"},
        {"", NULL},
    };
    static const char *const wanted[] = {"a string", "a boolean", "a number",
                                         "a number", "an array",  "an object"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int w = 0; w < 6; w++) {
            if (kinds[k].found != NULL && strcmp(wanted[w], kinds[k].found) == 0)
                continue;
            start(str_of(kinds[k].text));
            switch (w) {
            case 0:
                assert_int_equal(json_string(&r).n, 0);
                break;
            case 1:
                assert_false(json_bool(&r));
                break;
            case 2:
                assert_int_equal(json_integer(&r, 1, 9), 0);
                break;
            case 3:
                assert_int_equal(json_number_text(&r).n, 0);
                break;
            case 4:
                assert_false(json_array(&r));
                break;
            default:
                assert_false(json_object(&r));
            }
            char sentence[128];
            if (kinds[k].found == NULL)
                (void)snprintf(sentence, sizeof sentence,
                               "Pod: expected %s, but the text ends, at byte 0", wanted[w]);
            else
                (void)snprintf(sentence, sizeof sentence, "Pod: expected %s, found %s, at byte 0",
                               wanted[w], kinds[k].found);
            expect_sentence(sentence);
        }
}

static void test_the_path_is_named(void **state) {
    (void)state;
    start(STR(
        "{\"kind\":\"Pod\",\"spec\":{\"x\":[1],\"containers\":[{\"a\":[]},{\"na\\u006de\":5}]}}"));
    struct str key;
    (void)json_object(&r);
    while (json_member(&r, &key)) {
        if (!str_eq(key, STR("spec"))) {
            (void)json_skip(&r);
            continue;
        }
        (void)json_object(&r);
        while (json_member(&r, &key)) {
            if (!str_eq(key, STR("containers"))) {
                (void)json_skip(&r);
                continue;
            }
            (void)json_array(&r);
            while (json_element(&r)) {
                (void)json_object(&r);
                while (json_member(&r, &key)) {
                    if (str_eq(key, STR("name")))
                        (void)json_string(&r);
                    else
                        (void)json_skip(&r);
                }
            }
        }
    }
    expect_sentence(
        "Pod.spec.containers[1].na\\u006de: expected a string, found a number, at byte 66");
}

static void test_the_path_within_what_is_skipped(void **state) {
    (void)state;
    start(STR("{\"\\u0061\":1,\"b\":[{},{\"c\":2,\"d\":[0,1,bad]}]}"));
    (void)json_skip(&r);
    expect_sentence("Pod.b[1].d[2]: expected a value, at byte 36");
    start(STR("{\"a\":{\"b\":1}, \"c\":nil}"));
    (void)json_skip(&r);
    expect_sentence("Pod.c: expected 'null', at byte 18");
}

/* A name from a container that was left must not turn up in the path of the next one. */
static void test_the_path_forgets_what_was_left(void **state) {
    (void)state;
    start(STR("{\"a\":{\"x\":[1,2]},\"b\":{y:2}}"));
    json_walk_value(&r);
    expect_sentence("Pod.b: expected a member name in quotes, at byte 22");
    start(STR("[[1,2],[,]]"));
    json_walk_value(&r);
    expect_sentence("Pod[1][0]: expected a string, found byte 0x2c, at byte 8");
}

static void test_deep_and_long_paths_are_cut(void **state) {
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 100; i++)
        strbuf_append_str(&text, STR("{\"key\":"));
    strbuf_append_str(&text, STR("x"));
    start(strbuf_str(&text));
    json_walk_value(&r);
    struct err err = {0};
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_memory_equal(err.text, "Pod.key.key.key.", 16);
    assert_contains(err.text, "at byte 700");
    strbuf_clear(&text);
    for (int i = 0; i < 20; i++)
        strbuf_appendf(&text, "{\"%0500d\":", i);
    strbuf_append_str(&text, STR("x"));
    start(strbuf_str(&text));
    json_walk_value(&r);
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_contains(err.text, "expected a string, found byte 0x78, at byte 10080");
    strbuf_done(&text);
}

static void test_numbers_that_are_not_finite(void **state) {
    (void)state;
    start(STR("[1,-1e999]"));
    assert_true(json_array(&r) && json_element(&r) && json_number(&r) == 1);
    assert_true(json_element(&r) && json_number(&r) == 0);
    expect_sentence("Pod[1]: -1e999 is too large, at byte 9");
    start(STR("\"1\""));
    assert_true(json_number(&r) == 0);
    expect_sentence("Pod: expected a number, found a string, at byte 0");
}

static void test_integers_out_of_range(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"6", "Pod: 6 is not between -5 and 5, at byte 1"},
        {"-6", "Pod: -6 is not between -5 and 5, at byte 2"},
        {"1.0", "Pod: expected a whole number, found 1.0, at byte 3"},
        {"1e0", "Pod: expected a whole number, found 1e0, at byte 3"},
        {"9223372036854775808", "Pod: expected a whole number, found 9223372036854775808,"
                                " at byte 19"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(str_of(cases[i].text));
        assert_int_equal(json_integer(&r, -5, 5), 0);
        expect_sentence(cases[i].sentence);
    }
}

static void test_the_decoders_own_complaint(void **state) {
    (void)state;
    struct str key;
    start(STR("{\"spec\":[\"12x\"]}"));
    assert_true(json_object(&r) && json_member(&r, &key) && json_array(&r) && json_element(&r));
    assert_str(json_string(&r), "12x");
    json_fail(&r, "cannot parse quantity '%s'", "12x");
    json_fail(&r, "a later complaint");
    assert_true(json_failed(&r));
    assert_false(json_element(&r));
    assert_false(json_member(&r, &key));
    expect_sentence("Pod.spec[0]: cannot parse quantity '12x', at byte 14");
}

/* Of a malformed object no kind can be told: what is wrong with it counts. */
static void test_an_object_of_another_kind(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"{\"kind\":\"Node\",\"a\":1}", "kind is 'Node'; expected Pod"},
        {"{\"kind\":\"Node\",\"a\":01}", "number"},
        {"{\"kind\":\"Node\",\"a\"", "expected ':' after member name 'a'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err err = {0};
        start(str_of(rows[i].text));
        json_fail_kind(&r, STR("Node"), STR("Pod"));
        assert_int_equal(json_finish(&r, &err), -EINVAL);
        assert_contains(err.text, rows[i].sentence);
        assert_true((strstr(err.text, "expected Pod") != NULL) == (i == 0));
    }
}

static void test_text_after_the_value(void **state) {
    (void)state;
    start(STR("1 x"));
    assert_int_equal(json_integer(&r, 0, 1), 1);
    expect_sentence("Pod: unexpected text after the value, at byte 2");
    start(STR("1 2"));
    assert_int_equal(json_integer(&r, 0, 1), 1);
    struct err err = {0};
    assert_int_equal(json_check(&r, &err), 0);
    expect_sentence("Pod: a second value after the first, at byte 2");
}

static void test_an_unfinished_container(void **state) {
    (void)state;
    struct str key;
    start(STR("{"));
    assert_true(json_object(&r));
    assert_int_equal(json_check(&r, NULL), 0);
    assert_int_equal(json_finish(&r, NULL), -EINVAL);
    start(STR("{\"a\":[1"));
    assert_true(json_object(&r) && json_member(&r, &key) && json_array(&r) && json_element(&r));
    assert_int_equal(json_integer(&r, 0, 1), 1);
    assert_int_equal(json_finish(&r, NULL), -EINVAL);
}

static void test_errors_stick(void **state) {
    (void)state;
    struct str key = STR("kept");
    start(STR("[1, x, {\"a\":2}, \"s\", true, null]"));
    assert_true(json_array(&r) && json_element(&r));
    assert_int_equal(json_integer(&r, 0, 9), 1);
    assert_true(json_element(&r));
    assert_int_equal(json_integer(&r, 0, 9), 0);
    assert_true(json_failed(&r));
    size_t offset = json_offset(&r);
    assert_int_equal(json_peek(&r), JSON_NOTHING);
    assert_false(json_object(&r));
    assert_false(json_array(&r));
    assert_false(json_member(&r, &key));
    assert_str(key, "kept");
    assert_false(json_element(&r));
    assert_int_equal(json_string(&r).n, 0);
    assert_false(json_bool(&r));
    assert_int_equal(json_integer(&r, 7, 9), 0);
    assert_int_equal(json_number_text(&r).n, 0);
    assert_int_equal(json_skip(&r).n, 0);
    assert_false(json_null(&r));
    assert_int_equal(json_offset(&r), offset);
    expect_sentence("Pod[1]: expected a number, found byte 0x78, at byte 4");
    expect_sentence("Pod[1]: expected a number, found byte 0x78, at byte 4");
    assert_int_equal(json_check(&r, NULL), -EINVAL);
}

static void test_no_text_at_all(void **state) {
    (void)state;
    start((struct str){0});
    assert_int_equal(json_peek(&r), JSON_NOTHING);
    assert_int_equal(json_offset(&r), 0);
    assert_false(json_object(&r));
    expect_sentence("Pod: expected an object, but the text ends, at byte 0");
    start((struct str){0});
    assert_int_equal(json_skip(&r).n, 0);
    expect_sentence("Pod: the text ends where a value should be, at byte 0");
}

/* ---- memory ---- */

static void read_labels(struct json_reader *reader) {
    struct str key;
    if (json_object(reader))
        while (json_member(reader, &key))
            if (json_object(reader))
                while (json_member(reader, &key))
                    (void)json_string(reader);
}

/* Running out of memory is said as such, wherever it happens, and not taken for a malformed text.
 */
static void test_an_arena_that_is_full(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"labels\":{\"%s\\n\":\"a\",\"b\":\"c\"}, \"x\":{}}",
        "{\"labels\":{\"a\":\"%s\\n\",\"b\":\"c\"}, \"x\":{}}",
        "{\"labels\":{\"a\":\"b\"},\"%s\\n\":{}}",
        "{\"%s\\n\":{\"a\":\"b\"},\"y\":{}}",
    };
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct strbuf text = {0};
        strbuf_append_str(&text, (struct str){texts[i], str_find(str_of(texts[i]), '%')});
        strbuf_append_str(&text, str_of(name));
        strbuf_append_str(&text, str_of(strchr(texts[i], '%') + 2));
        struct arena small;
        struct err err = {0};
        arena_init(&small, 4096);
        json_reader_init(&r, strbuf_str(&text), &small, "Pod");
        read_labels(&r);
        assert_int_equal(json_finish(&r, NULL), 0);
        arena_done(&small);

        arena_init(&small, 100);
        json_reader_init(&r, strbuf_str(&text), &small, "Pod");
        read_labels(&r);
        assert_int_equal(json_finish(&r, &err), -ENOMEM);
        assert_int_equal(json_check(&r, &err), -ENOMEM);
        assert_string_equal(err.text, "Pod: too large to decode within 100 bytes of memory");
        arena_done(&small);
        strbuf_done(&text);
    }
}

static void test_an_arena_the_decoder_has_filled(void **state) {
    (void)state;
    struct arena small;
    struct err err = {0};
    arena_init(&small, 100);
    json_reader_init(&r, STR("{\"a\":{\"b\":\"c\"}}"), &small, "Pod");
    assert_null(arena_alloc(&small, 1000));
    read_labels(&r);
    assert_int_equal(json_finish(&r, &err), -ENOMEM);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_structure),
        cmocka_unit_test(test_malformed_literals),
        cmocka_unit_test(test_malformed_numbers),
        cmocka_unit_test(test_raw_control_characters),
        cmocka_unit_test(test_malformed_escapes),
        cmocka_unit_test(test_unterminated_strings),
        cmocka_unit_test(test_lone_surrogates),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_nul_in_member_names),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_every_prefix_is_refused),
        cmocka_unit_test(test_a_wrong_kind_is_named),
        cmocka_unit_test(test_the_path_is_named),
        cmocka_unit_test(test_the_path_within_what_is_skipped),
        cmocka_unit_test(test_the_path_forgets_what_was_left),
        cmocka_unit_test(test_deep_and_long_paths_are_cut),
        cmocka_unit_test(test_integers_out_of_range),
        cmocka_unit_test(test_numbers_that_are_not_finite),
        cmocka_unit_test(test_the_decoders_own_complaint),
        cmocka_unit_test(test_an_object_of_another_kind),
        cmocka_unit_test(test_text_after_the_value),
        cmocka_unit_test(test_an_unfinished_container),
        cmocka_unit_test(test_errors_stick),
        cmocka_unit_test(test_no_text_at_all),
        cmocka_unit_test(test_an_arena_that_is_full),
        cmocka_unit_test(test_an_arena_the_decoder_has_filled),
    };
    return cmocka_run_group_tests_name("json_reader_errors", tests, set_up, tear_down);
}
