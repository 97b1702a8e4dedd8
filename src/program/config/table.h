/*
 * The tables behind EvenkeelConfiguration, for the files of this folder only.
 */
#pragma once

#include "config/configuration.h"
#include "config/fields.h"

enum { CONFIGURATION_RULES_MAX = 256 };

/* The state of reading one file: the ctx of its field_source. */
struct configuration_loading {
    struct configuration *into;
    configuration_problem_fn *found;
    void *ctx;
    uint32_t problem_count;
    struct str rule_names[CONFIGURATION_RULES_MAX]; /* names of the rules read so far */
    uint32_t rule_count;
    const struct spread_constraint *defaults[LIMIT_DEFAULT_CONSTRAINTS]; /* the constraints read */
    uint32_t default_count;
    const struct locality_tier *tiers[LIMIT_POLICY_TERMS]; /* tiers read so far */
    uint32_t tier_count;
};

/* Returns the index of the removed setting with this path, or of the first removed setting below
 * it; SIZE_MAX if there is no such setting. */
size_t configuration_removed_find(const char *path);

/* Is this a valid name of a namespace? upstream: apimachinery validation IsDNS1123Label. */
bool configuration_namespace_valid(struct str s);

extern const struct field_table configuration_table; /* struct configuration */
extern const struct field_table                      /* struct configuration_certificates */
    configuration_certificates_table,
    configuration_extender_certificates_table;
extern const struct field_table configuration_default_table; /* struct spread_constraint */
extern const struct field_table configuration_tier_table;    /* struct locality_tier */
extern const struct field_table configuration_rule_table;    /* struct ordered_rule */
extern const struct field_table configuration_term_table;    /* struct spread_constraint */
