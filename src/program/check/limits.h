/*
 * `evenkeel check config`: kube-scheduler does less for constraints that only an extender knows
 * than for its own. The notes say what it leaves out, and which native constraint would do it.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"

/* Adds a note for every hard default constraint and every rule with a hard term. */
void limits_check(const struct configuration *c, struct findings *out);
