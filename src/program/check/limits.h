/*
 * `evenkeel check config`: kube-scheduler does less for an extender's constraints than for its own.
 * Each note names the work that kube-scheduler does not do, and the native constraint for which it
 * would do that work.
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"

/* Adds a note for every hard default constraint and every rule with a hard term. */
void limits_check(const struct configuration *c, struct check_report *out);
