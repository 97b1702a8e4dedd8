/*
 * What a TopologyPolicy's status says, and what it ought to say: one condition, Ready, with the
 * reason and the sentence that say why a policy cannot work.
 */
#pragma once

#include "base/arena.h"
#include "model/policy.h"

/* Of an object; strings are its text's or the arena's. Zeroed: it has none. */
struct policy_status {
    int64_t generation; /* the object's own, not the status's */
    int64_t observed;   /* status.observedGeneration */
    int64_t matched;    /* status.matched; -1: it has none */
    /* The condition Ready. */
    int64_t condition_observed;
    struct str ready, reason, message, since; /* "True", ...; RFC 3339 */
};

/* The reasons of the condition. docs/events.md lists them, and a test holds it against the table.
 */
enum policy_reason { POLICY_IN_FORCE, POLICY_CANNOT_WORK, POLICY_REASONS };
extern const struct policy_reason_row {
    const char *status; /* of the condition: "True", "False" */
    const char *name;   /* "InForce" */
    const char *when;   /* a sentence for the documents */
} policy_reasons[POLICY_REASONS];

/* What is not there, or not understood, is as if there were none. */
void policy_status_read(struct str object, struct arena *arena, struct policy_status *ret);

/* Does the status say what is to be said of this policy, but for the number of pods? */
bool policy_status_is_right(const struct policy_status *status, const struct policy *policy);

/*
 * Appends the merge patch that makes it right. `matched` is written too; -1: it stays what it is.
 * `now` is an RFC 3339 time, for conditions that change. Failure shows in the buffer.
 */
void policy_status_patch(const struct policy_status *status, const struct policy *policy,
                         int64_t matched, struct str now, struct strbuf *out);
