/* Lines of a pipe: whole ones at once, long ones skipped, whatever the pieces they come in. */
#include "base/line_reader.h"

#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int ends[2];
static struct line_reader l;

static int set_up(void **state) {
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    line_reader_done(&l);
    (void)close(ends[0]);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    return 0;
}

static void say(const char *text) {
    const size_t n = strlen(text);
    assert_int_equal(write(ends[1], text, n), n);
}

static void hang_up(void) {
    assert_int_equal(close(ends[1]), 0);
    ends[1] = -1;
}

static void expect_line(const char *want) {
    struct str line;
    assert_int_equal(line_reader_next(&l, &line), 1);
    assert_str(line, want);
}

static void expect(int want) {
    struct str line;
    assert_int_equal(line_reader_next(&l, &line), want);
}

/* A line is there before its writer says more: reading on would block for ever. */
static void a_line_at_once(void **state) {
    (void)state;
    line_reader_init(&l, ends[0], 10);
    say("one\ntw");
    expect_line("one");
    say("o\n\nthree");
    expect_line("two");
    expect_line("");
    hang_up();
    expect_line("three");
    expect(0);
    expect(0);
}

static void nothing(void **state) {
    (void)state;
    line_reader_init(&l, ends[0], 10);
    hang_up();
    expect(0);
}

static void a_newline_at_the_end(void **state) {
    (void)state;
    line_reader_init(&l, ends[0], 10);
    say("x\n");
    hang_up();
    expect_line("x");
    expect(0);
}

static void long_lines(void **state) {
    (void)state;
    line_reader_init(&l, ends[0], 5);
    say("1234\n12345\n123456\nnext\n");
    expect_line("1234");
    expect_line("12345");
    expect(-EFBIG);
    expect_line("next");
    say("123456"); /* it is too long before it ends */
    expect(-EFBIG);
    say("789");
    say("\nfine\n1234567");
    expect_line("fine");
    expect(-EFBIG);
    hang_up();
    expect(0);
}

/* Memory does not follow the length of what is skipped. */
static void a_very_long_line(void **state) {
    static char much[60000];
    (void)state;
    line_reader_init(&l, ends[0], 1000);
    memset(much, 'x', sizeof much - 1);
    say(much);
    expect(-EFBIG);
    for (int i = 0; i < 50; i++) {
        say(much);
        say(i < 49 ? "" : "\nend\n");
        if (i < 49) {
            struct str line;
            (void)fcntl(ends[0], F_SETFL, O_NONBLOCK); /* to come back from the middle of a line */
            assert_int_equal(line_reader_next(&l, &line), -EAGAIN);
            (void)fcntl(ends[0], F_SETFL, 0);
        }
    }
    expect_line("end");
    assert_true(l.text.cap <= 1000 + 2 * 65536);
}

static void not_a_file(void **state) {
    (void)state;
    line_reader_init(&l, -1, 10);
    expect(-EBADF);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_line_at_once), TEST(nothing),          TEST(a_newline_at_the_end),
        TEST(long_lines),     TEST(a_very_long_line), TEST(not_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
