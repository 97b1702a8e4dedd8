/*
 * Mistakes of each kind: a function makes one at a random place of a drawn file, and adds the
 * findings that must follow.
 */
#pragma once

#include "unit/findings/drawn.h"

struct mistake {
    const char *name;
    enum finding_code code; /* the code of the first expected finding */
    unsigned subjects;      /* bits 1 << enum drawn_subject */
    bool with_state;        /* the file always has a state */
    void (*make)(struct drawn *d);
};
enum {
    OF_WORKLOADS = 1 << SUBJECT_WORKLOAD,
    OF_PLACEMENTS = 1 << SUBJECT_PLACEMENT,
    OF_BINDINGS = 1 << SUBJECT_BINDING | 1 << SUBJECT_PROPAGATION,
    OF_POLICIES = 1 << SUBJECT_POLICY,
};

/* A row without a name ends each table. */
extern const struct mistake mistakes_of_fields[], mistakes_of_pods[], mistakes_of_nodes[],
    mistakes_of_placements[], mistakes_of_bindings[];
