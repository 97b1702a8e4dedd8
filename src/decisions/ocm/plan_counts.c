#include "ocm/plan_counts.h"

#include "base/hash.h"
#include "ocm/plan_internal.h"

struct plan_counts {
    struct plan_question question; /* a copy; its arrays are borrowed */
    struct plan_work work;
    uint8_t *takes_part; /* [slots]: 1: the cluster takes part */
};

int plan_counts_new(struct topology_view *v, const struct plan_question *q, struct arena *arena,
                    struct plan_counts **ret) {
    struct plan_counts *c = arena_alloc(arena, sizeof *c);
    struct plan plan = {0};
    if (c == NULL)
        return -ENOMEM;
    *c = (struct plan_counts){.question = *q};
    c->work = (struct plan_work){.view = v, .question = &c->question, .arena = arena};
    c->takes_part = arena_alloc(arena, topology_slots(v->topology));
    const int r = c->takes_part == NULL ? -ENOMEM : plan_begin(&c->work, &plan);
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < c->work.feasible_count; i++)
        c->takes_part[c->work.feasible[i]] = 1;
    *ret = c;
    return 0;
}

void plan_counts_change(struct plan_counts *c, uint32_t slot, int by) {
    if (c->takes_part[slot] != 0)
        ordered_domains_change(&c->work.domains, c->work.domains.tree.leaf_of[slot], by);
}

bool plan_counts_above(const struct plan_counts *c, uint32_t slot) {
    return c->takes_part[slot] == 0 || plan_above(&c->work, slot) > 0;
}

int64_t plan_counts_score(const struct plan_counts *c, uint32_t slot) {
    return c->takes_part[slot] != 0 ? ordered_domains_score(&c->work.domains, slot) : 0;
}

uint32_t plan_counts_leaf(const struct plan_counts *c, uint32_t slot) {
    return c->takes_part[slot] != 0 ? c->work.domains.tree.leaf_of[slot] : 0;
}

uint32_t plan_counts_leaves(const struct plan_counts *c) {
    return c->work.domains.tree.count;
}

void plan_counts_skews(const struct plan_counts *c, int64_t ret[PLACEMENT_TERMS]) {
    int64_t skews[ORDERED_TERMS];
    ordered_domains_skews(&c->work.domains, skews);
    memcpy(ret, skews, PLACEMENT_TERMS * sizeof *ret);
}

uint64_t plan_counts_shape(const struct plan_counts *c) {
    const struct ordered_domains *d = &c->work.domains;
    uint64_t sum = 0; /* the order of the domains does not matter */
    for (uint32_t i = 1; i < d->tree.count; i++) {
        uint64_t depth = 0;
        for (uint32_t up = i; up != PREFIX_ROOT; up = d->tree.parents[up])
            depth++;
        if (d->items[i].counted_in)
            sum += hash_mix(hash_mix(1, depth), (uint64_t)d->items[i].count);
    }
    return sum;
}
