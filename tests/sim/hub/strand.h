/*
 * Threads of the program that is simulated, without threads: the simulation is linked with
 * functions in the place of pthread_create(), pthread_join(), condition_*(), clock_real() and of
 * those that lock. A thread that is created becomes a strand, which runs until it waits for a
 * condition, or pauses where it has unlocked something and holds no mutex; the simulation says when
 * it goes on. So everything happens one after the other, in virtual time, and follows from the
 * seed.
 *
 * Only one thread: mutexes are never waited for. Who wants to write what a strand reads has it run
 * until it has done so.
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
/* Runs it until it waits or pauses. */
void strand_run(struct strand *s);
/* It has ended, or waits for a condition: otherwise it pauses in the middle of something. */
bool strand_waits(const struct strand *s);
/* From now on they pause at so many of 1000 unlocks. */
void strand_pause_at_unlocks(unsigned per_mille, uint64_t seed);
