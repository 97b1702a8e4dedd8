/* Points in time as Kubernetes writes and reads them. Expectations are from `date -u` and from Go's
 * time.RFC3339. */
#include "base/time.h"

#include "base/timestamp.h"
#include "unit/unit.h"

/* ---- written ---- */

static void micro_times(void **state) {
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1, "1970-01-01T00:00:00.000001Z"},
        {999999, "1970-01-01T00:00:00.999999Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {-1000000, "1969-12-31T23:59:59.000000Z"},
        {-1000001, "1969-12-31T23:59:58.999999Z"},
        {1767323045678901, "2026-01-02T03:04:05.678901Z"},
        {951782400000000, "2000-02-29T00:00:00.000000Z"},
        /* the years 1 to 9999, and what lies outside */
        {-62135596800000000, "0001-01-01T00:00:00.000000Z"},
        {-62135596800000001, "0001-01-01T00:00:00.000000Z"},
        {INT64_MIN, "0001-01-01T00:00:00.000000Z"},
        {253402300799999999, "9999-12-31T23:59:59.999999Z"},
        {253402300800000000, "9999-12-31T23:59:59.999999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999999Z"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[KUBE_TIME_SIZE];
        kube_time_text(rows[i].us, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void clocks(void **state) {
    (void)state;
    struct timespec before, after;
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &before), 0);
    int64_t now_ms = kube_clock_boot()->now_ms(kube_clock_boot());
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &after), 0);
    assert_true(now_ms >= (int64_t)before.tv_sec * 1000 + before.tv_nsec / 1000000);
    assert_true(now_ms <= (int64_t)after.tv_sec * 1000 + after.tv_nsec / 1000000);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &before), 0);
    int64_t wall_us = kube_wall_us();
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &after), 0);
    assert_true(wall_us >= (int64_t)before.tv_sec * 1000000 + before.tv_nsec / 1000);
    assert_true(wall_us <= (int64_t)after.tv_sec * 1000000 + after.tv_nsec / 1000);
}

/* ---- read ---- */

static void timestamps(void **state) {
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-02T03:04:05Z", 1767323045000},
        {"2026-01-02T03:04:05.678901Z", 1767323045678},
        {"2026-01-02T03:04:05.6Z", 1767323045600},
        {"2026-01-02T03:04:05.06Z", 1767323045060},
        {"2026-01-02T03:04:05.0009999999Z", 1767323045000},
        {"2026-01-02T05:04:05+02:00", 1767323045000},
        {"2026-01-02T05:34:05.5+02:30", 1767323045500},
        {"2026-01-01T21:04:05-06:00", 1767323045000},
        {"2026-01-01T20:34:05-06:30", 1767323045000},
        {"2026-01-02T03:04:05-00:00", 1767323045000},
        {"2026-01-02T03:04:05+00:00", 1767323045000},
        {"1969-12-31T23:59:59.999Z", -1},
        {"2000-02-29T00:00:00Z", 951782400000},
        {"9999-12-31T23:59:59Z", 253402300799000},
        {"0001-01-01T00:00:00Z", -62135596800000},
        {"2026-01-02T00:00:00+23:59", 1767225660000},
        {"2026-01-02T23:59:59Z", 1767398399000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ms = 7;
        if (!timestamp_parse(str_of(rows[i].text), &ms) || ms != rows[i].ms)
            fail_msg("%s: %lld", rows[i].text, (long long)ms);
    }
}

static void no_timestamps(void **state) {
    static const char *const texts[] = {
        "",
        "2026",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02T03:04:05z",
        "2026-01-02t03:04:05Z",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04:05Z ",
        " 2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05ZZ",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05,5Z",
        "2026-01-02T3:04:05Z",
        "26-01-02T03:04:05Z",
        "2026/01/02T03:04:05Z",
        "2026-01-02T03.04.05Z",
        "2026-01-02T03:04:05+0200",
        "2026-01-02T03:04:05+02",
        "2026-01-02T03:04:05+2:00",
        "2026-01-02T03:04:05 02:00",
        "2026-01-02T03:04:05+02:00Z",
        "-026-01-02T03:04:05Z",
        /* one more than there is */
        "2026-00-02T03:04:05Z",
        "2026-13-02T03:04:05Z",
        "2026-01-00T03:04:05Z",
        "2026-01-32T03:04:05Z",
        "2026-04-31T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "2100-02-29T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:05Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+02:60",
    };
    int64_t ms = 7;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (timestamp_parse(str_of(texts[i]), &ms))
            fail_msg("%s", texts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro_times),
        cmocka_unit_test(clocks),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(no_timestamps),
    };
    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
