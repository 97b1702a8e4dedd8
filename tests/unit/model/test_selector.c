/* Selectors from LabelSelectors: compiling, matching, keys and copies. */
#include "model/selector.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

#include <errno.h>

static struct label_selector decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct label_selector decoded = label_selector_decode(&r);
    decoding_good(&r);
    return decoded;
}

static struct labels labels(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct labels decoded = labels_decode(&r);
    decoding_good(&r);
    return decoded;
}

static struct selector compile_with(const char *json, struct labels extra) {
    struct label_selector decoded = decode(json);
    struct selector selector;
    struct err err;
    if (selector_compile(&decoded, extra, &decoding_arena, &selector, &err) != 0)
        fail_msg("%s", err.text);
    return selector;
}

static struct selector compile(const char *json) {
    return compile_with(json, (struct labels){0});
}

static struct str key_of(const struct selector *selector) {
    struct strbuf out = {0};
    selector_key(selector, &out);
    struct str kept = arena_str(&decoding_arena, strbuf_str(&out));
    strbuf_done(&out);
    return kept;
}

static bool matches(const struct selector *selector, const char *json) {
    struct labels on = labels(json);
    return selector_matches(selector, labels_lookup, &on);
}

#define EXPRESSION(key, op, values)                                                                \
    "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"
#define EXPRESSIONS(list) "{\"matchExpressions\":[" list "]}"

/* ---- decoding and compiling ---- */

static void nil_is_not_empty(void **state) {
    (void)state;
    assert_false(decode("null").present);
    assert_true(decode("{}").present);
    assert_true(decode("{\"matchLabels\":null,\"matchExpressions\":null,\"x\":[1]}").present);
    assert_true(compile("null").nothing);
    assert_false(compile("{}").nothing);
    assert_int_equal(compile("{\"matchLabels\":{},\"matchExpressions\":[]}").count, 0);
}

static void requirements_come_sorted_and_once(void **state) {
    (void)state;
    struct selector s =
        compile("{\"matchLabels\":{\"b\":\"1\",\"a\":\"2\"},\"matchExpressions\":[" EXPRESSION(
            "b", "In", "\"1\",\"1\"") "," EXPRESSION("a", "NotIn",
                                                     "\"z\",\"y\",\"z\"") "," EXPRESSION("a",
                                                                                         "Exists",
                                                                                         "") "]}");
    static const struct {
        const char *key;
        enum selector_operator op;
        uint32_t values;
    } want[] = {{"a", SELECTOR_IN, 1},
                {"a", SELECTOR_NOT_IN, 2},
                {"a", SELECTOR_EXISTS, 0},
                {"b", SELECTOR_IN, 1}};
    assert_int_equal(s.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_str(s.items[i].key, want[i].key);
        assert_int_equal(s.items[i].op, want[i].op);
        assert_int_equal(s.items[i].value_count, want[i].values);
    }
    assert_str(s.items[1].values[0], "y");
    assert_str(s.items[1].values[1], "z");
}

static void extra_labels_are_added(void **state) {
    (void)state;
    struct labels extra = labels("{\"revision\":\"7\",\"app\":\"\"}");
    struct selector s = compile_with("{\"matchLabels\":{\"app\":\"web\"}}", extra);
    assert_int_equal(s.count, 3);
    assert_false(matches(&s, "{\"app\":\"web\",\"revision\":\"7\"}")); /* app= contradicts */
    s = compile_with("{}", extra);
    assert_int_equal(s.count, 2);
    assert_true(matches(&s, "{\"app\":\"\",\"revision\":\"7\"}"));
    s = compile_with("{\"matchLabels\":{\"revision\":\"7\"}}", labels("{\"revision\":\"7\"}"));
    assert_int_equal(s.count, 1);
    assert_true(compile_with("null", extra).nothing);
}

static void errors_name_the_part(void **state) {
    (void)state;
    static const struct {
        const char *json, *words;
    } wrong[] = {
        {"{\"matchLabels\":{\"a b\":\"1\"}}", "'a b' is not a label key"},
        {"{\"matchLabels\":{\"a\":\"1 2\"}}", "key 'a': '1 2' is not a label value"},
        {EXPRESSIONS(EXPRESSION("", "Exists", "")), "'' is not a label key"},
        {EXPRESSIONS(EXPRESSION("a", "In", "")), "key 'a': In and NotIn need at least one value"},
        {EXPRESSIONS(EXPRESSION("a", "NotIn", "")), "need at least one value"},
        {EXPRESSIONS(EXPRESSION("a", "Exists", "\"1\"")), "take no values"},
        {EXPRESSIONS(EXPRESSION("a", "DoesNotExist", "\"1\"")), "take no values"},
        {EXPRESSIONS(EXPRESSION("a", "Gt", "\"1\"")), "key 'a': unknown operator 'Gt'"},
        {EXPRESSIONS(EXPRESSION("a", "Lt", "\"1\"")), "unknown operator 'Lt'"},
        {EXPRESSIONS(EXPRESSION("a", "in", "\"1\"")), "unknown operator 'in'"},
        {EXPRESSIONS(EXPRESSION("a", "", "\"1\"")), "unknown operator ''"},
        {EXPRESSIONS(EXPRESSION("a", "In", "\"1\",\"-\"")), "'-' is not a label value"},
        {EXPRESSIONS("null"), "unknown operator ''"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct label_selector decoded = decode(wrong[i].json);
        struct selector untouched = {.count = 77};
        struct err err = {0};
        int r = selector_compile(&decoded, (struct labels){0}, &decoding_arena, &untouched, &err);
        assert_int_equal(r, -EINVAL);
        assert_contains(err.text, wrong[i].words);
        assert_int_equal(untouched.count, 77);
    }
}

static void an_extra_label_is_checked_too(void **state) {
    (void)state;
    struct label_selector everything = {.present = true};
    struct selector selector;
    struct err err = {0};
    int r = selector_compile(&everything, labels("{\"a/b/c\":\"1\"}"), &decoding_arena, &selector,
                             &err);
    assert_int_equal(r, -EINVAL);
    assert_contains(err.text, "'a/b/c' is not a label key");
}

static void repeat(struct strbuf *json, const char *head, const char *part, int count,
                   const char *tail) {
    strbuf_clear(json);
    strbuf_append_str(json, str_of(head));
    for (int i = 0; i < count; i++)
        strbuf_appendf(json, "%s%s", i > 0 ? "," : "", part);
    strbuf_append(json, tail, strlen(tail) + 1);
}

/* Kubernetes has no limit on them, but that of an object's bytes. */
static void as_many_as_an_object_holds(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct strbuf json = {0};
    repeat(&json, "{\"matchExpressions\":[", EXPRESSION("a", "Exists", ""), MANY, "]}");
    assert_int_equal(compile(json.p).count, 1);
    repeat(&json, "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[", "\"v\"",
           MANY, "]}]}");
    assert_int_equal(compile(json.p).items[0].value_count, 1);
    strbuf_done(&json);
}

static void memory_may_run_out(void **state) {
    (void)state;
    struct label_selector decoded =
        decode("{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"},\"matchExpressions\":[" EXPRESSION(
            "c", "In", "\"1\",\"2\",\"3\"") "]}");
    struct labels extra = labels("{\"d\":\"4\"}");
    bool compiled = false;
    for (size_t size = 0; size < 4096; size += 16) {
        struct arena small;
        struct selector selector, copy;
        struct err err = {0};
        arena_init(&small, size);
        int r = selector_compile(&decoded, extra, &small, &selector, &err);
        assert_true(r == 0 || (r == -ENOMEM && err.text[0] != '\0' && !compiled));
        if (r == 0) {
            int c = selector_copy(&selector, &small, &copy);
            assert_true(c == 0 || c == -ENOMEM);
            compiled = compiled || c == 0;
        }
        arena_done(&small);
    }
    assert_true(compiled);
}

/* ---- matching ---- */

static void every_operator_has_its_rule(void **state) {
    (void)state;
    static const struct str values[] = {{"", 0}, {"x", 1}};
    const struct str x = STR("x"), empty = STR(""), y = STR("y");
    static const struct {
        enum selector_operator op;
        bool absent, empty, x, y;
    } rows[] = {
        {SELECTOR_IN, false, true, true, false},
        {SELECTOR_NOT_IN, true, false, false, true},
        {SELECTOR_EXISTS, false, true, true, true},
        {SELECTOR_DOES_NOT_EXIST, true, false, false, false},
        {SELECTOR_GT, false, false, false, false},
        {SELECTOR_LT, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct requirement q = {
            .key = STR("k"), .op = rows[i].op, .values = values, .value_count = 2};
        assert_int_equal(requirement_matches(&q, NULL), rows[i].absent);
        assert_int_equal(requirement_matches(&q, &empty), rows[i].empty);
        assert_int_equal(requirement_matches(&q, &x), rows[i].x);
        assert_int_equal(requirement_matches(&q, &y), rows[i].y);
    }
}

static void numbers_are_compared_as_int64(void **state) {
    (void)state;
    static const struct {
        const char *value;
        bool above, below; /* 5 */
    } rows[] = {
        {"4", false, true},
        {"5", false, false},
        {"6", true, false},
        {"06", true, false},
        {"+6", true, false},
        {"-9223372036854775808", false, true},
        {"9223372036854775807", true, false},
        {"9223372036854775808", false, false},
        {"5.5", false, false},
        {"0x9", false, false},
        {" 9", false, false},
        {"", false, false},
    };
    struct requirement gt = {.op = SELECTOR_GT, .bound = 5}, lt = {.op = SELECTOR_LT, .bound = 5};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct str value = str_of(rows[i].value);
        assert_int_equal(requirement_matches(&gt, &value), rows[i].above);
        assert_int_equal(requirement_matches(&lt, &value), rows[i].below);
    }
}

static void all_requirements_must_hold(void **state) {
    (void)state;
    struct selector s = compile("{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}");
    assert_true(matches(&s, "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}"));
    assert_false(matches(&s, "{\"a\":\"1\"}"));
    assert_false(matches(&s, "{\"a\":\"1\",\"b\":\"3\"}"));
    struct selector everything = compile("{}"), nothing = compile("null");
    assert_true(matches(&everything, "{}"));
    assert_false(matches(&nothing, "{\"a\":\"1\"}"));
}

/* ---- keys and copies ---- */

static const char *const different[] = {
    "null",
    "{}",
    "{\"matchLabels\":{\"a\":\"1\"}}",
    "{\"matchLabels\":{\"a\":\"\"}}",
    "{\"matchLabels\":{\"a\":\"2\"}}",
    "{\"matchLabels\":{\"a1\":\"\"}}",
    "{\"matchLabels\":{\"a\":\"1\",\"b\":\"1\"}}",
    EXPRESSIONS(EXPRESSION("a", "In", "\"1\",\"2\"")),
    EXPRESSIONS(EXPRESSION("a", "In", "\"12\"")),
    EXPRESSIONS(EXPRESSION("a", "NotIn", "\"1\"")),
    EXPRESSIONS(EXPRESSION("a", "Exists", "")),
    EXPRESSIONS(EXPRESSION("a", "DoesNotExist", "")),
    EXPRESSIONS(EXPRESSION("a", "In", "\"1\"") "," EXPRESSION("a", "In", "\"2\"")),
    EXPRESSIONS(EXPRESSION("a", "Exists", "") "," EXPRESSION("b", "Exists", "")),
};

/* Different selectors have different keys, and none begins another: keys may stand in a row. */
static void keys_tell_selectors_apart(void **state) {
    (void)state;
    size_t n = sizeof different / sizeof different[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            struct selector a = compile(different[i]), b = compile(different[j]);
            assert_int_equal(str_has_prefix(key_of(&a), key_of(&b)), i == j);
        }
}

static void equal_selectors_have_equal_keys(void **state) {
    (void)state;
    struct selector a = compile("{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}");
    struct selector b = compile(
        EXPRESSIONS(EXPRESSION("b", "In", "\"2\",\"2\"") "," EXPRESSION("a", "In", "\"1\"")));
    assert_true(str_eq(key_of(&a), key_of(&b)));
}

static void a_copy_owns_its_strings(void **state) {
    (void)state;
    struct arena own;
    arena_init(&own, 1u << 20);
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        char text[256];
        struct selector copy;
        (void)strncpy(text, different[i], sizeof text - 1); /* fits */
        text[sizeof text - 1] = '\0';
        struct selector selector = compile(text);
        struct str key = key_of(&selector);
        assert_int_equal(selector_copy(&selector, &own, &copy), 0);
        memset(text, 'x', sizeof text);
        assert_true(str_eq(key_of(&copy), key));
    }
    arena_done(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(nil_is_not_empty),
        DECODING_TEST(requirements_come_sorted_and_once),
        DECODING_TEST(extra_labels_are_added),
        DECODING_TEST(errors_name_the_part),
        DECODING_TEST(an_extra_label_is_checked_too),
        DECODING_TEST(as_many_as_an_object_holds),
        DECODING_TEST(memory_may_run_out),
        DECODING_TEST(every_operator_has_its_rule),
        DECODING_TEST(numbers_are_compared_as_int64),
        DECODING_TEST(all_requirements_must_hold),
        DECODING_TEST(keys_tell_selectors_apart),
        DECODING_TEST(equal_selectors_have_equal_keys),
        DECODING_TEST(a_copy_owns_its_strings),
    };
    return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
