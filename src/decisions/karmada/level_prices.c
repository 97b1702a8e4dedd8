/*
 * Finds prices. They give an upper bound for the replicas below a choice that uses all limits
 * together.
 *
 * Each cluster and each group of a lower level has a price, which is subtracted from its replicas;
 * the largest allowed number of each is added back, times its price. A price below zero makes
 * groups attractive if at least some number of them is required; that number, times the price, is
 * added, too. For any prices the sum is at least the replicas of any choice within the limits (a
 * Lagrangian relaxation), and it is a sum over groups. The value of a group is the sum over its
 * clusters, or its child groups, that are worth more than their price; at least one of them counts.
 * The prices are chosen to make the bound at the root small, by bisection for one price after the
 * other.
 *
 * If a cluster is in several groups, it would be priced several times; then clusters have no price.
 */
#include "karmada/levels_internal.h"

#include <stdlib.h>

enum {
    PRICE_ROUNDS = 6,
    PRICED_LEVELS = 6,      /* the last levels with a limit, but not the first level */
    PRICE_VISITS = 4000000, /* visits of groups: some 20 ms */
};

static int compare_descending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

/* Returns the value of a group of the last level: of its clusters that are worth their price. */
static int64_t price_clusters(const struct level_node *node, int64_t price) {
    uint32_t low = 1, high = node->sum_count; /* the last cluster that is worth its price is in
                                                 [low, high] */
    while (low < high) {
        const uint32_t mid = low + (high - low + 1) / 2;
        if (node->sums[mid] - node->sums[mid - 1] > price)
            low = mid;
        else
            high = mid - 1;
    }
    return node->sums[low] - price * low;
}

static int64_t price_children(const struct search_level *below, const struct level_node *node) {
    int64_t sum = 0, best = INT64_MIN;
    for (uint32_t c = 0; c < node->child_count; c++) {
        const struct level_node *child = &below->nodes[below->by_parent[node->first_child + c]];
        if (!child->usable)
            continue;
        const int64_t net = child->priced - below->price;
        sum += net > 0 ? net : 0;
        best = net > best ? net : best;
    }
    return best < 0 ? best : sum;
}

/* Computes the value of every group, and the sums that are added back below each level. Returns the
 * number of visited groups. */
static uint64_t value_groups(struct level_search *s) {
    uint64_t visits = 0;
    int64_t base = s->cluster_price == 0 ? 0 : s->cluster_price * s->cluster_max;
    for (uint32_t i = s->depth; i-- > 0;) {
        struct search_level *l = &s->levels[i];
        l->base = base;
        for (uint32_t g = 0; g < l->level->count; g++) {
            struct level_node *node = &l->nodes[g];
            if (node->usable)
                node->priced = i + 1 == s->depth ? price_clusters(node, s->cluster_price)
                                                 : price_children(&s->levels[i + 1], node);
        }
        visits += l->level->count;
        base += l->price < 0 ? l->price * l->min : l->price > 0 ? l->price * l->max : 0;
    }
    return visits;
}

/* Returns the bound at the root: with any allowed number of groups of the first level. */
static int64_t root_bound(struct level_search *s, uint64_t *visits) {
    const struct level_frame *f = &s->frames[0];
    int64_t sum = 0, best = INT64_MIN;
    *visits += value_groups(s);
    for (uint32_t i = 0; i < f->count; i++)
        f->values[i] = s->levels[0].nodes[f->candidates[i]].priced;
    qsort(f->values, f->count, sizeof *f->values, compare_descending);
    for (uint32_t n = 1; n <= f->most; n++) {
        sum += f->values[n - 1];
        best = n >= f->least && sum > best ? sum : best;
    }
    return best + s->levels[0].base;
}

/* Finds the price with the smallest bound, by bisection: the bound is convex. */
static void find_price(struct level_search *s, int64_t *price, int64_t low, int64_t high,
                       uint64_t *visits) {
    const int64_t kept = *price;
    while (low < high && *visits < PRICE_VISITS) {
        const int64_t mid = low + (high - low) / 2;
        *price = mid;
        const int64_t here = root_bound(s, visits);
        *price = mid + 1;
        if (here <= root_bound(s, visits))
            high = mid;
        else
            low = mid + 1;
    }
    *price = low < high ? kept : low;
}

/* Finds the price of a group of a level: above zero if there may be too many groups, below zero if
 * there may be too few. Returns false if the level has neither limit. */
static bool find_level_price(struct level_search *s, struct search_level *l, uint64_t *visits) {
    const bool few = l->max < l->level->count;
    const bool many = l->min > 1 && l->min <= l->level->count;
    if (few || many)
        find_price(s, &l->price, many ? -s->need : 0, few ? s->need : 0, visits);
    return few || many;
}

bool level_prices_find(struct level_search *s) {
    uint64_t visits = 0;
    const bool clusters = level_search_is_limited(s);
    for (int round = 0; round < PRICE_ROUNDS; round++) {
        uint32_t levels = 0;
        for (uint32_t i = s->depth; i-- > 1 && levels < PRICED_LEVELS;)
            levels += find_level_price(s, &s->levels[i], &visits);
        if (clusters)
            find_price(s, &s->cluster_price, 0, s->need, &visits);
    }
    (void)root_bound(s, &visits);
    s->priced = true;
    return search_step(s, visits / 256);
}
