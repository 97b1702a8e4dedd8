#include "karmada/karmada.h"

#include "base/suggest.h"

#include <errno.h>

const struct karmada_options karmada_defaults = {
    .models = MODELS_THIRD,
    .search_budget = 1000000,
    .plugins = KARMADA_UPSTREAM_PLUGINS,
};

const struct str karmada_error_names[KARMADA_ERRORS] = {
    [KARMADA_OK] = STR(""),
    [KARMADA_FIT_ERROR] = STR("FitError"),
    [KARMADA_UNSCHEDULABLE] = STR("UnschedulableError"),
    [KARMADA_ERROR] = STR("error"),
};

/* ---- words ---- */

const char *const karmada_missing_words[KARMADA_WORDS] = {
    [MISSING_REFUSE] = "Refuse",
    [MISSING_DEFAULT] = "Default",
};
const char *const karmada_no_constraint_words[KARMADA_WORDS] = {
    [NO_CONSTRAINT_ALL] = "All",
    [NO_CONSTRAINT_UNTIL_ENOUGH] = "UntilEnough",
};
const char *const karmada_compat_words[KARMADA_WORDS] = {
    "v1.18.1", "", /* the empty word, for COMPAT_NONE, stands last */
};
const char *const karmada_division_words[KARMADA_WORDS] = {
    [DIVISION_WEBSTER] = "Webster",
    [DIVISION_REMAINDER] = "Remainder",
};
const char *const karmada_unset_words[KARMADA_WORDS] = {
    [GROUPS_UNSET_ZERO] = "Zero",
    [GROUPS_UNSET_UNLIMITED] = "Unlimited",
};
const char *const karmada_set_units_words[KARMADA_WORDS] = {
    [SET_UNITS_BY_FAMILY] = "ByFamily",
    [SET_UNITS_BY_NAME] = "ByName",
};
const char *const karmada_models_words[KARMADA_MODELS] = {
    [MODELS_OFF] = "Off",
    [MODELS_FIRST] = "1",
    [MODELS_SECOND] = "2",
    [MODELS_THIRD] = "3",
};

/* ---- plugins ---- */

const char *const karmada_plugin_names[KARMADA_PLUGINS] = {
    [PLUGIN_API_ENABLEMENT] = "APIEnablement",     [PLUGIN_TAINT_TOLERATION] = "TaintToleration",
    [PLUGIN_CLUSTER_AFFINITY] = "ClusterAffinity", [PLUGIN_SPREAD_CONSTRAINT] = "SpreadConstraint",
    [PLUGIN_CLUSTER_EVICTION] = "ClusterEviction", [PLUGIN_CAPACITY] = "Capacity",
    [PLUGIN_CLUSTER_LOCALITY] = "ClusterLocality", [PLUGIN_FREE_CAPACITY] = "FreeCapacity",
    [PLUGIN_DATA_LOCALITY] = "DataLocality",
};

static int plugin_find(struct str name, uint32_t *ret_bit, struct err *err) {
    struct suggestion near = suggestion_for(name);
    for (uint32_t i = 0; i < KARMADA_PLUGINS; i++) {
        if (str_eq(name, str_of(karmada_plugin_names[i]))) {
            *ret_bit = 1u << i;
            return 0;
        }
        suggestion_offer(&near, karmada_plugin_names[i]);
    }
    if (near.best != NULL)
        return err_set(err, -EINVAL, "there is no plugin '%.*s'; did you mean '%s'?", STR_ARG(name),
                       near.best);
    return err_set(err, -EINVAL, "there is no plugin '%.*s'", STR_ARG(name));
}

int karmada_plugins_parse(const struct str *words, uint32_t count, uint32_t *ret, struct err *err) {
    uint32_t plugins = 0;
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(words[i], STR("*")))
            plugins = KARMADA_UPSTREAM_PLUGINS;
    for (uint32_t i = 0; i < count; i++) {
        struct str name = words[i];
        const bool off = str_has_prefix(name, STR("-"));
        uint32_t bit = 0;
        if (str_eq(name, STR("*")))
            continue;
        while (str_has_prefix(name, STR("-")))
            name = (struct str){name.p + 1, name.n - 1};
        const int r = plugin_find(name, &bit, err);
        if (r != 0)
            return r;
        plugins = off ? plugins & ~bit : plugins | bit;
    }
    *ret = plugins;
    return 0;
}
