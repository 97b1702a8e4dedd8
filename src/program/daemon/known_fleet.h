/*
 * The fleet that a process knows: its clusters watched at the hub, or at the cluster's API server,
 * and, where Placements are decided, all that they are decided by; or all of it from the state
 * files, Karmada's clusters included.
 *
 * Threads: all calls but those that say so belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/servers.h"
#include "daemon/source.h"
#include "fleet/fleet.h"

struct known_fleet;

/* Begins to watch, or to follow the state files. `servers` and `source` are borrowed until
 * known_fleet_stop(). *ret is NULL if the configuration asks for no fleet; otherwise it is set,
 * also after a failure. NULL is fine in all other calls. */
int known_fleet_start(const struct configuration *c, const struct servers *servers,
                      struct source *source, struct known_fleet **ret, struct err *err) MUST_CHECK;
/* Borrowed until known_fleet_free(); NULL: none is asked for. */
struct fleet *known_fleet_store(const struct known_fleet *k);
/* Karmada's clusters (fleet/karmada.h). Likewise; NULL also where they are not from files. */
struct informer *known_fleet_karmada(const struct known_fleet *k);
/* Has the API server listed the clusters, or failed to at least once? Any thread. */
bool known_fleet_listed(const struct known_fleet *k);
/* Has it listed them? Any thread. */
bool known_fleet_synced(const struct known_fleet *k);
/* The same, and it has lost none of its kinds since. Any thread. */
bool known_fleet_complete(const struct known_fleet *k);
/* Has it been heard within the time that is set for it? True with state files. Any thread. */
bool known_fleet_fresh(const struct known_fleet *k);
void known_fleet_stop(struct known_fleet *k);
void known_fleet_free(struct known_fleet *k);
