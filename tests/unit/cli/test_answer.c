/* Answers as trees, and the lines and tables that forms make of them. */
#include "cli/answer_table.h"
#include "cli/terminal.h"

#include "unit/cli/printing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char json[] =
    "{\"name\":\"a\\u001bb\",\"empty\":\"\",\"none\":null,\"n\":-3,\"zero\":0,\"yes\":true,"
    "\"no\":false,\"list\":[\"x\",\"y.z\"],\"nothing\":[],"
    "\"rows\":[{\"name\":\"y.z\",\"n\":7},{\"n\":1,\"name\":\"\"},{\"name\":\"x\",\"word\":\"w\"}],"
    "\"map\":{\"y.z\":{\"n\":5},\"\":{\"n\":6}}}";

static const struct value *tree(struct printing *f, struct answer *a, const char *text) {
    if (answer_read(a, str_of(text), &f->arena, &f->err) != 0)
        fail_msg("%s", f->err.text);
    return a->root;
}

static void forms(void **state) {
    static const struct {
        const char *form, *line;
    } rows[] = {
        {"{name}, {#n}\n", "a?b, -3\n"},
        {"({empty}{none}{missing}{missing.more}{~name})", "(a?b)"},
        {"{+list} {+nothing} {+missing}", "2 0 0"},
        {"[{0missing}a][{0none}b] {0n}", "0a0b -3"},
        {"{,list}; {;list}; {,nothing}", "x, y.z; x, y.z; "},
        {"[{empty}a][{none}b][{#missing}c][{,missing}d][{,nothing}e][{+missing}f][{~none}g]",
         "e0fg"},
        {"[{?yes}a][{?no}b][{?n}c][{?zero}d][{?list}e][{?nothing}f][{?name}g][{?empty}h]", "aceg"},
        {"[{!yes}a][{!no}b][{!zero}c][{!missing}d][{!rows}e]", "bcd"},
        {"[{n=-3}a][{n=3}b][{no=false}c][{empty=x}d][{missing=x}e]", "ac"},
        {"[{missing} 1|{empty} 2|{#n} 3|{name} 4]|", "-3 3"},
        {"[a{missing}|b{missing}]", ""},
        {"{#rows.x.n}{rows.x.word}{^rows.x.word}{#<n}", "ww"},
        {"{#map.y.n}", ""},
    };
    struct printing *f = *state;
    struct answer a;
    const struct value *root = tree(f, &a, json);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        strbuf_clear(&f->out);
        print_message("# %s\n", rows[i].form);
        value_say(root, rows[i].form, &f->out);
        assert_str(strbuf_str(&f->out), rows[i].line);
    }
    assert_int_equal(answer_check(&a, &f->out, &f->err), 0);
}

/* A label may have anything in it, as names of clusters have dots. */
static void labels(void **state) {
    struct printing *f = *state;
    struct answer a;
    const struct value *root = tree(f, &a, json), *list = value_at(root, "list");
    assert_str(value_join(list, "{@} [{#^map.@.n}|-] [{#^rows.@.n}|-] {<@}", "; "),
               "x - - list; y.z 5 7 list");
    assert_str(value_join(value_at(root, "map"), "[{@}|none] {#n}", ", "), "y.z 5, none 6");
    assert_int_equal(value_number(value_at(value_member(value_at(root, "map"), STR("")), "n")), 6);
    value_say_each(value_at(root, "rows"), "{name}.", 1, &f->out);
    assert_str(strbuf_str(&f->out), "y.z.");
}

/* Many members are found as few are. */
static void many_members(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct printing *f = *state;
    struct answer a;
    strbuf_append_str(&text, STR("{\"list\":["));
    for (int i = 0; i < 40; i++)
        strbuf_appendf(&text, "%s{\"name\":\"c%d\",\"n\":%d}", i > 0 ? "," : "", i * 7 % 40, i);
    strbuf_append(&text, "]}", 3);
    const struct value *list = value_at(tree(f, &a, text.p), "list");
    for (int i = 0; i < 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "c%d", i * 7 % 40);
        assert_int_equal(value_number(value_at(value_member(list, str_of(name)), "n")), i);
    }
    assert_int_equal(value_member(list, STR("c40"))->kind, JSON_NULL);
    value_say(list, "{,<list.c3.more} {+<list}\n", &f->out);
    assert_str(strbuf_str(&f->out), " 40\n");
}

/* What is said of a value of another kind is an error, and nothing else is printed of it. */
/* As Go and jq read JSON: of members with one name the last counts. */
static void equal_names(void **state) {
    struct printing *f = *state;
    struct answer a;
    for (unsigned others = 0; others <= 40; others += 40) {
        struct strbuf text = {0};
        strbuf_append_str(&text, STR("{\"n\":1,\"n\":2"));
        for (unsigned i = 0; i < others; i++)
            strbuf_appendf(&text, ",\"m%u\":0", i);
        strbuf_append_str(&text, STR(",\"n\":3}"));
        strbuf_append_char(&text, '\0');
        assert_int_equal(value_number(value_at(tree(f, &a, text.p), "n")), 3);
        strbuf_done(&text);
    }
}

static void another_kind(void **state) {
    static const char *const forms[] = {"{n}",     "{list}",   "{#name}",   "{#list}",
                                        "{yes}",   "{~n}",     "{n.more}",  "{,name}",
                                        "{,rows}", "{name.x}", "[{yes.no}]"};
    struct printing *f = *state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct answer a;
        strbuf_clear(&f->out);
        print_message("# %s\n", forms[i]);
        value_say(tree(f, &a, json), forms[i], &f->out);
        assert_int_equal(answer_check(&a, &f->out, &f->err), -EINVAL);
    }
    struct answer a;
    assert_int_equal(value_as(tree(f, &a, json), "rows", JSON_OBJECT)->kind, JSON_NULL);
    value_say(a.root, "{n}", &f->out); /* the first error stays */
    assert_int_equal(answer_check(&a, &f->out, &f->err), -EINVAL);
    assert_string_equal(f->err.text, "answer.rows is not an object");
}

static void what_is_no_answer(void **state) {
    static const char *const texts[] = {"", "[]", "3", "{", "{\"a\":[}", "{\"a\":[[1}}", "{} {}"};
    struct printing *f = *state;
    struct answer a;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(answer_read(&a, str_of(texts[i]), &f->arena, &f->err), -EINVAL);
}

static void no_memory(void **state) {
    struct printing *f = *state;
    struct arena small;
    struct answer a;
    arena_init(&small, 600);
    assert_int_equal(answer_read(&a, STR("{\"a\":[[[[[[[[[[[[[[]]]]]]]]]]]]]]}"), &small, &f->err),
                     -ENOMEM);
    arena_done(&small);
    CLEANUP(strbuf_done) struct strbuf little = {.max = 2};
    value_say(tree(f, &a, "{}"), "a line", &little);
    assert_int_equal(answer_check(&a, &little, &f->err), -ENOMEM);
}

/* ---- tables ---- */

static struct str cell_loud(const struct value *item, const void *ctx) {
    return value_holds(value_at(item, ctx)) ? STR("LOUD") : STR("");
}

static const struct answer_column columns[] = {
    COLUMN("NAME", "{name}", "?"),
    NUMBER("N", "{#n}", "-"),
    NUMBER_CELL("LOUD", cell_loud, "word", "no"),
    COLUMN("MORE", "[{#n} of it]"),
};

static void draws(struct printing *f, const struct answer_table *how, const char *path,
                  const char *want) {
    struct answer a;
    strbuf_clear(&f->out);
    answer_table_put(how, value_at(tree(f, &a, json), path), &f->out);
    assert_int_equal(answer_check(&a, &f->out, &f->err), 0);
    assert_str(strbuf_str(&f->out), want);
}

static void tables(void **state) {
    static const struct answer_table table = {COLUMNS(columns)};
    static const struct answer_table first = {COLUMNS(columns), .is_first = true, .title = "TITLE",
                                              .most = 1, .more = " rows"};
    draws(*state, &table, "rows",
          "\n"
          "NAME  N  LOUD  MORE\n"
          "y.z   7    no  7 of it\n"
          "?     1    no  1 of it\n"
          "x     -  LOUD\n");
    draws(*state, &table, "nothing", "");
    draws(*state, &table, "missing", "");
    draws(*state, &first, "rows",
          "TITLE  N  LOUD  MORE\n"
          "y.z    7    no  7 of it\n"
          "and 2 more rows; -o json has all\n");
    draws(*state, &first, "nothing", "TITLE  N  LOUD  MORE\n");
}

/* Standard output is a terminal of 30 columns for a moment. */
static void no_line_is_wider_than_the_terminal(void **state) {
    struct printing *f = *state;
    const struct winsize size = {.ws_row = 10, .ws_col = 30};
    static const char long_name[] =
        "{\"rows\":[{\"name\":\"a-name-of-more-than-30-columns-indeed\",\"n\":1}]}";
    static const struct answer_table table = {COLUMNS(columns)};
    struct answer a;
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), before = dup(STDOUT_FILENO);
    assert_int_equal(grantpt(terminal), 0);
    assert_int_equal(unlockpt(terminal), 0);
    const int side = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    (void)fflush(stdout);
    assert_int_equal(dup2(side, STDOUT_FILENO), STDOUT_FILENO);
    terminal_use();
    assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(terminal_width(), 30);
    answer_table_put(&table, value_at(tree(f, &a, long_name), "rows"), &f->out);
    assert_str(strbuf_str(&f->out), "\n"
                                    "NAME          N  LOUD  MORE\n"
                                    "a-name-of-mo  1    no  1 of it\n"
                                    "re-than-30-c\n"
                                    "olumns-indee\n"
                                    "d\n");
    terminal_use(); /* whatever the tests print to */
    (void)close(terminal), (void)close(side), (void)close(before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, printing_setup, printing_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(forms),       TEST(labels),       TEST(many_members),
        TEST(equal_names), TEST(another_kind), TEST(what_is_no_answer),
        TEST(no_memory),   TEST(tables),       TEST(no_line_is_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
