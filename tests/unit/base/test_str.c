#include "base/str.h"

#include "unit/unit.h"

#include <limits.h>

static void test_eq(void **state) {
    (void)state;
    assert_true(str_eq(STR("abc"), str_of("abc")));
    assert_false(str_eq(STR("abc"), STR("abd")));
    assert_false(str_eq(STR("abc"), STR("ab")));
    assert_true(str_eq((struct str){0}, STR("")));
    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_true(str_empty(str_of(NULL)));
    assert_false(str_empty(STR(" ")));
}

static void test_cmp_orders_bytes(void **state) {
    (void)state;
    static const char *const sorted[] = {"", "A", "Z", "a", "a-b", "a.b", "aa", "b", "\xc3\xa4"};
    const size_t n = sizeof sorted / sizeof sorted[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int order = str_cmp(str_of(sorted[i]), str_of(sorted[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    assert_int_equal(str_cmp((struct str){0}, STR("")), 0);
    assert_true(str_cmp((struct str){0}, STR("a")) < 0);
}

static void test_eq_nocase(void **state) {
    (void)state;
    assert_true(str_eq_nocase(STR("NodeNames"), STR("nodenames")));
    assert_true(str_eq_nocase(STR("AZaz09-"), STR("azAZ09-")));
    assert_false(str_eq_nocase(STR("ab"), STR("abc")));
    /* only letters fold: '@' and '`', '[' and '{' differ by the same bit */
    assert_false(str_eq_nocase(STR("@"), STR("`")));
    assert_false(str_eq_nocase(STR("["), STR("{")));
    assert_false(str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4")));
}

static void test_prefix_and_suffix(void **state) {
    (void)state;
    assert_true(str_has_prefix(STR("kubernetes.io/os"), STR("kubernetes.io/")));
    assert_false(str_has_prefix(STR("kube"), STR("kubernetes")));
    assert_true(str_has_prefix(STR("x"), STR("")));
    assert_true(str_has_prefix((struct str){0}, STR("")));
    assert_true(str_has_suffix(STR("a.k8s.io"), STR(".k8s.io")));
    assert_false(str_has_suffix(STR("k8s.io"), STR(".k8s.io")));
    assert_false(str_has_suffix(STR("a.k8s.iox"), STR(".k8s.io")));
    assert_true(str_has_suffix((struct str){0}, STR("")));
}

static void test_find(void **state) {
    (void)state;
    assert_int_equal(str_find(STR("a/b/c"), '/'), 1);
    assert_int_equal(str_find(STR("abc"), 'c'), 2);
    assert_int_equal(str_find(STR("ab\0c"), 'c'), 3);
    assert_true(str_find((struct str){"abc", 2}, 'c') == SIZE_MAX);
    assert_true(str_find((struct str){0}, 'c') == SIZE_MAX);
}

static void test_trim(void **state) {
    (void)state;
    assert_str(str_trim(STR(" \t\r\n a b \n")), "a b");
    assert_str(str_trim(STR("ab")), "ab");
    assert_str(str_trim(STR("   ")), "");
    assert_str(str_trim((struct str){0}), "");
    assert_str(str_trim(STR("\va\v")), "\va\v");
}

static void test_to_i64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 42;
        assert_true(str_to_i64(str_of(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {
        "", "-", "+", "--1", "1 ", " 1", "1.0", "0x10", "1e3", "9223372036854775808", "1_000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 42;
        assert_false(str_to_i64(str_of(bad[i]), &value));
        assert_int_equal(value, 42);
    }
    int64_t value;
    assert_false(str_to_i64(STR("-9223372036854775809"), &value));
    assert_false(str_to_i64(STR("99999999999999999999999"), &value));
    assert_false(str_to_i64(STR("1\0"), &value));
}

static void test_buffer_appends(void **state) {
    (void)state;
    struct strbuf b = {0};
    strbuf_append(&b, NULL, 0);
    strbuf_append_str(&b, STR("one"));
    strbuf_append_char(&b, ',');
    strbuf_appendf(&b, "%d%s", 2, "nd");
    strbuf_appendf(&b, "%s", "");
    assert_str(strbuf_str(&b), "one,2nd");
    assert_false(strbuf_failed(&b));
    strbuf_clear(&b);
    assert_str(strbuf_str(&b), "");
    for (int i = 0; i < 10000; i++)
        strbuf_appendf(&b, "%04d", i);
    assert_int_equal(b.n, 40000);
    assert_memory_equal(b.p + 4936, "1234", 4);
    strbuf_done(&b);
    assert_null(b.p);
    strbuf_append_char(&b, 'x');
    assert_str(strbuf_str(&b), "x");
    strbuf_done(&b);
}

/* é has two bytes, € three, and the last of these four. */
static void test_cut(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } rows[] = {
        {"", 0, ""},
        {"abc", 0, ""},
        {"abc", 2, "ab"},
        {"abc", 3, "abc"},
        {"abc", 4, "abc"},
        {"a\xc3\xa9z", 1, "a"},
        {"a\xc3\xa9z", 2, "a"},
        {"a\xc3\xa9z", 3, "a\xc3\xa9"},
        {"\xe2\x82\xacz", 1, ""},
        {"\xe2\x82\xacz", 2, ""},
        {"\xe2\x82\xacz", 3, "\xe2\x82\xac"},
        {"a\xf0\x9f\x92\xa9z", 2, "a"},
        {"a\xf0\x9f\x92\xa9z", 4, "a"},
        {"a\xf0\x9f\x92\xa9z", 5, "a\xf0\x9f\x92\xa9"},
        /* what is no UTF-8 is cut where it is to be cut */
        {"\x82\x82\x82\x82", 2, "\x82\x82"},
        {"a\xc3\x82\x82\x82\x82", 4, "a\xc3\x82\x82"},
        {"a\xe2\x82", 2, "a\xe2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_str(str_cut(str_of(rows[i].text), rows[i].max), rows[i].want);
    assert_int_equal(str_cut((struct str){NULL, 0}, 5).n, 0);
}

static void test_buffer_stops_at_its_maximum(void **state) {
    (void)state;
    struct strbuf b = {.max = 100};
    for (int i = 0; i < 10; i++)
        strbuf_append(&b, "0123456789", 10);
    assert_false(strbuf_failed(&b));
    assert_int_equal(b.n, 100);
    assert_true(b.cap <= 100);
    strbuf_append(&b, NULL, 0);
    assert_false(strbuf_failed(&b));
    strbuf_append_char(&b, 'x');
    assert_true(strbuf_failed(&b));
    assert_int_equal(b.n, 100);

    /* failure is sticky until cleared, even for what would fit */
    b.n = 0;
    strbuf_append_char(&b, 'x');
    strbuf_appendf(&b, "%d", 1);
    assert_int_equal(b.n, 0);
    assert_null(strbuf_reserve(&b, 1));
    strbuf_clear(&b);
    strbuf_append_char(&b, 'x');
    assert_str(strbuf_str(&b), "x");

    strbuf_done(&b);
    assert_int_equal(b.max, 100);
    strbuf_appendf(&b, "%101s", "");
    assert_true(strbuf_failed(&b));
    strbuf_done(&b);
}

static void test_buffer_refuses_sizes_that_overflow(void **state) {
    (void)state;
    struct strbuf b = {0};
    strbuf_append_char(&b, 'x');
    assert_null(strbuf_reserve(&b, SIZE_MAX));
    assert_true(strbuf_failed(&b));
    strbuf_clear(&b);
    strbuf_append_char(&b, 'x');
    assert_null(strbuf_reserve(&b, SIZE_MAX / 2));
    assert_true(strbuf_failed(&b));
    strbuf_done(&b);
}

static void test_buffer_reserve(void **state) {
    (void)state;
    struct strbuf b = {.max = 1000};
    strbuf_append_str(&b, STR("ab"));
    char *to = strbuf_reserve(&b, 900);
    assert_non_null(to);
    memset(to, 'c', 900);
    b.n += 900;
    assert_int_equal(b.n, 902);
    assert_memory_equal(b.p, "abccc", 5);
    strbuf_done(&b);
}

static void copies_end(void **state) {
    (void)state;
    char *copy = str_dup((struct str){"abc", 2});
    assert_string_equal(copy, "ab");
    free(copy);
    copy = str_dup((struct str){0});
    assert_string_equal(copy, "");
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_end),
        cmocka_unit_test(test_eq),
        cmocka_unit_test(test_cmp_orders_bytes),
        cmocka_unit_test(test_eq_nocase),
        cmocka_unit_test(test_prefix_and_suffix),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_to_i64),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_buffer_appends),
        cmocka_unit_test(test_buffer_stops_at_its_maximum),
        cmocka_unit_test(test_buffer_refuses_sizes_that_overflow),
        cmocka_unit_test(test_buffer_reserve),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
