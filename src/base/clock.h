/*
 * Time, injected. Everything that waits or expires asks a struct clock, so a test can own time.
 * The real clock is CLOCK_MONOTONIC (never jumps); wall time is only for people and certificates.
 */
#pragma once

#include <stdint.h>
#include <time.h>

struct clock {
    int64_t (*now_ms)(struct clock *); /* monotonic milliseconds; thread-safe */
};

/* The machine's clock; shared, never freed. */
struct clock *clock_real(void);

/* A clock for tests: stands still until told. Writes to now are atomic. */
struct clock_fake {
    struct clock clock;
    _Atomic int64_t at_ms;
};
void clock_fake_init(struct clock_fake *fake, int64_t at_ms);

/* Monotonic nanoseconds, for measuring durations only. */
int64_t clock_now_ns(void);

/* A seed for jitter: replicas that start together get different ones. */
uint64_t clock_seed(void);
