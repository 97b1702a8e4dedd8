#include "extender/policy_overrides.h"

#include "admission/pods/group.h"
#include "admission/pods/spread_defaults.h"
#include "base/log.h"
#include "data/fluid/mounted.h"
#include "policy/match.h"

#include <errno.h>

/* ---- data ---- */

/* Returns 0 or -ENOMEM. */
static int find_data(const struct pod_scoring *s, struct pod *pod, struct arena *arena) {
    struct err why = {0};
    struct fluid_set *held = pod->claim_count > 0 ? fluid_hold(s->fluid) : NULL;
    if (held == NULL)
        return 0;
    int r = fluid_find_mounted(fluid_set_data(held)->store, pod, arena, &why);
    fluid_release(held);
    if (r != 0 && r != -ENOMEM)
        LOG_D("cannot find the place of a pod's data", LOG_STR("namespace", pod->meta.namespace),
              LOG_STR("pod", pod->meta.name), LOG_ERRTEXT(&why));
    return r == -ENOMEM ? r : 0;
}

/* ---- the policy's order ---- */

static bool has_key(const struct policy *policy, struct str topology_key) {
    for (uint32_t i = 0; i < policy->spread_count; i++)
        if (str_eq(policy->spread[i].topology_key, topology_key))
            return true;
    return false;
}

/* Does the policy have several keys, and are all soft constraints of the pod on these keys? Ignores
 * default constraints that the policy keeps. */
static bool has_order(const struct policy *policy, const struct pod *pod) {
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (!pod->constraints[i].hard && !has_key(policy, pod->constraints[i].topology_key) &&
            (policy->replace_defaults || !spread_is_default(&pod->constraints[i])))
            return false;
    return policy->spread_count > 1;
}

/* Makes all terms soft: the webhook has made the hard terms constraints of the pod. */
static const struct spread_constraint *make_terms(const struct policy *policy, uint32_t count,
                                                  struct arena *arena) {
    struct spread_constraint *terms = arena_array(arena, count, sizeof *terms);
    for (uint32_t i = 0; terms != NULL && i < count; i++) {
        const struct policy_spread *from = &policy->spread[i];
        terms[i] =
            (struct spread_constraint){.topology_key = arena_str(arena, from->topology_key),
                                       .max_skew = from->max_skew,
                                       .min_domains = 1,
                                       .honor_affinity = from->node_affinity != POLICY_IGNORE,
                                       .honor_taints = from->node_taints != POLICY_IGNORE};
    }
    return terms;
}

static struct str rule_name(const struct policy *policy, struct arena *arena) {
    static const struct str kind = {"TopologyPolicy ", 15};
    size_t n = kind.n + policy->name.n;
    char *text = arena_alloc(arena, n);
    if (text == NULL)
        return STR(""); /* the arena has failed */
    memcpy(text, kind.p, kind.n);
    memcpy(text + kind.n, policy->name.p, policy->name.n);
    return (struct str){text, n};
}

static int take_group(const struct spread_constraint *c, struct arena *arena,
                      struct ordered_rule *rule) {
    rule->match_label_keys = c->match_label_keys;
    rule->match_label_key_count = c->match_label_key_count;
    return selector_compile(&c->selector, (struct labels){0}, arena, &rule->pods, NULL);
}

static bool counts_some(const struct ordered_rule *rule) {
    return !rule->pods.nothing && rule->pods.count > 0;
}

static bool same_group(const struct ordered_rule *a, const struct ordered_rule *b) {
    bool same =
        a->pods.count == b->pods.count && a->match_label_key_count == b->match_label_key_count;
    for (uint32_t i = 0; same && i < a->pods.count; i++)
        same = requirement_eq(&a->pods.items[i], &b->pods.items[i]);
    for (uint32_t i = 0; same && i < a->match_label_key_count; i++)
        same = str_eq(a->match_label_keys[i], b->match_label_keys[i]);
    return same;
}

/* Finds the pods that the pod's soft constraints count, if all count the same. Injected constraints
 * count the group that the pod had at its admission; its labels may have changed since. */
static int own_group(const struct pod *pod, struct arena *arena, struct ordered_rule *rule,
                     bool *ret_same) {
    *ret_same = true;
    for (uint32_t i = 0; i < pod->constraint_count && *ret_same; i++) {
        struct ordered_rule next = *rule;
        if (pod->constraints[i].hard)
            continue;
        int r = take_group(&pod->constraints[i], arena, &next);
        if (r == -ENOMEM)
            return r;
        *ret_same = r == 0 && counts_some(&next) && (!counts_some(rule) || same_group(rule, &next));
        *rule = next;
    }
    return 0;
}

/* Finds the pods that the rule counts. *ret_one is false if these are not a single group.
 * Returns 0 or -ENOMEM. */
static int find_group(const struct policy *policy, const struct pod *pod, struct arena *arena,
                      struct ordered_rule *rule, bool *ret_one) {
    struct pod_group group;
    int r = own_group(pod, arena, rule, ret_one);
    if (r != 0 || !*ret_one || counts_some(rule))
        return r;
    r = pod_group_of_labels(&pod->meta.labels, &policy->group_by, arena, &group);
    *ret_one = r == 0 && pod_group_is_found(&group);
    if (!*ret_one)
        return r == -ENOMEM ? r : 0;
    rule->match_label_keys = group.revision_keys;
    rule->match_label_key_count = group.revision_key_count;
    return selector_compile(&group.selector, (struct labels){0}, arena, &rule->pods, NULL);
}

/* Returns 0 or -ENOMEM. */
static int follow_order(const struct policy *policy, const struct pod *pod, struct arena *arena,
                        struct engine_options *options) {
    struct ordered_rule found = {.all_keys = true}, *rule;
    bool one;
    if (!has_order(policy, pod) || engine_ordered_rule(options, &pod->meta) != NULL)
        return 0;
    int r = find_group(policy, pod, arena, &found, &one);
    if (r != 0 || !one)
        return r;
    found.name = rule_name(policy, arena);
    found.term_count = policy->spread_count < ENGINE_MAX_ORDERED_TERMS ? policy->spread_count
                                                                       : ENGINE_MAX_ORDERED_TERMS;
    found.terms = make_terms(policy, found.term_count, arena);
    rule = arena_alloc(arena, sizeof *rule);
    if (arena_failed(arena))
        return -ENOMEM;
    *rule = found;
    options->policy_rule = rule;
    options->ordered_weight = options->spread_weight;
    return 0;
}

/* ---- the policy's tiers ---- */

/* If the policy has no tiers, the configured ones stay. Returns 0 or -ENOMEM. */
static int follow_tiers(const struct policy *policy, struct arena *arena,
                        struct engine_options *options) {
    if (policy->tier_count == 0)
        return 0;
    struct locality_tier *tiers = arena_array(arena, policy->tier_count, sizeof *tiers);
    for (uint32_t i = 0; tiers != NULL && i < policy->tier_count; i++)
        tiers[i] =
            (struct locality_tier){.topology_key = arena_str(arena, policy->tiers[i].topology_key),
                                   .weight = policy->tiers[i].weight};
    if (arena_failed(arena))
        return -ENOMEM;
    options->tiers = tiers;
    options->tier_count = policy->tier_count;
    return 0;
}

/* ---- the policy ---- */

/* Returns 0 or -ENOMEM. */
static int follow(const struct pod_scoring *s, struct policy_list policies, const struct pod *pod,
                  struct arena *arena, struct engine_options *options) {
    struct policy_namespace namespace;
    struct policy_choice choice;
    if (policies.count == 0)
        return 0;
    int r = policy_namespace_find(s->cache, pod->meta.namespace, arena, &namespace);
    if (r != 0)
        return r;
    if (!policy_of_pod(policies, &namespace, pod, POLICY_TO_SCORE, &choice))
        return 0;
    const struct policy *weights = choice.enforced[POLICY_WEIGHTS];
    const struct policy *locality = choice.enforced[POLICY_LOCALITY];
    const struct policy *spread = choice.enforced[POLICY_SPREAD];
    if (pod->dataset_count > 0 && weights != NULL) {
        options->spread_weight = (uint32_t)weights->spread_weight;
        options->locality_weight = (uint32_t)weights->locality_weight;
    }
    if (pod->dataset_count > 0 && locality != NULL)
        r = follow_tiers(locality, arena, options);
    return r == 0 && spread != NULL ? follow_order(spread, pod, arena, options) : r;
}

/* Returns 0 or -ENOMEM. */
static int follow_policies(const struct pod_scoring *s, const struct pod *pod, struct arena *arena,
                           struct engine_options *options) {
    struct policy_list policies;
    if (s->instead != NULL)
        return follow(s, *s->instead, pod, arena, options);
    if (s->policies == NULL)
        return 0;
    struct policies *held = policies_hold(s->policies);
    policies.items = policies_items(held, &policies.count);
    int r = follow(s, policies, pod, arena, options);
    policies_release(held);
    return r;
}

int pod_scoring_prepare(const struct pod_scoring *s, struct pod *pod, struct arena *arena,
                        struct engine_options *options, struct err *err) {
    int r = find_data(s, pod, arena);
    if (r == 0)
        r = follow_policies(s, pod, arena, options);
    return r == 0 ? 0 : err_set(err, r, "no memory to prepare the scoring of the pod");
}
