/*
 * The settings of former versions that were removed. A setting is removed if users have no reason
 * to change it: its value becomes a constant, its row moves from config/table.c to here, and
 * `UPDATE_DOCS=1 make unit` writes it into docs/configuration.md.
 */
#include "config/table.h"

#include <stdio.h>

static const struct configuration_removed removed[] = {
    {"extender.threads", "extender-threads", "there is a thread for each CPU"},
    {"webhook.threads", "webhook-threads", "there is a thread for each CPU"},
    {"extender.limits.bodyBytes", "extender-limit-body-bytes", "a body is smaller than 64 MiB"},
    {"webhook.limits.bodyBytes", "webhook-limit-body-bytes", "a body is smaller than 16 MiB"},
    {"webhook.limits.headerTimeout", "webhook-limit-header-timeout", "headers come within 5s"},
    {"webhook.limits.requestTimeout", "webhook-limit-request-timeout",
     "the answer has left 10s after the headers"},
    {"webhook.limits.idleTimeout", "webhook-limit-idle-timeout",
     "a connection waits 2m for its next request"},
    {"webhook.fluid.pluginBudget", NULL, "a plugin has 100ms"},
    {"cache.maxFeasibilities", "cache-max-feasibilities", "512 pairs are remembered"},
    {"limits.handler", "limit-handler", "a request that is worked on for 30s hangs"},
    {"leaderElection.renewDeadline", "lease-renew-deadline", "two thirds of leaseDuration"},
    {"leaderElection.retryPeriod", "lease-retry-period", "two fifteenths of leaseDuration"},
};
enum { REMOVED = sizeof removed / sizeof removed[0] };
_Static_assert((int)REMOVED <= (int)CONFIGURATION_REMOVED_MAX,
               "struct configuration has no place for it");

const struct configuration_removed *configuration_removed_at(size_t index) {
    return index < REMOVED ? &removed[index] : NULL;
}

size_t configuration_removed_find(const char *path) {
    size_t n = strlen(path);
    for (size_t i = 0; i < REMOVED; i++)
        if (strncmp(removed[i].path, path, n) == 0 &&
            (removed[i].path[n] == '\0' || removed[i].path[n] == '.'))
            return i;
    return SIZE_MAX;
}

static void report(const struct configuration_removed *row, uint32_t line, const char *flag,
                   configuration_problem_fn *found, void *ctx) {
    char text[200];
    (void)snprintf(text, sizeof text, "%s%s is no longer a setting and has no effect: %s",
                   flag != NULL ? "--" : "", flag != NULL ? flag : "it", row->instead); /* fits */
    found(ctx, &(struct configuration_problem){.line = line,
                                               .path = row->path,
                                               .text = text,
                                               .advice = "remove it",
                                               .harmless = true});
}

void configuration_removed_found(const struct configuration *c, configuration_problem_fn *found,
                                 void *ctx) {
    for (size_t i = 0; i < REMOVED; i++) {
        if (c->removed_lines[i] > 0)
            report(&removed[i], c->removed_lines[i], NULL, found, ctx);
        if (c->removed_flags[i])
            report(&removed[i], 0, removed[i].flag, found, ctx);
    }
}
