/*
 * What can be a candidate: one const table of kinds whose objects have a name, labels and taints
 * that make them one. `evenkeel topology` comes from it, and what it lists (candidates/list.h).
 */
#pragma once

#include "model/kinds.h"

enum { CANDIDATE_KEYS = 3 };

struct candidate_kind {
    const char *name;  /* what a command line calls several of them: "nodes" */
    enum kind_row row; /* of the watched kinds; of several kinds the one that is watched */
    const char *kinds; /* all of them, for people */
    /* Topology keys that a listing shows unless it is asked for others; fewer end with NULL. */
    const char *keys[CANDIDATE_KEYS];
};

enum candidate_row {
    CANDIDATE_NODES,
    CANDIDATE_CLUSTERS,
    CANDIDATE_KINDS,
};
extern const struct candidate_kind candidate_kinds[CANDIDATE_KINDS];
