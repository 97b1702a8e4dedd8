/*
 * Holds the objects for a question about a fleet that is not about the daemon's own objects. They
 * come from state files, or from a List in the question. The objects are a fleet, Karmada's
 * clusters, and TopologyPolicies.
 *
 * Belongs to one thread.
 */
#pragma once

#include "fleet/fleet.h"
#include "policy/policies.h"

struct clusters_state {
    struct fleet *fleet;            /* owned */
    struct informer *karmada;       /* owned; see fleet/karmada.h */
    struct policy_source *policies; /* owned; policies of the state and of policy files */
};

/* Reads each file or folder once; without `paths` only policies are known. `policy_paths` are files
 * or folders with TopologyPolicies. Returns 0, or -errno with file and place. Always call
 * clusters_state_done(). */
int clusters_state_load(const char *const *paths, size_t path_count,
                        const char *const *policy_paths, size_t policy_path_count,
                        struct clusters_state *ret, struct err *err) MUST_CHECK;
/* Reads the objects of a List, or a single object, from JSON, and borrows nothing. Returns 0 or
 * -errno. Always call clusters_state_done(). */
int clusters_state_read(struct str list, struct clusters_state *ret, struct err *err) MUST_CHECK;
void clusters_state_done(struct clusters_state *s);
