/*
 * What Kubernetes' LabelSelectorAsSelector() (apimachinery v0.34.3) says of selectors, recorded:
 * one JSON object a line, selector -> problem, "" if it compiles.
 */
#include "base/file.h"
#include "model/selector_problem.h"

#include "unit/unit.h"

#include <stdio.h>

static const char data_path[] = "tests/conformance/data/selector-problems.jsonl";

static void check_line(struct str line, struct arena *arena) {
    struct json_reader r;
    struct label_selector selector = {0};
    struct str key, want = {0};
    struct selector compiled;
    struct err err;
    json_reader_init(&r, line, arena, "line");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        if (str_eq(key, STR("selector")))
            selector = label_selector_decode(&r);
        else
            want = json_string(&r);
    }
    assert_int_equal(json_finish(&r, &err), 0);
    const struct str got = selector_problem(&selector, arena);
    if (!str_eq(got, want)) {
        print_error("%.*s\n got %.*s\nwant %.*s\n", (int)line.n, line.p, (int)got.n, got.p,
                    (int)want.n, want.p);
        fail();
    }
    /* ours says something of the same selectors */
    assert_int_equal(selector_compile(&selector, (struct labels){0}, arena, &compiled, &err) == 0,
                     want.n == 0);
}

static void texts_are_upstreams(void **state) {
    CLEANUP(strbuf_done) struct strbuf file = {0};
    struct err err;
    unsigned lines = 0;
    (void)state;
    if (file_read(data_path, 1 << 20, &file, &err) != 0)
        fail_msg("%s", err.text);
    for (struct str rest = strbuf_str(&file); rest.n > 0; lines++) {
        CLEANUP(arena_done) struct arena arena;
        const size_t end = str_find(rest, '\n');
        arena_init(&arena, 1 << 20);
        check_line((struct str){rest.p, end}, &arena);
        rest = (struct str){rest.p + end + 1, rest.n - end - 1};
    }
    assert_int_equal(lines, 28);
}

/* Cut, instead of growing without a limit. */
static void a_problem_has_a_length(void **state) {
    CLEANUP(arena_done) struct arena arena;
    (void)state;
    arena_init(&arena, 1 << 20);
    struct str values[300];
    for (uint32_t i = 0; i < 300; i++)
        values[i] = STR("not a value");
    const struct label_expression e = {STR("key"), STR("In"), values, 300};
    const struct label_selector selector = {
        .present = true, .expressions = &e, .expression_count = 1};
    const struct str got = selector_problem(&selector, &arena);
    assert_true(got.n > SELECTOR_PROBLEM_BYTES / 2 && got.n <= SELECTOR_PROBLEM_BYTES + 2);
    assert_true(
        str_has_prefix(got, STR("[values[0][key]: Invalid value: \"not a value\": a valid")));
    assert_false(arena_failed(&arena));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_upstreams),
                                       cmocka_unit_test(a_problem_has_a_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
