/* How often the main loop polls what. */
#include "daemon/polling.h"

#include "unit/unit.h"

/* Plays so many milliseconds; how often was polled, and how often of that files. */
static void play(int64_t interval_ms, int64_t ms, int *ret_polls, int *ret_files) {
    struct polling p;
    int64_t now_ms = 5000;
    const int64_t until_ms = now_ms + ms;
    *ret_polls = *ret_files = 0;
    polling_init(&p, interval_ms, now_ms);
    for (;;) {
        const int64_t wait_ms = polling_wait_ms(&p, now_ms);
        assert_in_range(wait_ms, 1, 1000);
        now_ms += wait_ms;
        if (now_ms > until_ms)
            return;
        *ret_files += polling_files(&p, now_ms);
        (*ret_polls)++;
    }
}

static void plays(void **state) {
    static const struct {
        int64_t interval_ms, ms;
        int polls, files;
    } cases[] = {
        {3600000, 3599999, 3599, 0}, /* what is no file does not wait for an hour */
        {3600000, 3600000, 3600, 1}, {1001, 1001, 2, 1},   {1000, 10000, 10, 10},
        {999, 9990, 10, 10},         {10, 1000, 100, 100}, {2500, 5000, 6, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int polls, files;
        play(cases[i].interval_ms, cases[i].ms, &polls, &files);
        if (polls != cases[i].polls || files != cases[i].files)
            fail_msg("case %zu: %d polls, %d of files", i, polls, files);
    }
}

/* After a poll that took long there is no wait, and the files are looked at once. */
static void late(void **state) {
    struct polling p;
    (void)state;
    polling_init(&p, 100, 0);
    assert_false(polling_files(&p, 99));
    assert_int_equal(polling_wait_ms(&p, 99), 1);
    assert_int_equal(polling_wait_ms(&p, 100), 0);
    assert_int_equal(polling_wait_ms(&p, 1000), 0);
    assert_true(polling_files(&p, 1000));
    assert_false(polling_files(&p, 1000));
    assert_int_equal(polling_wait_ms(&p, 1000), 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays),
        cmocka_unit_test(late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
