/*
 * What becomes of an object that is being created: the plugins of its kind run one after the other,
 * and the result is held against the API server's rules. What cannot be done is a warning, and the
 * object stays as it was. Objects are refused only where a plugin says so.
 *
 * A kind is a const struct admitted_kind: its resource, what decodes it, and its plugins. All kinds
 * are in one table, admission/objects/objects.c.
 *
 * All that is done for an object counts as steps of one budget, LIMIT_REVIEW_STEPS, which is the
 * arena's meanwhile: loops over what its author wrote look at it. Once it is spent the object stays
 * as it was, whatever had been done, with a warning.
 *
 * Pure: nothing is written anywhere, and the same question has the same answer. Thread-safe as far
 * as what the options point to is.
 */
#pragma once

#include "admission/patch.h"
#include "admission/review.h"

struct policy;

enum admission {
    ADMISSION_UNCHANGED, /* there was nothing to do */
    ADMISSION_PATCHED,
    ADMISSION_DENIED,
    ADMISSION_FAILED, /* something ought to have been done and could not be: there is a warning;
                         what other plugins did is in the patch */
};

/* What an answer goes by: a kind that goes by more has its own struct, which begins with this. All
 * of it is borrowed. */
struct admission_options {
    const struct policy *policies; /* sorted */
    uint32_t policy_count;
    bool annotate; /* the object itself says by what it was changed, where its kind can */
    const struct admission_plugin *const *plugins; /* instead of the kind's own; NULL: those */
    uint32_t plugin_count;
};

/* What is known of the object: every kind has its own struct, which begins with this. Everything is
 * valid until the answer is written. */
struct admission_question {
    const struct review *review;
    const struct admission_options *options;
    struct arena *arena;
};

/* What a plugin made of the object. Zeroed it has nothing to say. */
struct admission_outcome {
    struct str note;            /* what was done or why nothing was, for the audit log */
    const struct str *warnings; /* for the user: what was asked for and is not done, by choice */
    uint32_t warning_count;
    int refused;      /* HTTP status of a denial: the object must not be created; 0: go on */
    struct str cause; /* of a denial, for the user */
};

struct admission_plugin {
    const char *name; /* one word: key of an audit annotation, label of metrics */
    bool settled_too; /* also runs for objects about which there is nothing to decide any more */
    /*
     * Sees the object as the plugins before it leave it, and adds to the patch what it wants
     * changed. 0 and perhaps operations added. On failure (-EINVAL, -E2BIG, -ENOMEM) err says why:
     * what was added is taken back, the user is warned, and the next plugin runs. Running a second
     * time on its own result must add nothing. `ret` is zeroed. `question` is the one of its kind.
     */
    int (*run)(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err);
};

struct admitted_kind {
    const char *name;                 /* "pods": its metrics, and the end of its path */
    const char *object;               /* "the pod": the beginning of warnings */
    struct str group, resource, kind; /* "", "pods", "Pod" */
    const struct admission_plugin *const *plugins; /* in the order in which they run */
    uint32_t plugin_count;
    size_t question_size; /* of its own struct */
    bool validates;       /* it sees objects as they will be stored, and changes nothing */
    bool updates;         /* UPDATE is looked at, too */
    /* Reads `object` into the question, whose head is set; called again after every plugin that
     * changed something, and changes then only what is read from the object. 0, -EINVAL or -ENOMEM.
     */
    int (*decode)(struct admission_question *question, struct str object, struct err *err);
    /* Finds out what else plugins go by, once. *ret_settled: why there is nothing to decide, a
     * phrase, or "". Notes go into the answer. 0, or -errno: then the object stays as it is. */
    int (*prepare)(struct admission_question *question, struct review_answer *answer,
                   struct str *ret_settled, struct err *err);
    /* May the object be what it is now, and before was not? 0, or -EINVAL or -ENOMEM with the
     * reason; *ret_why is the beginning of the warning. */
    int (*check)(const struct admission_question *now, const struct admission_question *before,
                 const char **ret_why, struct err *err);
    /* Adds to a patch that changes something by what it was changed; may be NULL. 0 or -ENOMEM. */
    int (*annotate)(const struct admission_question *question, const struct review_answer *answer,
                    struct patch *patch, struct err *err);
    /* Whatever plugins counted as done was taken back; may be NULL. */
    void (*undone)(const struct admission_question *question);
};

/*
 * Only CREATE of objects of the kind themselves is looked at, and UPDATE if the kind says so; every
 * other review is answered as one that needs nothing. *patch is initialised here and holds, besides
 * the operations, the object as they leave it. All memory is the arena's.
 */
enum admission admit_object(const struct admitted_kind *kind,
                            const struct admission_options *options, const struct review *review,
                            struct arena *arena, struct patch *patch, struct review_answer *ret);
