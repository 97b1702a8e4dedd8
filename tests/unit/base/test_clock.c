#include "base/clock.h"

#include "unit/unit.h"

static void test_real_clock_never_goes_back(void **state) {
    (void)state;
    struct clock *clock = clock_real();
    assert_ptr_equal(clock, clock_real());
    int64_t last_ms = clock->now_ms(clock), last_ns = clock_now_ns();
    for (int i = 0; i < 10000; i++) {
        int64_t now_ms = clock->now_ms(clock), now_ns = clock_now_ns();
        assert_true(now_ms >= last_ms && now_ns >= last_ns);
        last_ms = now_ms;
        last_ns = now_ns;
    }
}

static void test_real_clock_is_monotonic_time_in_ms(void **state) {
    (void)state;
    struct timespec before, after;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    int64_t now_ms = clock_real()->now_ms(clock_real()), now_ns = clock_now_ns();
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    int64_t least = (int64_t)before.tv_sec * 1000000000 + before.tv_nsec;
    int64_t most = (int64_t)after.tv_sec * 1000000000 + after.tv_nsec;
    assert_true(now_ns >= least && now_ns <= most);
    assert_true(now_ms >= least / 1000000 && now_ms <= most / 1000000);
}

/* One that tells milliseconds only is asked for these. */
static void test_nanoseconds_of_milliseconds(void **state) {
    (void)state;
    struct clock_fake fake;
    clock_fake_init(&fake, 1234);
    assert_null(fake.clock.now_ns);
    assert_int_equal(clock_ns(&fake.clock), 1234000000);
}

static void test_fake_clock_stands_until_told(void **state) {
    (void)state;
    struct clock_fake fake;
    clock_fake_init(&fake, -5);
    assert_int_equal(fake.clock.now_ms(&fake.clock), -5);
    assert_int_equal(fake.clock.now_ms(&fake.clock), -5);
    fake.at_ms += 1000;
    assert_int_equal(fake.clock.now_ms(&fake.clock), 995);
    fake.at_ms = INT64_MAX;
    assert_true(fake.clock.now_ms(&fake.clock) == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_clock_never_goes_back),
        cmocka_unit_test(test_nanoseconds_of_milliseconds),
        cmocka_unit_test(test_real_clock_is_monotonic_time_in_ms),
        cmocka_unit_test(test_fake_clock_stands_until_told),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
