/*
 * The options for scheduling bindings, from configuration or a question, and the words of each
 * choice. Plain values.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "estimator/model_versions.h"

#include <stdbool.h>
#include <stdint.h>

enum missing_topology { MISSING_REFUSE, MISSING_DEFAULT };
enum no_constraint { NO_CONSTRAINT_ALL, NO_CONSTRAINT_UNTIL_ENOUGH };
enum karmada_compat { COMPAT_NONE, COMPAT_1_18_1 };
enum karmada_division { DIVISION_WEBSTER, DIVISION_REMAINDER };
enum groups_unset { GROUPS_UNSET_ZERO, GROUPS_UNSET_UNLIMITED };
enum set_units { SET_UNITS_BY_FAMILY, SET_UNITS_BY_NAME };

/* The words of each choice, in the order of its enum. */
enum { KARMADA_WORDS = 2 };
extern const char *const karmada_missing_words[KARMADA_WORDS];       /* missingTopology */
extern const char *const karmada_no_constraint_words[KARMADA_WORDS]; /* noConstraint */
extern const char *const karmada_compat_words[KARMADA_WORDS];        /* compat, last word first */
extern const char *const karmada_division_words[KARMADA_WORDS];      /* division */
extern const char *const karmada_unset_words[KARMADA_WORDS];         /* maxGroupsUnset */
extern const char *const karmada_set_units_words[KARMADA_WORDS];     /* setUnits */
enum { KARMADA_MODELS = 4 };
extern const char *const karmada_models_words[KARMADA_MODELS]; /* models */

/* Filters, then scores; both in the order in which they run. upstream: pkg/scheduler/framework/
 * plugins, where the order is different after each start of the scheduler. */
enum karmada_plugin {
    PLUGIN_API_ENABLEMENT,
    PLUGIN_TAINT_TOLERATION,
    PLUGIN_CLUSTER_AFFINITY,
    PLUGIN_SPREAD_CONSTRAINT,
    PLUGIN_CLUSTER_EVICTION,
    PLUGIN_CAPACITY, /* Evenkeel's own plugin, like FREE_CAPACITY and DATA_LOCALITY */
    PLUGIN_CLUSTER_LOCALITY,
    PLUGIN_FREE_CAPACITY,
    PLUGIN_DATA_LOCALITY,
    KARMADA_PLUGINS,
};
extern const char *const karmada_plugin_names[KARMADA_PLUGINS];
#define KARMADA_UPSTREAM_PLUGINS                                                                   \
    (1u << PLUGIN_API_ENABLEMENT | 1u << PLUGIN_TAINT_TOLERATION | 1u << PLUGIN_CLUSTER_AFFINITY | \
     1u << PLUGIN_SPREAD_CONSTRAINT | 1u << PLUGIN_CLUSTER_EVICTION |                              \
     1u << PLUGIN_CLUSTER_LOCALITY)
/*
 * Sets *ret to the bits of the plugins that a list switches on. The list is like upstream's
 * --plugins: "*", in any place, adds all of upstream's plugins; "Name" adds a plugin, "-Name"
 * removes a plugin that is on so far. Returns 0, or -EINVAL: unknown name. upstream:
 * pkg/scheduler/framework/runtime Registry.Filter().
 */
int karmada_plugins_parse(const struct str *words, uint32_t count, uint32_t *ret,
                          struct err *err) MUST_CHECK;

/* Settings from configuration or a question; karmada_defaults gives the results of v1.18.1, except
 * for the levels of a spread. */
struct karmada_options {
    enum missing_topology missing;
    enum no_constraint no_constraint;
    enum karmada_compat compat;
    enum estimator_models models;
    enum karmada_division division;
    uint64_t search_budget;      /* largest number of steps of one selection, at least 1 */
    bool max_unset_is_unlimited; /* maxGroupsUnset is "Unlimited" */
    bool static_keeps_spread;    /* staticWeightsKeepSpread */
    bool sets_by_name;           /* setUnits is "ByName" */
    bool resource_quota;         /* resourceQuota: upstream's gate ResourceQuotaEstimate */
    bool overcommit_protection;  /* overcommitProtection: SchedulingOvercommitProtection */
    bool empty_propagation;      /* enableEmptyWorkloadPropagation; not an option of a question */
    uint32_t plugins;            /* bits of enum karmada_plugin */
};
extern const struct karmada_options karmada_defaults;
