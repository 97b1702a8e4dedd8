/* Selector strings; upstream's own answers are in tests/conformance/test_kube_primitives.c. */
#include "model/selector.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

#include <errno.h>

static struct selector parse(const char *text) {
    struct selector selector;
    struct err err;
    if (selector_parse(str_of(text), &decoding_arena, &selector, &err) != 0)
        fail_msg("%s", err.text);
    return selector;
}

static void every_form_is_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *key;
        enum selector_operator op;
        uint32_t values;
        const char *first;
    } forms[] = {
        {"a", "a", SELECTOR_EXISTS, 0, NULL},
        {"!a", "a", SELECTOR_DOES_NOT_EXIST, 0, NULL},
        {"! a", "a", SELECTOR_DOES_NOT_EXIST, 0, NULL},
        {"a=b", "a", SELECTOR_IN, 1, "b"},
        {"a==b", "a", SELECTOR_IN, 1, "b"},
        {"a=", "a", SELECTOR_IN, 1, ""},
        {"a!=b", "a", SELECTOR_NOT_IN, 1, "b"},
        {"\ta\n=\r\nb ", "a", SELECTOR_IN, 1, "b"},
        {"a in (c,b)", "a", SELECTOR_IN, 2, "b"},
        {"a in(b)", "a", SELECTOR_IN, 1, "b"},
        {"a in ( b , b )", "a", SELECTOR_IN, 1, "b"},
        {"a notin (b,)", "a", SELECTOR_NOT_IN, 2, ""},
        {"a notin()", "a", SELECTOR_NOT_IN, 1, ""},
        {"x.y/z=w", "x.y/z", SELECTOR_IN, 1, "w"},
        {"in", "in", SELECTOR_EXISTS, 0, NULL},
        {"notin=in", "notin", SELECTOR_IN, 1, "in"},
        {"in in (in)", "in", SELECTOR_IN, 1, "in"},
        {"a>5", "a", SELECTOR_GT, 1, "5"},
        {"a < 5", "a", SELECTOR_LT, 1, "5"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct selector s = parse(forms[i].text);
        assert_int_equal(s.count, 1);
        assert_str(s.items[0].key, forms[i].key);
        assert_int_equal(s.items[0].op, forms[i].op);
        assert_int_equal(s.items[0].value_count, forms[i].values);
        if (forms[i].first != NULL)
            assert_str(s.items[0].values[0], forms[i].first);
    }
    assert_int_equal(parse("a>5").items[0].bound, 5);
    assert_int_equal(parse("a<007").items[0].bound, 7);
}

static void commas_mean_and(void **state) {
    (void)state;
    struct selector s = parse("b in (x,y) , a , !c,d!=e,a");
    assert_int_equal(s.count, 4);
    assert_str(s.items[0].key, "a");
    assert_str(s.items[3].key, "d");
    assert_int_equal(parse("").count, 0);
    assert_int_equal(parse(" \t\r\n").count, 0);
    assert_false(parse("").nothing);
}

static void errors_quote_the_text(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {",", "cannot parse selector ',': expected a label key before ','"},
        {"a,", "cannot parse selector 'a,': expected a label key"},
        {"a,,b", "expected a label key before ',b'"},
        {"!", "expected a label key"},
        {"=a", "expected a label key"},
        {"!!a", "expected a label key before '!a'"},
        {"!a=b", "unexpected '=b'"},
        {"a b", "unexpected 'b'"},
        {"a=b c", "unexpected 'c'"},
        {"a=b=c", "unexpected '=c'"},
        {"a===b", "unexpected '=b'"},
        {"a in b", "expected '(' after 'a'"},
        {"a in", "expected '(' after 'a'"},
        {"a in (b", "expected ')' after the values of 'a'"},
        {"a in (b c)", "expected ')'"},
        {"a in (b))", "unexpected ')'"},
        {"a in ((b))", "expected ')'"},
        {"a IN (b)", "unexpected 'IN (b)'"},
        {"a>b", "'b' is not a whole number"},
        {"a>", "'' is not a whole number"},
        {"a>9223372036854775808", "is not a whole number"},
        {"a>-5", "'-5' is not a label value"},
        {"a>=5", "'' is not a whole number"},
        {"-a", "'-a' is not a label key"},
        {"a=-b", "'-b' is not a label value"},
        {"a@b", "'a@b' is not a label key"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct selector untouched = {.count = 77};
        struct err err = {0};
        int r = selector_parse(str_of(wrong[i].text), &decoding_arena, &untouched, &err);
        assert_int_equal(r, -EINVAL);
        assert_contains(err.text, wrong[i].words);
        assert_contains(err.text, "cannot parse selector '");
        assert_int_equal(untouched.count, 77);
    }
}

static void a_nul_is_just_a_wrong_character(void **state) {
    (void)state;
    struct selector selector;
    struct err err = {0};
    assert_int_equal(selector_parse(STR("a\0b"), &decoding_arena, &selector, &err), -EINVAL);
    assert_int_equal(selector_parse(STR("a=\0"), &decoding_arena, &selector, &err), -EINVAL);
    assert_int_equal(selector_parse((struct str){NULL, 0}, &decoding_arena, &selector, &err), 0);
}

static void there_are_limits(void **state) {
    (void)state;
    struct strbuf text = {0};
    struct selector selector;
    struct err err = {0};
    for (int i = 0; i < LIMIT_SELECTOR_REQUIREMENTS; i++)
        strbuf_appendf(&text, "%sk%d", i > 0 ? "," : "", i);
    assert_int_equal(selector_parse(strbuf_str(&text), &decoding_arena, &selector, &err), 0);
    assert_int_equal(selector.count, LIMIT_SELECTOR_REQUIREMENTS);
    strbuf_append_str(&text, STR(",a"));
    assert_int_equal(selector_parse(strbuf_str(&text), &decoding_arena, &selector, &err), -EINVAL);
    assert_contains(err.text, "more than 1024 requirements");
    strbuf_clear(&text);
    strbuf_append_str(&text, STR("a in ("));
    for (int i = 1; i < LIMIT_SELECTOR_VALUES; i++)
        strbuf_appendf(&text, "v%d,", i);
    size_t n = text.n;
    strbuf_append_str(&text, STR("v)"));
    assert_int_equal(selector_parse(strbuf_str(&text), &decoding_arena, &selector, &err), 0);
    assert_int_equal(selector.items[0].value_count, LIMIT_SELECTOR_VALUES);
    text.n = n;
    strbuf_append_str(&text, STR("v,w)"));
    assert_int_equal(selector_parse(strbuf_str(&text), &decoding_arena, &selector, &err), -EINVAL);
    assert_contains(err.text, "more than 4096 values");
    strbuf_done(&text);
}

static void memory_may_run_out(void **state) {
    (void)state;
    bool parsed = false;
    for (size_t size = 0; size < 8192; size += 16) {
        struct arena small;
        struct selector selector;
        struct err err = {0};
        arena_init(&small, size);
        int r = selector_parse(STR("a,!b,c=d,e in (f,g,h),i>7"), &small, &selector, &err);
        assert_true(r == 0 || (r == -ENOMEM && err.text[0] != '\0' && !parsed));
        parsed = parsed || r == 0;
        arena_done(&small);
    }
    assert_true(parsed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(every_form_is_read),    DECODING_TEST(commas_mean_and),
        DECODING_TEST(errors_quote_the_text), DECODING_TEST(a_nul_is_just_a_wrong_character),
        DECODING_TEST(there_are_limits),      DECODING_TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("selector strings", tests, NULL, NULL);
}
