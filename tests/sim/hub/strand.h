/*
 * Threads of the program that is simulated, without threads: the simulation is linked with
 * functions in the place of pthread_create(), pthread_join(), condition_*() and clock_real(). A
 * thread that is created becomes a strand, which runs until it waits for a condition; the
 * simulation says when it goes on. So everything happens one after the other, in virtual time, and
 * follows from the seed.
 *
 * Only one thread: mutexes are never waited for.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct strand;

/* What clock_real() is. Borrowed. */
void strand_use_clock(struct clock *clock);

/* The strand that was created last, which nobody has asked for yet. It has not run. */
struct strand *strand_take_new(void);
/* When it wants to go on: now if what it waits for was signalled. INT64_MAX: it has ended. */
int64_t strand_at_ms(const struct strand *s);
/* Runs it until it waits again. */
void strand_run(struct strand *s);
