/* Patches: what an operation says, and what it makes of the document's text. */
#include "admission/patch.h"

#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

enum { PARTS = 6, CHANGES = 6 };

/* "a b c" is the path of three names. */
static uint32_t split(const char *path, struct str parts[static PARTS]) {
    uint32_t depth = 0;
    struct str rest = str_of(path);
    while (rest.n > 0) {
        size_t blank = str_find(rest, ' ');
        size_t n = blank == SIZE_MAX ? rest.n : blank;
        assert_in_range(depth, 0, PARTS - 1);
        parts[depth++] = (struct str){rest.p, n};
        rest = blank == SIZE_MAX ? (struct str){0} : (struct str){rest.p + n + 1, rest.n - n - 1};
    }
    return depth;
}

static int add(struct patch *p, const char *path, const char *value, struct err *err) {
    struct str parts[PARTS];
    return patch_add(p, parts, split(path, parts), str_of(value), err);
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
        {"{\"a\":{\"b\":1,\"x\":2,\"b\":3}}", "a b", "cannot add '/a/b': it is there twice"},
        {"{\"a\":{},\"a\":{}}", "a b", "cannot add '/a': it is there twice"},
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

/* "+a b=1" adds, "!a=1" replaces, "-a" removes; several are made together. */
static int apply(struct patch *p, const char *const *texts, struct err *err) {
    static struct str parts[CHANGES][PARTS];
    static char paths[CHANGES][64];
    struct patch_change changes[CHANGES];
    uint32_t count = 0;
    for (; count < CHANGES && texts[count] != NULL; count++) {
        const char *value = strchr(texts[count], '=');
        size_t n = value != NULL ? (size_t)(value - texts[count]) : strlen(texts[count]);
        (void)snprintf(paths[count], sizeof paths[count], "%.*s", (int)n - 1, texts[count] + 1);
        changes[count] = (struct patch_change){.op = texts[count][0] == '+'   ? PATCH_ADD
                                                     : texts[count][0] == '!' ? PATCH_REPLACE
                                                                              : PATCH_REMOVE,
                                               .path = parts[count],
                                               .depth = split(paths[count], parts[count]),
                                               .value = str_of(value != NULL ? value + 1 : "")};
    }
    return patch_apply(p, changes, count, err);
}

static void changes_are_made_together(void **state) {
    (void)state;
    static const struct {
        const char *document, *changes[CHANGES], *operations, *result;
    } cases[] = {
        {"{\"a\":1}", {NULL}, "", "{\"a\":1}"},
        {"{\"a\":1,\"b\":2}", {"!b=3"}, "replace /b 3;", "{\"a\":1,\"b\":3}"},
        {"{\"a\":null}", {"!a=3"}, "replace /a 3;", "{\"a\":3}"},
        {"{\"a\":[1,2,3]}", {"!a 1={}"}, "replace /a/1 {};", "{\"a\":[1,{},3]}"},
        {"{\"a\":1,\"b\":2,\"c\":3}", {"-a"}, "remove /a ;", "{\"b\":2,\"c\":3}"},
        {"{\"a\":1, \"b\":2 ,\"c\":3}", {"-b"}, "remove /b ;", "{\"a\":1 ,\"c\":3}"},
        {"{\"a\":1,\"b\":2,\"c\":3}", {"-c"}, "remove /c ;", "{\"a\":1,\"b\":2}"},
        {"{ \"a\" : 1 }", {"-a"}, "remove /a ;", "{ }"},
        {"{\"a\":[1]}", {"-a 0"}, "remove /a/0 ;", "{\"a\":[]}"},
        {"{\"a\":[ 1 , 2 , 3 ]}", {"-a 0"}, "remove /a/0 ;", "{\"a\":[ 2 , 3 ]}"},
        {"{\"a\":[1,2,3]}", {"-a 2"}, "remove /a/2 ;", "{\"a\":[1,2]}"},
        {"{\"a\":[1,2,3]}", {"-a 1"}, "remove /a/1 ;", "{\"a\":[1,3]}"},
        /* several */
        {"{\"a\":{},\"l\":[1]}",
         {"+a x=1", "+l -=2", "+l -=3"},
         "add /a/x 1;add /l/- 2;add /l/- 3;",
         "{\"a\":{\"x\":1},\"l\":[1,2,3]}"},
        {"{\"l\":[],\"o\":{}}",
         {"+l -=2", "+l -=3", "+o a=1", "+o b=2"},
         "add /l/- 2;add /l/- 3;add /o/a 1;add /o/b 2;",
         "{\"l\":[2,3],\"o\":{\"a\":1,\"b\":2}}"},
        {"{\"l\":[{\"a\":1},{},{\"a\":3}]}",
         {"+l 0 b=1", "+l 1 b=2", "!l 2 a=4"},
         "add /l/0/b 1;add /l/1/b 2;replace /l/2/a 4;",
         "{\"l\":[{\"a\":1,\"b\":1},{\"b\":2},{\"a\":4}]}"},
        {"{\"l\":[[1],[2],[3]]}",
         {"+l 2 -=9", "+l 0 -=7", "+l 1 -=8"},
         "add /l/2/- 9;add /l/0/- 7;add /l/1/- 8;",
         "{\"l\":[[1,7],[2,8],[3,9]]}"},
        {"{\"s\":{\"c\":[{\"m\":[{},{}]},{\"m\":[{}]}],\"d\":{}},\"t\":{}}",
         {"+t x=0", "+s c 0 m 1 p=1", "+s c 1 m 0 p=2", "+s d q=3"},
         "add /t/x 0;add /s/c/0/m/1/p 1;add /s/c/1/m/0/p 2;add /s/d/q 3;",
         "{\"s\":{\"c\":[{\"m\":[{},{\"p\":1}]},{\"m\":[{\"p\":2}]}],\"d\":{\"q\":3}},"
         "\"t\":{\"x\":0}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err;
        struct strbuf made = {0};
        patch_init(&p, str_of(cases[i].document), &decoding_arena);
        if (apply(&p, cases[i].changes, &err) != 0)
            fail_msg("%s: %s", cases[i].document, err.text);
        for (uint32_t k = 0; k < p.count; k++)
            strbuf_appendf(&made, "%s %.*s %.*s;",
                           p.operations[k].op == PATCH_ADD       ? "add"
                           : p.operations[k].op == PATCH_REPLACE ? "replace"
                                                                 : "remove",
                           STR_ARG(p.operations[k].path), STR_ARG(p.operations[k].value));
        assert_str(strbuf_str(&made), cases[i].operations);
        assert_str(p.document, cases[i].result);
        strbuf_done(&made);
    }
}

static void operations_are_written_by_name(void **state) {
    (void)state;
    struct patch p;
    patch_init(&p, STR("{\"c\":{\"x\":1},\"b\":[2]}"), &decoding_arena);
    assert_int_equal(apply(&p, (const char *const[CHANGES]){"!b 0=3", "-c x"}, NULL), 0);
    is_written(&p, "[{\"op\":\"replace\",\"path\":\"/b/0\",\"value\":3},"
                   "{\"op\":\"remove\",\"path\":\"/c/x\"}]");
}

static void all_changes_are_made_or_none(void **state) {
    (void)state;
    static const struct {
        const char *changes[CHANGES], *why;
    } cases[] = {
        {{"+n=1", "!x=2"}, "cannot replace '/x': it is not there"},
        {{"-x"}, "cannot remove '/x': it is not there"},
        {{"-a x"}, "cannot remove '/a/x': something without members is in the way"},
        {{"!null x=1"}, "cannot replace '/null/x': something without members"},
        {{"!l 7=1"}, "cannot replace '/l/7': there is no such element"},
        {{"-l -"}, "cannot remove '/l/-': there is no such element"},
        {{"-"}, "only members are replaced"},
        {{"-l 0", "-l 1"}, "cannot remove '/l/0': another change is in the way"},
        {{"-l 0", "!l 1=3"}, "cannot remove '/l/0': another change is in the way"},
        {{"+l -=3", "-l 1"}, "cannot remove '/l/1': another change is in the way"},
        {{"+n=1", "+n=2"}, "cannot add '/n': another change is in the way"},
        {{"+n x=1", "+n y=2"}, "cannot add '/n/y': another change is in the way"},
        {{"+n=1", "-a"}, "cannot remove '/a': another change is in the way"},
        {{"!o={}", "+o x=1"}, "cannot add '/o/x': another change is in the way"},
        {{"+null -=1", "+null -=2"}, "cannot add '/null/-': another change is in the way"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct patch p;
        struct err err = {0};
        const char *document = "{\"a\":1,\"l\":[1,2],\"o\":{},\"null\":null}";
        patch_init(&p, str_of(document), &decoding_arena);
        assert_int_equal(apply(&p, cases[i].changes, &err), -EINVAL);
        assert_contains(err.text, cases[i].why);
        assert_str(p.document, document);
        assert_int_equal(p.count, 0);
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
        DECODING_TEST(changes_are_made_together),
        DECODING_TEST(operations_are_written_by_name),
        DECODING_TEST(all_changes_are_made_or_none),
        DECODING_TEST(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
