/*
 * A clock as a parameter. Everything that waits or expires asks a struct clock, so a test can set
 * the time. The real clock is CLOCK_MONOTONIC (never jumps); wall time is only for people and
 * certificates.
 */
#pragma once

#include <stdint.h>
#include <time.h>

struct clock { /* both are monotonic and thread-safe */
    int64_t (*now_ms)(struct clock *);
    int64_t (*now_ns)(struct clock *); /* NULL: use now_ms */
};

/* The machine's clock; shared, never freed. */
struct clock *clock_real(void);

/* Returns the clock's time in nanoseconds, only to measure durations. */
int64_t clock_ns(struct clock *clock);

/* A clock for tests: stands still until a test moves it. Writes to at_ms are atomic. */
struct clock_fake {
    struct clock clock;
    _Atomic int64_t at_ms;
};
void clock_fake_init(struct clock_fake *fake, int64_t at_ms);

/* Returns the time of the machine's clock in nanoseconds. */
int64_t clock_now_ns(void);

/* Returns a seed for jitter: replicas that start together get different seeds. */
uint64_t clock_seed(void);
