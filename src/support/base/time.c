#include "base/time.h"

#include <stdio.h>
#include <time.h>

enum { SECOND_US = 1000000 };

static const int64_t first_us = -62135596800 * SECOND_US;    /* 0001-01-01T00:00:00Z */
static const int64_t last_us = 253402300800 * SECOND_US - 1; /* 9999-12-31T23:59:59.999999Z */

int64_t kube_wall_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
}

void kube_time_text(int64_t wall_us, char ret[static KUBE_TIME_SIZE]) {
    struct tm utc = {0};
    wall_us = wall_us < first_us ? first_us : wall_us > last_us ? last_us : wall_us;
    int64_t micro = wall_us % SECOND_US;
    micro += micro < 0 ? SECOND_US : 0;
    time_t seconds = (time_t)((wall_us - micro) / SECOND_US);
    (void)gmtime_r(&seconds, &utc); /* fails only for years beyond an int */
    (void)snprintf(ret, KUBE_TIME_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
                   (unsigned)(utc.tm_year + 1900) % 10000, (unsigned)(utc.tm_mon + 1) % 100,
                   (unsigned)utc.tm_mday % 100, (unsigned)utc.tm_hour % 100,
                   (unsigned)utc.tm_min % 100, (unsigned)utc.tm_sec % 100, (unsigned)micro);
}

static int64_t boot_now_ms(struct clock *clock) {
    (void)clock;
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct clock *kube_clock_boot(void) {
    static struct clock boot = {.now_ms = boot_now_ms};
    return &boot;
}
