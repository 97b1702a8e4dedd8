#include "karmada/divide.h"

#include "base/hash.h"
#include "karmada/webster.h"

#include <stdlib.h>

bool divide_take_names(struct steps *steps, uint64_t count, uint64_t bytes) {
    const uint64_t times = count < 2 ? 1 : 64 - (unsigned)__builtin_clzll(count);
    return steps_take_sort(steps, count) && steps_take_bytes(steps, bytes * times);
}

static bool has_name(const void *ctx, uint32_t id, const void *key) {
    const struct karmada_candidate *candidates = ctx;
    const struct str *name = key;
    return str_eq(candidates[id].cluster.name, *name);
}

static uint32_t find(const struct assigner *a, struct str name, uint64_t hash) {
    (void)steps_take_bytes(&a->arena->steps, name.n); /* the callers check the steps */
    return hashmap_find(&a->names, hash, has_name, a->candidates, &name);
}

uint32_t divide_find(const struct assigner *a, struct str name) {
    return find(a, name, hash_str(name));
}

int divide_index_names(struct assigner *a, struct err *err) {
    uint32_t *first = arena_array_unset(a->arena, a->candidate_count, sizeof *first);
    if (first == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        const struct str name = a->candidates[i].cluster.name;
        const uint64_t hash = hash_str(name);
        first[i] = find(a, name, hash);
        if (steps_spent(&a->arena->steps) || hashmap_reserve(&a->names) != 0)
            return divide_fail(a, err);
        if (first[i] == HASHMAP_NONE) {
            hashmap_insert(&a->names, hash, i);
            first[i] = i;
        }
    }
    a->first = first;
    return 0;
}

int divide_duplicated(struct assigner *a, const struct tier *tier, struct err *err) {
    (void)err; /* nothing fails, so `err` is not used */
    for (uint32_t i = 0; i < tier->count; i++)
        a->given[tier->members[i]] = tier->replicas;
    return 0;
}

static int64_t weight_of(const struct share *s) {
    return s->weight > 0 ? s->weight : 0;
}

/* ---- Webster's method ---- */

static int divide_by_webster(struct assigner *a, const struct share *shares, uint32_t count,
                             int64_t replicas, struct err *err) {
    struct webster_party *parties = arena_array_unset(a->arena, count, sizeof *parties);
    if (parties == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < count; i++)
        parties[i] = (struct webster_party){.name = a->candidates[shares[i].candidate].cluster.name,
                                            .votes = weight_of(&shares[i])};
    const int r =
        webster_give_seats(parties, count, (uint32_t)replicas, a->descending, a->arena, err);
    for (uint32_t i = 0; r == 0 && i < count; i++)
        a->given[shares[i].candidate] += parties[i].seats;
    return r;
}

/* ---- before v1.16 ---- */

__extension__ typedef __int128 wide;

static int compare_shares(const void *a, const void *b, void *ctx) {
    const struct share *x = a, *y = b;
    const struct assigner *assigner = ctx;
    if (weight_of(x) != weight_of(y))
        return weight_of(x) > weight_of(y) ? -1 : 1;
    if (x->previous != y->previous)
        return x->previous > y->previous ? -1 : 1;
    return str_cmp(assigner->candidates[x->candidate].cluster.name,
                   assigner->candidates[y->candidate].cluster.name);
}

/*
 * Gives each cluster the whole part of its share, and one more replica to the heaviest clusters
 * until no replica is left. Upstream drew lots if weight and replicas of today were equal; here the
 * first name wins. upstream: Dispenser.TakeByWeight()
 */
static int divide_by_remainder(struct assigner *a, const struct share *shares, uint32_t count,
                               int64_t replicas, struct err *err) {
    struct share *sorted = arena_array_unset(a->arena, count, sizeof *sorted);
    uint64_t bytes = 0;
    wide sum = 0;
    if (sorted == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = shares[i];
        sum += weight_of(&shares[i]);
        bytes += a->candidates[shares[i].candidate].cluster.name.n;
    }
    if (!divide_take_names(&a->arena->steps, count, bytes))
        return divide_fail(a, err);
    qsort_r(sorted, count, sizeof *sorted, compare_shares, a);
    int64_t remaining = replicas;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t whole = (int64_t)((wide)weight_of(&sorted[i]) * replicas / sum);
        a->given[sorted[i].candidate] += whole;
        remaining -= whole;
    }
    /* `remaining` is less than the number of shares */
    for (uint32_t i = 0; remaining > 0; i++, remaining--)
        a->given[sorted[i].candidate]++;
    return 0;
}

int divide_by_weight(struct assigner *a, const struct share *shares, uint32_t count,
                     int64_t replicas, struct err *err) {
    bool weighted = false;
    for (uint32_t i = 0; i < count; i++)
        weighted = weighted || shares[i].weight > 0;
    if (!weighted)
        return 0;
    return a->method == DIVISION_REMAINDER ? divide_by_remainder(a, shares, count, replicas, err)
                                           : divide_by_webster(a, shares, count, replicas, err);
}
