/*
 * Leader election as the configuration sets it, and its Events: is this replica the leader, which
 * kube-scheduler asks? Without leader election every replica answers.
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

/* Begins at once. *ret is NULL without leader election. `client` must live longer. */
int leadership_start(const struct configuration *configuration, const struct kube_access *access,
                     struct kube_client *client, struct leadership **ret,
                     struct err *err) MUST_CHECK;
/* Borrowed; NULL for NULL. */
const struct elector *leadership_elector(const struct leadership *l);
/* Gives the Lease back, so that the next replica need not wait for its end, and writes the last
 * Events. NULL is fine. */
void leadership_stop(struct leadership *l);
