/* Log lines, read back through a pipe. */
#include "base/log.h"

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int pipe_fds[2];
static struct clock_fake test_clock;
static char text[1 << 16];

static int set_up(void **state) {
    (void)state;
    clock_fake_init(&test_clock, 1000000);
    log_use_clock(&test_clock.clock);
    return pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK);
}

static int tear_down(void **state) {
    (void)state;
    log_use_clock(NULL);
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    (void)close(pipe_fds[0]);
    return close(pipe_fds[1]);
}

static void set_format(enum log_format format) {
    log_setup(LOG_INFO, format, pipe_fds[1]);
}

/* Everything logged since the last call. */
static const char *logged(void) {
    ssize_t n = read(pipe_fds[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* The same without the time in front, which is checked for its form. */
static const char *logged_after_time(void) {
    static const char form[] = "time=dddd-dd-ddTdd:dd:dd.dddZ ";
    const char *line = logged();
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'd' ? line[i] < '0' || line[i] > '9' : line[i] != form[i])
            fail_msg("no time in front: %s", line);
    return line + sizeof form - 1;
}

static void test_logfmt(void **state) {
    (void)state;
    set_format(LOG_LOGFMT);
    LOG_W("state file refused", LOG_CSTR("path", "/etc/x"), LOG_INT("line", -7),
          LOG_ERRTEXT(&(struct err){.text = "cannot parse 'y'"}));
    assert_string_equal(
        logged_after_time(),
        "level=warn msg=\"state file refused\" path=/etc/x line=-7 err=\"cannot parse 'y'\"\n");
    LOG_I("hello");
    assert_string_equal(logged_after_time(), "level=info msg=hello\n");
    const char *none = NULL, *role = "hub";
    LOG_I("hello", LOG_CSTR_IF("role", none), LOG_INT("n", 1), LOG_CSTR_IF("role", role));
    assert_string_equal(logged_after_time(), "level=info msg=hello n=1 role=hub\n");
    LOG_E("numbers", LOG_INT("least", INT64_MIN), LOG_INT("most", INT64_MAX));
    assert_string_equal(
        logged_after_time(),
        "level=error msg=numbers least=-9223372036854775808 most=9223372036854775807\n");
}

static void test_levels(void **state) {
    (void)state;
    log_setup(LOG_WARN, LOG_LOGFMT, pipe_fds[1]);
    assert_false(log_wants(LOG_INFO));
    assert_true(log_wants(LOG_WARN));
    LOG_D("no");
    LOG_I("no");
    assert_string_equal(logged(), "");
    LOG_W("yes");
    assert_contains(logged(), "level=warn msg=yes\n");
    log_setup(LOG_DEBUG, LOG_LOGFMT, pipe_fds[1]);
    LOG_D("yes");
    assert_contains(logged(), "level=debug msg=yes\n");
}

static void test_logfmt_escapes(void **state) {
    (void)state;
    static const struct {
        struct str value;
        const char *want;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"plain-1/2:3", 11}, "plain-1/2:3"},
        {{"a b", 3}, "\"a b\""},
        {{"a=b", 3}, "\"a=b\""},
        {{"\"\\\n\r\t", 5}, "\"\\\"\\\\\\n\\r\\t\""},
        {{"a\0b\x1b[31m", 8}, "\"a\\u0000b\\u001b[31m\""},
        {{"\x7f\xc2\x9b", 3}, "\"\\u007f\\u009b\""}, /* DEL and a terminal's CSI */
        {{"gr\xc3\xbc\xc3\x9f", 6}, "\"gr\xc3\xbc\xc3\x9f\""},
        {{"\xf0\x9f\x8c\x8a", 4}, "\"\xf0\x9f\x8c\x8a\""},
        {{"\xff", 1}, "\"\\xff\""},
        {{"\xc3", 1}, "\"\\xc3\""},          /* cut short */
        {{"\xc0\xaf", 2}, "\"\\xc0\\xaf\""}, /* overlong */
        {{"\xe0\x80\x80", 3}, "\"\\xe0\\x80\\x80\""},
        {{"\xed\xa0\x80", 3}, "\"\\xed\\xa0\\x80\""}, /* a surrogate */
        {{"\xf4\x90\x80\x80", 4}, "\"\\xf4\\x90\\x80\\x80\""},
    };
    set_format(LOG_LOGFMT);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char want[128];
        (void)snprintf(want, sizeof want, "level=info msg=m v=%s\n", cases[i].want);
        test_clock.at_ms += 10001; /* one call site */
        LOG_I("m", LOG_STR("v", cases[i].value));
        assert_string_equal(logged_after_time(), want);
    }
}

/* Reads a JSON line; returns the value of `key`. */
static struct str json_value(struct arena *arena, const char *line, const char *wanted) {
    struct json_reader r;
    struct str key, value = STR("(none)");
    struct err err;
    assert_int_equal(line[strlen(line) - 1], '\n');
    json_reader_init(&r, str_of(line), arena, "line");
    bool entered = json_object(&r);
    while (entered && json_member(&r, &key)) {
        bool found = str_eq(key, str_of(wanted));
        bool is_string = json_peek(&r) == JSON_STRING;
        struct str next = is_string ? json_string(&r) : json_skip(&r);
        value = found ? next : value;
    }
    if (json_finish(&r, &err) != 0)
        fail_msg("%s in %s", err.text, line);
    return value;
}

static void test_json(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    set_format(LOG_JSON);
    LOG_W("a \"message\"", LOG_CSTR("path", "/x\n\x01\xc3\xbc"), LOG_INT("n", -5),
          LOG_STR("bad", ((struct str){"\xff", 1})));
    const char *line = logged();
    assert_true(str_has_prefix(str_of(line), STR("{\"time\":\"20")));
    assert_str(json_value(&arena, line, "level"), "warn");
    assert_str(json_value(&arena, line, "msg"), "a \"message\"");
    assert_str(json_value(&arena, line, "path"), "/x\n\x01\xc3\xbc");
    assert_str(json_value(&arena, line, "n"), "-5");
    assert_str(json_value(&arena, line, "bad"), "\xef\xbf\xbd");
    arena_done(&arena);
}

/* Whatever the length, a line ends properly and within the limit. */
static void test_long_lines_are_cut(void **state) {
    (void)state;
    static char value[2 * LIMIT_LOG_LINE];
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (int round = 0; round < 3; round++) {
        const char *unit = round == 0 ? "x" : round == 1 ? "\n" : "\xc3\xbc";
        for (size_t n = LIMIT_LOG_LINE - 140; n < LIMIT_LOG_LINE + 40; n++) {
            for (size_t i = 0; i < n; i++)
                value[i] = unit[i % strlen(unit)];
            struct str cut = {value, n / strlen(unit) * strlen(unit)};
            test_clock.at_ms += 10001;
            set_format(LOG_JSON);
            LOG_I("m", LOG_STR("v", cut), LOG_INT("behind", 12345));
            const char *line = logged();
            assert_in_range(strlen(line), 100, LIMIT_LOG_LINE);
            assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
            struct str got = json_value(&arena, line, "v");
            bool whole = str_eq(got, cut);
            assert_true(whole || str_has_suffix(got, STR("…")) || str_eq(got, STR("(none)")));
            set_format(LOG_LOGFMT);
            LOG_I("m", LOG_STR("v", cut), LOG_INT("behind", 12345));
            line = logged();
            assert_in_range(strlen(line), 100, LIMIT_LOG_LINE);
            assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
            arena_reset(&arena);
        }
    }
    arena_done(&arena);
}

static void say_something(int64_t n) {
    LOG_I("again", LOG_INT("n", n));
}

static int lines_logged(void) {
    int lines = 0;
    for (const char *p = logged(); *p != '\0'; p++)
        lines += *p == '\n';
    return lines;
}

static void test_rate_limit(void **state) {
    (void)state;
    set_format(LOG_LOGFMT);
    for (int i = 0; i < 50; i++)
        say_something(i);
    assert_int_equal(lines_logged(), 20);
    LOG_I("another call site");
    assert_int_equal(lines_logged(), 1);
    test_clock.at_ms += 9999;
    say_something(50);
    assert_int_equal(lines_logged(), 0);
    test_clock.at_ms += 1;
    say_something(51);
    assert_contains(logged(), " n=51 dropped=31\n");
    for (int i = 0; i < 19; i++)
        say_something(i);
    assert_int_equal(lines_logged(), 19);
    say_something(0);
    assert_int_equal(lines_logged(), 0);
    test_clock.at_ms += 20000;
    say_something(52);
    assert_contains(logged(), " n=52 dropped=1\n");
    test_clock.at_ms += 20000;
    say_something(53);
    assert_contains(logged(), " n=53\n");
}

static void *log_a_lot(void *arg) {
    for (int i = 0; i < 500; i++)
        LOG_I("from a thread", LOG_CSTR("text", "some text to make the line longer"));
    return arg;
}

static void test_threads_do_not_mix_lines(void **state) {
    (void)state;
    pthread_t threads[4];
    set_format(LOG_LOGFMT);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_a_lot, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    int lines = 0;
    for (const char *line = logged(); *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(str_has_prefix(str_of(line), STR("time=")));
        assert_non_null(strchr(line, '\n'));
        lines++;
    }
    assert_in_range(lines, 20, 24); /* the limit may be off by the number of threads */
}

static void test_nothing_stops_it(void **state) {
    (void)state;
    log_setup(LOG_INFO, LOG_LOGFMT, -1);
    errno = ERANGE;
    LOG_E("nobody hears this");
    assert_int_equal(errno, ERANGE); /* and it is kept */
}

static struct str header(const void *ctx) {
    return str_of(ctx);
}

/* Of a thread's request, and no other text that a header may have. */
static void test_traceparent(void **state) {
    static const char good[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static const char *const bad[] = {"",
                                      "00",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                                      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
                                      "00 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"};
    (void)state;
    set_format(LOG_LOGFMT);
    log_trace(header, good);
    LOG_I("a", LOG_INT("n", 1));
    assert_string_equal(logged_after_time(),
                        "level=info msg=a n=1 "
                        "traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        log_trace(header, bad[i]);
        LOG_I("a");
        assert_string_equal(logged_after_time(), "level=info msg=a\n");
    }
    log_trace(header, good);
    log_trace(NULL, NULL);
    LOG_I("a");
    assert_string_equal(logged_after_time(), "level=info msg=a\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_logfmt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_levels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_traceparent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_logfmt_escapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_lines_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rate_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_do_not_mix_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_stops_it, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
