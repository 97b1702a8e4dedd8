/* What the commands share that are a daemon. */
#pragma once

#include "cli/options.h"

/* Checks the configuration as a whole, sets the log up and serves until a signal says stop. Calls
 * log_more() between the last two, unless it is NULL. The exit code; a failure is printed with the
 * command's name. */
int serve_configured(const struct command *command, const struct configuration *c,
                     void (*log_more)(const void *ctx), const void *ctx);
