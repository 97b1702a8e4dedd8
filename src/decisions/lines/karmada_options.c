#include "lines/karmada_options.h"

#include "base/suggest.h"
#include "model/fields.h"

#include <assert.h>

/* ---- values ---- */

static uint32_t option_word(struct json_reader *r, const char *const words[KARMADA_WORDS]) {
    return json_word(r, words, KARMADA_WORDS, 0);
}

static void missing_decode(struct json_reader *r, struct karmada_options *o) {
    o->missing = option_word(r, karmada_missing_words);
}

static void no_constraint_decode(struct json_reader *r, struct karmada_options *o) {
    o->no_constraint = option_word(r, karmada_no_constraint_words);
}

static void compat_decode(struct json_reader *r, struct karmada_options *o) {
    enum { EMPTY = KARMADA_WORDS - 1 };
    o->compat = json_word(r, karmada_compat_words, KARMADA_WORDS, EMPTY) == EMPTY ? COMPAT_NONE
                                                                                  : COMPAT_1_18_1;
}

static void models_decode(struct json_reader *r, struct karmada_options *o) {
    if (json_peek(r) == JSON_NUMBER)
        o->models = (enum estimator_models)json_integer(r, MODELS_FIRST, MODELS_THIRD);
    else
        o->models = json_word(r, karmada_models_words, KARMADA_MODELS, MODELS_THIRD);
}

static void budget_decode(struct json_reader *r, struct karmada_options *o) {
    o->search_budget =
        json_null(r) ? karmada_defaults.search_budget : (uint64_t)json_integer(r, 1, INT64_MAX);
}

static void unset_decode(struct json_reader *r, struct karmada_options *o) {
    o->max_unset_is_unlimited = option_word(r, karmada_unset_words) == GROUPS_UNSET_UNLIMITED;
}

static void static_decode(struct json_reader *r, struct karmada_options *o) {
    o->static_keeps_spread = json_bool(r);
}

static void division_decode(struct json_reader *r, struct karmada_options *o) {
    o->division = option_word(r, karmada_division_words);
}

static void set_units_decode(struct json_reader *r, struct karmada_options *o) {
    o->sets_by_name = option_word(r, karmada_set_units_words) == SET_UNITS_BY_NAME;
}

static void quota_decode(struct json_reader *r, struct karmada_options *o) {
    o->resource_quota = json_bool(r);
}

static void overcommit_decode(struct json_reader *r, struct karmada_options *o) {
    o->overcommit_protection = json_bool(r);
}

static void plugins_decode(struct json_reader *r, struct karmada_options *o) {
    struct err err;
    uint32_t count;
    o->plugins = karmada_defaults.plugins;
    if (json_null(r))
        return;
    const struct str *words = strings_decode(r, &count);
    if (!json_failed(r) && !arena_failed(r->arena) &&
        karmada_plugins_parse(words, count, &o->plugins, &err) != 0)
        json_fail(r, "%s", err.text);
}

/* ---- the object ---- */

static const struct {
    const char *name;
    void (*decode)(struct json_reader *r, struct karmada_options *o);
} members[] = {
    {"missingTopology", missing_decode},
    {"noConstraint", no_constraint_decode},
    {"compat", compat_decode},
    {"models", models_decode},
    {"searchBudget", budget_decode},
    {"maxGroupsUnset", unset_decode},
    {"staticWeightsKeepSpread", static_decode},
    {"division", division_decode},
    {"setUnits", set_units_decode},
    {"resourceQuota", quota_decode},
    {"overcommitProtection", overcommit_decode},
    {"plugins", plugins_decode},
};
enum { MEMBERS = sizeof members / sizeof members[0] };

int karmada_option_number(struct str name) {
    static_assert(MEMBERS <= 32, "an option has a bit of 32");
    for (size_t i = 0; i < MEMBERS; i++)
        if (str_eq(name, str_of(members[i].name)))
            return (int)i;
    return -1;
}

static void member_decode(struct json_reader *r, struct str key, struct karmada_options *ret) {
    const int number = karmada_option_number(key);
    struct suggestion near = suggestion_for(key);
    if (number >= 0) {
        members[number].decode(r, ret);
        return;
    }
    for (size_t i = 0; i < MEMBERS; i++)
        suggestion_offer(&near, members[i].name);
    if (near.best != NULL)
        json_fail(r, "there is no such option; did you mean '%s'?", near.best);
    else
        json_fail(r, "there is no such option");
}

void karmada_options_decode(struct json_reader *r, struct karmada_options *ret) {
    struct str key;
    *ret = karmada_defaults;
    if (json_object(r))
        while (json_member(r, &key))
            member_decode(r, key, ret);
}
