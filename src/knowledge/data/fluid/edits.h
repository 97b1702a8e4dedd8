/*
 * What Fluid's plugins want changed in a pod. They do not write it: whoever asked them does, so
 * that what else is in the pod stays as it is.
 */
#pragma once

#include "data/fluid/terms.h"

/* A requirement that is added. Strings are the store's, the policy's or the arena's. */
struct fluid_requirement {
    struct label_expression is;
    struct hash128 hash;
};

/* A required term. */
struct fluid_term {
    const struct written_term *own; /* the pod's, which it begins with; NULL: none */
    const struct fluid_requirement *added;
    uint32_t added_count;
    struct requirement_hashes hashes; /* of all of it; without items: not worked out yet */
};

struct fluid_preference {
    int32_t weight;
    struct fluid_requirement requirement;
};

struct fluid_edits {
    bool requires;            /* the required terms are to be these; otherwise they are the pod's */
    struct fluid_term *terms; /* arena */
    uint32_t term_count;
    struct fluid_preference *preferences; /* to be added to the pod's; arena */
    uint32_t preference_count, preference_cap;
    struct str datasets_in_use; /* the annotation FLUID_DATASETS_IN_USE; empty: it stays */
    bool *propagates; /* those of the pod's mounts that get HostToContainer; NULL: none; arena */
};
