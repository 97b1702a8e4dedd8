/*
 * Decides about an object that is being created: the plugins of its kind run one after the other,
 * and the result is checked against the API server's rules. A plugin that fails adds a warning, and
 * its changes are discarded. Only a plugin can refuse an object.
 *
 * A kind is a const struct admitted_kind: its resource, its decoder and its plugins. All kinds are
 * in one table, admission/objects/objects.c.
 *
 * Mistakes in the object as it came are warnings, too (findings/findings.h), if the options ask for
 * them. They have memory and steps of their own, and change nothing else of the answer.
 *
 * All work for an object takes steps from one budget, LIMIT_REVIEW_STEPS, which the arena carries:
 * loops over the author's text check it. Once the budget is spent, all changes are discarded, and
 * the user is warned.
 *
 * Pure: writes nothing anywhere; equal questions have equal answers. Thread-safe if the objects
 * that the options point to are.
 */
#pragma once

#include "admission/patch.h"
#include "admission/review.h"
#include "findings/findings.h"

struct policy;

enum admission {
    ADMISSION_UNCHANGED, /* there was nothing to do */
    ADMISSION_PATCHED,
    ADMISSION_DENIED,
    ADMISSION_FAILED, /* a change was needed and could not be made: there is a warning; changes of
                         other plugins are in the patch */
};

/* Inputs of a review. A kind with more inputs has its own struct, which begins with this one. All
 * pointers are borrowed. */
struct admission_options {
    const struct policy *policies; /* sorted */
    uint32_t policy_count;
    bool annotate; /* note policy and plugins in the object itself, if its kind can annotate */
    bool finds;    /* warn of mistakes in the object */
    const struct admission_plugin *const *plugins; /* NULL: the kind's own plugins */
    uint32_t plugin_count;
};

/* The decoded object: every kind has its own struct, which begins with this one. Everything is
 * valid until the answer is written. */
struct admission_question {
    const struct review *review;
    const struct admission_options *options;
    struct arena *arena;
};

/* The result of one plugin. Zeroed: nothing to report. */
struct admission_outcome {
    struct str note; /* for the audit log: the change, or the reason why nothing changes */
    const struct str *warnings; /* for the user: requests that the plugin chose not to meet */
    uint32_t warning_count;
    int refused;      /* HTTP status of a denial: the object must not be created; 0: go on */
    struct str cause; /* the cause of a denial, for the user */
};

struct admission_plugin {
    const char *name; /* one word: key of an audit annotation, label of metrics */
    bool settled_too; /* also runs for objects about which there is nothing left to decide */
    /*
     * Sees the object as changed by the plugins before it, and adds its operations to the patch.
     * Returns 0, with or without operations. On failure (-EINVAL, -E2BIG, -ENOMEM) err has the
     * reason: its operations are taken back, the user is warned, and the next plugin runs. A second
     * run on its own result must add nothing. `ret` is zeroed. `question` has its kind's type.
     */
    int (*run)(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err);
};

struct admitted_kind {
    const char *name;                 /* "pods": name of its metrics, and end of its path */
    const char *object;               /* "the pod": the beginning of warnings */
    struct str group, resource, kind; /* "", "pods", "Pod" */
    const struct admission_plugin *const *plugins; /* in the order in which they run */
    uint32_t plugin_count;
    size_t question_size; /* size of the kind's own struct of a question */
    bool validates;       /* its plugins see objects as they will be stored, and change nothing */
    bool updates;         /* UPDATE is reviewed, too */
    /* Reads `object` into the question; the caller has set the question's head. After each plugin
     * that changed the object, it runs again, and replaces only members that come from the object.
     * Returns 0, -EINVAL or -ENOMEM. */
    int (*decode)(struct admission_question *question, struct str object, struct err *err);
    /* Finds the plugins' other inputs, once. Sets *ret_settled to a phrase, the reason why there is
     * nothing to decide, or to "". Adds notes to the answer. Returns 0 or -errno; after an error
     * the object stays as it is. */
    int (*prepare)(struct admission_question *question, struct review_answer *answer,
                   struct str *ret_settled, struct err *err);
    /* Checks that `before` may become `now`. Returns 0, or -EINVAL or -ENOMEM with the reason;
     * *ret_why is the beginning of the warning. */
    int (*check)(const struct admission_question *now, const struct admission_question *before,
                 const char **ret_why, struct err *err);
    /* Adds to a non-empty patch an annotation that explains it; may be NULL. Returns 0 or -ENOMEM.
     */
    int (*annotate)(const struct admission_question *question, const struct review_answer *answer,
                    struct patch *patch, struct err *err);
    /* Finds mistakes in the object, without looking at others; may be NULL. */
    void (*find)(const struct admission_question *question, struct findings *f);
    /* Takes back the plugins' counts after their changes were discarded; may be NULL. */
    void (*undone)(const struct admission_question *question);
};

/*
 * Reviews CREATE of objects of the kind, and UPDATE if kind->updates; all other reviews, those of
 * subresources included, are allowed unchanged. Initialises *patch, which holds the operations and
 * the patched object. All memory is the arena's.
 */
enum admission admit_object(const struct admitted_kind *kind,
                            const struct admission_options *options, const struct review *review,
                            struct arena *arena, struct patch *patch, struct review_answer *ret);
