/*
 * The API servers of the configuration, by their role.
 */
#pragma once

#include "config/configuration.h"
#include "kube/auth/access.h"
#include "model/kinds.h"

/* Returns the server's settings; borrowed from the configuration. */
const struct configuration_server *server_settings(const struct configuration *c,
                                                   enum server_role role);
/* Returns "hub" or "karmada": the section of the configuration, and the label `server` of metrics;
 * NULL for the cluster's own API server, which has no label. Static. */
const char *server_name(enum server_role role);
/* Do these settings name an API server? */
bool server_is_set(const struct configuration_server *settings);

/* Returns `role`, or SERVER_CLUSTER if the role's server is not set. */
enum server_role server_or_cluster(const struct configuration *c, enum server_role role);
/* Returns the server that has the objects of a kind; SERVER_CLUSTER if that server is not set. */
enum server_role server_of(const struct configuration *c, const struct watched_kind *kind);

/* Gets the server's address and our credentials; without settings, the address and credentials that
 * kubectl would use. All texts are in the arena, secrets included. Returns 0 or -errno with a
 * sentence. */
int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) MUST_CHECK;
