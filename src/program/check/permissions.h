/*
 * Does this user have the permissions that the configuration needs? The API server is asked for
 * each of them with a SelfSubjectAccessReview, which itself needs no permission.
 */
#pragma once

#include "check/report.h"
#include "config/servers.h"
#include "kube/client/client.h"

/* Checks the permissions that are needed at the API server of this role. `namespace` is the user's
 * namespace: it is used for objects without a namespace in the configuration. */
void permissions_check(const struct configuration *configuration, enum server_role role,
                       struct kube_client *client, const char *namespace, struct check_report *out);
