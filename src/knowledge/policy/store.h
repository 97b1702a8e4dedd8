/*
 * TopologyPolicies of an API server, as an informer keeps them: in a struct policy_source, which is
 * given as the contents. Where the kind is not installed there are none, which is no error.
 */
#pragma once

#include "informer/informer.h"
#include "policy/policies.h"

extern const struct informer_store policy_store;
/* The same of the hub of a fleet, by its own row of the watched kinds. */
extern const struct informer_store hub_policy_store;
