/* The common part of the commands that run a daemon: serve and estimator. */
#pragma once

#include "cli/options.h"

/* Checks the configuration as a whole, sets up the log, calls log_more() unless it is NULL, and
 * serves until a signal stops it. Returns the exit code; a failure is printed with the command's
 * name. */
int serve_configured(const struct command *command, const struct configuration *c,
                     void (*log_more)(const void *ctx), const void *ctx);
