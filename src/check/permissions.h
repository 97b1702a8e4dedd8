/*
 * May this user do all that the configuration has Evenkeel do? The API server is asked for each
 * permission by a SelfSubjectAccessReview, which needs none itself.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"
#include "kube/client/client.h"

/* `namespace` is the user's own: where things are that the configuration gives no namespace for. */
void permissions_check(const struct configuration *configuration, struct kube_client *client,
                       const char *namespace, struct findings *out);
