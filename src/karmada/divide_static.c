/*
 * Static weights. Most rules name clusters and say no more, one rule a cluster, so thousands of
 * rules meet thousands of clusters: their names are sorted and merged with those of the candidates.
 * What is left, rules with selectors, is tried one by one, the heaviest first; each try takes
 * steps. upstream: getStaticWeightInfoList()
 */
#include "karmada/divide.h"

#include <stdlib.h>

struct named_weight {
    struct str name;
    int64_t weight;
};

struct rules {
    struct named_weight *named; /* by name */
    uint32_t named_count;
    const struct static_weight **others; /* the heaviest first */
    uint32_t other_count;
};

static bool names_alone(const struct cluster_affinity *affinity) {
    return affinity->name_count > 0 && affinity->excluded_count == 0 &&
           !affinity->label_selector.present && affinity->fields.count == 0 &&
           affinity->zone_count == 0 && !affinity->invalid;
}

static int by_name(const void *a, const void *b) {
    const struct named_weight *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static int by_weight(const void *a, const void *b) {
    const struct static_weight *const *x = a, *const *y = b;
    return ((*x)->weight < (*y)->weight) - ((*x)->weight > (*y)->weight);
}

static void sort_rules(const struct replica_scheduling *from, struct rules *ret) {
    for (uint32_t i = 0; i < from->weight_count; i++) {
        const struct static_weight *rule = &from->weights[i];
        if (!names_alone(&rule->target))
            ret->others[ret->other_count++] = rule;
        else
            for (uint32_t n = 0; n < rule->target.name_count; n++)
                ret->named[ret->named_count++] =
                    (struct named_weight){rule->target.names[n], rule->weight};
    }
    if (ret->named_count > 1)
        qsort(ret->named, ret->named_count, sizeof *ret->named, by_name);
    if (ret->other_count > 1)
        qsort(ret->others, ret->other_count, sizeof *ret->others, by_weight);
}

static bool make_rules(const struct assigner *a, struct rules *ret) {
    const struct replica_scheduling *from = &a->spec->placement.replicas;
    struct steps *steps = &a->arena->steps;
    uint64_t names = 0, bytes = 0;
    for (uint32_t i = 0; i < from->weight_count; i++) {
        const struct cluster_affinity *target = &from->weights[i].target;
        if (!steps_take(steps, 1 + target->name_count))
            return false;
        names += target->name_count;
        for (uint32_t n = 0; n < target->name_count; n++)
            bytes += target->names[n].n;
    }
    *ret = (struct rules){.named = arena_array_unset(a->arena, names, sizeof *ret->named),
                          .others =
                              arena_array_unset(a->arena, from->weight_count, sizeof *ret->others)};
    if (ret->named == NULL || ret->others == NULL || !divide_take_names(steps, names, bytes) ||
        !steps_take_sort(steps, from->weight_count))
        return false;
    sort_rules(from, ret);
    return true;
}

/* Both are by name. Several may have one. */
static bool weigh_by_name(const struct assigner *a, const struct rules *rules, int64_t *weights) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        const struct str name = a->candidates[a->by_name[i]].cluster.name;
        if (i > 0 && str_eq(name, a->candidates[a->by_name[i - 1]].cluster.name)) {
            weights[a->by_name[i]] = weights[a->by_name[i - 1]];
            continue;
        }
        int order = -1;
        for (; n < rules->named_count && (order = str_cmp(rules->named[n].name, name)) <= 0; n++)
            if (order == 0 && rules->named[n].weight > weights[a->by_name[i]])
                weights[a->by_name[i]] = rules->named[n].weight;
        if (!steps_take_bytes(&a->arena->steps, name.n))
            return false;
    }
    return true;
}

static bool weigh_by_rules(const struct assigner *a, const struct rules *rules, int64_t *weights) {
    struct steps *steps = &a->arena->steps;
    for (uint32_t i = 0; i < a->candidate_count; i++)
        for (uint32_t n = 0; n < rules->other_count && rules->others[n]->weight > weights[i]; n++) {
            if (cluster_affinity_matches(&rules->others[n]->target, &a->candidates[i].cluster,
                                         steps))
                weights[i] = rules->others[n]->weight;
            if (steps_spent(steps))
                return false;
        }
    return true;
}

int divide_static_weights(const struct assigner *a, const int64_t **ret, struct err *err) {
    struct rules rules;
    int64_t *weights = arena_array(a->arena, a->candidate_count, sizeof *weights);
    if (weights == NULL)
        return divide_fail(a, err);
    *ret = weights;
    if (!a->spec->placement.replicas.has_weights)
        for (uint32_t i = 0; i < a->candidate_count; i++)
            weights[i] = 1;
    else if (!make_rules(a, &rules) || !weigh_by_name(a, &rules, weights) ||
             !weigh_by_rules(a, &rules, weights))
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
