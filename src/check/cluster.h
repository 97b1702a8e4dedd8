/*
 * `evenkeel check cluster`: can Evenkeel work with this API server, as this user, and do the nodes
 * carry what spreading needs?
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"

/* Asks the API server that the configuration names; takes seconds, at most about a minute. Errors
 * among the findings: Evenkeel would not get ready. `ret_server` is what was asked, for headings.
 */
void cluster_check(const struct configuration *configuration, struct findings *out,
                   const char **ret_server);
