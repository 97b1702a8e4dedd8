/*
 * The API servers of the configuration, by what they are to Evenkeel.
 */
#pragma once

#include "config/configuration.h"
#include "kube/auth/access.h"
#include "model/kinds.h"

/* Its settings; borrowed from the configuration. */
const struct configuration_server *server_settings(const struct configuration *c,
                                                   enum server_role role);
/* "hub", "karmada": its section, and the label `server` of metrics; NULL: the cluster's own, of
 * which nothing is said. Static. */
const char *server_name(enum server_role role);
/* Is an API server named there? */
bool server_is_set(const struct configuration_server *settings);

/* The hub is this cluster if it is not set. */
enum server_role server_or_cluster(const struct configuration *c, enum server_role role);
/* Where the objects of a kind are, likewise. */
enum server_role server_of(const struct configuration *c, const struct watched_kind *kind);

/* Where it is and what proves who we are. Without settings: what kubectl would ask. Everything is
 * allocated in the arena, secrets too. 0 or -errno, with a sentence. */
int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) MUST_CHECK;
