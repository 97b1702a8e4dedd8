/*
 * Reads the `options` of a question about Karmada's scheduling. An unknown option, or an unknown
 * word of an option, is an error of the reader, which names the nearest known option or word.
 *
 *     missingTopology          Refuse | Default
 *     noConstraint             All | UntilEnough
 *     compat                   "" | v1.18.1
 *     models                   3 | 2 | 1 | Off
 *     searchBudget             steps, 1 at least
 *     maxGroupsUnset           Zero | Unlimited
 *     staticWeightsKeepSpread  false | true
 *     division                 Webster | Remainder
 *     setUnits                 ByFamily | ByName
 *     resourceQuota            false | true
 *     overcommitProtection     false | true
 *     plugins                  a list as of upstream's --plugins: karmada_plugins_parse()
 *
 * The first word of each option is its default. The default of plugins is ["*"], and that of
 * searchBudget is 1000000.
 */
#pragma once

#include "karmada/karmada.h"

/* Returns the option's own number, from 0 to 31; -1 if no option has this name. */
int karmada_option_number(struct str name);
/* Reads the value that comes next; for null, all options get their defaults. */
void karmada_options_decode(struct json_reader *r, struct karmada_options *ret);
