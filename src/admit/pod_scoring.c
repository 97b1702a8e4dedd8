#include "admit/pod_scoring.h"

#include "admit/policy_choice.h"
#include "admit/spread_inject.h"
#include "base/log.h"
#include "fluid/mounted.h"

#include <errno.h>

/* ---- data ---- */

/* 0 or -ENOMEM. */
static int find_data(const struct pod_scoring *s, struct pod *pod, struct arena *arena) {
    struct err why = {0};
    struct fluid_set *held = pod->claim_count > 0 ? fluid_hold(s->fluid) : NULL;
    if (held == NULL)
        return 0;
    int r = fluid_find_mounted(fluid_set_data(held)->store, pod, arena, &why);
    fluid_release(held);
    if (r != 0 && r != -ENOMEM)
        LOG_D("where the data of a pod is cannot be told",
              LOG_STR("namespace", pod->meta.namespace), LOG_STR("pod", pod->meta.name),
              LOG_ERRTEXT(&why));
    return r == -ENOMEM ? r : 0;
}

/* ---- the policy's order ---- */

static bool has_key(const struct policy *policy, struct str topology_key) {
    for (uint32_t i = 0; i < policy->spread_count; i++)
        if (str_eq(policy->spread[i].topology_key, topology_key))
            return true;
    return false;
}

/* Is all that the pod is scored by what the policy asks for, in an order? */
static bool has_order(const struct policy *policy, const struct pod *pod) {
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (!pod->constraints[i].hard && !has_key(policy, pod->constraints[i].topology_key))
            return false;
    return policy->spread_count > 1;
}

/* What is hard is a constraint of the pod, if the webhook has seen it; here all terms are soft. */
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
                                       .honor_taints = from->node_taints == POLICY_HONOR};
    }
    return terms;
}

static struct str rule_name(const struct policy *policy, struct arena *arena) {
    static const struct str kind = {"TopologyPolicy ", 15};
    size_t n = kind.n + policy->name.n;
    char *text = arena_alloc(arena, n);
    if (text == NULL)
        return STR(""); /* the arena will say so */
    memcpy(text, kind.p, kind.n);
    memcpy(text + kind.n, policy->name.p, policy->name.n);
    return (struct str){text, n};
}

/* 0 or -ENOMEM. */
static int follow_order(const struct policy *policy, const struct pod *pod, struct arena *arena,
                        struct engine_options *options) {
    struct labels group;
    if (!has_order(policy, pod) || engine_ordered_rule(options, &pod->meta) != NULL)
        return 0;
    int r = spread_group(&pod->meta.labels, arena, &group);
    if (r != 0 || group.count == 0)
        return r;
    struct ordered_rule *rule = arena_alloc(arena, sizeof *rule);
    if (rule == NULL)
        return -ENOMEM;
    *rule = (struct ordered_rule){.name = rule_name(policy, arena),
                                  .match_label_keys = &spread_revision_key,
                                  .match_label_key_count = 1,
                                  .term_count = policy->spread_count < ENGINE_MAX_ORDERED_TERMS
                                                    ? policy->spread_count
                                                    : ENGINE_MAX_ORDERED_TERMS,
                                  .all_keys = true};
    rule->terms = make_terms(policy, rule->term_count, arena);
    r = selector_compile(&(struct label_selector){.present = true}, group, arena, &rule->pods,
                         NULL);
    options->policy_rule = rule;
    options->ordered_weight = options->spread_weight;
    options->spread_weight = 0;
    return r != 0 || arena_failed(arena) ? -ENOMEM : 0;
}

/* ---- the policy ---- */

/* 0 or -ENOMEM. */
static int follow(const struct pod_scoring *s, struct policy_list policies, const struct pod *pod,
                  struct arena *arena, struct engine_options *options) {
    struct policy_namespace namespace;
    bool unknown;
    if (policies.count == 0)
        return 0;
    int r = policy_namespace_find(s->cache, pod->meta.namespace, arena, &namespace);
    if (r != 0)
        return r;
    const struct policy *policy =
        policy_choose(policies.items, policies.count, &namespace, &pod->meta.labels, &unknown);
    if (policy == NULL)
        return 0;
    if (pod->dataset_count > 0) {
        options->spread_weight = (uint32_t)policy->spread_weight;
        options->locality_weight = (uint32_t)policy->locality_weight;
    }
    return follow_order(policy, pod, arena, options);
}

/* 0 or -ENOMEM. */
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
    return r == 0 ? 0 : err_set(err, r, "no memory to find what the pod is scored by");
}
