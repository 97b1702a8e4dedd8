/*
 * AdmissionReview (admission.k8s.io/v1) as the API server sends it, and the answer to it. Member
 * names are exact here: upper and lower case differ, unlike in the extender's requests.
 *
 * Decoded reviews own nothing: strings live in the body or the arena.
 */
#pragma once

#include "admission/patch.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "model/labels.h"

struct review {
    struct str uid;             /* the answer repeats it */
    struct str group, resource; /* "", "pods" */
    struct str subresource;     /* "" for the object itself */
    struct str operation;       /* CREATE, UPDATE, DELETE, CONNECT */
    struct str namespace;       /* the object's namespace; the object's own member may be empty */
    struct str object;          /* JSON as received; "" if absent */
    struct str old_object;      /* with UPDATE and DELETE: the stored object */
    struct str user;            /* the user who makes the request; "": not given */
    bool dry_run;
};

/* Returns 0; -EINVAL if the review cannot be answered, with the member and the reason in err;
 * -ENOMEM. */
int review_decode(struct str body, struct arena *arena, struct review *ret,
                  struct err *err) MUST_CHECK;

enum { REVIEW_NOTES_MAX = 16 };

/* Zeroed: a denial. Strings are borrowed. */
struct review_answer {
    struct str uid;
    bool allowed;
    int code;                              /* HTTP status of a denial: 400 and above */
    struct str message;                    /* reason of a denial */
    const struct patch *patch;             /* NULL, or without operations: no change */
    struct str warnings[REVIEW_NOTES_MAX]; /* for the user, failures first; long warnings are cut */
    uint32_t warning_count;
    uint32_t failure_count;                      /* number of failures among the warnings */
    struct str mistakes[LIMIT_FINDING_WARNINGS]; /* more warnings: findings about the object */
    uint32_t mistake_count;
    struct label annotations[REVIEW_NOTES_MAX]; /* annotations for the audit log; a key is a name
                                                   without a prefix */
    uint32_t annotation_count;
    uint64_t steps;  /* number of steps that the review took */
    bool gave_up;    /* the review took more than LIMIT_REVIEW_STEPS steps, so nothing is changed */
    char spare[200]; /* holds a warning if memory is short. `warnings` may point here, so do not
                        copy the struct */
};

/* Adds a warning. Warnings beyond REVIEW_NOTES_MAX are dropped: people read them. */
void review_warn(struct review_answer *answer, struct str warning);
/* Adds a warning of a failure: if there is no room, drops the last warning that is not of a
 * failure. */
void review_fail(struct review_answer *answer, struct str warning);
void review_annotate(struct review_answer *answer, struct str key, struct str value);

/* Appends the AdmissionReview with the answer. Control characters in texts for the user become '?'.
 * Returns 0 or -ENOMEM. */
int review_encode(const struct review_answer *answer, struct strbuf *out) MUST_CHECK;
