#include "base/json_reader.h"
#include "yaml/yaml.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

struct conversion {
    struct arena arena;
    struct yaml_json json;
    struct err err;
    int code;
};

static void convert_bytes(struct conversion *c, struct str yaml, bool with_marks, size_t max) {
    *c = (struct conversion){0};
    arena_init(&c->arena, max);
    c->code = yaml_to_json(yaml, with_marks, &c->arena, &c->json, &c->err);
    assert_int_equal(c->code, c->err.code);
}

/* All documents of a text, one per line. */
static void assert_json(const char *yaml, const char *want) {
    struct conversion c;
    convert_bytes(&c, str_of(yaml), false, 1 << 20);
    if (c.code != 0)
        fail_msg("%s: %s", yaml, c.err.text);
    struct strbuf got = {.max = 1 << 16};
    for (size_t i = 0; i < c.json.document_count; i++) {
        strbuf_append_str(&got, i > 0 ? STR("\n") : STR(""));
        strbuf_append_str(&got, c.json.documents[i]);
    }
    assert_str(strbuf_str(&got), want);
    strbuf_done(&got);
    arena_done(&c.arena);
}

static void assert_refused(const char *yaml, int code, const char *text) {
    struct conversion c;
    convert_bytes(&c, str_of(yaml), false, 1 << 20);
    assert_int_equal(c.code, code);
    assert_string_equal(c.err.text, text);
    assert_null(c.json.documents);
    arena_done(&c.arena);
}

static void test_structure(void **state) {
    (void)state;
    assert_json("a: 1\nb:\n- x\n- y: z\n  w: {}\nc: []\n",
                "{\"a\":1,\"b\":[\"x\",{\"y\":\"z\",\"w\":{}}],\"c\":[]}");
    assert_json("- - 1\n  - 2\n- [3, [4]]\n", "[[1,2],[3,[4]]]");
    assert_json("text: |\n  a\n  b\nfolded: >-\n  a\n  b\n",
                "{\"text\":\"a\\u000ab\\u000a\",\"folded\":\"a b\"}");
    assert_json("just a string", "\"just a string\"");
    assert_json("\xef\xbb\xbf"
                "a: b",
                "{\"a\":\"b\"}");
}

static void test_documents(void **state) {
    (void)state;
    assert_json("a: 1\n---\nb: 2\n...\n---\n- c\n", "{\"a\":1}\n{\"b\":2}\n[\"c\"]");
    assert_json("---\n---\na: 1\n---\n# only a comment\n---\n---\nb: 2\n---\n",
                "{\"a\":1}\n{\"b\":2}");
    assert_json("", "");
    assert_json("# nothing\n", "");
    assert_json("null", "null");
    assert_json("--- ''\n", "\"\"");
}

/* One row per rule of resolution; the JSON is what sigs.k8s.io/yaml makes of it. */
/* As a buffer that nothing was added to is. */
static void test_no_text(void **state) {
    (void)state;
    struct conversion c;
    convert_bytes(&c, (struct str){NULL, 0}, false, 1 << 20);
    assert_int_equal(c.code, 0);
    assert_int_equal(c.json.document_count, 0);
    arena_done(&c.arena);
}

static void test_plain_words(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"~", "null"},
        {"null", "null"},
        {"Null", "null"},
        {"NULL", "null"},
        {"", "null"},
        {"nULL", "\"nULL\""},
        {"true", "true"},
        {"True", "true"},
        {"TRUE", "true"},
        {"yes", "true"},
        {"Yes", "true"},
        {"YES", "true"},
        {"on", "true"},
        {"On", "true"},
        {"ON", "true"},
        {"y", "true"},
        {"Y", "true"},
        {"false", "false"},
        {"False", "false"},
        {"FALSE", "false"},
        {"no", "false"},
        {"No", "false"},
        {"NO", "false"},
        {"off", "false"},
        {"Off", "false"},
        {"OFF", "false"},
        {"n", "false"},
        {"N", "false"},
        {"tRUE", "\"tRUE\""},
        {"yEs", "\"yEs\""},
        {"0", "0"},
        {"-0", "0"},
        {"+12", "12"},
        {"-12", "-12"},
        {"1_000_", "1000"},
        {"_1", "\"_1\""},
        {"0x1F", "31"},
        {"-0X1f", "-31"},
        {"0x", "\"0x\""},
        {"0o17", "15"},
        {"017", "15"},
        {"-017", "-15"},
        {"018", "18"},
        {"0o18", "\"0o18\""},
        {"0b101", "5"},
        {"0b102", "\"0b102\""},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "18446744073709551616"},
        {"+18446744073709551615", "18446744073709551615"},
        {"-9223372036854775809", "-9223372036854775809"},
        {"0xffffffffffffffff", "18446744073709551615"},
        {"0x10000000000000000", "\"0x10000000000000000\""},
        {"1.5", "1.5"},
        {"-1.50", "-1.50"},
        {"+.5", "0.5"},
        {".5", "0.5"},
        {"5.", "5"},
        {"007.25", "7.25"},
        {"1.0", "1"},
        {"1e3", "1000"},
        {"1.5E+2", "150"},
        {"1E-7", "1E-7"},
        {"1.e-3", "1e-3"},
        {"123456789012345678901.5", "123456789012345678901.5"},
        {"1e400", "\"1e400\""},
        {"1e", "\"1e\""},
        {"1e+", "\"1e+\""},
        {"1.2.3", "\"1.2.3\""},
        {"10.0.0.1", "\"10.0.0.1\""},
        {"-", "[null]"},
        {"+", "\"+\""},
        {".", "\".\""},
        {"12h", "\"12h\""},
        {"1:30", "\"1:30\""},
        {"500m", "\"500m\""},
        {"2001-12-14", "\"2001-12-14\""},
        {"2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\""},
        {"=", "\"=\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf yaml = {.max = 1000}, want = {.max = 1000};
        strbuf_appendf(&yaml, "- %s\n- x\n", rows[i][0]);
        strbuf_appendf(&want, "[%s,\"x\"]", rows[i][1]);
        strbuf_append_char(&yaml, '\0');
        strbuf_append_char(&want, '\0');
        assert_json(yaml.p, want.p);
        strbuf_done(&yaml);
        strbuf_done(&want);
    }
}

static void test_not_finite_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {".inf", "+.Inf", "-.INF", ".nan", ".NaN", ".NAN"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char want[100];
        (void)snprintf(want, sizeof want, "line 1, column 1: '%s' cannot be written in JSON",
                       words[i]); /* fits */
        assert_refused(words[i], -EINVAL, want);
    }
}

static void test_quoted_stays_text(void **state) {
    (void)state;
    assert_json("['true', \"1\", 'null', \"~\", 'it''s', \"\\u00e9\\x41\\n\", \"a\\/b\"]",
                "[\"true\",\"1\",\"null\",\"~\",\"it's\",\"\xc3\xa9"
                "A\\u000a\",\"a/b\"]");
    assert_json("[\"\\U0001F600\", \"\\0\"]", "[\"\xf0\x9f\x98\x80\",\"\\u0000\"]");
}

/* A tab in a flow collection is a blank, and no mistake. */
static void test_a_tab_in_an_indent_is_named(void **state) {
    (void)state;
    assert_refused("a:\n  b: 1\n  \tc: 2", -EINVAL,
                   "line 3, column 3: a tab indents the line: write spaces");
    assert_refused("a:\n\tb: 1", -EINVAL, "line 2, column 1: a tab indents the line: write spaces");
    assert_refused("{\n\ta: 1,\n\tb: }}", -EINVAL,
                   "line 3, column 6: "
                   "did not find expected <document start>");
}

static void test_keys_are_strings_as_written(void **state) {
    (void)state;
    assert_json("1: a\ntrue: b\n~: c\n0x10: d\n'on': e\n2001-01-01: f\n1.50: g\n? h\n: i\n",
                "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"0x10\":\"d\",\"on\":\"e\","
                "\"2001-01-01\":\"f\",\"1.50\":\"g\",\"h\":\"i\"}");
    assert_refused("[a]: b", -EINVAL, "line 1, column 1: a key must be a scalar");
    assert_refused("? {a: b}\n: c", -EINVAL, "line 1, column 3: a key must be a scalar");
    assert_refused("\"a\\0\": b", -EINVAL, "line 1, column 1: NUL in a key");
}

static void test_the_line_of_an_error(void **state) {
    (void)state;
    assert_int_equal(yaml_line_named("line 4, column 1: duplicate key 'kind'"), 4);
    assert_int_equal(yaml_line_named("a line 9.yaml: line 12, column 3: no"), 12);
    assert_int_equal(yaml_line_named("no memory, line 4"), 0);
    assert_int_equal(yaml_line_named(""), 0);
}

static void test_duplicate_keys(void **state) {
    (void)state;
    assert_refused("kind: Pod\nmetadata: {}\n      \nkind: x", -EINVAL,
                   "line 4, column 1: duplicate key 'kind'");
    assert_refused("a:\n  - spec: 1\n    b: 2\n    spec: 3", -EINVAL,
                   "line 4, column 5: duplicate key 'spec'");
    assert_refused("{1: a, '1': b}", -EINVAL, "line 1, column 8: duplicate key '1'");
    /* the same name in another object, also in one closed before, inside and around */
    assert_json("{a: {a: {a: 1}, b: 2}, b: [{a: 1}, {a: 2}]}",
                "{\"a\":{\"a\":{\"a\":1},\"b\":2},\"b\":[{\"a\":1},{\"a\":2}]}");
    assert_json("a: 1\n---\na: 2", "{\"a\":1}\n{\"a\":2}");
}

static void test_aliases(void **state) {
    (void)state;
    assert_json("a: &x {p: [1, two]}\nb: *x\nc: [*x, &y 5, *y, *y]",
                "{\"a\":{\"p\":[1,\"two\"]},\"b\":{\"p\":[1,\"two\"]},"
                "\"c\":[{\"p\":[1,\"two\"]},5,5,5]}");
    assert_json("- &k name\n- *k : *k\n", "[\"name\",{\"name\":\"name\"}]");
    assert_json("&k name: 1\nother: *k", "{\"name\":1,\"other\":\"name\"}");
    assert_json("- &x 1\n- &x 2\n- *x", "[1,2,2]");
    assert_json("- &x [&x 1, *x]\n- *x", "[[1,1],1]");
    assert_json("- &x\n- *x", "[null,null]");
    assert_refused("- *x", -EINVAL, "line 1, column 3: no value has the anchor '&x'");
    assert_refused("&x 1\n---\n*x", -EINVAL, "line 3, column 1: no value has the anchor '&x'");
    assert_refused("a: &x\n  b: *x", -EINVAL,
                   "line 2, column 6: alias '*x' stands inside the value it names");
    assert_refused("- &x [a]\n- *x : 1", -EINVAL,
                   "line 2, column 3: alias '*x' is a key, but does not name a string");
    assert_refused("- &x a\n- {a: 1, *x : 2}", -EINVAL, "line 2, column 10: duplicate key 'a'");
}

/* Copying must survive that the buffer moves while it grows. */
static void test_aliases_of_growing_text(void **state) {
    (void)state;
    struct strbuf yaml = {.max = 1 << 20};
    strbuf_append_str(&yaml, STR("- &a0 \"0123456789abcdef\"\n"));
    for (int i = 1; i <= 12; i++)
        strbuf_appendf(&yaml, "- &a%d [*a%d, *a%d]\n", i, i - 1, i - 1);
    struct conversion c;
    convert_bytes(&c, strbuf_str(&yaml), false, 1 << 22);
    assert_int_equal(c.code, 0);
    struct json_reader r;
    json_reader_init(&r, c.json.documents[0], &c.arena, "list");
    size_t strings = 0;
    for (size_t i = 0; i + 18 <= c.json.text.n; i++)
        strings += memcmp(c.json.text.p + i, "\"0123456789abcdef\"", 18) == 0;
    (void)json_skip(&r); /* only whether it is JSON matters */
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(strings, (1 << 13) - 1);
    arena_done(&c.arena);
    strbuf_done(&yaml);
}

static void test_billion_laughs(void **state) {
    (void)state;
    struct strbuf yaml = {.max = 1 << 16};
    strbuf_append_str(&yaml, STR("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"));
    for (int i = 1; i < 30; i++) {
        strbuf_appendf(&yaml, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            strbuf_appendf(&yaml, "%s*a%d", j > 0 ? "," : "", i - 1);
        strbuf_append_str(&yaml, STR("]\n"));
    }
    struct conversion c;
    convert_bytes(&c, strbuf_str(&yaml), false, 1 << 20);
    assert_int_equal(c.code, -ENOMEM);
    assert_contains(c.err.text, "too large to convert within 1048576 bytes of memory");
    arena_done(&c.arena);
    convert_bytes(&c, strbuf_str(&yaml), false, (size_t)1 << 30);
    assert_int_equal(c.code, -E2BIG);
    assert_contains(c.err.text, "longer than 268435456 bytes as JSON, aliases written out");
    arena_done(&c.arena);
    strbuf_done(&yaml);
}

static void test_depth(void **state) {
    (void)state;
    char text[2 * 1001 + 1];
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = '\0';
    struct conversion c;
    convert_bytes(&c, str_of(text), false, 1 << 20);
    assert_int_equal(c.code, 0);
    arena_done(&c.arena);
    memset(text, '[', 1001);
    text[1001] = '\0';
    assert_refused(text, -E2BIG, "line 1, column 1001: nested deeper than 1000 levels");
    /* through aliases: each is one deeper than the one before */
    struct strbuf yaml = {.max = 1 << 16};
    strbuf_append_str(&yaml, STR("- &a0 []\n"));
    for (int i = 1; i <= 999; i++)
        strbuf_appendf(&yaml, "- &a%d [*a%d]\n", i, i - 1);
    convert_bytes(&c, strbuf_str(&yaml), false, 1 << 24);
    assert_int_equal(c.code, -E2BIG);
    assert_string_equal(c.err.text, "line 1000, column 10: nested deeper than 1000 levels");
    arena_done(&c.arena);
    strbuf_done(&yaml);
}

static void test_tags(void **state) {
    (void)state;
    assert_json("[!!str 12, !!int \"12\", !!float 5, !!null '', !!bool yes, ! 7]",
                "[\"12\",12,5,null,true,\"7\"]");
    assert_json("!!map {a: !!seq [1]}", "{\"a\":[1]}");
    assert_json("%TAG !y! tag:yaml.org,2002:\n---\n!y!str 1", "\"1\"");
    assert_json("[!secret x, !Int 12, !x null, !x '', !x ]", "[\"x\",\"12\",\"null\",\"\",\"\"]");
    assert_json("{!k a: !x {b: 1}, c: !y [2], !!foo d: !!foo 3}",
                "{\"a\":{\"b\":1},\"c\":[2],\"d\":\"3\"}");
    assert_json("!!set {a, b}", "{\"a\":null,\"b\":null}");
    assert_refused("!!binary aGk=", -EINVAL,
                   "line 1, column 1: tag '!!binary' is not supported: write the decoded text");
    assert_refused("!!int x", -EINVAL,
                   "line 1, column 1: 'x' is not of the type that its tag '!!int' names");
    struct strbuf yaml = {.max = 1 << 16};
    for (int i = 0; i < 20; i++)
        strbuf_appendf(&yaml, "%%TAG !t%d! x\n", i);
    strbuf_append(&yaml, "--- a", 6);
    assert_refused(yaml.p, -E2BIG, "line 17, column 1: too many %TAG directives");
    strbuf_done(&yaml);
}

/* The expectations are what sigs.k8s.io/yaml v1.6.0 makes of the texts, but for the order of
 * members. */
static void test_merge_keys(void **state) {
    (void)state;
    assert_json("a: &a {x: 1, z: 2}\nb:\n  x: 9\n  <<: *a\n",
                "{\"a\":{\"x\":1,\"z\":2},\"b\":{\"x\":1,\"z\":2}}");
    assert_json("a: &a {x: 1, z: 2}\nb:\n  <<: *a\n  x: 9\n",
                "{\"a\":{\"x\":1,\"z\":2},\"b\":{\"x\":9,\"z\":2}}");
    assert_json("{a: &a {x: 1}, c: &c {x: 3, z: 4}, b: {<<: [*a, *c]}}",
                "{\"a\":{\"x\":1},\"c\":{\"x\":3,\"z\":4},\"b\":{\"x\":1,\"z\":4}}");
    assert_json("{a: &a {x: 1}, c: &c {x: 3, z: 4}, b: {<<: *a, <<: *c}}",
                "{\"a\":{\"x\":1},\"c\":{\"x\":3,\"z\":4},\"b\":{\"x\":3,\"z\":4}}");
    assert_json("b: {<<: {x: 7}, q: 1}", "{\"b\":{\"x\":7,\"q\":1}}");
    assert_json("b: {<<: [{x: 1}, {x: 2, w: 3}], z: 1}", "{\"b\":{\"x\":1,\"w\":3,\"z\":1}}");
    assert_json("b: {<<: [], z: 1}", "{\"b\":{\"z\":1}}");
    assert_json("b: {!!merge <<: {x: 1}}", "{\"b\":{\"x\":1}}");
    assert_json("<<: {x: 1}", "{\"x\":1}");
    assert_json("<<: {}", "{}");
    assert_json("b: {x: 1, <<: [{x: 2}, {x: 3}]}", "{\"b\":{\"x\":2}}");
    assert_json("a: &a {x: {p: 1}}\nb: {<<: *a, x: {q: 1}}", "{\"a\":{\"x\":{\"p\":1}},"
                                                             "\"b\":{\"x\":{\"q\":1}}}");
    assert_json("a: &a {x: 1}\nc: &c {<<: *a, w: 2}\nb: {<<: *c}\nd: *c",
                "{\"a\":{\"x\":1},\"c\":{\"x\":1,\"w\":2},\"b\":{\"x\":1,\"w\":2},"
                "\"d\":{\"x\":1,\"w\":2}}");
    assert_json("{'<<': {x: 1}}", "{\"<<\":{\"x\":1}}");
    assert_json("b: {<<: {'a\"b,}': ['\\', '}', {}], c: -1500}, d: null}",
                "{\"b\":{\"a\\\"b,}\":[\"\\\\\",\"}\",{}],\"c\":-1500,\"d\":null}}");
}

/* Values within an object that is rewritten, and within what it merges, keep their anchors. */
static void test_anchors_beside_merge_keys(void **state) {
    (void)state;
    assert_json("b: {k: &k [1], <<: &m {x: &x 2}, l: &k 3, n: &n {<<: *m}}\nc: [*k, *x, *m, *n]",
                "{\"b\":{\"k\":[1],\"x\":2,\"l\":3,\"n\":{\"x\":2}},"
                "\"c\":[3,2,{\"x\":2},{\"x\":2}]}");
    assert_json("- &o {<<: {x: &x {y: 1}}, x: 5}\n- *o\n- *x\n", "[{\"x\":5},{\"x\":5},{\"y\":1}]");
}

static void test_merge_keys_that_cannot_be(void **state) {
    (void)state;
    static const char want[] = "a merge key '<<' needs a map, or a list of maps";
    static const char *const values[] = {"null", "1", "[[{x: 1}]]", "[1]", "[{x: 1}, y]", "abc"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[64];
        struct conversion c;
        (void)snprintf(text, sizeof text, "b: {<<: %s}", values[i]); /* fits */
        convert_bytes(&c, str_of(text), false, 1 << 20);
        assert_int_equal(c.code, -EINVAL);
        assert_contains(c.err.text, want);
        arena_done(&c.arena);
    }
    assert_refused("a: &a [{x: 1}]\nb:\n  <<: *a", -EINVAL,
                   "line 3, column 7: a merge key '<<' needs a map, which '*a' does not name");
    assert_refused("b: {x: 1, <<: {x: 2}, x: 3}", -EINVAL, "line 1, column 23: duplicate key 'x'");
}

static void test_merged_members_have_lines(void **state) {
    (void)state;
    struct conversion c;
    convert_bytes(&c, STR("a: &a\n  x: 1\n  z:\n  - 2\nb:\n  q: 3\n  <<: *a\n  w:\n  - 4\nc: 5\n"),
                  true, 1 << 20);
    static const struct {
        const char *text;
        uint32_t line;
    } rows[] = {{"\"a\"", 1}, {"2", 4}, {"\"q\"", 6}, {"\"w\"", 8}, {"4", 9}, {"\"c\"", 10}};
    assert_str(c.json.text, "{\"a\":{\"x\":1,\"z\":[2]},\"b\":{\"q\":3,\"x\":1,\"z\":[2],"
                            "\"w\":[4]},\"c\":5}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at = memmem(c.json.text.p, c.json.text.n, rows[i].text, strlen(rows[i].text));
        assert_int_equal(yaml_line_of(&c.json, (size_t)(at - c.json.text.p)), rows[i].line);
    }
    const char *merged = memmem(c.json.text.p, c.json.text.n, "3,\"x\"", 5);
    assert_int_equal(yaml_line_of(&c.json, (size_t)(merged + 2 - c.json.text.p)), 7);
    for (size_t i = 1; i < c.json.mark_count; i++)
        assert_true(c.json.marks[i - 1].json_offset <= c.json.marks[i].json_offset);
    arena_done(&c.arena);
}

/* Bombs: each object merges the one before twice; and a list names one object very often. */
static void test_merge_bombs(void **state) {
    (void)state;
    struct strbuf yaml = {.max = 1 << 22};
    struct conversion c;
    strbuf_append_str(&yaml, STR("a0: &a0 {x: {y: 1}}\n"));
    for (int i = 1; i < 40; i++)
        strbuf_appendf(&yaml, "a%d: &a%d {<<: *a%d, k%d: *a%d}\n", i, i, i - 1, i, i - 1);
    convert_bytes(&c, strbuf_str(&yaml), false, (size_t)1 << 30);
    assert_int_equal(c.code, -E2BIG);
    arena_done(&c.arena);
    strbuf_clear(&yaml);
    strbuf_append_str(&yaml, STR("a: &a {"));
    for (int i = 0; i < 10000; i++)
        strbuf_appendf(&yaml, "k%d: 1,", i);
    strbuf_append_str(&yaml, STR("}\nb: {<<: ["));
    for (int i = 0; i < 100000; i++)
        strbuf_append_str(&yaml, STR("*a,"));
    strbuf_append_str(&yaml, STR("]}\n"));
    convert_bytes(&c, strbuf_str(&yaml), false, (size_t)1 << 30);
    assert_int_equal(c.code, -E2BIG);
    arena_done(&c.arena);
    strbuf_done(&yaml);
}

static void test_merge_keys_as_text(void **state) {
    (void)state;
    assert_json("'<<': 1", "{\"<<\":1}");
    assert_json("a: <<", "{\"a\":\"<<\"}");
}

static void test_syntax_errors_name_the_place(void **state) {
    (void)state;
    assert_refused("a: b: c", -EINVAL,
                   "line 1, column 5: mapping values are not allowed in this context");
    assert_refused("a:\n  - b\n c: d", -EINVAL,
                   "line 3, column 2: did not find expected key, while parsing a block mapping");
    assert_refused("{\"a\": 1,\n \"b\" 2}", -EINVAL,
                   "line 2, column 6: did not find expected ',' or '}', while parsing a flow "
                   "mapping");
    assert_refused("a: b\nc: \"x", -EINVAL,
                   "line 2, column 6: found unexpected end of stream, while scanning a quoted "
                   "scalar");
    assert_refused("a: b\nc: \xff", -EINVAL, "line 2, column 4: invalid leading UTF-8 octet");
    assert_refused("a: \x01", -EINVAL, "line 1, column 4: control characters are not allowed");
    struct conversion c;
    convert_bytes(&c, STR("a: b\0c"), false, 1 << 20);
    assert_int_equal(c.code, -EINVAL);
    assert_contains(c.err.text, "line 1, column 5: control characters are not allowed");
    arena_done(&c.arena);
    convert_bytes(&c,
                  STR("\xff\xfe"
                      "a\0:\0 \0b\0"),
                  false, 1 << 20);
    assert_int_equal(c.code, -EINVAL); /* UTF-16 */
    arena_done(&c.arena);
}

static void test_json_passes_through(void **state) {
    (void)state;
    const char *json = " {\"a\" : [1.0, 1e3, \"\\ud83d\\ude00\\/\", 18446744073709551616],\n"
                       "  \"yes\": \"no\", \"a\": null}\n";
    struct conversion c;
    convert_bytes(&c, str_of(json), false, 1 << 20);
    assert_int_equal(c.code, 0);
    assert_int_equal(c.json.document_count, 1);
    assert_str(c.json.text, json);
    struct str trimmed = str_trim(str_of(json));
    assert_int_equal(c.json.documents[0].n, trimmed.n);
    assert_memory_equal(c.json.documents[0].p, trimmed.p, trimmed.n);
    arena_done(&c.arena);
    assert_json("{\"a\":1}\n[2]{}", "{\"a\":1}\n[2]\n{}");
    /* starts like JSON, and is YAML */
    assert_json("{a: b, c: [yes]}", "{\"a\":\"b\",\"c\":[true]}");
    assert_json("{\"a\":1}\n---\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}");
}

static void assert_line(const struct yaml_json *json, const char *part, uint32_t line) {
    const char *at = strstr(json->text.p, part);
    assert_non_null(at);
    assert_int_equal(yaml_line_of(json, (size_t)(at - json->text.p)), line);
}

static void test_marks(void **state) {
    (void)state;
    struct conversion c;
    convert_bytes(
        &c,
        STR("# a comment\na: 1\nb:\n  - x: &s 5\n\n  - w\n---\nc: |\n  text\nd: [7,\n {e: "
            "f}]\n"),
        true, 1 << 20);
    assert_int_equal(c.code, 0);
    assert_line(&c.json, "{\"a\"", 2);
    assert_line(&c.json, "\"a\"", 2);
    assert_line(&c.json, "1", 2);
    assert_line(&c.json, "\"b\"", 3);
    assert_line(&c.json, "[{\"x\"", 4);
    assert_line(&c.json, "5}", 4);
    assert_line(&c.json, "\"w\"", 6);
    assert_line(&c.json, "{\"c\"", 8);
    assert_line(&c.json, "\"text", 8);
    assert_line(&c.json, "text", 8);
    assert_line(&c.json, "7", 10);
    assert_line(&c.json, "{\"e\"", 11);
    assert_line(&c.json, "\"f\"", 11);
    for (size_t i = 1; i < c.json.mark_count; i++)
        assert_true(c.json.marks[i - 1].json_offset <= c.json.marks[i].json_offset);
    arena_done(&c.arena);
    convert_bytes(&c, STR("a: 1"), false, 1 << 20);
    assert_int_equal(yaml_line_of(&c.json, 0), 0);
    arena_done(&c.arena);
}

static void test_marks_of_json(void **state) {
    (void)state;
    struct conversion c;
    convert_bytes(&c, STR("{\n\"a\":\n 1,\n\"b\": 2}"), true, 1 << 20);
    assert_int_equal(c.code, 0);
    assert_line(&c.json, "{", 1);
    assert_line(&c.json, "\"a\"", 2);
    assert_line(&c.json, "1", 3);
    assert_line(&c.json, "\"b\"", 4);
    assert_line(&c.json, "2", 4);
    arena_done(&c.arena);
}

static void test_many_keys(void **state) {
    (void)state;
    struct strbuf yaml = {.max = 1 << 22};
    for (int i = 0; i < 50000; i++)
        strbuf_appendf(&yaml, "key-%d: %d\n", i, i);
    struct conversion c;
    convert_bytes(&c, strbuf_str(&yaml), true, 1 << 24);
    assert_int_equal(c.code, 0);
    assert_int_equal(c.json.mark_count, 100001);
    arena_done(&c.arena);
    strbuf_append_str(&yaml, STR("key-77: 1\n"));
    convert_bytes(&c, strbuf_str(&yaml), true, 1 << 24);
    assert_string_equal(c.err.text, "line 50001, column 1: duplicate key 'key-77'");
    arena_done(&c.arena);
    strbuf_done(&yaml);
}

/* Whatever the arena has left, it either works or says that memory is missing. */
static void test_every_arena_size(void **state) {
    (void)state;
    struct str yaml = STR("a: &x [1, {b: two, c: [three, 4.5]}]\nd: *x\n---\n- &y k\n- *y : 1\n");
    bool worked = false;
    for (size_t max = 0; max < 12000; max += 8) {
        struct conversion c;
        convert_bytes(&c, yaml, true, max);
        assert_true(c.code == 0 || c.code == -ENOMEM);
        assert_true(!worked || c.code == 0);
        worked = c.code == 0;
        arena_done(&c.arena);
    }
    assert_true(worked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_plain_words),
        cmocka_unit_test(test_not_finite_is_refused),
        cmocka_unit_test(test_quoted_stays_text),
        cmocka_unit_test(test_a_tab_in_an_indent_is_named),
        cmocka_unit_test(test_keys_are_strings_as_written),
        cmocka_unit_test(test_duplicate_keys),
        cmocka_unit_test(test_the_line_of_an_error),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_aliases_of_growing_text),
        cmocka_unit_test(test_billion_laughs),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_merge_keys),
        cmocka_unit_test(test_anchors_beside_merge_keys),
        cmocka_unit_test(test_merge_keys_that_cannot_be),
        cmocka_unit_test(test_merged_members_have_lines),
        cmocka_unit_test(test_merge_bombs),
        cmocka_unit_test(test_merge_keys_as_text),
        cmocka_unit_test(test_syntax_errors_name_the_place),
        cmocka_unit_test(test_json_passes_through),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_marks_of_json),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_every_arena_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
