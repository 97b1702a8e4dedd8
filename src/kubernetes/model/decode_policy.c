#include "model/policy.h"

#include "base/json_fields.h"
#include "model/fields.h"

#include <errno.h>

/* Every loop over members calls this for a member that it does not know. */
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

/* Reads and compiles a selector. If it does not compile, sets the policy's problem. */
static struct selector compiled(struct json_reader *r, const char *field, struct policy *policy) {
    struct label_selector from = label_selector_decode_strict(r);
    from.present = true; /* null counts as {} */
    struct selector s = {0};
    struct err err;
    if (json_failed(r) || arena_failed(r->arena))
        return s;
    int failed = selector_compile(&from, (struct labels){0}, r->arena, &s, &err);
    if (failed == -EINVAL && str_empty(policy->problem)) {
        (void)err_wrap(&err, "%s", field);
        policy->problem = arena_str(r->arena, str_of(err.text));
    }
    return s; /* -ENOMEM: the arena has failed; the reader reports it */
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

static void constraints_decode(struct json_reader *r, struct policy *policy) {
    bool given = json_peek(r) == JSON_ARRAY;
    policy->spread = json_array_of(r, sizeof *policy->spread, LIMIT_POLICY_TERMS, spread_decode,
                                   &policy->spread_count);
    if (given && policy->spread_count == 0 && str_empty(policy->problem))
        policy->problem = STR("spec.pods.spread is empty: leave it out");
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

static enum policy_locality_mode locality_mode_decode(struct json_reader *r) {
    static const char *const words[] = {"Preferred", "Required", "Disabled"};
    struct json_reader ahead = *r;
    /* YAML reads Off as false */
    if (json_peek(r) == JSON_BOOL || str_eq(json_string(&ahead), STR("Off")))
        json_fail(r, "expected 'Preferred', 'Required' or 'Disabled' (the new word for 'Off')");
    return (enum policy_locality_mode)(POLICY_LOCALITY_PREFERRED + json_word(r, words, 3, 0));
}

static void keep_off_decode(struct json_reader *r, struct policy *policy) {
    static const char *const words[] = {"Preferred", "Disabled", "Required"};
    int32_t weight = 100;
    uint32_t mode = 0;
    struct str key;
    if (json_peek(r) == JSON_BOOL)
        json_fail(r, "is an object now: write {mode: Preferred} instead of true");
    if (json_null(r))
        return;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("mode")))
                mode = json_word(r, words, 3, 0);
            else if (str_eq(key, STR("weight")))
                weight = (int32_t)json_integer(r, 1, 100);
            else
                unknown(r);
        }
    policy->keep_others_off = mode == 1 ? 0 : weight;
    policy->requires_others_off = mode == 2;
}

static void locality_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    policy->locality = POLICY_LOCALITY_PREFERRED;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("mode")))
            policy->locality = locality_mode_decode(r);
        else if (str_eq(key, STR("weight")))
            policy->tier_percent = (int32_t)json_integer(r, 1, 100);
        else if (str_eq(key, STR("tiers")))
            policy->tiers = json_array_of(r, sizeof *policy->tiers, LIMIT_POLICY_TERMS, tier_decode,
                                          &policy->tier_count);
        else if (str_eq(key, STR("keepOthersOffCacheNodes")))
            keep_off_decode(r, policy);
        else
            unknown(r);
    }
}

static void weights_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    policy->has_weights = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("spread")))
            policy->spread_weight = (int32_t)json_integer(r, 0, 1000);
        else if (str_eq(key, STR("locality")))
            policy->locality_weight = (int32_t)json_integer(r, 0, 1000);
        else
            unknown(r);
    }
}

/* Reads "Auto", "Pod", or the key of a label. */
static void unit_decode(struct json_reader *r, struct policy_group_by *group) {
    if (json_null(r))
        return;
    struct str word = json_string(r);
    group->unit = POLICY_UNIT_AUTO;
    group->unit_key = (struct str){0};
    if (str_eq(word, STR("Pod"))) {
        group->unit = POLICY_UNIT_POD;
    } else if (!str_eq(word, STR("Auto"))) {
        group->unit = POLICY_UNIT_LABEL;
        group->unit_key = word;
    }
}

static void group_by_decode(struct json_reader *r, struct policy_group_by *group) {
    struct str key;
    if (!json_object(r))
        return;
    group->given = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("labels")))
            group->labels = json_string_array(r, LIMIT_POLICY_TERMS, &group->label_count);
        else if (str_eq(key, STR("unit")))
            unit_decode(r, group);
        else
            unknown(r);
    }
}

/* ---- placements ---- */

static void term_decode(struct json_reader *r, void *into) {
    static const char *const types[] = {"Label", "Claim"};
    static const char *const actions[] = {"ScheduleAnyway", "DoNotSchedule"};
    struct placement_term *t = into;
    struct str key;
    t->max_skew = 1;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey")))
                t->key = json_string(r);
            else if (str_eq(key, STR("topologyKeyType")))
                t->is_claim = json_word(r, types, 2, 0) == 1;
            else if (str_eq(key, STR("maxSkew")))
                t->max_skew = json_null(r) ? 1 : (int32_t)json_integer(r, 1, INT32_MAX);
            else if (str_eq(key, STR("minDomains")))
                t->min_domains = json_null(r) ? 0 : (int32_t)json_integer(r, 1, INT32_MAX);
            else if (str_eq(key, STR("whenUnsatisfiable")))
                t->hard = json_word(r, actions, 2, 0) == 1;
            else
                unknown(r);
        }
    if (str_empty(t->key))
        json_fail(r, "topologyKey is required");
}

static void refuse_twice(struct json_reader *r, const struct placement_term *terms,
                         uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (terms[i].is_claim == terms[j].is_claim && str_eq(terms[i].key, terms[j].key))
                json_fail(r, "items %u and %u have the same topologyKey '%.*s' of type %s", j, i,
                          STR_ARG(terms[i].key), terms[i].is_claim ? "Claim" : "Label");
}

static void placements_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (!str_eq(key, STR("spread"))) {
            unknown(r);
            continue;
        }
        policy->placement_terms = json_array_of(r, sizeof *policy->placement_terms, PLACEMENT_TERMS,
                                                term_decode, &policy->placement_term_count);
        refuse_twice(r, policy->placement_terms, policy->placement_term_count);
    }
}

/* ---- what it is for ---- */

static void exclude_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        bool given = json_peek(r) == JSON_OBJECT;
        if (str_eq(key, STR("namespaceSelector"))) {
            policy->excludes_namespaces = given;
            policy->not_namespaces = compiled(r, "spec.match.exclude.namespaceSelector", policy);
        } else if (str_eq(key, STR("objectSelector"))) {
            policy->excludes_objects = given;
            policy->not_objects = compiled(r, "spec.match.exclude.objectSelector", policy);
        } else
            unknown(r);
    }
}

static void owner_decode(struct json_reader *r, void *into) {
    struct policy_owner *owner = into;
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("group")))
                owner->group = json_string(r);
            else if (str_eq(key, STR("kind")))
                owner->kind = json_string(r);
            else
                unknown(r);
        }
    if (str_empty(owner->kind))
        json_fail(r, "kind is required");
}

static void match_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("namespaceSelector")))
            policy->namespaces = compiled(r, "spec.match.namespaceSelector", policy);
        else if (str_eq(key, STR("objectSelector")))
            policy->objects = compiled(r, "spec.match.objectSelector", policy);
        else if (str_eq(key, STR("ownerKinds")))
            policy->owners = json_array_of(r, sizeof *policy->owners, LIMIT_POLICY_TERMS,
                                           owner_decode, &policy->owner_count);
        else if (str_eq(key, STR("exclude")))
            exclude_decode(r, policy);
        else
            unknown(r);
    }
}

/* ---- the policy ---- */

static void pods_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("spread")))
            constraints_decode(r, policy);
        else if (str_eq(key, STR("replaceDefaults")))
            policy->replace_defaults = json_bool(r);
        else if (str_eq(key, STR("groupBy")))
            group_by_decode(r, &policy->group_by);
        else if (str_eq(key, STR("locality")))
            locality_decode(r, policy);
        else if (str_eq(key, STR("weights")))
            weights_decode(r, policy);
        else if (str_eq(key, STR("schedulerNames")))
            policy->schedulers = json_string_array(r, LIMIT_POLICY_TERMS, &policy->scheduler_count);
        else
            unknown(r);
    }
}

/* Refuses fields from before the first release: the error names the field's new place. */
static void moved(struct json_reader *r, struct str key) {
    static const struct {
        struct str was;
        const char *now;
    } fields[] = {
        {{"spread", 6}, "moved to spec.pods.spread"},
        {{"locality", 8}, "moved to spec.pods.locality"},
        {{"weights", 7}, "moved to spec.pods.weights"},
        {{"namespaceSelector", 17}, "moved to spec.match.namespaceSelector"},
        {{"objectSelector", 14}, "moved to spec.match.objectSelector"},
        {{"targets", 7}, "is gone: the settings for pods are in spec.pods"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (str_eq(key, fields[i].was))
            json_fail(r, "%s", fields[i].now);
    unknown(r);
}

const struct str policy_mode_names[POLICY_MODES] = {
    [POLICY_ENFORCE] = {"Enforce", 7},
    [POLICY_AUDIT] = {"Audit", 5},
    [POLICY_REQUIRE] = {"Require", 7},
};

static enum policy_mode mode_decode(struct json_reader *r) {
    const char *words[POLICY_MODES];
    for (int i = 0; i < POLICY_MODES; i++)
        words[i] = policy_mode_names[i].p;
    return (enum policy_mode)json_word(r, words, POLICY_MODES, POLICY_ENFORCE);
}

static void spec_decode(struct json_reader *r, struct policy *policy) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("priority")))
            policy->priority = json_null(r) ? 0 : (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("mode")))
            policy->mode = mode_decode(r);
        else if (str_eq(key, STR("match")))
            match_decode(r, policy);
        else if (str_eq(key, STR("pods"))) {
            policy->has_section[POLICY_FOR_PODS] = json_peek(r) == JSON_OBJECT;
            pods_decode(r, policy);
        } else if (str_eq(key, STR("placements"))) {
            policy->has_section[POLICY_FOR_PLACEMENTS] = json_peek(r) == JSON_OBJECT;
            placements_decode(r, policy);
        } else
            moved(r, key);
    }
    if (!policy->has_section[POLICY_FOR_PODS] && !policy->has_section[POLICY_FOR_PLACEMENTS])
        json_fail(r, "pods or placements is required: spec.spread, spec.locality and spec.weights "
                     "moved to spec.pods");
}

static struct str name_decode(struct json_reader *r) {
    static const struct json_field name_field[] = {JSON_TEXT_ALONE("name")};
    struct str name = {0};
    json_fields(r, &JSON_ROWS(name_field), &name);
    return name;
}

void policy_decode(struct json_reader *r, struct policy *ret) {
    struct str key;
    bool spec = false;
    *ret = (struct policy){.tier_percent = 100, .spread_weight = 50, .locality_weight = 50};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("metadata")))
                ret->name = name_decode(r);
            else if (str_eq(key, STR("spec"))) {
                spec = json_peek(r) == JSON_OBJECT;
                spec_decode(r, ret);
            } else if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) ||
                       str_eq(key, STR("status")))
                (void)json_skip(r); /* the caller knows the kind already; errors stay in r */
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
