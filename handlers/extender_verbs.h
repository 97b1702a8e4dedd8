/*
 * What the extender serves, once: the daemon's routes, the help of `evenkeel serve` and `evenkeel
 * check kube-scheduler-config` all read this table, and a test holds the documents against it.
 */
#pragma once

#include "http/http.h"

#define EXTENDER_PATH "/extender/v1" /* every verb is a name below it */

enum {
    EXTENDER_FILTER,
    EXTENDER_PRIORITIZE,
    EXTENDER_COMPLEMENT,
    EXTENDER_PREEMPT,
    EXTENDER_BIND,
    EXTENDER_VERBS
};

/* kube-scheduler calls urlPrefix + "/" + what an extender's entry of its configuration has in the
 * verb's field. Several verbs may be for one field; the first of them is what `check` advises. */
struct extender_verb {
    const char *name;  /* "filter"; also the verb in metrics */
    const char *path;  /* "/extender/v1/filter" */
    const char *field; /* "filterVerb" */
    const char *about; /* what kube-scheduler asks with it; for the help */
    http_handler_fn *handle;
};

extern const struct extender_verb extender_verbs[EXTENDER_VERBS];
