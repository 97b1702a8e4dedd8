/*
 * Does this user have the permissions that the configuration needs? The API server is asked for
 * each of them with a SelfSubjectAccessReview, which itself needs no permission.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"
#include "kube/client/client.h"

/* `namespace` is the user's: it is used for objects whose namespace the configuration does not set.
 */
void permissions_check(const struct configuration *configuration, struct kube_client *client,
                       const char *namespace, struct findings *out);
