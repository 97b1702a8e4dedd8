/*
 * Reads a TopologyPolicy's status and makes the right status: the conditions Ready (the policy is
 * well-formed), Effective (the cluster can satisfy it) and Shadowed (other policies leave it no
 * pods), the keys of its constraints, and the number of its pods.
 *
 * Server-side apply writes it, so the parts of other writers stay.
 */
#pragma once

#include "base/arena.h"
#include "model/policy.h"
#include "policy/outlook.h"

enum policy_condition { POLICY_READY, POLICY_EFFECTIVE, POLICY_SHADOWED, POLICY_CONDITIONS };

struct policy_condition_status {
    int64_t observed;                   /* generation */
    struct str status, reason, message; /* "True", ... */
    struct str since;                   /* RFC 3339 */
};

/* The status of an object; strings are borrowed from its text or the arena. Zeroed: no status. */
struct policy_status {
    struct str uid; /* uid and generation of the object; not members of its status */
    int64_t generation;
    int64_t observed; /* status.observedGeneration */
    int64_t matched;  /* status.matched, of the observed generation; -1: not there */
    struct policy_condition_status conditions[POLICY_CONDITIONS];
    struct str uneven; /* JSON; "": not there */
    struct str spread; /* "": not there */
};

/* The reasons of the conditions. docs/events.md lists them; a test compares it with the table. */
enum policy_reason {
    POLICY_IN_FORCE,
    POLICY_AUDITED,
    POLICY_CANNOT_WORK,
    POLICY_NODES_SUIT,
    POLICY_CLUSTERS_SUIT, /* only `check policy` uses this and the other reasons about clusters */
    POLICY_NO_NODE_HAS_KEY,
    POLICY_NO_CLUSTER_HAS_KEY,
    POLICY_TOO_FEW_DOMAINS,
    POLICY_SINGLE_DOMAIN,
    POLICY_NO_SUCH_OWNER_KIND,
    POLICY_NOT_READY,
    POLICY_NODES_NOT_KNOWN,
    POLICY_CLUSTERS_NOT_KNOWN,
    POLICY_NO_PODS,
    POLICY_NO_PLACEMENTS,
    POLICY_NOT_SHADOWED,
    POLICY_HIGHER_PRIORITY,
    POLICY_REASONS
};
extern const struct policy_reason_row {
    const char *type;   /* type of the condition: "Ready" */
    const char *status; /* "True", "False", "Unknown" */
    const char *name;   /* "InForce" */
    const char *when;   /* a sentence for the documents */
} policy_reasons[POLICY_REASONS];

/* Reads the status. A part that is missing or cannot be read counts as empty. */
void policy_status_read(struct str object, struct arena *arena, struct policy_status *ret);

/* Returns status.matched; -1: the status has no number, or it is of an earlier generation, when
 * `match` may have been different. */
int64_t policy_status_matched(const struct policy_status *status);

/* Has the policy had pods since its last change, as far as the status shows? */
bool policy_status_had_pods(const struct policy_status *status);

/* The right conditions: borrows from the policy, the prospect and the arena. */
struct policy_verdict {
    enum policy_reason reasons[POLICY_CONDITIONS];
    struct str messages[POLICY_CONDITIONS];
};
struct policy_verdict policy_verdict_on(const struct policy *policy,
                                        const struct policy_prospect *prospect,
                                        struct arena *arena);

/* Sets the condition Effective to Unknown if it is True for nodes and the policy has no running
 * pods. */
void policy_verdict_count(struct policy_verdict *verdict, int64_t pods);

/* Keeps the status's answer about nodes while the nodes are not known: a new process has not read
 * the nodes yet, but the earlier process had. */
void policy_verdict_keep(struct policy_verdict *verdict, const struct policy_status *status);

/* Does the status match the verdict, apart from all numbers, numbers in messages included? */
bool policy_status_is_right(const struct policy_status *status,
                            const struct policy_verdict *verdict);
/* Does the status match the verdict, numbers in messages included? */
bool policy_messages_are_right(const struct policy_status *status,
                               const struct policy_verdict *verdict);

/* Fields of the status that a CustomResourceDefinition of an earlier release does not declare. An
 * API server refuses the whole status if it has such a field. */
enum policy_status_field { POLICY_TOPOLOGY_KEYS, POLICY_UNEVEN, POLICY_SPREAD_TEXT, POLICY_FIELDS };
extern const char *const policy_status_fields[POLICY_FIELDS]; /* "spread" */

/* Returns, as bits, the fields that an API server's message about a refused status calls
 * undeclared. upstream: structured-merge-diff typed/validate.go, visitMapItems(); it names one at a
 * time */
uint32_t policy_status_undeclared(struct str message);

/* The parts of a status beside its conditions. */
struct policy_numbers {
    int64_t matched;     /* number of pods; -1: keep the old number if it is of this generation */
    struct str uneven;   /* JSON: see evenness/latest.h; "": keep the old text */
    uint32_t undeclared; /* bits of fields that are left out */
};

/* Appends the object to apply to make the status right. `now` is an RFC 3339 time, for conditions
 * that change. Failure shows in the buffer. */
void policy_status_write(const struct policy_status *status, const struct policy *policy,
                         const struct policy_verdict *verdict, const struct policy_numbers *numbers,
                         struct str now, struct strbuf *out);
/* Does the status lack the policy's keys, which `kubectl get` lists? Then an older Evenkeel has
 * written it. */
bool policy_status_lacks_keys(const struct policy_status *status, const struct policy *policy);
