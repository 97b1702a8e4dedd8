/*
 * For what this replica leads: leader election as the configuration wants it, one Lease for each
 * purpose (config/leases.h), with its events. Where a purpose is not elected for, every replica
 * acts.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/leases.h"
#include "kube/auth/access.h"
#include "kube/client/client.h"

struct elector;
struct leadership;

/* Begins at once. *ret is NULL when nothing is to be elected for. `client` lives longer. */
int leadership_start(const struct configuration *configuration, const struct kube_access *access,
                     struct kube_client *client, struct leadership **ret,
                     struct err *err) MUST_CHECK;
/* Borrowed; NULL: every replica acts. */
const struct elector *leadership_elector(const struct leadership *l, enum lease_purpose purpose);
/* For /livez: false where the end of a term could not be told. True for NULL. Any thread. */
bool leadership_is_alive(const struct leadership *l);
/* Gives the Leases back, so that the next replica need not wait, and writes the last events. NULL
 * is fine. */
void leadership_stop(struct leadership *l);
