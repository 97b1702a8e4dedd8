/*
 * The changes of a pod that Fluid's plugins want. The caller writes them into the pod, so that the
 * rest of the pod stays as it is.
 */
#pragma once

#include "data/fluid/terms.h"

/* An added requirement. Its strings belong to the store, the policy or the arena. */
struct fluid_requirement {
    struct label_expression is;
    struct hash128 hash;
};

/* A required term. */
struct fluid_term {
    const struct written_term *own; /* the term of the pod that it extends; NULL: it is new */
    const struct fluid_requirement *added;
    uint32_t added_count;
    struct requirement_hashes hashes; /* hashes of own and added requirements; without items: not
                                         computed yet */
};

struct fluid_preference {
    int32_t weight;
    struct fluid_requirement requirement;
};

struct fluid_edits {
    bool requires; /* replace the required terms by `terms`; false: keep the pod's terms */
    struct fluid_term *terms; /* arena */
    uint32_t term_count;
    struct fluid_preference *preferences; /* preferences to add to those of the pod; arena */
    uint32_t preference_count, preference_cap;
    struct str datasets_in_use; /* new annotation FLUID_DATASETS_IN_USE; empty: unchanged */
    bool *propagates; /* for each of the pod's mounts: it gets HostToContainer; NULL: no mount does;
                         arena */
};
