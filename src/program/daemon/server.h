/*
 * The daemon: listeners, the cache, the source of its state, and one main loop that owns every
 * change.
 *
 * Threads: the calling thread sleeps until a signal, or for at most a second, then polls the parts:
 * certificates, members, reservations that expire; and state files at their interval. Listeners and
 * the API client have their own threads, which write to the cache as well (cache.h).
 *
 * Signals: SIGTERM shuts down gently (not ready, wait, refuse, drain); SIGINT skips the wait; a
 * second SIGTERM or SIGINT ends at once; SIGHUP reads the state again.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"

/* Serves until a signal stops it. Returns 0, or -errno if it could not start. */
int server_run(const struct configuration *configuration, struct err *err) MUST_CHECK;
