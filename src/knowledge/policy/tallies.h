/*
 * Counts the results of reviews since this process began, for each policy by its name. At most
 * LIMIT_POLICIES names are kept; further policies are not counted.
 *
 * Thread-safe.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { POLICY_SKIPS = 24, POLICY_EVASIONS = 16 }; /* reasons at most */

struct policy_tally {
    uint64_t injected, softened; /* constraints; a softened one does not count as injected */
    uint64_t skipped[POLICY_SKIPS];
    uint64_t evaded[POLICY_EVASIONS]; /* pods, by the reason why the policy is impossible */
};

struct policy_tallies;

/* NULL when out of memory; free takes NULL. */
struct policy_tallies *policy_tallies_new(void);
void policy_tallies_free(struct policy_tallies *t);

/* The ways in which pods make a policy impossible: a row for each number of policy_tally.evaded. */
struct policy_evasion_row {
    const char *name; /* the reason, "GroupOfOne"; NULL: no such number */
    const char *note; /* for people */
    bool denies;      /* with mode Require; false: it is not the pod's fault */
};

void policy_tallies_add(struct policy_tallies *t, struct str name, const struct policy_tally *add);
/* Returns zeroes for an unknown name. */
struct policy_tally policy_tallies_of(struct policy_tallies *t, struct str name);
/* Returns, as bits, the numbers of policy_tally.evaded that have grown since the last call. */
uint32_t policy_tallies_take_evaded(struct policy_tallies *t, struct str name);
