/*
 * For what this replica leads: leader election as the configuration wants it, one Lease for each
 * purpose that has a leader (config/purposes.h), at the API server where that purpose works, with
 * its events. Where a purpose is not elected for, every replica acts.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/purposes.h"
#include "daemon/servers.h"

struct elector;
struct leadership;

/* Begins at once, at the servers that are open. `servers` live longer. */
int leadership_start(const struct configuration *configuration, const struct servers *servers,
                     struct leadership **ret, struct err *err) MUST_CHECK;
/* Borrowed; NULL: every replica acts. */
const struct elector *leadership_elector(const struct leadership *l, enum purpose purpose);
/* For /livez: false where the end of a term could not be told. True for NULL. Any thread. */
bool leadership_is_alive(const struct leadership *l);
/* Gives the Leases back, so that the next replica need not wait. NULL is fine. */
void leadership_stop(struct leadership *l);
