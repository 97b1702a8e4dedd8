/*
 * Candidates that the cache does not keep, one store for each kind of them (candidates/kinds.h):
 * those of the state files or, with an API server as the source, those of watches.
 *
 * Threads: all calls but known_candidates_listed() belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/source.h"

struct known_candidates;

/* Begins to watch, or to follow the state files. `source` is borrowed until
 * known_candidates_stop(). *ret is NULL where they are not wanted, and otherwise set also after a
 * failure. NULL is fine in all other calls. */
int known_candidates_start(const struct configuration *c, struct source *source,
                           struct known_candidates **ret, struct err *err) MUST_CHECK;
/* Has every kind of the API server been listed, or has it at least been tried? Any thread. */
bool known_candidates_listed(const struct known_candidates *k);
void known_candidates_stop(struct known_candidates *k);
void known_candidates_free(struct known_candidates *k);
