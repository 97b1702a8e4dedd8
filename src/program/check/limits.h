/*
 * `evenkeel check config`: kube-scheduler does less for an extender's constraints than for its own.
 * The notes say what it does not do, and which native constraint would make it do so.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"

/* Adds a note for every hard default constraint and every rule with a hard term. */
void limits_check(const struct configuration *c, struct findings *out);
