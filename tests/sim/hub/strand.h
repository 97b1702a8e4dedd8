/*
 * Threads of the program that is simulated, without threads: the simulation is linked with
 * functions in the place of pthread_create(), pthread_join(), condition_*(), clock_real() and of
 * those that lock. A thread that is created becomes a strand, which runs until it waits for a
 * condition, or pauses where it has unlocked something and holds no mutex; the simulation says when
 * it goes on. So everything happens one after the other, in virtual time, and follows from the
 * seed.
 *
 * Only one thread: mutexes are never waited for. To write data that a strand is reading, first let
 * the strand run until it has read the data.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct strand;

/* Sets the clock that clock_real() returns. Borrowed. */
void strand_use_clock(struct clock *clock);

/* Returns the newest strand, which no call has returned before. It has not run. */
struct strand *strand_take_new(void);
/* Returns the time when the strand wants to continue: now, if its condition was signalled;
 * INT64_MAX, if it has ended. */
int64_t strand_at_ms(const struct strand *s);
/* Runs the strand until it waits or pauses. */
void strand_run(struct strand *s);
/* Has the strand ended, or does it wait for a condition? Otherwise it pauses in the middle of its
 * work. */
bool strand_waits(const struct strand *s);
/* Makes strands pause at `per_mille` of 1000 unlocks from now on. */
void strand_pause_at_unlocks(unsigned per_mille, uint64_t seed);
