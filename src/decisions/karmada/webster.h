/*
 * Webster's method of dividing seats among parties by their votes (Sainte-Lague): each seat goes to
 * the party with the largest quotient votes / (2 x seats + 1). Replicas are the seats, clusters the
 * parties, and what a cluster can hold, or its weight, the votes.
 * upstream: karmada pkg/util/helper webstermethod.go and binding.go (since v1.16).
 *
 * The answer is that of giving seats one by one, whatever their number: most of them are given at
 * once (see webster.c). Quotients are IEEE doubles, as upstream's are, so that ties are the same
 * ones. Upstream counts 2 x seats + 1 in 32 bits, which wraps from 2^30 seats of one party on; here
 * it does not.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct webster_party {
    struct str name;
    int64_t votes; /* below 0 counts as 0 */
    int64_t seats; /* those it has already, not below 0; afterwards all that it has */
};

/*
 * Gives `seats` more. Of equal quotients the party with fewer seats is first, then the one whose
 * name is; `descending`: the one whose name is last; of equal names the one that stands first. A
 * party without votes receives seats only if nobody has any. With no party nothing is given.
 * Takes steps of the arena, some count x log(count) of them, and memory for a number a party.
 * 0, -E2BIG (the steps) or -ENOMEM; the parties must not be used then.
 */
int webster_give_seats(struct webster_party *parties, uint32_t count, uint32_t seats,
                       bool descending, struct arena *arena, struct err *err) MUST_CHECK;

/* Does a workload of this uid break ties by descending names? When its 32-bit FNV-1a hash is odd,
 * so that not all workloads of a fleet fill the same clusters first. "" does not. */
bool webster_descending(struct str uid);
