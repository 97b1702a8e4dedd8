/*
 * The purposes of a process, as one table: each purpose has a condition that turns it on, the kinds
 * it watches, its API server, whether it writes there, and the Lease of its leader. All code that
 * needs an API server reads this table: the components of the daemon, the checks of a
 * configuration, and the checks of permissions. Some purposes need a listener that is on, others do
 * not.
 */
#pragma once

#include "config/servers.h"

enum purpose {
    PURPOSE_PODS,         /* answers about pods: extender and webhook */
    PURPOSE_RESERVATIONS, /* only the leader answers: the other replicas do not have its
                             reservations */
    PURPOSE_CONTROLLERS,  /* writes objects of which every replica of the webhook would write the
                             same text */
    PURPOSE_CERTIFICATES, /* keeps the listeners' certificates in Secrets */
    PURPOSE_FLEET,        /* knows the clusters of a fleet */
    PURPOSE_OCM,          /* decides Placements */
    PURPOSE_MEMBERS,      /* knows Karmada's member clusters, for estimates */
    PURPOSE_ESTIMATOR_SERVICES, /* keeps Services in Karmada that lead to the estimator */
    PURPOSE_ESTIMATORS,         /* finds the estimators of Karmada's clusters, to ask them */
    PURPOSES,
};

/* Returns "pods", "ocm": for messages. Static. */
const char *purpose_name(enum purpose purpose);
bool purpose_is_wanted(const struct configuration *c, enum purpose purpose);
/* Returns the API server of the purpose: that of this cluster if the purpose's own server is not
 * set. */
enum server_role purpose_server(const struct configuration *c, enum purpose purpose);

/* Does a purpose watch the kind (a row of model/kinds.h) at this server? Ignores state files, which
 * may replace the watch. */
bool kind_is_watched(const struct configuration *c, const struct watched_kind *kind,
                     enum server_role role);
/* Does a purpose work at this server? */
bool server_is_used(const struct configuration *c, enum server_role role);
/* Does a purpose write to this server? Bindings of pods do not count. */
bool server_is_written(const struct configuration *c, enum server_role role);

/* ---- Leases: one for each purpose that has a leader ---- */

/* The size of the longest name of a Lease, with its suffix; see `leaderElection.leaseName`. */
enum { LEASE_NAME_SIZE = 280 };

/* Is a leader elected for the purpose? False without leader election. */
bool lease_is_wanted(const struct configuration *c, enum purpose purpose);
/* Is a leader elected for any purpose at this server? */
bool server_elects(const struct configuration *c, enum server_role role);
/* Sets *ret to the name of the Lease of a purpose that has one. */
void lease_name(const struct configuration *c, enum purpose purpose,
                char ret[static LEASE_NAME_SIZE]);
