#include "model/labels.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

static struct labels decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct labels labels = labels_decode(&r);
    decoding_good(&r);
    return labels;
}

static void labels_come_sorted(void **state) {
    (void)state;
    struct labels labels = decode("{\"b\":\"2\",\"c\":\"3\",\"a\":\"1\",\"ab\":\"\",\"B\":\"4\"}");
    static const char *const want[][2] = {
        {"B", "4"}, {"a", "1"}, {"ab", ""}, {"b", "2"}, {"c", "3"}};
    assert_int_equal(labels.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_str(labels.items[i].key, want[i][0]);
        assert_str(labels.items[i].value, want[i][1]);
    }
}

static void a_repeated_key_keeps_its_last_value(void **state) {
    (void)state;
    struct labels labels = decode("{\"a\":\"1\",\"b\":\"2\",\"\\u0061\":\"3\",\"b\":null}");
    assert_int_equal(labels.count, 2);
    assert_str(labels.items[0].value, "3");
    assert_str(labels.items[1].value, "");
}

static void nothing_is_no_labels(void **state) {
    (void)state;
    assert_int_equal(decode("{}").count, 0);
    assert_int_equal(decode("null").count, 0);
}

static void lookup_tells_absent_from_empty(void **state) {
    (void)state;
    struct labels labels = decode("{\"m\":\"\",\"a\":\"1\",\"z\":\"2\"}");
    struct str value = STR("untouched");
    assert_false(labels_lookup(&labels, STR("b"), &value));
    assert_str(value, "untouched");
    assert_true(labels_lookup(&labels, STR("m"), &value));
    assert_str(value, "");
    assert_true(labels_lookup(&labels, STR("a"), &value));
    assert_str(value, "1");
    assert_true(labels_lookup(&labels, STR("z"), &value));
    assert_str(value, "2");
    assert_false(labels_lookup(&(struct labels){0}, STR("a"), &value));
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"[]", "expected an object, found an array"},
        {"{\"a\":1}", "doc.a: expected a string, found a number"},
        {"{\"a\":{}}", "expected a string, found an object"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        (void)labels_decode(&r);
        decoding_refused(&r, wrong[i][1]);
    }
}

static void put_many(struct strbuf *json, int count) {
    strbuf_append_char(json, '{');
    for (int i = 0; i < count; i++)
        strbuf_appendf(json, "%s\"k%d\":\"\"", i > 0 ? "," : "", count - i);
    strbuf_append(json, "}", 2);
}

/* Kubernetes has no limit on the number of labels; what labels are asked for has one here. */
static void any_number_in_any_order(void **state) {
    (void)state;
    enum { MANY = 50000 };
    struct strbuf json = {0};
    struct str value;
    put_many(&json, MANY); /* in falling order, mostly */
    struct labels labels = decode(json.p);
    assert_int_equal(labels.count, MANY);
    for (uint32_t i = 1; i < labels.count; i++)
        assert_true(str_cmp(labels.items[i - 1].key, labels.items[i].key) < 0);
    assert_true(labels_lookup(&labels, STR("k49999"), &value));
    labels = decode("{\"b\":\"1\",\"a\":\"2\",\"b\":\"3\",\"a\":\"4\",\"b\":\"5\"}");
    assert_int_equal(labels.count, 2);
    assert_str(labels.items[0].value, "4");
    assert_str(labels.items[1].value, "5");
    strbuf_done(&json);
}

/* n characters c */
static struct str run(char c, size_t n) {
    char *p = arena_alloc(&decoding_arena, n);
    assert_non_null(p);
    memset(p, c, n);
    return (struct str){p, n};
}

static struct str joined(struct str a, const char *between, struct str b) {
    struct strbuf text = {0};
    strbuf_append_str(&text, a);
    strbuf_append_str(&text, str_of(between));
    strbuf_append_str(&text, b);
    struct str kept = arena_str(&decoding_arena, strbuf_str(&text));
    strbuf_done(&text);
    return kept;
}

static void keys_have_a_syntax(void **state) {
    (void)state;
    static const char *const good[] = {"a",     "A",      "0",     "a-b_c.d",
                                       "a..b",  "x/y",    "a.b/c", "a-b.c-d/e_f",
                                       "1.2/3", "a--b/c", "x/Y_Z", "example.com/app"};
    static const char *const bad[] = {"",       "-a",       "a-",   ".a",  "a.",     "_a",
                                      "a b",    "a/b/c",    "/a",   "a/",  "X/y",    "a_b/c",
                                      "-a/b",   "a-/b",     "a./b", ".a/", "a..b/c", "a.-b/c",
                                      "a-.b/c", "\xc3\xa9", "a\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!label_key_valid(str_of(good[i])) || !claim_key_valid(str_of(good[i])))
            fail_msg("refused: '%s'", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (label_key_valid(str_of(bad[i])) || claim_key_valid(str_of(bad[i])))
            fail_msg("accepted: '%s'", bad[i]);
    assert_false(label_key_valid(STR("a\0b")));
}

static void keys_have_a_length(void **state) {
    (void)state;
    assert_true(label_key_valid(run('a', 63)));
    assert_false(label_key_valid(run('a', 64)));
    assert_true(label_key_valid(joined(run('a', 253), "/", run('b', 63))));
    assert_false(label_key_valid(joined(run('a', 254), "/", run('b', 1))));
    assert_false(label_key_valid(joined(run('a', 1), "/", run('b', 64))));
    assert_true(claim_key_valid(run('a', 253)));
    assert_false(claim_key_valid(run('a', 254)));
    assert_true(claim_key_valid(joined(run('a', 126), "/", run('b', 126))));
    assert_false(claim_key_valid(joined(run('a', 126), "/", run('b', 127))));
}

static void values_have_a_syntax(void **state) {
    (void)state;
    static const char *const good[] = {"", "a", "0", "A-b_C.d", "1.2.3", "a__b"};
    static const char *const bad[] = {"-", "a-", "-a", ".", "a b", "a/b", "a,b", "\xc3\xa9", " "};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(label_value_valid(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(label_value_valid(str_of(bad[i])));
    assert_true(label_value_valid(run('9', 63)));
    assert_false(label_value_valid(run('9', 64)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(labels_come_sorted),      DECODING_TEST(a_repeated_key_keeps_its_last_value),
        DECODING_TEST(nothing_is_no_labels),    DECODING_TEST(lookup_tells_absent_from_empty),
        DECODING_TEST(wrong_types_are_refused), DECODING_TEST(any_number_in_any_order),
        DECODING_TEST(keys_have_a_syntax),      DECODING_TEST(keys_have_a_length),
        DECODING_TEST(values_have_a_syntax),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
