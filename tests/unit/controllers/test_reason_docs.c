/*
 * docs/events.md against the tables of reasons: it lists exactly these. With UPDATE_DOCS=1 in front
 * of it, this program writes the document's tables anew.
 */
#include "base/file.h"
#include "controllers/reasons.h"
#include "hub/planner.h"
#include "kube/election/elector.h"
#include "policy/status.h"
#include "unit/unit.h"

#include <ftw.h>
#include <stdio.h>

static const char document_path[] = "docs/events.md";
enum { DOCUMENT_MAX = 1 << 20, DESCRIPTORS = 8 };

/* NUL-terminated. */
static struct strbuf read_whole(const char *path) {
    struct err err;
    struct strbuf text = {.max = DOCUMENT_MAX};
    if (file_read(path, DOCUMENT_MAX, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    text.n--;
    return text;
}

/* ---- the document ---- */

static void write_event(const struct event_reason *r, struct strbuf *out) {
    strbuf_appendf(out, "| `%s` | %s | %s | %s |\n", r->name,
                   r->type == EVENT_NORMAL ? "Normal" : "Warning", r->kind, r->when);
}

static void write_events(struct strbuf *out) {
    strbuf_append_str(out, STR("| reason | type | about a | written when |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < CONTROLLER_REASONS; i++)
        write_event(&controller_reasons[i], out);
    for (size_t i = 0; i < PLANNER_REASONS; i++)
        write_event(&planner_reasons[i], out);
    write_event(&election_reason, out);
}

static void write_conditions(struct strbuf *out) {
    strbuf_append_str(out, STR("| condition | status | reason | set when |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < POLICY_REASONS; i++)
        strbuf_appendf(out, "| `%s` | `%s` | `%s` | %s |\n", policy_reasons[i].type,
                       policy_reasons[i].status, policy_reasons[i].name, policy_reasons[i].when);
}

/* Replaces what stands between the marks of a table. Returns where the rest begins. */
static const char *rewrite_table(const char *text, const char *mark, void (*write)(struct strbuf *),
                                 struct strbuf *out) {
    const char *begin = strstr(text, mark);
    assert_non_null(begin);
    begin += strlen(mark);
    const char *end = strstr(begin, "<!-- end -->\n");
    assert_non_null(end);
    strbuf_append(out, text, (size_t)(begin - text));
    write(out);
    return end;
}

static void the_document_is_current(void **state) {
    struct strbuf is = read_whole(document_path), should = {.max = DOCUMENT_MAX};
    struct err err;
    (void)state;
    const char *rest = rewrite_table(is.p, "<!-- table: events -->\n", write_events, &should);
    rest = rewrite_table(rest, "<!-- table: conditions -->\n", write_conditions, &should);
    strbuf_append_str(&should, str_of(rest));
    bool same = str_eq(strbuf_str(&is), strbuf_str(&should));
    if (!same && getenv("UPDATE_DOCS") != NULL) {
        assert_int_equal(file_write_atomic(document_path, strbuf_str(&should), 0644, &err), 0);
        same = true;
    }
    strbuf_done(&is);
    strbuf_done(&should);
    if (!same)
        fail_msg("%s is out of date; run UPDATE_DOCS=1 make unit", document_path);
}

/* ---- the sources ---- */

/* No file that records Events writes a reason that is no row. */
static int check_source(const char *path, const struct stat *status, int type, struct FTW *where) {
    static const char literal[] = ".reason = STR(";
    size_t n = strlen(path);
    (void)status, (void)where;
    if (type != FTW_F || n < 2 || strcmp(path + n - 2, ".c") != 0)
        return 0;
    struct strbuf text = read_whole(path);
    if (strstr(text.p, "event_record(") != NULL && strstr(text.p, literal) != NULL)
        fail_msg("%s: make the reason a row of the room's table", path);
    strbuf_done(&text);
    return 0;
}

static void sources_use_the_tables(void **state) {
    (void)state;
    assert_int_equal(nftw("src", check_source, DESCRIPTORS, FTW_PHYS), 0);
    assert_int_equal(nftw("handlers", check_source, DESCRIPTORS, FTW_PHYS), 0);
}

/* Two rows of one reason would be two meanings. */
static void reasons_are_different(void **state) {
    (void)state;
    for (size_t i = 0; i < CONTROLLER_REASONS; i++) {
        assert_true(strcmp(controller_reasons[i].name, election_reason.name) != 0);
        for (size_t k = 0; k < i; k++)
            assert_true(strcmp(controller_reasons[i].name, controller_reasons[k].name) != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_current),
        cmocka_unit_test(sources_use_the_tables),
        cmocka_unit_test(reasons_are_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
