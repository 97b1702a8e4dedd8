/*
 * The candidates that the cache does not keep, with one store for each kind (candidates/kinds.h).
 * They come from watches of the hub or of the cluster's API server, or from the state files.
 *
 * Threads: all calls but those that say so belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/servers.h"
#include "daemon/source.h"

struct known_candidates;

/* Begins to watch, or to follow the state files. `servers` and `source` are borrowed until
 * known_candidates_stop(). *ret is NULL if the configuration asks for no such candidates; otherwise
 * it is set, also after a failure. NULL is fine in all other calls. */
int known_candidates_start(const struct configuration *c, const struct servers *servers,
                           struct source *source, struct known_candidates **ret,
                           struct err *err) MUST_CHECK;
/* Has the API server listed every kind, or failed to at least once? Any thread. */
bool known_candidates_listed(const struct known_candidates *k);
/* Has it listed every kind? Any thread. */
bool known_candidates_synced(const struct known_candidates *k);
/* Has its API server been heard, for each kind, within the time that is set for it? True with state
 * files. Any thread. */
bool known_candidates_fresh(const struct known_candidates *k);
void known_candidates_stop(struct known_candidates *k);
void known_candidates_free(struct known_candidates *k);
