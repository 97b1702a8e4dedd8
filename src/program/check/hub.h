/*
 * Checks what Evenkeel needs on a fleet's hub: the kinds of Open Cluster Management in the watched
 * versions and, where Evenkeel decides Placements, a Placement with spreadPolicy. Only an
 * administrator may read the CustomResourceDefinitions; every user may read the same facts from
 * discovery and the OpenAPI documents (system:discovery).
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"
#include "kube/client/client.h"
#include "model/kinds.h"

/* Asks the API server of this role, if a fleet is watched there. Reports the version of OCM's
 * placement controller, if this user may read its Deployment. */
void hub_check(const struct configuration *configuration, enum server_role role,
               struct kube_client *client, struct check_report *out);
