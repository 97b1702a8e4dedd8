/* Tables of columns with names: rows of JSON and rows of the program look the same. */
#include "cli/listing.h"
#include "cli/terminal.h"

#include "unit/cli/printing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void say_other(struct str member, struct json_reader *r, struct strbuf *out) {
    strbuf_appendf(out, "%s%.*s", out->n > 0 ? " " : "", STR_ARG(member));
    (void)json_skip(r); /* errors stay in r */
}

static struct str cell_loud(struct json_reader *r, struct arena *arena) {
    (void)arena; /* a constant */
    return json_bool(r) ? STR("LOUD") : STR("");
}

static const struct column columns[] = {
    COLUMN("NAME", "name", cell_text, "?"),          JOINING("of", cell_text, COLUMN_AFTER),
    NUMBER("COUNT", "count", cell_number, "-"),      JOINING("loud", cell_loud, COLUMN_INSTEAD),
    COLUMN("ALLOWED", "allowed", cell_yes_no, "no"), COLUMN("OTHER", NULL, NULL, ""),
};
static const struct listing listing = {.columns = columns, .count = 6, .others = say_other};

static void prints(struct printing *f, const struct listing *how, const char *json,
                   const char *want) {
    strbuf_clear(&f->out);
    if (listing_print(str_of(json), how, &f->arena, &f->out, &f->err) != 0)
        fail_msg("%s", f->err.text);
    assert_str(strbuf_str(&f->out), want);
}

static void rows_of_json(void **state) {
    prints(*state, &listing,
           "[{\"of\":\"b\",\"name\":\"a\",\"count\":-3,\"allowed\":true,\"x\":[1],\"y\":{}},"
           "{},{\"count\":12,\"loud\":false},{\"loud\":true,\"count\":7}]",
           "\n"
           "NAME  COUNT  ALLOWED  OTHER\n"
           "a b      -3  yes      x y\n"
           "?         -  no\n"
           "?        12  no\n"
           "?      LOUD  no\n");
}

static void lists_that_are_empty(void **state) {
    prints(*state, &listing, "", "");
    prints(*state, &listing, "[]", "");
}

static void items_that_are_no_objects(void **state) {
    static const struct column one[] = {COLUMN("NAMES", NULL, cell_names, "")};
    static const struct listing names = {.columns = one, .count = 1, .title = "TITLE"};
    prints(*state, &names, "[[\"a\",\"b\"],[]]", "\nTITLE\na, b\n\n");
}

static void amounts(void **state) {
    static const struct column two[] = {NUMBER("SIZE", "size", cell_mebibytes, "not known"),
                                        NUMBER("SHARE", "share", cell_percent, "-")};
    static const struct listing sizes = {.columns = two, .count = 2};
    prints(*state, &sizes, "[{\"size\":3145727,\"share\":40},{}]",
           "\n"
           "     SIZE  SHARE\n"
           "      2Mi   40 %\n"
           "not known      -\n");
}

/* The program's rows begin with nothing each, as those of JSON do. */
static void rows_of_the_program(void **state) {
    struct printing *f = *state;
    struct listing_rows rows;
    listing_begin(&rows, &listing, &f->arena);
    listing_put(&rows, "name", STR("a"));
    listing_put(&rows, "of", STR("b"));
    listing_put_number(&rows, "count", 5);
    listing_end_row(&rows);
    listing_put(&rows, "name", STR(""));
    listing_end_row(&rows);
    assert_true(listing_render(&rows, &f->out));
    assert_str(strbuf_str(&f->out), "NAME  COUNT  ALLOWED  OTHER\n"
                                    "a b       5  no\n"
                                    "          -  no\n");
}

static void what_is_no_list(void **state) {
    struct printing *f = *state;
    static const char *const bad[] = {"{}", "[3]", "[{\"count\":\"x\"}]", "[{}", "[{}]]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(listing_print(str_of(bad[i]), &listing, &f->arena, &f->out, &f->err),
                         -EINVAL);
}

/* Standard output is a terminal of 30 columns for a moment. */
static void no_line_is_wider_than_the_terminal(void **state) {
    struct printing *f = *state;
    const struct winsize size = {.ws_row = 10, .ws_col = 30};
    static const char json[] = "[{\"name\":\"a-name-of-more-than-30-columns-indeed\",\"count\":1}]";
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
    prints(f, &listing, json,
           "\nNAME     COUNT  ALLOWED  OTHER\n"
           "a-name-      1  no\n"
           "of-more\n"
           "-than-3\n"
           "0-colum\n"
           "ns-inde\n"
           "ed\n");
    terminal_use(); /* whatever the tests print to */
    (void)close(terminal), (void)close(side), (void)close(before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, printing_setup, printing_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_of_json),
        TEST(lists_that_are_empty),
        TEST(items_that_are_no_objects),
        TEST(amounts),
        TEST(rows_of_the_program),
        TEST(what_is_no_list),
        TEST(no_line_is_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
