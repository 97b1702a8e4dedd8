/*
 * Whether this replica is the one to be asked: leader election as the configuration wants it, with
 * its events. Without leader election every replica is.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"
#include "kube/auth/access.h"
#include "kube/client/client.h"

struct elector;
struct leadership;

/* Begins at once. *ret is NULL when the configuration wants none. `client` lives longer. */
int leadership_start(const struct configuration *configuration, const struct kube_access *access,
                     struct kube_client *client, struct leadership **ret,
                     struct err *err) MUST_CHECK;
/* Borrowed; NULL for NULL. */
const struct elector *leadership_elector(const struct leadership *l);
/* Gives the Lease back, so that the next replica need not wait, and writes the last events. NULL is
 * fine. */
void leadership_stop(struct leadership *l);
