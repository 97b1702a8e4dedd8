/*
 * What a TopologyPolicy's status says, and what it ought to say: the conditions Ready (the policy
 * is well-formed), Effective (the cluster can do what it asks for) and Shadowed (others leave it
 * nothing), the keys of its constraints, the pods that it is for, and what became of reviews.
 *
 * It is written by server-side apply, so what others write into the status stays.
 */
#pragma once

#include "base/arena.h"
#include "model/policy.h"
#include "policy/outlook.h"
#include "policy/tallies.h"

enum policy_condition { POLICY_READY, POLICY_EFFECTIVE, POLICY_SHADOWED, POLICY_CONDITIONS };

struct policy_condition_status {
    int64_t observed;                   /* generation */
    struct str status, reason, message; /* "True", ... */
    struct str since;                   /* RFC 3339 */
};

/* Of an object; strings are its text's or the arena's. Zeroed: it has none. */
struct policy_status {
    struct str uid; /* the object's own, not the status's, like the next */
    int64_t generation;
    int64_t observed; /* status.observedGeneration */
    int64_t matched;  /* status.matched; -1: it has none */
    struct policy_condition_status conditions[POLICY_CONDITIONS];
    struct str uneven;        /* JSON; "": it has none */
    struct str reviews;       /* JSON; "": it has none */
    struct str reviews_since; /* RFC 3339; of these */
};

/* The reasons of the conditions. docs/events.md lists them, and a test holds it against the table.
 */
enum policy_reason {
    POLICY_IN_FORCE,
    POLICY_AUDITED,
    POLICY_CANNOT_WORK,
    POLICY_NODES_SUIT,
    POLICY_NO_NODE_HAS_KEY,
    POLICY_TOO_FEW_DOMAINS,
    POLICY_NOT_READY,
    POLICY_NODES_NOT_KNOWN,
    POLICY_CLUSTERS_NOT_KNOWN,
    POLICY_NOT_SHADOWED,
    POLICY_HIGHER_PRIORITY,
    POLICY_REASONS
};
extern const struct policy_reason_row {
    const char *type;   /* of the condition: "Ready" */
    const char *status; /* "True", "False", "Unknown" */
    const char *name;   /* "InForce" */
    const char *when;   /* a sentence for the documents */
} policy_reasons[POLICY_REASONS];

/* What is not there, or not understood, is as if there were none. */
void policy_status_read(struct str object, struct arena *arena, struct policy_status *ret);

/* What the conditions are to say: borrows from the policy, the prospect and the arena. */
struct policy_verdict {
    enum policy_reason reasons[POLICY_CONDITIONS];
    struct str messages[POLICY_CONDITIONS];
};
struct policy_verdict policy_verdict_on(const struct policy *policy,
                                        const struct policy_prospect *prospect,
                                        struct arena *arena);

/* As long as nodes are not known, what the status says of them stays: a process that begins knows
 * less than the one before it. */
void policy_verdict_keep(struct policy_verdict *verdict, const struct policy_status *status);

/* Does the status say what is to be said of this policy, but for numbers? */
bool policy_status_is_right(const struct policy_status *status,
                            const struct policy_verdict *verdict);

/* The numbers. */
struct policy_numbers {
    int64_t matched;                  /* pods; -1: it stays what it is */
    struct str uneven;                /* JSON: see evenness/latest.h; "": likewise */
    const struct policy_tally *tally; /* of reviews since `since`; NULL: what is there stays */
    const char *const *skip_names;    /* [POLICY_SKIPS], of tally->skipped; NULL: there is none */
    const struct policy_evasion_row
        *evasions;    /* [POLICY_EVASIONS], of tally->evaded; may be NULL */
    struct str since; /* RFC 3339 */
};

/* Appends what is to be applied to make it right. `now` is an RFC 3339 time, for conditions that
 * change. Failure shows in the buffer. */
void policy_status_write(const struct policy_status *status, const struct policy *policy,
                         const struct policy_verdict *verdict, const struct policy_numbers *numbers,
                         struct str now, struct strbuf *out);
/* The part `reviews` of it alone, to compare. */
void policy_reviews_write(const struct policy_numbers *numbers, struct strbuf *out);
