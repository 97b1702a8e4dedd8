#include "model/policy.h"

#include <errno.h>

/* Every loop over members ends with this. */
static void unknown(struct json_reader *r) {
    json_fail(r, "unknown field");
}

static enum policy_inclusion inclusion_decode(struct json_reader *r) {
    struct str word = json_string(r);
    if (str_empty(word))
        return POLICY_INCLUSION_DEFAULT;
    if (!str_eq(word, STR("Honor")) && !str_eq(word, STR("Ignore")))
        json_fail(r, "'%.*s' is neither 'Honor' nor 'Ignore'", STR_ARG(word));
    return str_eq(word, STR("Honor")) ? POLICY_HONOR : POLICY_IGNORE;
}

static bool when_decode(struct json_reader *r) {
    struct str word = json_string(r);
    bool hard = str_eq(word, STR("DoNotSchedule"));
    if (!hard && !str_eq(word, STR("ScheduleAnyway")))
        json_fail(r, "'%.*s' is neither 'DoNotSchedule' nor 'ScheduleAnyway'", STR_ARG(word));
    return hard;
}

/* ---- selectors ---- */

/* Compiled at once; what does not compile is the policy's problem. */
static struct selector compiled(struct json_reader *r, const char *field, struct policy *policy) {
    struct label_selector from = label_selector_decode_strict(r);
    from.present = true; /* null is as good as {} */
    struct selector s = {0};
    struct err err;
    if (json_failed(r) || arena_failed(r->arena))
        return s;
    int failed = selector_compile(&from, (struct labels){0}, r->arena, &s, &err);
    if (failed == -EINVAL && str_empty(policy->problem)) {
        (void)err_wrap(&err, "%s", field);
        policy->problem = arena_str(r->arena, str_of(err.text));
    }
    return s; /* -ENOMEM: the arena has failed, and the reader will say so */
}

/* ---- spread and locality ---- */

static void spread_decode(struct json_reader *r, void *into) {
    struct policy_spread *s = into;
    struct str key;
    bool when = false;
    s->max_skew = 1;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey")))
                s->topology_key = json_string(r);
            else if (str_eq(key, STR("maxSkew")))
                s->max_skew = json_null(r) ? 1 : (int32_t)json_integer(r, 1, INT32_MAX);
            else if (str_eq(key, STR("minDomains")))
                s->min_domains = json_null(r) ? 0 : (int32_t)json_integer(r, 1, INT32_MAX);
            else if (str_eq(key, STR("whenUnsatisfiable"))) {
                s->hard = when_decode(r);
                when = true;
            } else if (str_eq(key, STR("nodeAffinityPolicy")))
                s->node_affinity = inclusion_decode(r);
            else if (str_eq(key, STR("nodeTaintsPolicy")))
                s->node_taints = inclusion_decode(r);
            else
                unknown(r);
        }
    if (str_empty(s->topology_key))
        json_fail(r, "topologyKey is required");
    if (!when)
        json_fail(r, "whenUnsatisfiable is required: DoNotSchedule or ScheduleAnyway");
}

static void tier_decode(struct json_reader *r, void *into) {
    struct policy_tier *tier = into;
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey")))
                tier->topology_key = json_string(r);
            else if (str_eq(key, STR("weight")))
                tier->weight = (int32_t)json_integer(r, 1, 100);
            else
                unknown(r);
        }
    if (str_empty(tier->topology_key))
        json_fail(r, "topologyKey is required");
    if (tier->weight == 0)
        json_fail(r, "weight is required");
}

static enum policy_locality_mode mode_decode(struct json_reader *r) {
    static const struct str words[] = {{"Off", 3}, {"Preferred", 9}, {"Required", 8}};
    if (json_peek(r) == JSON_BOOL) { /* what YAML makes of Off without quotes */
        if (json_bool(r))
            json_fail(r, "expected 'Off', 'Preferred' or 'Required'");
        return POLICY_LOCALITY_OFF;
    }
    struct str word = json_string(r);
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq(word, words[i]))
            return (enum policy_locality_mode)i;
    json_fail(r, "'%.*s' is none of 'Off', 'Preferred' and 'Required'", STR_ARG(word));
    return POLICY_LOCALITY_OFF;
}

static void locality_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    policy->locality = POLICY_LOCALITY_PREFERRED;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("mode")))
            policy->locality = mode_decode(r);
        else if (str_eq(key, STR("tiers")))
            policy->tiers = json_array_of(r, sizeof *policy->tiers, LIMIT_POLICY_TERMS, tier_decode,
                                          &policy->tier_count);
        else if (str_eq(key, STR("keepOthersOffCacheNodes")))
            policy->keep_others_off_cache_nodes = json_bool(r);
        else
            unknown(r);
    }
}

static void weights_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("spread")))
            policy->spread_weight = (int32_t)json_integer(r, 0, 1000);
        else if (str_eq(key, STR("locality")))
            policy->locality_weight = (int32_t)json_integer(r, 0, 1000);
        else
            unknown(r);
    }
}

/* ---- the policy ---- */

static uint32_t target_of(struct str word) {
    static const struct {
        struct str word;
        enum policy_target target;
    } words[] = {{{"Pod", 3}, POLICY_POD},
                 {{"Placement", 9}, POLICY_PLACEMENT},
                 {{"PropagationPolicy", 17}, POLICY_PROPAGATION_POLICY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq(word, words[i].word))
            return words[i].target;
    return 0;
}

static uint32_t targets_decode(struct json_reader *r) {
    uint32_t targets = 0;
    if (!json_array(r))
        return targets;
    while (json_element(r)) {
        struct str word = json_string(r);
        uint32_t target = target_of(word);
        if (target == 0)
            json_fail(r, "'%.*s' is none of 'Pod', 'Placement' and 'PropagationPolicy'",
                      STR_ARG(word));
        targets |= target;
    }
    return targets;
}

static void spec_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("targets")))
            policy->targets = targets_decode(r);
        else if (str_eq(key, STR("namespaceSelector")))
            policy->namespaces = compiled(r, "spec.namespaceSelector", policy);
        else if (str_eq(key, STR("objectSelector")))
            policy->objects = compiled(r, "spec.objectSelector", policy);
        else if (str_eq(key, STR("priority")))
            policy->priority = json_null(r) ? 0 : (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("spread")))
            policy->spread = json_array_of(r, sizeof *policy->spread, LIMIT_POLICY_TERMS,
                                           spread_decode, &policy->spread_count);
        else if (str_eq(key, STR("locality")))
            locality_decode(r, policy);
        else if (str_eq(key, STR("weights")))
            weights_decode(r, policy);
        else
            unknown(r);
    }
}

static struct str name_decode(struct json_reader *r) {
    static const struct json_string_field name_field[] = {{{"name", 4}, 0}};
    struct str name = {0};
    json_strings_of(r, name_field, 1, &name);
    return name;
}

void policy_decode(struct json_reader *r, struct policy *ret) {
    struct str key;
    bool spec = false;
    *ret = (struct policy){.targets = POLICY_POD, .spread_weight = 50, .locality_weight = 50};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("metadata")))
                ret->name = name_decode(r);
            else if (str_eq(key, STR("spec"))) {
                spec = json_peek(r) == JSON_OBJECT;
                spec_decode(r, ret);
            } else if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) ||
                       str_eq(key, STR("status")))
                (void)json_skip(r); /* whoever chose this decoder knows; errors stay in r */
            else
                unknown(r);
        }
    if (str_empty(ret->name))
        json_fail(r, "metadata.name is required");
    if (!spec)
        json_fail(r, "spec is required");
    if (json_failed(r) || arena_failed(r->arena))
        return;
    policy_set_bits(ret);
    if (str_empty(ret->problem))
        ret->problem = policy_problem(ret, r->arena);
}
