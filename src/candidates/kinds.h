/*
 * What can be a candidate: one const table of kinds whose objects have a name, labels and taints
 * that make them one. The daemon's watches and `evenkeel topology` come from it.
 */
#pragma once

#include "informer/informer.h"
#include "model/kinds.h"

enum { CANDIDATE_KEYS = 3 };

struct candidate_kind {
    const char *name;  /* what a command line calls several of them: "nodes" */
    enum kind_row row; /* of the watched kinds */
    /* Topology keys that a listing shows unless it is asked for others; fewer end with NULL. */
    const char *keys[CANDIDATE_KEYS];
    bool cached; /* the cache keeps them, with their pods: no store is needed to serve */
    const struct informer_store *store; /* of nothing else (candidates/store.h) */
};

enum candidate_row {
    CANDIDATE_NODES,
    CANDIDATE_MANAGED_CLUSTERS,
    CANDIDATE_KINDS,
};
extern const struct candidate_kind candidate_kinds[CANDIDATE_KINDS];
