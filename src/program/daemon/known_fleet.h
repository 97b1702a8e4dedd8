/*
 * The fleet that a process knows. It watches clusters at the hub or at the cluster's API server
 * and, if it decides Placements, all objects that these decisions need. Or it reads all of them
 * from the state files.
 *
 * Threads: all calls belong to the main thread, except where a comment says "Any thread".
 */
#pragma once

#include "config/configuration.h"
#include "daemon/servers.h"
#include "daemon/source.h"
#include "fleet/fleet.h"

struct known_fleet;

/* Starts to watch, or to follow the state files. `servers` and `source` are borrowed until
 * known_fleet_stop(). *ret is NULL if the configuration has no fleet; otherwise *ret is set, also
 * after a failure. The other functions accept NULL. */
int known_fleet_start(const struct configuration *c, const struct servers *servers,
                      struct source *source, struct known_fleet **ret, struct err *err) MUST_CHECK;
/* Returns the store, borrowed until known_fleet_free(); NULL if there is no fleet. */
struct fleet *known_fleet_store(const struct known_fleet *k);
/* Has the API server listed the clusters, or failed at least once to do so? Any thread. */
bool known_fleet_listed(const struct known_fleet *k);
/* Has the API server listed the clusters? Any thread. */
bool known_fleet_synced(const struct known_fleet *k);
/* Has the API server listed the clusters, and does it still have all kinds that are watched? Any
 * thread. */
bool known_fleet_complete(const struct known_fleet *k);
/* Is the data younger than the configured limit? True with state files. Any thread. */
bool known_fleet_fresh(const struct known_fleet *k);
void known_fleet_stop(struct known_fleet *k);
void known_fleet_free(struct known_fleet *k);
