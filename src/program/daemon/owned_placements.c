#include "daemon/owned_placements.h"

#include "config/placements.h"
#include "hub/placement_decisions.h"
#include "hub/placement_history.h"

#include <errno.h>
#include <stdlib.h>

struct owned_placements {
    struct owned_placements_options options;
    struct placement_history *history;
    struct placement_decisions *controller;
};

/* Are clusters and policies complete? Otherwise Placements would lose decisions. */
static bool is_synced(void *ctx) {
    const struct owned_placements *o = ctx;
    return known_fleet_complete(o->options.fleet) && known_policies_complete(o->options.policies);
}

int owned_placements_start(const struct owned_placements_options *options,
                           struct owned_placements **ret, struct err *err) {
    const struct configuration *c = options->configuration;
    const enum server_role role = purpose_server(c, PURPOSE_OCM);
    struct placement_knowledge reviews = {.policies = NULL};
    *ret = NULL;
    if (!purpose_is_wanted(c, PURPOSE_OCM) || servers_writer(options->servers, role) == NULL)
        return 0;
    struct owned_placements *o = calloc(1, sizeof *o);
    if (o == NULL)
        return err_set(err, -ENOMEM, "no memory to decide Placements");
    o->options = *options;
    configuration_reviews_placements(c, &reviews);
    int r = placement_history_new(&o->history, err);
    const struct placement_decisions_options controller = {
        .fleet = known_fleet_store(options->fleet),
        .policies = known_policies_source(options->policies),
        .is_synced = is_synced,
        .ctx = o,
        .client = servers_client(options->servers, role),
        .writer = servers_writer(options->servers, role),
        .elector = leadership_elector(options->leadership, PURPOSE_OCM),
        .events = servers_events(options->servers, role),
        .history = o->history,
        .settings = {.mode = reviews.mode,
                     .without_scores = !reviews.inject_scores,
                     .moves = {c->ocm.settle_after_ms, c->ocm.moves_per_minute},
                     .shards = reviews.shards,
                     .refused_after_ms = c->ocm.refused_after_ms,
                     .refused_ms = c->ocm.retry_refused_ms}};
    if (r == 0)
        r = placement_decisions_start(&controller, &o->controller, err);
    if (r != 0) {
        placement_history_free(o->history);
        free(o);
        return r;
    }
    *ret = o;
    return 0;
}

void owned_placements_stop(struct owned_placements *o) {
    if (o == NULL)
        return;
    placement_decisions_free(o->controller);
    placement_history_free(o->history);
    free(o);
}

struct placement_history *owned_placements_history(const struct owned_placements *o) {
    return o != NULL ? o->history : NULL;
}
