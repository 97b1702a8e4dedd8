/* docs/findings.md has a line for each code, as the table in the source says it. */
#include "findings/findings.h"

#include "base/file.h"
#include "unit/unit.h"

static void every_code_is_documented(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    CLEANUP(strbuf_done) struct strbuf row = {0};
    (void)state;
    assert_int_equal(file_read("docs/findings.md", 1 << 20, &text, NULL), 0);
    strbuf_append_char(&text, '\0');
    for (int i = 0; i < FINDING_CODES; i++) {
        strbuf_clear(&row);
        strbuf_appendf(&row, "\n| `%s` | %s | ", finding_kinds[i].code, finding_kinds[i].when);
        strbuf_append_char(&row, '\0');
        assert_contains(text.p, row.p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_code_is_documented)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
