/*
 * `options` of a question about Karmada's scheduling. An unknown option, or an unknown word of an
 * option, is an error of the reader, which names the nearest known one.
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
 * The first word of each is the default; the default of plugins is ["*"], of searchBudget 1000000.
 */
#pragma once

#include "karmada/karmada.h"

/* Returns a number from 0 to 31, of its own, for the name of an option; -1 for any other name. */
int karmada_option_number(struct str name);
/* Reads the value that comes next; null is all defaults. */
void karmada_options_decode(struct json_reader *r, struct karmada_options *ret);
