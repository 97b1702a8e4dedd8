/*
 * Answers of the extender that are errors. The errors of filter and bind are inside an answer with
 * status 200, and kube-scheduler ignores those of prioritize silently. So they are counted and
 * logged here: evenkeel_extender_errors_total{verb,reason}.
 */
#pragma once

#include "model/object.h"

enum extender_error {
    EXTENDER_MALFORMED,     /* the request cannot be decoded */
    EXTENDER_NO_MEMORY,     /* no memory to read the request, or to begin the binding */
    EXTENDER_UNREADY,       /* the first sync has not ended */
    EXTENDER_BAD_POD,       /* the pod's own constraints are not valid */
    EXTENDER_UNVERIFIED,    /* the caller of bind has shown no client certificate */
    EXTENDER_NO_API_SERVER, /* there is no API server to bind with */
    EXTENDER_NOT_BOUND,     /* the API server refused the binding, or was not asked */
    EXTENDER_UNKNOWN,       /* it is not known whether the pod is bound */
    EXTENDER_ERRORS,
};

/* Register and unregister the metric. */
void extender_errors_start(void);
void extender_errors_stop(void);

/* Counts an error. `verb` is a name of extender_verbs. */
void extender_count_error(const char *verb, enum extender_error why);
/* Counts and logs an error. `pod` is NULL if the request could not be read that far. */
void extender_note_error(const char *verb, enum extender_error why, const struct object_meta *pod,
                         const char *text);
