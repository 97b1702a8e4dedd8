/*
 * When the main loop polls. What looks at files of state does so as often as state.pollInterval
 * says, which may be an hour; everything else is polled at least once a second, and as often as the
 * files where that is more.
 *
 * A decision only: `now_ms` of all calls comes from one monotonic clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct polling {
    int64_t files_every_ms; /* above 0 */
    int64_t files_due_ms;
};

void polling_init(struct polling *p, int64_t files_every_ms, int64_t now_ms);
/* How long nothing is to be polled; 0 or more. */
int64_t polling_wait_ms(const struct polling *p, int64_t now_ms);
/* Are the files to be looked at now? Then they are again after their interval. */
bool polling_files(struct polling *p, int64_t now_ms);
