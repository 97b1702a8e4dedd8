/* Patches from edited copies. */
#include "admission/patch_diff.h"

#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

static void is_written(const struct patch *p, const char *wanted) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    patch_write(p, &w);
    assert_str(strbuf_str(&out), wanted);
    strbuf_done(&out);
}

#define ADD(path, value) "{\"op\":\"add\",\"path\":\"" path "\",\"value\":" value "}"

static void differences_become_operations(void **state) {
    (void)state;
    static const struct {
        const char *before, *after, *operations, *result;
    } cases[] = {
        {"{\"a\":1}", "{\"a\":1}", "", "{\"a\":1}"},
        /* what a tree of doubles makes of numbers, texts and blanks is no difference */
        {"{\"a\":1.50,\"b\":12345678901234567890,\"c\":\"\\u0061\"}",
         "{ \"a\": 1.5, \"b\": 12345678901234567000, \"c\": \"a\" }", "",
         "{\"a\":1.50,\"b\":12345678901234567890,\"c\":\"\\u0061\"}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "", "{\"a\":1,\"b\":2}"},
        {"{\"n\":1.50}", "{\"n\":1.5,\"x\":[true]}", ADD("/x", "[true]"),
         "{\"n\":1.50,\"x\":[true]}"},
        {"{\"a\":{\"b/c\":{}}}", "{\"a\":{\"b/c\":{\"d\":\"e\"}}}", ADD("/a/b~1c/d", "\"e\""),
         "{\"a\":{\"b/c\":{\"d\":\"e\"}}}"},
        {"{\"a\":\"x\",\"b\":null}", "{\"a\":\"y\",\"b\":{}}",
         ADD("/a", "\"y\"") "," ADD("/b", "{}"), "{\"a\":\"y\",\"b\":{}}"},
        {"{\"l\":[1.50]}", "{\"l\":[1.5,2,3]}", ADD("/l/-", "2") "," ADD("/l/-", "3"),
         "{\"l\":[1.50,2,3]}"},
        {"{\"l\":[{\"n\":1.50},{}]}", "{\"l\":[{\"n\":1.5},{\"m\":1},{}]}",
         ADD("/l/1/m", "1") "," ADD("/l/-", "{}"), "{\"l\":[{\"n\":1.50},{\"m\":1},{}]}"},
        {"{\"a\":1.5,\"b\":{\"n\":2.5}}", "{\"a\":2.5,\"b\":\"x\"}",
         ADD("/a", "2.5") "," ADD("/b", "\"x\""), "{\"a\":2.5,\"b\":\"x\"}"},
        /* lists that are changed in another way are replaced */
        {"{\"l\":[1,2]}", "{\"l\":[2]}", ADD("/l", "[2]"), "{\"l\":[2]}"},
        {"{\"l\":[\"-1.5e9\",\"\\\"2.5\"]}", "{\"l\":[]}", ADD("/l", "[]"), "{\"l\":[]}"},
        {"{\"l\":[[1],{\"a\":1}]}", "{\"l\":[[1,2],{\"a\":1},3,4]}",
         ADD("/l/0/-", "2") "," ADD("/l/-", "3") "," ADD("/l/-", "4"),
         "{\"l\":[[1,2],{\"a\":1},3,4]}"},
        {"{\"l\":[[1,2],5]}", "{\"l\":[[2],5]}", ADD("/l", "[[2],5]"), "{\"l\":[[2],5]}"},
        {"{\"l\":[{\"a\":1},2]}", "{\"l\":[{\"a\":1,\"b\":1},3]}",
         ADD("/l", "[{\"a\":1,\"b\":1},3]"), "{\"l\":[{\"a\":1,\"b\":1},3]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err;
        char wanted[300];
        patch_init(&p, str_of(cases[i].before), &decoding_arena);
        if (patch_diff(&p, str_of(cases[i].after), &err) != 0)
            fail_msg("%s: %s", cases[i].before, err.text);
        (void)snprintf(wanted, sizeof wanted, "[%s]", cases[i].operations); /* fits */
        is_written(&p, wanted);
        assert_str(p.document, cases[i].result);
        uint32_t count = p.count; /* and then there is none left */
        assert_int_equal(patch_diff(&p, str_of(cases[i].after), &err), 0);
        assert_int_equal(p.count, count);
    }
}

static void what_cannot_be_a_patch_is_refused(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"{\"a\":{\"b\":1}}", "{\"x\":1,\"a\":{}}", "cannot change '/a': a member was taken away"},
        {"{\"a\":1,\"a\":1}", "{\"a\":1}", "cannot change '': a member is there twice"},
        {"{\"a\":[1.50,2]}", "{\"a\":[1.5]}",
         "cannot change '/a': its numbers would not survive it"},
        {"{\"a\":[9007199254740993]}", "{\"a\":[]}", "its numbers would not survive"},
        {"{\"a\":[-9007199254740993]}", "{\"a\":[]}", "its numbers would not survive"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"a\":3,\"c\":4}", "a member is there twice"},
        {"{\"b\":1,\"c\":2}", "{\"a\":1,\"c\":3,\"d\":4}", "a member was taken away"},
        {"{\"a\":1}", "[]", "cannot change '': it is no object any more"},
        {"{\"a\":1}", "{\"a\":", "document"},
        {"{\"a\":1}", "{\"a\":1} x", "unexpected text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err = {0};
        patch_init(&p, str_of(cases[i][0]), &decoding_arena);
        assert_int_equal(patch_diff(&p, str_of(cases[i][1]), &err), -EINVAL);
        assert_contains(err.text, cases[i][2]);
        assert_str(p.document, cases[i][0]);
        is_written(&p, "[]");
    }
}

/* 33 objects in each other, and one member more in the innermost. */
static void differences_have_a_limit_of_depth(void **state) {
    (void)state;
    for (int depth = 31; depth <= 32; depth++) {
        struct strbuf before = {0}, after = {0};
        struct patch p;
        for (int i = 0; i < depth; i++) {
            strbuf_appendf(&before, "{\"a\":");
            strbuf_appendf(&after, "{\"a\":");
        }
        strbuf_appendf(&before, "{}");
        strbuf_appendf(&after, "{\"b\":1}");
        for (int i = 0; i < depth; i++) {
            strbuf_append_char(&before, '}');
            strbuf_append_char(&after, '}');
        }
        patch_init(&p, strbuf_str(&before), &decoding_arena);
        assert_int_equal(patch_diff(&p, strbuf_str(&after), NULL), depth < 32 ? 0 : -E2BIG);
        assert_int_equal(p.count, depth < 32);
        assert_int_equal(patch_diff(&p, p.document, NULL), 0); /* no difference, no limit */
        strbuf_done(&before);
        strbuf_done(&after);
    }
}

static void memory_that_runs_out_is_an_error(void **state) {
    (void)state;
    struct arena small;
    struct patch p;
    arena_init(&small, 1);
    patch_init(&p, STR("{\"l\":[1]}"), &small);
    assert_int_equal(patch_diff(&p, STR("{\"l\":[1,2]}"), NULL), -ENOMEM);
    assert_int_equal(p.count, 0);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(differences_become_operations),
        DECODING_TEST(what_cannot_be_a_patch_is_refused),
        DECODING_TEST(differences_have_a_limit_of_depth),
        DECODING_TEST(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
