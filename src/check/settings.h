/*
 * `evenkeel check config`: settings that are well written, and that serving or this machine would
 * show to be wrong.
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"

/* Listeners on one address, connections that end before their clients give them up, files that are
 * not there. */
void settings_check(const struct configuration *c, struct findings *out);
