/*
 * AdmissionReview (admission.k8s.io/v1) as the API server sends it, and the answer to it. Member
 * names are exact here: unlike the extender's, they are not compared without case.
 *
 * Decoded reviews own nothing: strings live in the body or the arena.
 */
#pragma once

#include "admission/patch.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/labels.h"

struct review {
    struct str uid;             /* to be echoed */
    struct str group, resource; /* "", "pods" */
    struct str subresource;     /* "" for the object itself */
    struct str operation;       /* CREATE, UPDATE, DELETE, CONNECT */
    struct str namespace;       /* the object's own may be empty: this is the one */
    struct str object;          /* JSON as it came in; empty when there is none */
    struct str old_object;      /* of UPDATE and DELETE: likewise, as it is stored */
    struct str user;            /* who asks for it, as the API server knows; "": it does not say */
    bool dry_run;
};

/* 0; -EINVAL when this is no review that could be answered: err says what is wrong and where;
 * -ENOMEM. */
int review_decode(struct str body, struct arena *arena, struct review *ret,
                  struct err *err) MUST_CHECK;

enum { REVIEW_NOTES_MAX = 16 };

/* Zeroed it denies; strings are borrowed. */
struct review_answer {
    struct str uid;
    bool allowed;
    int code;                              /* of a denial: 400 and above */
    struct str message;                    /* of a denial */
    const struct patch *patch;             /* NULL, or without operations: nothing is changed */
    struct str warnings[REVIEW_NOTES_MAX]; /* shown to the user, failures first; what does not fit
                                              is cut */
    uint32_t warning_count;
    uint32_t failure_count;                     /* how many of them say what could not be done */
    struct label annotations[REVIEW_NOTES_MAX]; /* for the audit log; keys are one name each */
    uint32_t annotation_count;
    uint64_t steps;  /* that it took */
    bool gave_up;    /* it took more than LIMIT_REVIEW_STEPS: the object is as it came */
    char spare[200]; /* for a warning when there is no memory; an answer is not copied then */
};

/* What does not fit any more is dropped: these are for people. */
void review_warn(struct review_answer *answer, struct str warning);
/* A warning of what could not be done: the last of the others makes room for it. */
void review_fail(struct review_answer *answer, struct str warning);
void review_annotate(struct review_answer *answer, struct str key, struct str value);

/* Appends the AdmissionReview that answers. In what the user is shown, control characters become
 * '?'. 0 or -ENOMEM. */
int review_encode(const struct review_answer *answer, struct strbuf *out) MUST_CHECK;
