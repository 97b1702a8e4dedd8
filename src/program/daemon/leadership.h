/*
 * The purposes that this replica leads: leader election by the configuration, with one Lease for
 * each purpose that has a leader (config/purposes.h), at that purpose's API server and with its
 * Events. For a purpose without election every replica acts.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/purposes.h"
#include "daemon/servers.h"

struct elector;
struct leadership;

/* Starts at once, at the servers that are open. `servers` is borrowed until leadership_stop(). */
int leadership_start(const struct configuration *configuration, const struct servers *servers,
                     struct leadership **ret, struct err *err) MUST_CHECK;
/* Returns the purpose's elector, borrowed; NULL: every replica acts. */
const struct elector *leadership_elector(const struct leadership *l, enum purpose purpose);
/* For /livez: returns false if the process could not report the end of a term as leader. Returns
 * true for NULL. Any thread. */
bool leadership_is_alive(const struct leadership *l);
/* Gives the Leases back, so that the next replica need not wait. NULL is fine. */
void leadership_stop(struct leadership *l);
