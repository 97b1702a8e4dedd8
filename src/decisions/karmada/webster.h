/*
 * Webster's method of dividing seats among parties by their votes (Sainte-Lague): each seat goes to
 * the party with the largest quotient votes / (2 x seats + 1). Replicas are the seats, clusters the
 * parties, and the room or the weight of a cluster its votes.
 * upstream: karmada pkg/util/helper webstermethod.go and binding.go (since v1.16).
 *
 * The result is the same as if seats were given one by one, but most of them are given at once (see
 * webster.c). Quotients are IEEE doubles, as upstream's, so that ties are the same. Upstream counts
 * 2 x seats + 1 in 32 bits, which wraps from 2^30 seats of one party on; here it does not.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct webster_party {
    struct str name;
    int64_t votes; /* below 0 counts as 0 */
    int64_t seats; /* before the call the old seats, not below 0; after it all seats */
};

/*
 * Gives out `seats` more seats. With equal quotients the party with fewer seats comes first, then
 * the first name (`descending`: the last name), then the first in the array. A party without votes
 * receives seats only if no party has votes. Without parties nothing is given. Takes some count x
 * log(count) steps of the arena, and memory for one number per party. Returns 0, -E2BIG (the steps
 * are spent) or -ENOMEM; after an error the parties must not be used.
 */
int webster_give_seats(struct webster_party *parties, uint32_t count, uint32_t seats,
                       bool descending, struct arena *arena, struct err *err) MUST_CHECK;

/* Does a workload with this uid break ties by descending names? Yes if its 32-bit FNV-1a hash is
 * odd, so that not all workloads of a fleet fill the same clusters first. "" does not. */
bool webster_descending(struct str uid);
