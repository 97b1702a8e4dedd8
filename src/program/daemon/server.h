/*
 * The daemon: listeners, the cache, the source of its state, and one main loop that owns every
 * change.
 *
 * Threads: the calling thread sleeps until a signal or for a second at most, then polls the parts:
 * certificates, members, reservations that expire; and, at their interval, the files of state.
 * Listeners and the API client bring their own threads, which write to the cache as well (cache.h).
 *
 * Signals: SIGTERM shuts down gently (not ready, wait, refuse, drain); SIGINT skips the wait; a
 * second one of either ends at once; SIGHUP reads the state again.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"

/* Serves until a signal says stop. 0, or -errno when it could not start. */
int server_run(const struct configuration *configuration, struct err *err) MUST_CHECK;
