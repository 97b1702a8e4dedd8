/*
 * A cluster with the nodes "a", "b" and "x", and a pod that must be scheduled. A test has one such
 * struct at a time.
 */
#pragma once

#include "unit/cache/probe.h"

struct incoming {
    struct cluster c;
    struct selector foo; /* selects pods with the label "foo" */
    struct pod pod;      /* has the label "foo" and the UID "incoming" */
};

/* Functions for cmocka; *state becomes a struct incoming. */
int incoming_setup(void **state);
int incoming_teardown(void **state);
/* The watch shows the pod on this node ("": on no node). */
void incoming_seen(struct incoming *f, const char *node, bool finished, bool terminating);
