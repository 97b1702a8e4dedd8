/*
 * A party's quotients for its first, second, ... seat only fall, and any two of them differ: by at
 * least 2 in 2^33, and a double resolves 1 in 2^52. So giving seats one by one is a merge of sorted
 * lists: all pairs (party, seat) are in the order "larger quotient, fewer seats, name", and the
 * first `seats` pairs are given.
 *
 * All seats with a quotient of at least some bound are a beginning of that order. If they are not
 * more than the seats to give, all of them can be given at once: this is the jump. A bound is
 * tried, its seats are counted exactly, with the same doubles, and the bound is used only if the
 * seats are not too many. With V votes in all, a bound of V / (2 x seats - parties) is reached by
 * at most `seats` and at least `seats` - parties seats; so the first try is nearly always taken.
 * The remaining seats are given one by one, from a heap.
 */
#include "karmada/webster.h"

#include <errno.h>

bool webster_descending(struct str uid) {
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < uid.n; i++)
        hash = (hash ^ (unsigned char)uid.p[i]) * 0x01000193u;
    return uid.n > 0 && (hash & 1) == 1;
}

/* The bid of one party for its next seat. */
struct bid {
    double quotient;
    uint32_t party;
};

struct division {
    struct webster_party *parties;
    struct bid *heap;
    uint32_t count; /* size of the heap: parties that can receive a seat */
    bool nobody_has_votes;
    bool descending;
    struct steps *steps;
};

/* Returns the party's votes; without any votes every party has one, so that only seats decide. */
static double votes_of(const struct division *d, uint32_t party) {
    return d->nobody_has_votes ? 1.0 : (double)d->parties[party].votes;
}

static double quotient_of(double votes, int64_t seats) {
    return votes / (double)(2 * seats + 1);
}

/* ---- the jump ---- */

/* More seats than any party has; 2 x seats + 1 is exact as a double. */
static const int64_t most_seats = INT64_C(1) << 40;

/* Returns the number of seats of a party that have a quotient of at least `bound`. The estimate is
 * only wrong by the rounding of two divisions. */
static int64_t seats_from(double votes, double bound) {
    const double estimate = (votes / bound + 1) / 2;
    if (estimate >= (double)most_seats)
        return most_seats;
    int64_t seats = (int64_t)estimate;
    while (seats > 0 && quotient_of(votes, seats - 1) < bound)
        seats--;
    while (quotient_of(votes, seats) >= bound)
        seats++;
    return seats;
}

/* Counts the seats that have a quotient of at least `bound` and are not given yet; stops above
 * `most`. */
static int64_t seats_to_give(struct division *d, double bound, int64_t most) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < d->count && sum <= most; i++) {
        const uint32_t party = d->heap[i].party;
        const int64_t seats = seats_from(votes_of(d, party), bound);
        const int64_t had = d->parties[party].seats;
        sum += seats > had ? seats - had : 0;
        (void)steps_take(d->steps, 2); /* the steps are checked after the pass */
    }
    return sum;
}

static void give_from(struct division *d, double bound) {
    for (uint32_t i = 0; i < d->count; i++) {
        const uint32_t party = d->heap[i].party;
        const int64_t seats = seats_from(votes_of(d, party), bound);
        if (seats > d->parties[party].seats)
            d->parties[party].seats = seats;
    }
}

/* Returns the double half-way between two positive ones, in the order of their bits. */
static double between(double low, double high) {
    uint64_t a, b;
    memcpy(&a, &low, sizeof a);
    memcpy(&b, &high, sizeof b);
    a += (b - a) / 2;
    memcpy(&low, &a, sizeof low);
    return low;
}

/*
 * Returns the bound to try first. It is a little above the bound that is described at the top of
 * this file, so that rounding does not make it too low.
 */
static double first_bound(const struct division *d, int64_t seats) {
    double all_seats = (double)seats;
    __extension__ __int128 votes = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        all_seats += (double)d->parties[d->heap[i].party].seats;
        votes += d->nobody_has_votes ? 1 : d->parties[d->heap[i].party].votes;
    }
    return (double)votes / (2 * all_seats - d->count) * (1 + 0x1p-40);
}

/*
 * Gives as many seats at once as possible. Returns the number of seats that remain: at most about
 * two per party. If parties had seats before, the first bound may be too low or far too high; then
 * the function bisects between the largest bound that was too low and the smallest bound that was
 * not.
 */
static int64_t jump(struct division *d, int64_t seats) {
    double low = 0, high = 0x1p63 * 2, bound = first_bound(d, seats);
    int64_t given = 0;
    while (!steps_spent(d->steps) && seats - given > 2 * (int64_t)d->count && bound > low &&
           bound < high) {
        const int64_t sum = seats_to_give(d, bound, seats);
        if (sum <= seats) {
            high = bound;
            given = sum;
        } else
            low = bound;
        bound = between(low, high);
    }
    if (given > 0 && !steps_spent(d->steps))
        give_from(d, high);
    return seats - given;
}

/* ---- one by one ---- */

static bool is_before(const struct division *d, const struct bid *a, const struct bid *b) {
    if (a->quotient != b->quotient)
        return a->quotient > b->quotient;
    const struct webster_party *x = &d->parties[a->party], *y = &d->parties[b->party];
    if (x->seats != y->seats)
        return x->seats < y->seats;
    (void)steps_take_bytes(d->steps, x->name.n < y->name.n ? x->name.n : y->name.n);
    const int by_name = str_cmp(x->name, y->name);
    if (by_name != 0)
        return d->descending ? by_name > 0 : by_name < 0;
    return a->party < b->party;
}

static void sift_down(struct division *d, uint32_t at) {
    const struct bid bid = d->heap[at];
    uint64_t child;
    while ((child = 2 * (uint64_t)at + 1) < d->count) {
        if (child + 1 < d->count && is_before(d, &d->heap[child + 1], &d->heap[child]))
            child++;
        (void)steps_take(d->steps, 2); /* the steps are checked for each seat */
        if (!is_before(d, &d->heap[child], &bid))
            break;
        d->heap[at] = d->heap[child];
        at = (uint32_t)child;
    }
    d->heap[at] = bid;
}

static void price_first(struct division *d, uint32_t at) {
    const uint32_t party = d->heap[at].party;
    d->heap[at].quotient = quotient_of(votes_of(d, party), d->parties[party].seats);
}

static void give_one_by_one(struct division *d, int64_t seats) {
    for (uint32_t i = 0; i < d->count; i++)
        price_first(d, i);
    for (uint32_t i = d->count / 2; i > 0 && !steps_spent(d->steps); i--)
        sift_down(d, i - 1);
    for (; seats > 0 && !steps_spent(d->steps); seats--) {
        d->parties[d->heap[0].party].seats++;
        price_first(d, 0);
        sift_down(d, 0);
    }
}

/* Finds the parties that can receive a seat. */
static void find_bidders(struct division *d, uint32_t count) {
    d->nobody_has_votes = true;
    for (uint32_t i = 0; i < count; i++)
        d->nobody_has_votes = d->nobody_has_votes && d->parties[i].votes <= 0;
    for (uint32_t i = 0; i < count; i++)
        if (d->nobody_has_votes || d->parties[i].votes > 0)
            d->heap[d->count++].party = i;
}

int webster_give_seats(struct webster_party *parties, uint32_t count, uint32_t seats,
                       bool descending, struct arena *arena, struct err *err) {
    struct division d = {.parties = parties, .descending = descending, .steps = &arena->steps};
    if (count == 0 || seats == 0)
        return 0;
    if (!steps_take(d.steps, count))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    d.heap = arena_array_unset(arena, count, sizeof *d.heap);
    if (d.heap == NULL)
        return err_set(err, -ENOMEM, "out of memory");
    find_bidders(&d, count);
    give_one_by_one(&d, seats > count ? jump(&d, seats) : seats);
    if (steps_spent(d.steps))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    return 0;
}
