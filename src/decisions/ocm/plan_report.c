/* Reports a plan in detail: its domains, and its rounds one by one. */
#include "ocm/plan_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- domains ---- */

static int compare_domains(const void *a, const void *b) {
    const struct plan_domain *left = a, *right = b;
    const uint32_t depth = left->depth < right->depth ? left->depth : right->depth;
    int order = 0;
    for (uint32_t t = 0; order == 0 && t < depth; t++)
        order = str_cmp(left->path[t], right->path[t]);
    return order != 0 ? order : (left->depth > right->depth) - (left->depth < right->depth);
}

/* Returns a cluster's values of all terms; NULL: no memory. */
static const struct str *path_of(const struct plan_work *w, uint32_t slot) {
    const uint32_t terms = w->domains.term_count;
    struct str *path = arena_array(w->arena, terms, sizeof *path);
    for (uint32_t t = 0; path != NULL && t < terms; t++) {
        const struct topology_column *column = &w->terms[t].column;
        if (column->domain_of[slot] != TOPOLOGY_NONE)
            path[t] = topology_value(w->view, column, column->domain_of[slot]);
    }
    return path;
}

/* Names the domains of a cluster, from its leaf up to the first domain that is named already. They
 * all share one path. A domain with items[prefix].depth 0 is not named yet. */
static int name_domains(const struct plan_work *w, uint32_t slot, struct plan_domain *items) {
    const struct topology_tree *tree = &w->domains.tree;
    uint32_t depth = w->domains.term_count, prefix = tree->leaf_of[slot];
    if (depth == 0 || items[prefix].depth != 0)
        return 0;
    const struct str *path = path_of(w, slot);
    if (path == NULL)
        return -ENOMEM;
    for (; depth > 0 && items[prefix].depth == 0; depth--) {
        items[prefix].path = path;
        items[prefix].depth = depth;
        prefix = tree->parents[prefix];
    }
    return 0;
}

/* Children come after their parents, so one pass from the end adds up all sums. */
static void sum_up(const struct topology_tree *tree, struct plan_domain *items) {
    for (uint32_t i = tree->count - 1; i > PREFIX_ROOT; i--) {
        items[tree->parents[i]].feasible += items[i].feasible;
        items[tree->parents[i]].selected += items[i].selected;
    }
}

int plan_domains(struct plan_work *w, struct plan *ret) {
    const struct topology_tree *tree = &w->domains.tree;
    struct plan_domain *items = arena_array(w->arena, tree->count, sizeof *items);
    int r = items == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < w->feasible_count; i++) {
        items[tree->leaf_of[w->feasible[i]]].feasible++;
        r = name_domains(w, w->feasible[i], items);
    }
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < ret->selected_count - ret->keyless_count; i++)
        items[tree->leaf_of[ret->selected[i]]].selected++;
    sum_up(tree, items);
    uint32_t count = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (items[i].depth != 0)
            items[count++] = items[i];
    if (!steps_take_sort(&w->arena->steps, (uint64_t)count * 4))
        return -E2BIG;
    qsort(items, count, sizeof *items, compare_domains);
    ret->domains = items;
    ret->domain_count = count;
    return 0;
}

/* ---- rounds ---- */

int plan_trace_begin(struct plan_work *w, uint32_t rounds, struct plan_trace *trace,
                     struct plan *ret) {
    trace->picked = arena_array(w->arena, w->feasible_count, sizeof *trace->picked);
    ret->rounds = arena_array(w->arena, rounds, sizeof *ret->rounds);
    return trace->picked == NULL || ret->rounds == NULL ? -ENOMEM : 0;
}

static int weigh(const struct plan_work *w, struct plan_round *round) {
    const int64_t *sums = w->question->sums;
    int64_t *final = arena_array_unset(w->arena, round->count, sizeof *final);
    int64_t least = INT64_MAX, most = INT64_MIN;
    if (final == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < round->count; i++) {
        least = round->raw[i] < least ? round->raw[i] : least;
        most = round->raw[i] > most ? round->raw[i] : most;
    }
    for (uint32_t i = 0; i < round->count; i++)
        final[i] = w->weight * plan_normalized(round->raw[i], least, most) +
                   (sums != NULL ? sums[round->slots[i]] : 0);
    round->final = final;
    return 0;
}

int plan_trace_round(struct plan_work *w, struct plan_trace *trace, uint32_t picked_place,
                     struct plan *ret) {
    const uint32_t count = w->feasible_count;
    if (plan_spend(w, (uint64_t)count * (2 + 2 * w->domains.term_count)) != 0)
        return -E2BIG;
    struct plan_round *round = &ret->rounds[ret->round_count++];
    uint32_t *dropped = arena_array_unset(w->arena, count, sizeof *dropped);
    uint32_t *slots = arena_array_unset(w->arena, count, sizeof *slots);
    int64_t *raw = arena_array_unset(w->arena, count, sizeof *raw);
    if (dropped == NULL || slots == NULL || raw == NULL)
        return -ENOMEM;
    *round = (struct plan_round){
        .picked = w->feasible[picked_place], .dropped = dropped, .slots = slots, .raw = raw};
    for (uint32_t i = 0; i < count; i++) {
        if (trace->picked[i])
            continue;
        if (plan_forbidding_term(w, w->feasible[i]) == w->domains.term_count) {
            slots[round->count] = w->feasible[i];
            raw[round->count++] = ordered_domains_score(&w->domains, w->feasible[i]);
        } else {
            dropped[round->dropped_count++] = w->feasible[i];
        }
    }
    trace->picked[picked_place] = true;
    return w->weight != 0 ? weigh(w, round) : 0;
}
