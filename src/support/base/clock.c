#include "base/clock.h"

#include <unistd.h>

int64_t clock_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t real_now_ms(struct clock *clock) {
    (void)clock;
    return clock_now_ns() / 1000000;
}

static int64_t real_now_ns(struct clock *clock) {
    (void)clock;
    return clock_now_ns();
}

struct clock *clock_real(void) {
    static struct clock real = {.now_ms = real_now_ms, .now_ns = real_now_ns};
    return &real;
}

int64_t clock_ns(struct clock *clock) {
    return clock->now_ns != NULL ? clock->now_ns(clock) : clock->now_ms(clock) * 1000000;
}

static int64_t fake_now_ms(struct clock *clock) {
    return ((struct clock_fake *)clock)->at_ms;
}

void clock_fake_init(struct clock_fake *fake, int64_t at_ms) {
    fake->clock = (struct clock){.now_ms = fake_now_ms};
    fake->at_ms = at_ms;
}

uint64_t clock_seed(void) {
    return (uint64_t)clock_now_ns() ^ ((uint64_t)getpid() << 32);
}
