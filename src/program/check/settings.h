/*
 * `evenkeel check config`: settings that have a valid form, but will not work when Evenkeel serves,
 * or will not work on this machine.
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"

/* Finds listeners on the same address, connections that Evenkeel closes while their clients still
 * use them, and files that do not exist. */
void settings_check(const struct configuration *c, struct check_report *out);
