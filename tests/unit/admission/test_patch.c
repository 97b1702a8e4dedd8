/* Patches: what an operation says, and what it makes of the document's text. */
#include "admission/patch.h"

#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

enum { PARTS = 6 };

/* "a b c" is the path of three names; NULL value: must be refused. */
static int add(struct patch *p, const char *path, const char *value, struct err *err) {
    struct str parts[PARTS];
    uint32_t depth = 0;
    struct str rest = str_of(path);
    while (rest.n > 0) {
        size_t blank = str_find(rest, ' ');
        size_t n = blank == SIZE_MAX ? rest.n : blank;
        assert_in_range(depth, 0, PARTS - 1);
        parts[depth++] = (struct str){rest.p, n};
        rest = blank == SIZE_MAX ? (struct str){0} : (struct str){rest.p + n + 1, rest.n - n - 1};
    }
    return patch_add(p, parts, depth, str_of(value), err);
}

static void is_written(const struct patch *p, const char *wanted) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    patch_write(p, &w);
    assert_str(strbuf_str(&out), wanted);
    strbuf_done(&out);
}

static void one_operation(void **state) {
    (void)state;
    static const struct {
        const char *document, *path, *value, *operation, *result;
    } cases[] = {
        {"{\"a\":{}}", "a b", "1", "\"/a/b\",\"value\":1", "{\"a\":{\"b\":1}}"},
        {"{\"a\":{\"x\":2}}", "a b", "1", "\"/a/b\",\"value\":1", "{\"a\":{\"x\":2,\"b\":1}}"},
        {"{}", "a b c", "[]", "\"/a\",\"value\":{\"b\":{\"c\":[]}}", "{\"a\":{\"b\":{\"c\":[]}}}"},
        {"{\"a\":null}", "a b", "1", "\"/a\",\"value\":{\"b\":1}", "{\"a\":{\"b\":1}}"},
        {"{\"a\":null}", "a", "1", "\"/a\",\"value\":1", "{\"a\":1}"},
        {"{\"a\":5,\"z\":6}", "a", "{}", "\"/a\",\"value\":{}", "{\"a\":{},\"z\":6}"},
        {"{\"a\":[]}", "a -", "1", "\"/a/-\",\"value\":1", "{\"a\":[1]}"},
        {"{\"a\":[0]}", "a -", "1", "\"/a/-\",\"value\":1", "{\"a\":[0,1]}"},
        {"{\"a\":null}", "a -", "1", "\"/a\",\"value\":[1]", "{\"a\":[1]}"},
        {"{}", "a -", "1", "\"/a\",\"value\":[1]", "{\"a\":[1]}"},
        {"{}", "a b -", "1", "\"/a\",\"value\":{\"b\":[1]}", "{\"a\":{\"b\":[1]}}"},
        {"{\"a\":[{},{\"x\":1}]}", "a 1 b", "2", "\"/a/1/b\",\"value\":2",
         "{\"a\":[{},{\"x\":1,\"b\":2}]}"},
        /* a member may be called "-" */
        {"{\"a\":{}}", "a -", "1", "\"/a/-\",\"value\":1", "{\"a\":{\"-\":1}}"},
        /* pointers are escaped, member names are not */
        {"{}", "a~b/c~1", "1", "\"/a~0b~1c~01\",\"value\":1", "{\"a~b/c~1\":1}"},
        {"{\"a\":{}}", "a x.io/y\"", "1", "\"/a/x.io~1y\\\"\",\"value\":1",
         "{\"a\":{\"x.io/y\\\"\":1}}"},
        {"{\"a\\u002fb\":{\"c\":1}}", "a/b d", "1", "\"/a~1b/d\",\"value\":1",
         "{\"a\\u002fb\":{\"c\":1,\"d\":1}}"},
        /* what is not patched keeps its bytes */
        {" { \"n\" : 12345678901234567890.10 , \"a\" : [ 1e400 ] } ", "a -", "2",
         "\"/a/-\",\"value\":2", " { \"n\" : 12345678901234567890.10 , \"a\" : [ 1e400,2 ] } "},
        {"{ }", "a", "2", "\"/a\",\"value\":2", "{\"a\":2 }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err;
        char wanted[200];
        patch_init(&p, str_of(cases[i].document), &decoding_arena);
        if (add(&p, cases[i].path, cases[i].value, &err) != 0)
            fail_msg("%s: %s", cases[i].document, err.text);
        (void)snprintf(wanted, sizeof wanted, "[{\"op\":\"add\",\"path\":%s}]", cases[i].operation);
        is_written(&p, wanted);
        assert_str(p.document, cases[i].result);
    }
}

static void operations_build_on_each_other(void **state) {
    (void)state;
    struct patch p;
    patch_init(&p, STR("{}"), &decoding_arena);
    is_written(&p, "[]");
    assert_int_equal(add(&p, "a -", "1", NULL), 0);
    struct patch_mark mark = patch_mark(&p);
    assert_int_equal(add(&p, "a -", "2", NULL), 0);
    assert_str(p.document, "{\"a\":[1,2]}");
    is_written(&p, "[{\"op\":\"add\",\"path\":\"/a\",\"value\":[1]},"
                   "{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]");
    patch_rewind(&p, mark);
    assert_str(p.document, "{\"a\":[1]}");
    assert_int_equal(add(&p, "b", "3", NULL), 0);
    assert_str(p.document, "{\"a\":[1],\"b\":3}");
    is_written(&p, "[{\"op\":\"add\",\"path\":\"/a\",\"value\":[1]},"
                   "{\"op\":\"add\",\"path\":\"/b\",\"value\":3}]");
}

static void what_is_in_the_way_is_said(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"{\"a\":1}", "a b", "cannot add '/a/b': something without members is in the way"},
        {"{\"a\":\"x\"}", "a -", "something without members"},
        {"null", "a", "something without members"},
        {"{\"a\":[null]}", "a 0 b", "something without members"},
        {"{\"a\":[1]}", "a 1", "cannot add '/a/1': there is no such element"},
        {"{\"a\":[1]}", "a 0", "only members are replaced"}, /* `add` would insert */
        {"{\"a\":[1]}", "a x", "there is no such element"},
        {"{\"a\":[1]}", "a - b", "there is no such element"},
        {"{}", "", "only members are replaced"},
        {"{\"a\":{\"b\":1,\"x\":2,\"b\":3}}", "a b", "document.a.b: it is there twice"},
        {"{\"a\":{},\"a\":{}}", "a b", "document.a: it is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err = {0};
        patch_init(&p, str_of(cases[i][0]), &decoding_arena);
        assert_int_equal(add(&p, cases[i][1], "1", &err), -EINVAL);
        assert_contains(err.text, cases[i][2]);
        assert_str(p.document, cases[i][0]);
        is_written(&p, "[]");
    }
}

static void memory_that_runs_out_is_an_error(void **state) {
    (void)state;
    struct arena small;
    struct patch p;
    arena_init(&small, 1);
    patch_init(&p, STR("{}"), &small);
    assert_int_equal(add(&p, "a", "1", NULL), -ENOMEM);
    assert_int_equal(p.count, 0);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(one_operation),
        DECODING_TEST(operations_build_on_each_other),
        DECODING_TEST(what_is_in_the_way_is_said),
        DECODING_TEST(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
