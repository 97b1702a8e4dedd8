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
/* Returns "hub" or "karmada": the section, and the label `server` of metrics; NULL for the
 * cluster's own API server, which has no label. Static. */
const char *server_name(enum server_role role);
/* Do the settings name an API server? */
bool server_is_set(const struct configuration_server *settings);

/* Returns the role, or SERVER_CLUSTER if its server is not set. */
enum server_role server_or_cluster(const struct configuration *c, enum server_role role);
/* Returns the server that has the objects of a kind, likewise. */
enum server_role server_of(const struct configuration *c, const struct watched_kind *kind);

/* Gets the server's address and our credentials; without settings, those that kubectl would use.
 * All is in the arena, secrets too. Returns 0 or -errno with a sentence. */
int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) MUST_CHECK;
