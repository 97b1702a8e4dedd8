#include "base/table.h"

#include "unit/unit.h"

static const char *const headings[] = {"NODE", "SCORE", "WHY"};

static void assert_renders(const struct table *t, const char *want) {
    struct strbuf out = {.max = 10000};
    assert_true(table_render(t, &out));
    strbuf_append_char(&out, '\0');
    assert_string_equal(out.p, want);
    strbuf_done(&out);
}

static void row(struct table *t, const char *node, int64_t score, const char *why) {
    table_cell(t, str_of(node));
    table_number(t, score);
    table_cell(t, str_of(why));
}

static void test_alignment(void **state) {
    (void)state;
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, headings, 3, &arena);
    t.right_aligned = 1u << 1;
    assert_renders(&t, "NODE  SCORE  WHY\n");
    row(&t, "a", 7, "fine");
    row(&t, "a-long-name", -1234567, "");
    assert_renders(&t, "NODE            SCORE  WHY\n"
                       "a                   7  fine\n"
                       "a-long-name  -1234567\n");
    arena_done(&arena);
}

static void test_wrapping(void **state) {
    (void)state;
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, headings, 3, &arena);
    t.width = 30;
    t.narrowest = 10;
    row(&t, "a", 1, "one two three four five six");
    row(&t, "b", 2, "unbreakably-long-word-here and more\n-> second line");
    row(&t, "c", 3, "exactly 17 wide x");
    assert_renders(&t, "NODE  SCORE  WHY\n"
                       "a     1      one two three\n"
                       "             four five six\n"
                       "b     2      unbreakably-long-word-here\n"
                       "             and more\n"
                       "             -> second line\n"
                       "c     3      exactly 17 wide x\n");
    t.width = 5; /* never less than the narrowest */
    t.cell_count = 3;
    assert_renders(&t, "NODE  SCORE  WHY\n"
                       "a     1      one two\n"
                       "             three four\n"
                       "             five six\n");
    arena_done(&arena);
}

static size_t widest_line(const struct strbuf *out) {
    size_t widest = 0, n = 0;
    for (size_t i = 0; i < out->n; i++) {
        n = out->p[i] == '\n' ? 0 : n + 1;
        widest = n > widest ? n : widest;
    }
    return widest;
}

/* Names in any column are broken where they do not fit, and nothing of them is lost. */
static void test_no_wider_than_the_terminal(void **state) {
    (void)state;
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, headings, 3, &arena);
    t.width = 24;
    t.fits = true;
    row(&t, "a-name-that-is-long", 1, "one two unbreakable-word");
    row(&t, "b", 2, "x");
    /* 24 columns, less 5 of SCORE and 4 between them: 15, of which the last gets the odd one */
    assert_renders(&t, "NODE     SCORE  WHY\n"
                       "a-name-  1      one two\n"
                       "that-is         unbreaka\n"
                       "-long           ble-word\n"
                       "b        2      x\n");
    for (uint32_t width = 16; width < 60; width++) {
        struct strbuf out = {0};
        t.width = width;
        assert_true(table_render(&t, &out));
        assert_in_range(widest_line(&out), 1, width);
        strbuf_done(&out);
    }
    arena_done(&arena);
}

/* A column of four is not made narrower: with less room the table is wider than the terminal. */
static void test_the_narrowest_columns(void **state) {
    (void)state;
    static const char *const two[] = {"A", "B"};
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, two, 2, &arena);
    t.fits = true;
    table_cell(&t, STR("12345"));
    table_cell(&t, STR("abcde"));
    static const struct {
        uint32_t width;
        const char *text;
    } rows[] = {
        {12, "A      B\n12345  abcde\n"},
        {11, "A     B\n1234  abcde\n5\n"},
        {10, "A     B\n1234  abcd\n5     e\n"},
        {9, "A     B\n1234  abcd\n5     e\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        t.width = rows[i].width;
        assert_renders(&t, rows[i].text);
    }
    arena_done(&arena);
}

/* Longer cells end with three dots, but for those of the last column. */
static void test_the_widest_cells(void **state) {
    (void)state;
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, headings, 3, &arena);
    t.widest = 8;
    row(&t, "1234567", 1, "a");
    row(&t, "12345678", 12345678, "123456789");
    row(&t, "123456789", 123456789, "");
    row(&t, "1234\xc3\xa9xyz", 1, ""); /* not within a character */
    t.widest = 3;                      /* no room for dots and more */
    row(&t, "1234", 1, "");
    t.widest = 0;
    row(&t, "123456789", 1, "");
    assert_renders(&t, "NODE       SCORE     WHY\n"
                       "1234567    1         a\n"
                       "12345678   12345678  123456789\n"
                       "12345...   12345...\n"
                       "1234...    1\n"
                       "1234       1\n"
                       "123456789  1\n");
    arena_done(&arena);
}

/* Nothing that came from a file moves a terminal's cursor. */
static void test_control_characters(void **state) {
    (void)state;
    static const char *const one[] = {"X"};
    struct arena arena;
    struct table t;
    arena_init(&arena, 1 << 20);
    table_init(&t, one, 1, &arena);
    table_cell(&t, STR("a\x1b[31mb\tc\x7f"));
    table_cell(&t, STR("\xc3\xa9"));
    table_cell(&t, STR("a\xc2\x9b"
                       "2J\xc2\xa0\xc3\x9b\xc2")); /* only U+009B is a control character */
    assert_renders(&t, "X\na?[31mb?c?\n\xc3\xa9\na??2J\xc2\xa0\xc3\x9b\xc2\n");
    arena_done(&arena);
}

static void test_too_little_memory(void **state) {
    (void)state;
    struct arena arena;
    struct table t;
    struct strbuf out = {.max = 10000};
    arena_init(&arena, 4096);
    table_init(&t, headings, 3, &arena);
    for (int i = 0; i < 300; i++)
        row(&t, "a", i, "b");
    assert_false(table_render(&t, &out));
    arena_reset(&arena);
    table_init(&t, headings, 3, &arena);
    row(&t, "a", 1, "b");
    struct strbuf small = {.max = 10};
    assert_false(table_render(&t, &small));
    strbuf_done(&small);
    strbuf_done(&out);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_no_wider_than_the_terminal),
        cmocka_unit_test(test_the_narrowest_columns),
        cmocka_unit_test(test_the_widest_cells),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_too_little_memory),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
