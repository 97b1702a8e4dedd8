/*
 * Answers of the extender that are errors. kube-scheduler gets filter's and bind's inside an answer
 * with status 200, and passes over prioritize's without a word, so here they are counted and
 * logged: evenkeel_extender_errors_total{verb,reason}.
 */
#pragma once

#include "model/object.h"

enum extender_error {
    EXTENDER_MALFORMED,     /* the request cannot be decoded */
    EXTENDER_NO_MEMORY,     /* the request cannot even be read, or its binding be begun */
    EXTENDER_UNREADY,       /* the first sync has not ended */
    EXTENDER_BAD_POD,       /* the pod's own constraints cannot be judged */
    EXTENDER_UNVERIFIED,    /* who wants to bind has shown no client certificate */
    EXTENDER_NO_API_SERVER, /* there is none to bind with */
    EXTENDER_NOT_BOUND,     /* the API server refused the binding, or it came to no try */
    EXTENDER_UNKNOWN,       /* nobody knows whether the pod is bound */
    EXTENDER_ERRORS,
};

/* Registers, or takes out, the metric. */
void extender_errors_start(void);
void extender_errors_stop(void);

/* `verb`: a name of extender_verbs. */
void extender_count_error(const char *verb, enum extender_error why);
/* The same, with a line in the log. `pod`: NULL if the request could not be read so far. */
void extender_note_error(const char *verb, enum extender_error why, const struct object_meta *pod,
                         const char *text);
