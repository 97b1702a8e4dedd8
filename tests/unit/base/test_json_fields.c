/* What rows read, and how they say no. */
#include "base/json_fields.h"

#include "unit/unit.h"

struct part {
    struct str name;
    int64_t weight;
};

struct whole {
    struct str text, inner;
    bool flag, given, hard, known;
    int32_t number;
    int64_t large, time_ms;
    uint32_t word;
    struct str *texts;
    uint32_t text_count;
    struct part part;
    struct part *parts, *others;
    uint32_t part_count, other_count;
    uint32_t calls;
};

static const char *const colours[] = {"red", "green", "blue", ""};
static const char *const when[] = {"Any", "Never"};

static void count_call(struct json_reader *r, void *into) {
    struct whole *w = into;
    w->calls += json_peek(r) == JSON_ARRAY;
}

static void part_by_name(struct json_reader *r, void *into) {
    ((struct part *)into)->name = json_string(r);
}

static const struct json_field part_fields[] = {
    JSON_TEXT("name", struct part, name),
    JSON_INTEGER("weight", struct part, weight, -5, 5, .absent = 1),
};
static const struct json_field inner_fields[] = {
    JSON_TEXT("text", struct whole, inner),
};
static const struct json_field fields[] = {
    JSON_TEXT("text", struct whole, text),
    JSON_FLAG("flag", struct whole, flag),
    JSON_INTEGER("number", struct whole, number, INT32_MIN, INT32_MAX, .absent = 7,
                 JSON_GIVEN(struct whole, given)),
    JSON_INTEGER("large", struct whole, large, 0, INT64_MAX, .absent = 0),
    JSON_WORD("word", struct whole, word, colours, .absent = 3),
    JSON_WORD("when", struct whole, hard, when, .absent = 0),
    JSON_TIME("time", struct whole, time_ms, JSON_GIVEN(struct whole, known)),
    JSON_TEXTS("texts", struct whole, texts, text_count, 2),
    JSON_WITHIN("inner", inner_fields),
    JSON_OBJECT_AT("part", struct whole, part, part_fields),
    JSON_LIST("parts", struct whole, parts, part_count, 2, part_fields),
    JSON_LIST_BY("others", struct whole, others, other_count, 2, part_by_name),
    JSON_CALL_WHOLE("call", count_call),
};

static const struct json_field strict_part_fields[] = {
    JSON_TEXT("name", struct part, name),
    JSON_REFUSED("size", "moved to weight"),
    JSON_NO_OTHERS,
};
static const struct json_field strict_fields[] = {
    JSON_LIST("parts", struct whole, parts, part_count, 2, strict_part_fields),
    JSON_TEXT("text", struct whole, text),
    JSON_NO_OTHERS,
};

static struct arena arena;

static int read_by(const struct json_rows *rows, const char *text, struct whole *ret,
                   struct err *err) {
    struct json_reader r;
    arena_reset(&arena);
    json_reader_init(&r, str_of(text), &arena, "Doc");
    json_fields(&r, rows, ret);
    return json_finish(&r, err);
}

static int read_whole(const char *text, struct whole *ret, struct err *err) {
    return read_by(&JSON_ROWS(fields), text, ret, err);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1u << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void each_kind_is_read(void **state) {
    static const char text[] =
        "{\"other\":[{}],\"text\":\"a\",\"flag\":true,\"number\":-3,\"large\":5000000000,"
        "\"word\":\"blue\",\"when\":\"Never\",\"time\":\"1970-01-01T00:00:02Z\","
        "\"texts\":[\"x\",\"y\"],\"inner\":{\"text\":\"b\",\"more\":1},"
        "\"part\":{\"weight\":-2},\"parts\":[{\"name\":\"p\"},null],\"others\":[\"q\"],"
        "\"call\":[1]}";
    struct whole w = {.calls = 0};
    struct err err;
    (void)state;
    assert_int_equal(read_whole(text, &w, &err), 0);
    assert_str(w.text, "a");
    assert_str(w.inner, "b");
    assert_true(w.flag && w.given && w.hard && w.known);
    assert_int_equal(w.number, -3);
    assert_int_equal(w.large, 5000000000);
    assert_int_equal(w.word, 2);
    assert_int_equal(w.time_ms, 2000);
    assert_int_equal(w.text_count, 2);
    assert_str(w.texts[1], "y");
    assert_str(w.part.name, "");
    assert_int_equal(w.part.weight, -2);
    assert_int_equal(w.part_count, 2);
    assert_str(w.parts[0].name, "p");
    assert_int_equal(w.parts[0].weight, 1); /* missing, and ... */
    assert_int_equal(w.parts[1].weight, 1); /* ... a part that is null */
    assert_int_equal(w.other_count, 1);
    assert_str(w.others[0].name, "q");
    assert_int_equal(w.calls, 1);
}

static void null_counts_as_absent(void **state) {
    struct whole w = {.text = STR("was"), .number = 1, .word = 1, .time_ms = 9, .part.weight = 4};
    struct err err;
    (void)state;
    assert_int_equal(read_whole("{\"text\":null,\"number\":null,\"word\":null,\"time\":null,"
                                "\"part\":null,\"parts\":null}",
                                &w, &err),
                     0);
    assert_str(w.text, "");
    assert_int_equal(w.number, 7);
    assert_false(w.given || w.known);
    assert_int_equal(w.word, 3);
    assert_int_equal(w.time_ms, 9);
    assert_int_equal(w.part.weight, 4);
    assert_int_equal(w.part_count, 0);
    assert_int_equal(read_whole("null", &w, &err), 0);
    assert_int_equal(w.number, 7);
}

/* As Go's decoder has it. */
static void the_last_of_two_counts(void **state) {
    struct whole w = {.calls = 0};
    struct err err;
    (void)state;
    assert_int_equal(read_whole("{\"part\":{\"name\":\"a\",\"weight\":2},\"text\":\"x\","
                                "\"text\":\"y\",\"part\":{\"weight\":3}}",
                                &w, &err),
                     0);
    assert_str(w.text, "y");
    assert_str(w.part.name, "a");
    assert_int_equal(w.part.weight, 3);
}

static void mistakes_are_named(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"text\":1}", "Doc.text: expected a string, found a number, at byte 8"},
        {"{\"number\":3000000000}",
         "Doc.number: 3000000000 is not between -2147483648 and 2147483647, at byte 20"},
        {"{\"word\":\"gren\"}", "Doc.word: 'gren': did you mean 'green'?, at byte 14"},
        {"{\"word\":\"x\"}", "Doc.word: 'x' is not one of red, green, blue, at byte 11"},
        {"{\"time\":\"now\"}",
         "Doc.time: 'now' is not a time such as 2026-01-02T03:04:05Z, at byte 13"},
        {"{\"texts\":[\"a\",\"b\",\"c\"]}", "Doc.texts[2]: more than 2 items, at byte 18"},
        {"{\"parts\":[{},{},{}]}", "Doc.parts[2]: more than 2 items, at byte 16"},
        {"{\"parts\":[{},{\"weight\":6}]}",
         "Doc.parts[1].weight: 6 is not between -5 and 5, at byte 24"},
        {"{\"inner\":[]}", "Doc.inner: expected an object, found an array, at byte 9"},
        {"{\"other\":[}", "Doc.other[0]: expected a value, at byte 10"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct whole w = {.calls = 0};
        struct err err = {0};
        assert_int_not_equal(read_whole(cases[i].text, &w, &err), 0);
        assert_string_equal(err.text, cases[i].message);
    }
}

static void refused_members_are_errors(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"parts\":[{},{\"size\":1}]}", "Doc.parts[1].size: moved to weight, at byte 21"},
        {"{\"parts\":[{\"size\":null}]}", "Doc.parts[0].size: moved to weight, at byte 18"},
        {"{\"parts\":[{\"siz\":1}]}", "Doc.parts[0].siz: unknown field, at byte 17"},
        {"{\"text\":\"a\",\"texts\":null}", "Doc.texts: unknown field, at byte 20"},
        {"{\"\":1,\"text\":2}", "Doc.: unknown field, at byte 4"},
    };
    struct whole w = {.calls = 0};
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(read_by(&JSON_ROWS(strict_fields), cases[i].text, &w, &err), 0);
        assert_string_equal(err.text, cases[i].message);
    }
    assert_int_equal(read_by(&JSON_ROWS(strict_fields),
                             "{\"text\":\"a\",\"parts\":[{\"name\":\"b\"}]}", &w, &err),
                     0);
    assert_str(w.text, "a");
    assert_str(w.parts[0].name, "b");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_read),          cmocka_unit_test(null_counts_as_absent),
        cmocka_unit_test(the_last_of_two_counts),     cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(refused_members_are_errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
