/*
 * What a process works for, as one table: each purpose says what turns it on, which kinds it
 * watches, at which API server, whether it writes there, and which Lease its leader holds. Whoever
 * needs an API server reads this table: the components of the daemon, the checks of a
 * configuration, and those of permissions. A listener that is on is a reason for some purposes, and
 * for others it is none.
 */
#pragma once

#include "config/servers.h"

enum purpose {
    PURPOSE_PODS,         /* answers about pods: extender and webhook */
    PURPOSE_RESERVATIONS, /* the one replica to be asked: what it reserved the others do not know */
    PURPOSE_CONTROLLERS,  /* what all replicas of the webhook would write alike */
    PURPOSE_CERTIFICATES, /* of listeners, in Secrets */
    PURPOSE_FLEET,        /* knows the clusters of a fleet */
    PURPOSE_OCM,          /* decides Placements */
    PURPOSE_MEMBERS,      /* knows the member clusters that Karmada has, to estimate them */
    PURPOSE_ESTIMATOR_SERVICES, /* keeps the Services by which the estimator is found there */
    PURPOSE_ESTIMATORS,         /* finds the estimators of Karmada's clusters, to ask them */
    PURPOSES,
};

/* "pods", "ocm": in messages. Static. */
const char *purpose_name(enum purpose purpose);
bool purpose_is_wanted(const struct configuration *c, enum purpose purpose);
/* Where it works: the hub is this cluster if it is not set. */
enum server_role purpose_server(const struct configuration *c, enum purpose purpose);

/* Is the kind watched at this server, unless it is read from state files? A kind may be watched at
 * two of them, for two purposes. */
bool kind_is_watched(const struct configuration *c, const struct watched_kind *kind,
                     enum server_role role);
/* Does anything work there? */
bool server_is_used(const struct configuration *c, enum server_role role);
/* Is anything written there but bindings? */
bool server_is_written(const struct configuration *c, enum server_role role);

/* ---- Leases: one for each purpose that has a leader ---- */

/* Of the longest name, with its end; see `leaderElection.leaseName`. */
enum { LEASE_NAME_SIZE = 280 };

/* Is a leader elected for it? False without leader election. */
bool lease_is_wanted(const struct configuration *c, enum purpose purpose);
/* Is one for any purpose at this server? */
bool server_elects(const struct configuration *c, enum server_role role);
/* The Lease of a purpose that has one. */
void lease_name(const struct configuration *c, enum purpose purpose,
                char ret[static LEASE_NAME_SIZE]);
