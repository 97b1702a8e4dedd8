/* The list of findings: order, limit, JSON and text. */
#include "findings/findings.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void by_path_then_code(void **state) {
    struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    findings_add(&f, FINDING_UNKNOWN_FIELD, STR("spec.b"), STR("Remove it"), "'b' is no %s",
                 "field");
    findings_add(&f, FINDING_KEY_UNKNOWN, STR("spec.a"), STR(""), "two");
    findings_add(&f, FINDING_INVALID, STR("spec.a"), STR("Say \"x\""), "one");
    findings_add(&f, FINDING_INVALID, STR("spec.a"), STR("Say \"x\""), "one"); /* once */
    findings_add(&f, FINDING_BEING_DELETED, STR(""), STR(""), "c1");
    assert_int_equal(f.count, 4);
    strbuf_append_str(&json, STR("{\"a\":1}\n"));
    findings_put(&f, &json);
    assert_str(strbuf_str(&json),
               "{\"a\":1,\"findings\":["
               "{\"code\":\"BeingDeleted\",\"path\":\"\",\"message\":\"c1\",\"remedy\":\"\"},"
               "{\"code\":\"Invalid\",\"path\":\"spec.a\",\"message\":\"one\",\"remedy\":\"Say "
               "\\\"x\\\"\"},"
               "{\"code\":\"KeyUnknown\",\"path\":\"spec.a\",\"message\":\"two\",\"remedy\":\"\"},"
               "{\"code\":\"UnknownField\",\"path\":\"spec.b\",\"message\":\"'b' is no field\","
               "\"remedy\":\"Remove it\"}]}");
}

static void none_in_an_empty_object(void **state) {
    const struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    strbuf_append_str(&json, STR("{}"));
    findings_put(&f, &json);
    assert_str(strbuf_str(&json), "{\"findings\":[]}");
}

static void as_text(void **state) {
    struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    (void)state;
    findings_add(&f, FINDING_INVALID, STR("spec"), STR("Write 2"), "is 3");
    findings_add(&f, FINDING_BEING_DELETED, STR(""), STR(""), "c1 goes");
    finding_say(&f.items[0], &text);
    strbuf_append_char(&text, '|');
    finding_say(&f.items[1], &text);
    assert_str(strbuf_str(&text), "c1 goes|spec: is 3. Write 2");
}

/* However they come, the first by path are kept, and the others counted. */
static void the_first_are_kept(void **state) {
    enum { MANY = 100 };
    char path[16];
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct findings f = {.arena = &arena};
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(path, sizeof path, "p%02d", order == 0 ? i : MANY - 1 - i);
            findings_add(&f, FINDING_INVALID, str_of(path), STR(""), "x");
        }
        assert_int_equal(f.count, LIMIT_FINDINGS);
        assert_int_equal(f.omitted, MANY - LIMIT_FINDINGS);
        assert_str(f.items[0].path, "p00");
        assert_str(f.items[LIMIT_FINDINGS - 1].path, "p31");
        strbuf_clear(&json);
        strbuf_append_str(&json, STR("{}"));
        findings_put(&f, &json);
        strbuf_append_char(&json, '\0');
        assert_contains(json.p, "],\"findingsOmitted\":68}");
    }
}

static void long_messages_are_cut(void **state) {
    struct findings f = {.arena = &arena};
    char text[2 * LIMIT_FINDING_BYTES];
    (void)state;
    memset(text, 'x', sizeof text);
    findings_add(&f, FINDING_INVALID, STR(""), STR(""), "%.*s", (int)sizeof text, text);
    assert_int_equal(f.items[0].message.n, LIMIT_FINDING_BYTES - 1);
}

static void without_memory(void **state) {
    struct arena small;
    struct findings f = {.arena = &small};
    (void)state;
    arena_init(&small, 64);
    findings_add(&f, FINDING_INVALID, STR(""), STR(""), "x");
    assert_int_equal(f.count, 0);
    assert_true(arena_failed(&small));
    arena_done(&small);
}

/* A loop over a user's list ends without steps, and finds nothing more. */
static void without_steps(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct findings f = {.arena = &arena};
    (void)state;
    arena.steps.max = 1;
    assert_false(steps_take(&arena.steps, 2));
    strbuf_append_str(&json, STR("{}"));
    findings_put(&f, &json);
    assert_str(strbuf_str(&json), "{\"findings\":[],\"findingsOmitted\":1}");
}

static void codes_are_words(void **state) {
    (void)state;
    for (int i = 0; i < FINDING_CODES; i++) {
        assert_non_null(finding_kinds[i].code);
        assert_true(strlen(finding_kinds[i].when) > 10);
        if (i > 0)
            assert_true(strcmp(finding_kinds[i - 1].code, finding_kinds[i].code) < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_path_then_code, setup, teardown),
        cmocka_unit_test_setup_teardown(none_in_an_empty_object, setup, teardown),
        cmocka_unit_test_setup_teardown(as_text, setup, teardown),
        cmocka_unit_test_setup_teardown(without_steps, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(long_messages_are_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory, setup, teardown),
        cmocka_unit_test(codes_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
