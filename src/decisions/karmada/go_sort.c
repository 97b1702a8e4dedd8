/*
 * Ranges are split by a pivot until they are short. A range remembers its last split. If the split
 * was lopsided, three items are exchanged with random ones to break the pattern; after log(count)
 * lopsided splits the range is sorted as a heap. If the split moved nothing, the range may be
 * sorted already, and a few repairs are tried. The random numbers start again for every range, from
 * its length, so they are always the same.
 *
 * Positions are indices of the whole array: the item left of a range, if there is one, was a pivot
 * and is not greater than any item of the range.
 */
#include "karmada/go_sort.h"

#include <stdbool.h>

enum {
    INSERTION_LENGTH = 12, /* up to this length: sorted by insertion */
    SHORT_LENGTH = 50,     /* below this length: the pivot is a median of three, and no pattern is
                              repaired */
    REPAIRS = 5,
    MEDIAN_SWAPS = 12, /* swaps of four medians if all their items are in descending order */
    STACK_RANGES = 32, /* ranges that wait; each is at least twice as long as the next */
};

struct range {
    uint32_t begin, end;
    uint32_t budget;          /* number of lopsided splits before the range is sorted as a heap */
    bool balanced, untouched; /* results of the last split */
};

enum guess { ANY_ORDER, SORTED, REVERSED };

static bool comes_first(const struct go_sorted *items, uint32_t a, uint32_t b) {
    return items[a].key > items[b].key;
}

static void exchange(struct go_sorted *items, uint32_t a, uint32_t b) {
    const struct go_sorted kept = items[a];
    items[a] = items[b];
    items[b] = kept;
}

static uint32_t bit_length(uint32_t n) {
    return n == 0 ? 0 : 32 - (uint32_t)__builtin_clz(n);
}

/* ---- short and hopeless ranges ---- */

/* Moves an item to the left, past all items that it comes before, but not beyond `begin`. */
static void move_left(struct go_sorted *items, uint32_t begin, uint32_t at) {
    for (; at > begin && comes_first(items, at, at - 1); at--)
        exchange(items, at, at - 1);
}

static void sort_by_insertion(struct go_sorted *items, const struct range *r) {
    for (uint32_t i = r->begin + 1; i < r->end; i++)
        move_left(items, r->begin, i);
}

/* Restores a heap below `root`. `items` is the heap; its top is the item that comes last in the
 * order. */
static void sift_down(struct go_sorted *items, uint32_t root, uint32_t count) {
    uint64_t child;
    while ((child = 2 * (uint64_t)root + 1) < count) {
        uint32_t last = (uint32_t)child;
        if (child + 1 < count && comes_first(items, last, last + 1))
            last++;
        if (!comes_first(items, root, last))
            return;
        exchange(items, root, last);
        root = last;
    }
}

static void sort_as_heap(struct go_sorted *items, const struct range *r) {
    struct go_sorted *heap = items + r->begin;
    const uint32_t count = r->end - r->begin;
    for (uint32_t i = (count - 1) / 2 + 1; i > 0; i--)
        sift_down(heap, i - 1, count);
    for (uint32_t i = count; i > 0; i--) {
        exchange(heap, 0, i - 1);
        sift_down(heap, 0, i - 1);
    }
}

/* ---- the pivot ---- */

/* Puts two positions in the order of their items. */
static void order_two(const struct go_sorted *items, uint32_t *a, uint32_t *b, uint32_t *swaps) {
    if (!comes_first(items, *b, *a))
        return;
    const uint32_t kept = *a;
    *a = *b;
    *b = kept;
    ++*swaps;
}

static uint32_t median(const struct go_sorted *items, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t *swaps) {
    order_two(items, &a, &b, swaps);
    order_two(items, &b, &c, swaps);
    order_two(items, &a, &b, swaps);
    return b;
}

static uint32_t median_around(const struct go_sorted *items, uint32_t at, uint32_t *swaps) {
    return median(items, at - 1, at, at + 1, swaps);
}

/* Picks the pivot from items at the quarters of the range. The number of swaps shows the order of
 * the items. */
static uint32_t choose_pivot(const struct go_sorted *items, const struct range *r,
                             enum guess *ret_guess) {
    const uint32_t length = r->end - r->begin, quarter = length / 4;
    uint32_t a = r->begin + quarter, b = a + quarter, c = b + quarter, swaps = 0;
    if (length >= SHORT_LENGTH) {
        a = median_around(items, a, &swaps);
        b = median_around(items, b, &swaps);
        c = median_around(items, c, &swaps);
    }
    b = median(items, a, b, c, &swaps);
    *ret_guess = swaps == 0 ? SORTED : swaps == MEDIAN_SWAPS ? REVERSED : ANY_ORDER;
    return b;
}

static void reverse(struct go_sorted *items, const struct range *r) {
    for (uint32_t a = r->begin, b = r->end - 1; a < b; a++, b--)
        exchange(items, a, b);
}

/* Exchanges the three items in the middle with random ones. */
static void break_pattern(struct go_sorted *items, const struct range *r) {
    const uint32_t length = r->end - r->begin;
    const uint32_t first = r->begin + length / 4 * 2 - 1;
    const uint64_t mask = (UINT64_C(1) << bit_length(length)) - 1;
    uint64_t random = length;
    for (uint32_t i = 0; i < 3; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t other = random & mask;
        if (other >= length)
            other -= length;
        exchange(items, first + i, r->begin + (uint32_t)other);
    }
}

/* ---- splitting ---- */

/* Is the range in order, after a few repairs? */
static bool repair(struct go_sorted *items, const struct range *r) {
    uint32_t at = r->begin + 1;
    for (uint32_t n = 0; n < REPAIRS; n++) {
        while (at < r->end && !comes_first(items, at, at - 1))
            at++;
        if (at == r->end)
            return true;
        if (r->end - r->begin < SHORT_LENGTH)
            return false;
        exchange(items, at, at - 1);
        move_left(items, r->begin, at - 1);
        for (uint32_t i = at + 1; i < r->end && comes_first(items, i, i - 1); i++)
            exchange(items, i, i - 1);
    }
    return false;
}

/* For a pivot that comes after no item of the range: moves equal items to the left. Returns the
 * position of the first item that is not equal. */
static uint32_t split_equal(struct go_sorted *items, const struct range *r, uint32_t pivot) {
    uint32_t low = r->begin + 1, high = r->end; /* high: position after the last unread item */
    exchange(items, r->begin, pivot);
    while (true) {
        while (low < high && !comes_first(items, r->begin, low))
            low++;
        while (low < high && comes_first(items, r->begin, high - 1))
            high--;
        if (low >= high)
            return low;
        exchange(items, low++, --high);
    }
}

/* Moves items that come before the pivot to its left. Returns the pivot's position; *ret_untouched:
 * only the pivot was moved. */
static uint32_t split(struct go_sorted *items, const struct range *r, uint32_t pivot,
                      bool *ret_untouched) {
    uint32_t low = r->begin + 1, high = r->end;
    exchange(items, r->begin, pivot);
    *ret_untouched = true;
    while (true) {
        while (low < high && comes_first(items, low, r->begin))
            low++;
        while (low < high && !comes_first(items, high - 1, r->begin))
            high--;
        if (low >= high)
            break;
        exchange(items, low++, --high);
        *ret_untouched = false;
    }
    exchange(items, high - 1, r->begin);
    return high - 1;
}

/* Splits a range in two. Returns the shorter part, and keeps the longer one in *r. */
static struct range part(struct go_sorted *items, struct range *r, uint32_t pivot) {
    const uint32_t length = r->end - r->begin;
    pivot = split(items, r, pivot, &r->untouched);
    const uint32_t before = pivot - r->begin, after = r->end - pivot; /* after: with the pivot */
    const bool left_is_shorter = before < after;
    struct range shorter = *r;
    r->balanced = (left_is_shorter ? before : after) >= length / 8;
    if (left_is_shorter) {
        shorter.end = pivot;
        r->begin = pivot + 1;
    } else {
        shorter.begin = pivot + 1;
        r->end = pivot;
    }
    shorter.balanced = shorter.untouched = true;
    return shorter;
}

/* Does one step on a range. Returns false if the range is sorted. Returns true if it is shorter
 * now; then *ret_other, which may be empty, must be sorted, too. */
static bool work_on(struct go_sorted *items, struct range *r, struct range *ret_other) {
    enum guess guess;
    *ret_other = (struct range){0};
    if (r->end - r->begin <= INSERTION_LENGTH) {
        sort_by_insertion(items, r);
        return false;
    }
    if (r->budget == 0) {
        sort_as_heap(items, r);
        return false;
    }
    if (!r->balanced) {
        break_pattern(items, r);
        r->budget--;
    }
    uint32_t pivot = choose_pivot(items, r, &guess);
    if (guess == REVERSED) {
        reverse(items, r);
        pivot = r->end - 1 - (pivot - r->begin);
    }
    if (r->balanced && r->untouched && guess != ANY_ORDER && repair(items, r))
        return false;
    if (r->begin > 0 && !comes_first(items, r->begin - 1, pivot))
        r->begin = split_equal(items, r, pivot);
    else
        *ret_other = part(items, r, pivot);
    return true;
}

/* Sorts the shorter part first, so that each range on the stack is at most half the one below. */
void go_sort_descending(struct go_sorted *items, uint32_t count) {
    struct range stack[STACK_RANGES + 1];
    uint32_t depth = 1;
    stack[0] = (struct range){
        .end = count, .budget = bit_length(count), .balanced = true, .untouched = true};
    while (depth > 0) {
        struct range other;
        if (!work_on(items, &stack[depth - 1], &other))
            depth--;
        else if (other.end > other.begin)
            stack[depth++] = other;
    }
}
