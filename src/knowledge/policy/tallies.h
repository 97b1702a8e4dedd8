/*
 * Remembers, by policy name, the ways in which pods have made a policy impossible since the last
 * question. Events report them; metrics have the numbers. At most LIMIT_POLICIES names are kept;
 * further policies are left out.
 *
 * Thread-safe.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { POLICY_EVASIONS = 16 }; /* the most numbers of evasions */

struct policy_tallies;

/* NULL when out of memory; free takes NULL. */
struct policy_tallies *policy_tallies_new(void);
void policy_tallies_free(struct policy_tallies *t);

/* The ways in which pods make a policy impossible: a row for each number of an evasion. */
struct policy_evasion_row {
    const char *name; /* the reason, "GroupOfOne"; NULL: no such number */
    const char *note; /* for people */
    bool denies;      /* with mode Require the pod is denied; false: it is not the pod's fault */
};

/* Notes an evasion; its number is below POLICY_EVASIONS. */
void policy_tallies_add(struct policy_tallies *t, struct str name, uint32_t evasion);
/* Returns, as bits, the evasions since the last call. */
uint32_t policy_tallies_take_evaded(struct policy_tallies *t, struct str name);
