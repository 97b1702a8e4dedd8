/*
 * `evenkeel check config`: what kube-scheduler does not do for constraints that only an extender
 * knows, and by which native constraint it would.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"

/* Adds a note for every hard default constraint and every rule with a hard term. */
void limits_check(const struct configuration *c, struct findings *out);
