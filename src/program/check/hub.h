/*
 * What a fleet's hub must have before Evenkeel works there: the kinds of Open Cluster Management in
 * the versions that are watched and, where Placements are decided, a Placement with spreadPolicy.
 * Their CustomResourceDefinitions are an administrator's to read; discovery and the OpenAPI
 * documents say the same to every user (system:discovery).
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"
#include "kube/client/client.h"
#include "model/kinds.h"

/* Asks the API server of this role, if a fleet is watched there. Says which version of OCM's
 * placement controller runs, if this user may read its Deployment. */
void hub_check(const struct configuration *configuration, enum server_role role,
               struct kube_client *client, struct findings *out);
