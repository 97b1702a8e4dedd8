/*
 * `evenkeel check cluster`: can Evenkeel work with this API server, as this user, and do the nodes
 * have the labels that spreading needs?
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"

/* Asks the API server that the configuration names. Takes seconds, at most about a minute. A
 * finding is an error if Evenkeel would not become ready. *ret_server is the server's URL, for
 * headings. */
void cluster_check(const struct configuration *configuration, struct check_report *out,
                   const char **ret_server);
