/*
 * The store of an informer for an API server's TopologyPolicies. Its contents are a struct
 * policy_source, given by the caller. If the kind is not installed there are no policies.
 */
#pragma once

#include "informer/informer.h"
#include "policy/policies.h"

extern const struct informer_store policy_store;
/* The same for the hub of a fleet, which has its own row in the table of watched kinds. */
extern const struct informer_store hub_policy_store;
