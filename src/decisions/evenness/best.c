/*
 * There is always a way to put the pods into domains that has both the smallest possible maximum
 * and the largest possible minimum: the possible loads are the integer points of a base polyhedron,
 * whose most even member is best in both (A. Frank and K. Murota, "Decreasing Minimization on
 * M-convex Sets"). So the maximum and the minimum are computed separately, with Hall's condition:
 *
 * - The maximum is the smallest number M that is at least the fixed pods of each domain, and for
 *   which every set A of groups has room: the pods of A, and the fixed pods of the domains that A
 *   reaches, are at most M for each of these domains.
 * - The minimum is the largest number K for which every set A of groups has enough pods for the
 *   domains that only A reaches. Each of these lacks K less its fixed pods, if that is above 0.
 *
 * Domains with the same groups are counted together, by the set of their groups, which is a mask.
 * So pods without a choice cost no mask, and the number of their domains is not limited.
 */
#include "evenness/best.h"

enum { MASKS = 1 << LIMIT_EVENNESS_SETS };
_Static_assert(LIMIT_EVENNESS_SETS <= 8, "a mask is a byte");

/* For each mask, the number of its domains, and the number of fixed pods in these domains.
 * add_subsets() turns each number into the sum over all subsets of the mask. */
struct sums {
    uint64_t domains[MASKS], fixed[MASKS];
};

static uint32_t next_domain(uint64_t *rest, uint32_t word) {
    uint32_t domain = word * 64 + (uint32_t)__builtin_ctzll(*rest);
    *rest &= *rest - 1;
    return domain;
}

/* Finds the masks. Returns the largest number of pods fixed in one domain; *ret_fewest is the
 * smallest number. */
static uint32_t sum_domains(const struct best_question *q, struct sums *sums,
                            uint32_t *ret_fewest) {
    uint32_t most = 0;
    *ret_fewest = UINT32_MAX;
    for (uint32_t w = 0; w < q->words; w++)
        for (uint64_t rest = q->domains[w]; rest != 0;) {
            const uint32_t domain = next_domain(&rest, w), fixed = q->fixed[domain];
            uint32_t mask = 0;
            for (uint32_t g = 0; g < q->group_count; g++)
                mask |= (uint32_t)(q->groups[g].domains[w] >> domain % 64 & 1) << g;
            q->masks[domain] = (uint8_t)mask;
            sums->domains[mask]++;
            sums->fixed[mask] += fixed;
            most = fixed > most ? fixed : most;
            *ret_fewest = fixed < *ret_fewest ? fixed : *ret_fewest;
        }
    return most;
}

/* Makes numbers[A] the sum over all masks that have only groups of A. */
static void add_subsets(uint64_t *numbers, uint32_t count) {
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t mask = 0; mask < 1u << count; mask++)
            if (mask & 1u << g)
                numbers[mask] += numbers[mask & ~(1u << g)];
}

static uint64_t pods_of(const struct best_question *q, uint32_t set) {
    uint64_t pods = 0;
    for (uint32_t g = 0; g < q->group_count; g++)
        pods += set & 1u << g ? q->groups[g].pods : 0;
    return pods;
}

/* Returns the smallest possible maximum that is not below `least`; `sums` are sums over subsets. */
static uint32_t smallest_most(const struct best_question *q, const struct sums *sums,
                              uint32_t least) {
    const uint32_t all = (1u << q->group_count) - 1;
    for (uint32_t set = 1; set <= all; set++) {
        const uint64_t reached = sums->domains[all] - sums->domains[all & ~set];
        const uint64_t pods = pods_of(q, set) + sums->fixed[all] - sums->fixed[all & ~set];
        const uint64_t up = reached == 0 ? 0 : (pods + reached - 1) / reached;
        least = up > least ? (uint32_t)up : least;
    }
    return least;
}

/* Can every domain have at least `wanted` pods? */
static bool can_all_have(const struct best_question *q, uint32_t wanted) {
    uint64_t lack[MASKS] = {0};
    for (uint32_t w = 0; w < q->words; w++)
        for (uint64_t rest = q->domains[w]; rest != 0;) {
            const uint32_t domain = next_domain(&rest, w), fixed = q->fixed[domain];
            lack[q->masks[domain]] += fixed < wanted ? wanted - fixed : 0;
        }
    add_subsets(lack, q->group_count);
    for (uint32_t set = 0; set < 1u << q->group_count; set++)
        if (lack[set] > pods_of(q, set))
            return false;
    return true;
}

/* Returns the largest possible minimum, which is between `low` and `high`. */
static uint32_t largest_fewest(const struct best_question *q, uint32_t low, uint32_t high) {
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (can_all_have(q, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint32_t best_skew(const struct best_question *q) {
    struct sums sums = {.domains = {0}};
    const uint32_t all = (1u << q->group_count) - 1;
    uint32_t fewest, most = sum_domains(q, &sums, &fewest);
    add_subsets(sums.domains, q->group_count);
    add_subsets(sums.fixed, q->group_count);
    if (sums.domains[all] == 0)
        return 0;
    most = smallest_most(q, &sums, most);
    const uint64_t mean = (pods_of(q, all) + sums.fixed[all]) / sums.domains[all];
    return most - largest_fewest(q, fewest, (uint32_t)mean);
}
