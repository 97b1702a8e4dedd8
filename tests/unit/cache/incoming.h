/*
 * A cluster of the nodes "a", "b" and "x", and a pod that is to be scheduled into it. A test has
 * one at a time.
 */
#pragma once

#include "unit/cache/probe.h"

struct incoming {
    struct cluster c;
    struct selector foo; /* of pods with the label "foo" */
    struct pod pod;      /* which has it; UID "incoming" */
};

/* cmocka's, whose state becomes a struct incoming. */
int incoming_setup(void **state);
int incoming_teardown(void **state);
/* The watch shows the pod: on this node, "" for none. */
void incoming_seen(struct incoming *f, const char *node, bool finished, bool terminating);
