/*
 * What replicas elect a leader for: one Lease for each purpose, so that who keeps reservations and
 * who writes status need not be the same, and only what concerns callers makes a replica not ready.
 */
#pragma once

#include "config/configuration.h"

enum lease_purpose {
    LEASE_RESERVATIONS, /* the one replica to be asked: what it reserved the others do not know */
    LEASE_CONTROLLERS,  /* the one that writes what all of them would write alike */
    LEASE_PURPOSES,
};

/* Of the longest name, with its end; see `leaderElection.leaseName`. */
enum { LEASE_NAME_SIZE = 280 };

/* Is there anything for its leader to do? False without leader election. */
bool lease_is_wanted(const struct configuration *c, enum lease_purpose purpose);
/* The Lease of a purpose. */
void lease_name(const struct configuration *c, enum lease_purpose purpose,
                char ret[static LEASE_NAME_SIZE]);
/* "reservations", "controllers": in messages. Static. */
const char *lease_purpose_name(enum lease_purpose purpose);
