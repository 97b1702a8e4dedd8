/*
 * The kinds of candidates: one const table of kinds whose objects have a name, labels and taints.
 * `evenkeel topology` and its lists (candidates/list.h) come from it.
 */
#pragma once

#include "model/kinds.h"

enum { CANDIDATE_KEYS = 3 };

struct candidate_kind {
    const char *name;  /* the plural name on the command line: "nodes" */
    enum kind_row row; /* row in the table of watched kinds; if the kind has several rows, the
                          watched one */
    const char *kinds; /* names of all kinds in the row, for people */
    /* Topology keys that a list shows by default; NULL ends a shorter list. */
    const char *keys[CANDIDATE_KEYS];
};

enum candidate_row {
    CANDIDATE_NODES,
    CANDIDATE_CLUSTERS,
    CANDIDATE_KINDS,
};
extern const struct candidate_kind candidate_kinds[CANDIDATE_KINDS];
