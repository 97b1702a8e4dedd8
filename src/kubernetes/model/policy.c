#include "model/policy.h"

/* ---- problems of policies ---- */

static struct str spread_problem(const struct policy *policy, uint32_t at, struct arena *arena) {
    const struct policy_spread *s = &policy->spread[at];
    if (!label_key_valid(s->topology_key))
        return arena_printf(arena,
                            "spec.pods.spread[%u]: '%.*s' is not a label key, so no node has it",
                            at, STR_ARG(s->topology_key));
    if (!s->hard && s->min_domains > 0)
        return arena_printf(
            arena, "spec.pods.spread[%u]: minDomains needs whenUnsatisfiable: DoNotSchedule", at);
    for (uint32_t i = 0; i < at; i++)
        if (policy->spread[i].hard == s->hard &&
            str_eq(policy->spread[i].topology_key, s->topology_key))
            return arena_printf(
                arena,
                "spec.pods.spread[%u]: topologyKey '%.*s' with the same whenUnsatisfiable "
                "is there already",
                at, STR_ARG(s->topology_key));
    return (struct str){0};
}

static struct str tier_problem(const struct policy *policy, uint32_t at, struct arena *arena) {
    const struct policy_tier *tier = &policy->tiers[at];
    if (!label_key_valid(tier->topology_key))
        return arena_printf(
            arena, "spec.pods.locality.tiers[%u]: '%.*s' is not a label key, so no node has it", at,
            STR_ARG(tier->topology_key));
    for (uint32_t i = 0; i < at; i++)
        if (str_eq(policy->tiers[i].topology_key, tier->topology_key))
            return arena_printf(arena,
                                "spec.pods.locality.tiers[%u]: topologyKey '%.*s' is there already",
                                at, STR_ARG(tier->topology_key));
    return (struct str){0};
}

static struct str term_problem(const struct placement_term *term, uint32_t at,
                               struct arena *arena) {
    const char *what = term->is_claim ? "the name of a claim" : "a label key";
    if (term->is_claim ? claim_key_valid(term->key) : label_key_valid(term->key))
        return (struct str){0};
    return arena_printf(arena, "spec.placements.spread[%u]: '%.*s' is not %s, so no cluster has it",
                        at, STR_ARG(term->key), what);
}

/* Does `value` (NULL: no label) meet every requirement on the key of requirement `at`? */
static bool meets_all(const struct selector *s, uint32_t at, const struct str *value) {
    for (uint32_t i = 0; i < s->count; i++)
        if (str_eq(s->items[i].key, s->items[at].key) && !requirement_matches(&s->items[i], value))
            return false;
    return true;
}

/* Can requirement `at` hold together with the other requirements on its key? For In, one of its
 * values must meet all of them; for DoesNotExist, a missing label must meet them; for other
 * operators the answer is always yes. */
static bool can_be_met(const struct selector *s, uint32_t at) {
    const struct requirement *q = &s->items[at];
    for (uint32_t i = 0; q->op == SELECTOR_IN && i < q->value_count; i++)
        if (meets_all(s, at, &q->values[i]))
            return true;
    return q->op != SELECTOR_IN && (q->op != SELECTOR_DOES_NOT_EXIST || meets_all(s, at, NULL));
}

static struct str selector_problem(const struct selector *s, const char *field,
                                   struct arena *arena) {
    for (uint32_t i = 0; i < s->count; i++)
        if (!can_be_met(s, i))
            return arena_printf(arena, "%s: no object can meet all requirements on label '%.*s'",
                                field, STR_ARG(s->items[i].key));
    return (struct str){0};
}

/* Finds selectors that contradict themselves or exclude everything. */
static struct str match_problem(const struct policy *p, struct arena *arena) {
    struct str problem = selector_problem(&p->namespaces, "spec.match.namespaceSelector", arena);
    if (str_empty(problem))
        problem = selector_problem(&p->objects, "spec.match.objectSelector", arena);
    if (str_empty(problem) && p->excludes_namespaces && p->not_namespaces.count == 0)
        problem = STR("spec.match.exclude.namespaceSelector is empty: it excludes everything");
    if (str_empty(problem) && p->excludes_objects && p->not_objects.count == 0)
        problem = STR("spec.match.exclude.objectSelector is empty: it excludes everything");
    return problem;
}

/* Is this label key most probably a misspelt "Auto" or "Pod"? */
static bool is_misspelt(struct str unit) {
    return str_eq_nocase(unit, STR("auto")) || str_eq_nocase(unit, STR("pod"));
}

static struct str group_problem(const struct policy_group_by *group, struct arena *arena) {
    for (uint32_t i = 0; i < group->label_count; i++) {
        if (!label_key_valid(group->labels[i]))
            return arena_printf(arena, "spec.pods.groupBy.labels[%u]: '%.*s' is not a label key", i,
                                STR_ARG(group->labels[i]));
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(group->labels[i], group->labels[j]))
                return arena_printf(arena, "spec.pods.groupBy.labels[%u]: '%.*s' is there already",
                                    i, STR_ARG(group->labels[i]));
        if (group->unit == POLICY_UNIT_LABEL && str_eq(group->labels[i], group->unit_key))
            return arena_printf(arena,
                                "spec.pods.groupBy: '%.*s' is the unit and among the labels, so "
                                "each unit would be a group by itself",
                                STR_ARG(group->unit_key));
    }
    if (group->unit == POLICY_UNIT_LABEL &&
        (!label_key_valid(group->unit_key) || is_misspelt(group->unit_key)))
        return arena_printf(arena,
                            "spec.pods.groupBy.unit: '%.*s' is neither Auto nor Pod, nor a label "
                            "key",
                            STR_ARG(group->unit_key));
    return (struct str){0};
}

/* Finds a section that asks for nothing, or a policy without sections. */
static struct str section_problem(const struct policy *p) {
    bool pods = policy_is_for(p, POLICY_FOR_PODS);
    bool placements = policy_is_for(p, POLICY_FOR_PLACEMENTS);
    if (!placements && p->has_section[POLICY_FOR_PLACEMENTS])
        return STR("spec.placements.spread is empty, or is not there: it asks for nothing");
    if (!pods && (p->has_section[POLICY_FOR_PODS] || !placements))
        return STR("spec.pods has none of spread, locality and weights: it asks for nothing");
    return (struct str){0};
}

/* Finds settings that change constraints, in a policy without constraints. */
static struct str idle_problem(const struct policy *p) {
    if (p->spread_count > 0)
        return (struct str){0};
    if (p->group_by.given)
        return STR("spec.pods.groupBy means nothing without spec.pods.spread");
    if (p->replace_defaults)
        return STR("spec.pods.replaceDefaults means nothing without spec.pods.spread");
    return (struct str){0};
}

static struct str locality_problem(const struct policy *p) {
    bool asks = p->tier_count > 0 || p->keep_others_off > 0;
    if (p->locality == POLICY_LOCALITY_DISABLED && asks)
        return STR("spec.pods.locality: mode Disabled needs neither tiers nor "
                   "keepOthersOffCacheNodes");
    if (p->has_weights && p->spread_weight == 0 && p->locality_weight == 0)
        return STR("spec.pods.weights: both are 0, so nothing would be scored");
    return (struct str){0};
}

struct str policy_problem(const struct policy *policy, struct arena *arena) {
    struct str problem = section_problem(policy);
    if (str_empty(problem))
        problem = match_problem(policy, arena);
    for (uint32_t i = 0; str_empty(problem) && i < policy->spread_count; i++)
        problem = spread_problem(policy, i, arena);
    if (str_empty(problem))
        problem = group_problem(&policy->group_by, arena);
    if (str_empty(problem))
        problem = idle_problem(policy);
    for (uint32_t i = 0; str_empty(problem) && i < policy->tier_count; i++)
        problem = tier_problem(policy, i, arena);
    for (uint32_t i = 0; str_empty(problem) && i < policy->placement_term_count; i++)
        problem = term_problem(&policy->placement_terms[i], i, arena);
    return !str_empty(problem) ? problem : locality_problem(policy);
}
