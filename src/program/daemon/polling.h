/*
 * Decides when the main loop polls. State files are polled every state.pollInterval, which may be
 * an hour; everything else is polled at least once a second, and at least as often as the files.
 *
 * It only decides, and reads no clock: `now_ms` of all calls comes from one monotonic clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct polling {
    int64_t files_every_ms; /* above 0 */
    int64_t files_due_ms;
};

void polling_init(struct polling *p, int64_t files_every_ms, int64_t now_ms);
/* Returns the time until the next poll; 0 or more. */
int64_t polling_wait_ms(const struct polling *p, int64_t now_ms);
/* Are the state files due to be polled? If this returns true, they are due again after their
 * interval. */
bool polling_files(struct polling *p, int64_t now_ms);
