/*
 * The Placements that this process decides instead of OCM, if so configured: runs the controller
 * (hub/placement_decisions.h) with the fleet, the policies and the writer of the hub.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/known_fleet.h"
#include "daemon/known_policies.h"
#include "daemon/leadership.h"
#include "daemon/servers.h"

struct owned_placements;
struct placement_history;

struct owned_placements_options {
    /* All members are borrowed until owned_placements_stop(). */
    const struct configuration *configuration;
    const struct servers *servers;
    const struct leadership *leadership; /* NULL: no leader election */
    struct known_fleet *fleet;
    struct known_policies *policies; /* the hub's policies */
};

/* Starts at once. *ret is NULL if no Placements are decided, or if the process cannot write to the
 * hub. */
int owned_placements_start(const struct owned_placements_options *options,
                           struct owned_placements **ret, struct err *err) MUST_CHECK;
/* When this returns, no write is under way. NULL is fine. */
void owned_placements_stop(struct owned_placements *o);
/* Returns the Placements' history, valid until owned_placements_stop(); NULL: no Placements are
 * decided. */
struct placement_history *owned_placements_history(const struct owned_placements *o);
