#include "model/policy.h"

#include "base/json_fields.h"
#include "model/fields.h"

#include <errno.h>

/* Every loop over members calls this for a member that it does not know. */
static void unknown(struct json_reader *r) {
    json_fail(r, "unknown field");
}

static void inclusion_read(struct json_reader *r, void *into) {
    const struct str word = json_string(r);
    enum policy_inclusion *inclusion = into;
    *inclusion = str_empty(word)              ? POLICY_INCLUSION_DEFAULT
                 : str_eq(word, STR("Honor")) ? POLICY_HONOR
                                              : POLICY_IGNORE;
    if (*inclusion == POLICY_IGNORE && !str_eq(word, STR("Ignore")))
        json_fail(r, "'%.*s' is neither 'Honor' nor 'Ignore'", STR_ARG(word));
}

static void when_read(struct json_reader *r, void *into) {
    const struct str word = json_string(r);
    const bool hard = str_eq(word, STR("DoNotSchedule"));
    if (!hard && !str_eq(word, STR("ScheduleAnyway")))
        json_fail(r, "'%.*s' is neither 'DoNotSchedule' nor 'ScheduleAnyway'", STR_ARG(word));
    *(bool *)into = hard;
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

/* A constraint, while it is read. */
struct read_spread {
    struct policy_spread spread;
    bool has_when;
};

static const struct json_field spread_fields[] = {
    JSON_TEXT("topologyKey", struct read_spread, spread.topology_key),
    JSON_INTEGER("maxSkew", struct read_spread, spread.max_skew, 1, INT32_MAX, .absent = 1),
    JSON_INTEGER("minDomains", struct read_spread, spread.min_domains, 1, INT32_MAX, .absent = 0),
    JSON_CALL_GIVEN("whenUnsatisfiable", struct read_spread, spread.hard, when_read, has_when),
    JSON_CALL("nodeAffinityPolicy", struct read_spread, spread.node_affinity, inclusion_read),
    JSON_CALL("nodeTaintsPolicy", struct read_spread, spread.node_taints, inclusion_read),
    JSON_NO_OTHERS,
};

static void spread_read(struct json_reader *r, void *into) {
    struct read_spread read = {.spread.max_skew = 1};
    json_fields(r, &JSON_ROWS(spread_fields), &read);
    *(struct policy_spread *)into = read.spread;
    if (str_empty(read.spread.topology_key))
        json_fail(r, "topologyKey is required");
    if (!read.has_when)
        json_fail(r, "whenUnsatisfiable is required: DoNotSchedule or ScheduleAnyway");
}

static void constraints_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
    bool given = json_peek(r) == JSON_ARRAY;
    policy->spread = json_array_of(r, sizeof *policy->spread, LIMIT_POLICY_TERMS, spread_read,
                                   &policy->spread_count);
    if (given && policy->spread_count == 0 && str_empty(policy->problem))
        policy->problem = STR("spec.pods.spread is empty: leave it out");
}

static const struct json_field tier_fields[] = {
    JSON_TEXT("topologyKey", struct policy_tier, topology_key),
    JSON_INTEGER("weight", struct policy_tier, weight, 1, 100, .absent = 0),
    JSON_NO_OTHERS,
};

static void tier_read(struct json_reader *r, void *into) {
    struct policy_tier *tier = into;
    json_fields(r, &JSON_ROWS(tier_fields), tier);
    if (str_empty(tier->topology_key))
        json_fail(r, "topologyKey is required");
    if (tier->weight == 0)
        json_fail(r, "weight is required");
}

static void locality_mode_read(struct json_reader *r, void *into) {
    static const char *const words[] = {"Preferred", "Required", "Disabled"};
    struct json_reader ahead = *r;
    /* YAML reads Off as false */
    if (json_peek(r) == JSON_BOOL || str_eq(json_string(&ahead), STR("Off")))
        json_fail(r, "expected 'Preferred', 'Required' or 'Disabled' (the new word for 'Off')");
    *(enum policy_locality_mode *)into = POLICY_LOCALITY_PREFERRED + json_word(r, words, 3, 0);
}

static const char *const keep_off_modes[] = {"Preferred", "Disabled", "Required"};
struct keep_off {
    uint32_t mode;
    int32_t weight;
};
static const struct json_field keep_off_fields[] = {
    JSON_WORD("mode", struct keep_off, mode, keep_off_modes, .absent = 0),
    JSON_INTEGER("weight", struct keep_off, weight, 1, 100, .absent = 0),
    JSON_NO_OTHERS,
};

static void keep_off_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
    struct keep_off read = {.weight = 100};
    if (json_peek(r) == JSON_BOOL)
        json_fail(r, "is an object now: write {mode: Preferred} instead of true");
    if (json_null(r))
        return;
    json_fields(r, &JSON_ROWS(keep_off_fields), &read);
    policy->keep_others_off = read.mode == 1 ? 0 : read.weight;
    policy->requires_others_off = read.mode == 2;
}

static const struct json_field locality_fields[] = {
    JSON_CALL("mode", struct policy, locality, locality_mode_read),
    JSON_INTEGER("weight", struct policy, tier_percent, 1, 100, .absent = 0),
    JSON_LIST_BY("tiers", struct policy, tiers, tier_count, LIMIT_POLICY_TERMS, tier_read),
    JSON_CALL_WHOLE("keepOthersOffCacheNodes", keep_off_read),
    JSON_NO_OTHERS,
};

static void locality_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
    if (json_peek(r) == JSON_OBJECT)
        policy->locality = POLICY_LOCALITY_PREFERRED;
    json_fields(r, &JSON_ROWS(locality_fields), policy);
}

static const struct json_field weights_fields[] = {
    JSON_INTEGER("spread", struct policy, spread_weight, 0, 1000, .absent = 0),
    JSON_INTEGER("locality", struct policy, locality_weight, 0, 1000, .absent = 0),
    JSON_NO_OTHERS,
};

static void weights_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
    policy->has_weights = policy->has_weights || json_peek(r) == JSON_OBJECT;
    json_fields(r, &JSON_ROWS(weights_fields), policy);
}

/* Reads "Auto", "Pod", or the key of a label. */
static void unit_read(struct json_reader *r, void *into) {
    struct policy_group_by *group = into;
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

static const struct json_field group_by_fields[] = {
    JSON_TEXTS("labels", struct policy_group_by, labels, label_count, LIMIT_POLICY_TERMS),
    JSON_CALL_WHOLE("unit", unit_read),
    JSON_NO_OTHERS,
};

static void group_by_read(struct json_reader *r, void *into) {
    struct policy_group_by *group = into;
    group->given = group->given || json_peek(r) == JSON_OBJECT;
    json_fields(r, &JSON_ROWS(group_by_fields), group);
}

/* ---- placements ---- */

static const char *const key_types[] = {"Label", "Claim"};
static const char *const actions[] = {"ScheduleAnyway", "DoNotSchedule"};
static const struct json_field term_fields[] = {
    JSON_TEXT("topologyKey", struct placement_term, key),
    JSON_WORD("topologyKeyType", struct placement_term, is_claim, key_types, .absent = 0),
    JSON_INTEGER("maxSkew", struct placement_term, max_skew, 1, INT32_MAX, .absent = 1),
    JSON_INTEGER("minDomains", struct placement_term, min_domains, 1, INT32_MAX, .absent = 0),
    JSON_WORD("whenUnsatisfiable", struct placement_term, hard, actions, .absent = 0),
    JSON_NO_OTHERS,
};

static void term_read(struct json_reader *r, void *into) {
    struct placement_term *t = into;
    t->max_skew = 1;
    json_fields(r, &JSON_ROWS(term_fields), t);
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

static void terms_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
    policy->placement_terms = json_array_of(r, sizeof *policy->placement_terms, PLACEMENT_TERMS,
                                            term_read, &policy->placement_term_count);
    refuse_twice(r, policy->placement_terms, policy->placement_term_count);
}

static const struct json_field placements_fields[] = {
    JSON_CALL_WHOLE("spread", terms_read),
    JSON_NO_OTHERS,
};

/* ---- the objects of a policy ---- */

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

static const struct json_field owner_fields[] = {
    JSON_TEXT("group", struct policy_owner, group),
    JSON_TEXT("kind", struct policy_owner, kind),
    JSON_NO_OTHERS,
};

static void owner_read(struct json_reader *r, void *into) {
    struct policy_owner *owner = into;
    json_fields(r, &JSON_ROWS(owner_fields), owner);
    if (str_empty(owner->kind))
        json_fail(r, "kind is required");
}

static void match_read(struct json_reader *r, void *into) {
    struct policy *policy = into;
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
                                           owner_read, &policy->owner_count);
        else if (str_eq(key, STR("exclude")))
            exclude_decode(r, policy);
        else
            unknown(r);
    }
}

/* ---- the policy ---- */

static const struct json_field pods_fields[] = {
    JSON_CALL_WHOLE("spread", constraints_read),
    JSON_FLAG("replaceDefaults", struct policy, replace_defaults),
    JSON_CALL("groupBy", struct policy, group_by, group_by_read),
    JSON_CALL_WHOLE("locality", locality_read),
    JSON_CALL_WHOLE("weights", weights_read),
    JSON_TEXTS("schedulerNames", struct policy, schedulers, scheduler_count, LIMIT_POLICY_TERMS),
    JSON_NO_OTHERS,
};

const struct str policy_mode_names[POLICY_MODES] = {
    [POLICY_ENFORCE] = {"Enforce", 7},
    [POLICY_AUDIT] = {"Audit", 5},
    [POLICY_REQUIRE] = {"Require", 7},
};

static void mode_read(struct json_reader *r, void *into) {
    const char *words[POLICY_MODES];
    for (int i = 0; i < POLICY_MODES; i++)
        words[i] = policy_mode_names[i].p;
    *(enum policy_mode *)into = json_word(r, words, POLICY_MODES, POLICY_ENFORCE);
}

static const struct json_field spec_fields[] = {
    JSON_INTEGER("priority", struct policy, priority, INT32_MIN, INT32_MAX, .absent = 0),
    JSON_CALL("mode", struct policy, mode, mode_read),
    JSON_CALL_WHOLE("match", match_read),
    JSON_WITHIN_GIVEN("pods", pods_fields, struct policy, has_section[POLICY_FOR_PODS]),
    JSON_WITHIN_GIVEN("placements", placements_fields, struct policy,
                      has_section[POLICY_FOR_PLACEMENTS]),
    /* Fields from before the first release: the error names the field's new place. */
    JSON_REFUSED("spread", "moved to spec.pods.spread"),
    JSON_REFUSED("locality", "moved to spec.pods.locality"),
    JSON_REFUSED("weights", "moved to spec.pods.weights"),
    JSON_REFUSED("namespaceSelector", "moved to spec.match.namespaceSelector"),
    JSON_REFUSED("objectSelector", "moved to spec.match.objectSelector"),
    JSON_REFUSED("targets", "is gone: the settings for pods are in spec.pods"),
    JSON_NO_OTHERS,
};

/* Reads the spec. Returns false if the spec is null. */
static bool spec_decode(struct json_reader *r, struct policy *policy) {
    const bool given = json_peek(r) == JSON_OBJECT;
    json_fields(r, &JSON_ROWS(spec_fields), policy);
    if (given && !policy->has_section[POLICY_FOR_PODS] &&
        !policy->has_section[POLICY_FOR_PLACEMENTS])
        json_fail(r, "pods or placements is required: spec.spread, spec.locality and spec.weights "
                     "moved to spec.pods");
    return given;
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
            else if (str_eq(key, STR("spec")))
                spec = spec_decode(r, ret);
            else if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) ||
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
