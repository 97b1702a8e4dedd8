/*
 * Static weights. Most rules only name clusters, one rule per cluster, so there may be thousands of
 * rules for thousands of clusters: the names in these rules are looked up among the candidates.
 * Other rules, those with selectors, are tried one by one, the heaviest first; each try takes
 * steps. upstream: getStaticWeightInfoList()
 */
#include "karmada/divide.h"

#include <stdlib.h>

static bool names_alone(const struct cluster_affinity *affinity) {
    return affinity->name_count > 0 && affinity->excluded_count == 0 &&
           !affinity->label_selector.present && affinity->fields.count == 0 &&
           affinity->zone_count == 0 && !affinity->invalid;
}

static int by_weight(const void *a, const void *b) {
    const struct static_weight *const *x = a, *const *y = b;
    return ((*x)->weight < (*y)->weight) - ((*x)->weight > (*y)->weight);
}

/* Notes a rule's weight for each candidate that it names. */
static void weigh_named(const struct assigner *a, const struct static_weight *rule,
                        int64_t *weights) {
    for (uint32_t n = 0; n < rule->target.name_count; n++) {
        const uint32_t candidate = divide_find(a, rule->target.names[n]);
        if (steps_spent(&a->arena->steps))
            return;
        if (candidate != HASHMAP_NONE && rule->weight > weights[candidate])
            weights[candidate] = rule->weight;
    }
}

/* Applies rules that only name clusters. Lists the other rules in `others`, the heaviest first, and
 * returns their number. */
static uint32_t weigh_by_name(const struct assigner *a, const struct static_weight **others,
                              int64_t *weights) {
    const struct replica_scheduling *replicas = &a->spec->placement.replicas;
    uint32_t count = 0;
    for (uint32_t i = 0; i < replicas->weight_count; i++)
        if (names_alone(&replicas->weights[i].target))
            weigh_named(a, &replicas->weights[i], weights);
        else
            others[count++] = &replicas->weights[i];
    for (uint32_t i = 0; i < a->candidate_count; i++)
        weights[i] = weights[a->first[i]];
    if (count > 1)
        qsort(others, count, sizeof *others, by_weight);
    return count;
}

static bool weigh_by_selectors(const struct assigner *a, const struct static_weight *const *rules,
                               uint32_t count, int64_t *weights) {
    struct steps *steps = &a->arena->steps;
    for (uint32_t i = 0; i < a->candidate_count; i++)
        for (uint32_t n = 0; n < count && rules[n]->weight > weights[i]; n++) {
            if (cluster_affinity_matches(&rules[n]->target, &a->candidates[i].cluster, steps))
                weights[i] = rules[n]->weight;
            if (steps_spent(steps))
                return false;
        }
    return true;
}

static bool weigh(const struct assigner *a, int64_t *weights) {
    const uint32_t count = a->spec->placement.replicas.weight_count;
    const struct static_weight **others = arena_array_unset(a->arena, count, sizeof *others);
    if (others == NULL || !steps_take_sort(&a->arena->steps, (uint64_t)count + a->candidate_count))
        return false;
    const uint32_t other_count = weigh_by_name(a, others, weights);
    return !steps_spent(&a->arena->steps) && weigh_by_selectors(a, others, other_count, weights);
}

int divide_static_weights(const struct assigner *a, const int64_t **ret, struct err *err) {
    int64_t *weights = arena_array(a->arena, a->candidate_count, sizeof *weights);
    if (weights == NULL)
        return divide_fail(a, err);
    *ret = weights;
    if (!a->spec->placement.replicas.has_weights)
        for (uint32_t i = 0; i < a->candidate_count; i++)
            weights[i] = 1;
    else if (!weigh(a, weights))
        return divide_fail(a, err);
    return 0;
}

int divide_statically(struct assigner *a, const struct tier *tier, struct err *err) {
    struct share *shares = arena_array_unset(a->arena, tier->count, sizeof *shares);
    bool weighted = false;
    if (shares == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < tier->count; i++) {
        const uint32_t candidate = tier->members[i];
        shares[i] = (struct share){.candidate = candidate,
                                   .weight = a->weights[candidate],
                                   .previous = a->previous[candidate]};
        weighted = weighted || shares[i].weight > 0;
    }
    for (uint32_t i = 0; !weighted && i < tier->count; i++)
        shares[i] = (struct share){.candidate = tier->members[i], .weight = 1};
    return divide_by_weight(a, shares, tier->count, tier->replicas, err);
}
