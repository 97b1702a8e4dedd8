/*
 * What a question about a fleet is answered from, where that is not what the daemon knows: state
 * files, or a List that came with the question. A fleet, Karmada's clusters, and the
 * TopologyPolicies among the objects.
 *
 * Belongs to one thread.
 */
#pragma once

#include "fleet/fleet.h"
#include "policy/policies.h"

struct clusters_state {
    struct fleet *fleet;            /* owned */
    struct informer *karmada;       /* owned; fleet/karmada.h */
    struct policy_source *policies; /* owned: those of the state, with those of files */
};

/* From files or folders, read once for all; none: nothing is known but policies. `policy_paths` are
 * of TopologyPolicies. 0, or -errno with file and place; in any case it is to be released. */
int clusters_state_load(const char *const *paths, size_t path_count,
                        const char *const *policy_paths, size_t policy_path_count,
                        struct clusters_state *ret, struct err *err) MUST_CHECK;
/* From a List, or a single object, as JSON; nothing is borrowed. 0 or -errno likewise. */
int clusters_state_read(struct str list, struct clusters_state *ret, struct err *err) MUST_CHECK;
void clusters_state_done(struct clusters_state *s);
