/*
 * Of all ways to put the pods into domains there is one that has the smallest possible maximum and
 * the largest possible minimum at once: the loads that can be reached are the integer points of a
 * base polyhedron, whose most even member is best in both (A. Frank and K. Murota, "Decreasing
 * Minimization on M-convex Sets"). So the two are looked for apart, with Hall's condition:
 *
 *   maximum  over every set A of groups: its pods, divided by the domains that A reaches, rounded
 * up minimum  over every set A of groups: its pods, divided by the domains that only A reaches,
 *            rounded down
 *
 * Domains with the same groups are alike, so they are counted by the set of their groups.
 */
#include "evenness/best.h"

enum { MASKS = 1 << LIMIT_EVENNESS_SETS };

static void count_domains(const struct best_group *groups, uint32_t count, uint32_t words,
                          uint32_t *by_mask) {
    for (uint32_t w = 0; w < words; w++) {
        uint64_t any = 0;
        for (uint32_t g = 0; g < count; g++)
            any |= groups[g].domains[w];
        for (; any != 0; any &= any - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(any);
            uint32_t mask = 0;
            for (uint32_t g = 0; g < count; g++)
                mask |= (uint32_t)(groups[g].domains[w] >> bit & 1) << g;
            by_mask[mask]++;
        }
    }
}

/* Afterwards within[A] counts the domains that no group outside of A reaches. */
static void add_subsets(uint32_t *within, uint32_t count) {
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t mask = 0; mask < 1u << count; mask++)
            if (mask & 1u << g)
                within[mask] += within[mask & ~(1u << g)];
}

uint32_t best_skew(const struct best_group *groups, uint32_t count, uint32_t words) {
    uint32_t within[MASKS] = {0}, most = 0, fewest = UINT32_MAX;
    count_domains(groups, count, words, within);
    add_subsets(within, count);
    const uint32_t all = (1u << count) - 1, domains = within[all];
    for (uint32_t set = 1; set <= all; set++) {
        uint32_t pods = 0, reached = domains - within[all & ~set];
        for (uint32_t g = 0; g < count; g++)
            pods += set & 1u << g ? groups[g].pods : 0;
        uint32_t up = reached == 0 ? 0 : pods / reached + (pods % reached != 0);
        most = up > most ? up : most;
        if (within[set] > 0 && pods / within[set] < fewest)
            fewest = pods / within[set];
    }
    return fewest == UINT32_MAX ? 0 : most - fewest;
}
