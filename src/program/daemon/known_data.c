#include "daemon/known_data.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/leaving_nodes.h"
#include "data/source.h"
#include "data/watch.h"

#include <errno.h>
#include <stdlib.h>

struct known_data {
    struct fluid_source *source;
    struct fluid_live *live; /* this and the next two members are NULL with files */
    struct fluid_watch *watch;
    struct leaving_nodes_controller *leaving; /* NULL: nodes are not labelled */
};

static double count_objects(void *ctx) {
    return (double)fluid_live_count(ctx);
}

static struct metric fluid_objects = {.name = "evenkeel_fluid_objects",
                                      .help = "Watched objects that say where data is.",
                                      .labels = "",
                                      .kind = METRIC_GAUGE,
                                      .read = count_objects};

/* ---- reading ---- */

struct file_follower *known_data_follower(struct known_data *d) {
    return fluid_source_follower(d->source);
}

void known_data_reload(struct known_data *d) {
    struct err err;
    if (d != NULL && d->live != NULL && fluid_source_load(d->source, &err) != 0)
        LOG_E("Fluid's profile refused; the one read before stays in force", LOG_ERRTEXT(&err));
}

bool known_data_poll(struct known_data *d) {
    bool changed = d != NULL && fluid_source_changed(d->source);
    if (changed)
        known_data_reload(d);
    return changed;
}

/* ---- life ---- */

static bool is_synced(void *ctx) {
    return fluid_watch_synced(ctx);
}

static int start_labelling(struct known_data *d, const struct known_data_options *o,
                           struct err *err) {
    const struct leaving_nodes_options options = {.objects = d->live,
                                                  .is_synced = is_synced,
                                                  .ctx = d->watch,
                                                  .cache = o->cache,
                                                  .client = o->client,
                                                  .writer = o->writer,
                                                  .elector = o->elector};
    return leaving_nodes_start(&options, &d->leaving, err);
}

static int start_watch(struct known_data *d, const struct known_data_options *o, struct err *err) {
    const struct configuration *c = o->configuration;
    int r = fluid_live_new(&d->live, err);
    if (r != 0)
        return r;
    const struct fluid_watch_options options = {.objects = d->live,
                                                .client = o->client,
                                                .seed = clock_seed(),
                                                .eager = c->webhook.fluid.compat != FLUID_CORRECT};
    fluid_objects.ctx = d->live;
    metric_register(&fluid_objects);
    r = fluid_watch_start(&options, &d->watch, err);
    return r == 0 && c->data.label_leaving_nodes ? start_labelling(d, o, err) : r;
}

int known_data_start(const struct known_data_options *o, struct known_data **ret, struct err *err) {
    const struct configuration *c = o->configuration;
    *ret = NULL;
    if (o->client != NULL ? !c->webhook.fluid.watch : c->state.path_count == 0)
        return 0;
    struct known_data *d = calloc(1, sizeof *d);
    if (d == NULL)
        return err_set(err, -ENOMEM, "no memory for Fluid's objects");
    *ret = d;
    int r = o->client != NULL ? start_watch(d, o, err) : 0;
    if (r != 0)
        return r;
    const struct fluid_source_options options = {.live = d->live,
                                                 .profile = c->webhook.fluid.profile,
                                                 .compat = c->webhook.fluid.compat,
                                                 .scale_in = c->webhook.fluid.scale_in};
    r = fluid_source_new(&options, &d->source, err);
    return r == 0 && d->live != NULL ? fluid_source_load(d->source, err) : r;
}

struct fluid_source *known_data_source(const struct known_data *d) {
    return d != NULL ? d->source : NULL;
}

bool known_data_listed(const struct known_data *d) {
    return d == NULL || d->watch == NULL || fluid_watch_listed(d->watch);
}

void known_data_stop(struct known_data *d) {
    if (d == NULL)
        return;
    leaving_nodes_free(d->leaving);
    fluid_watch_free(d->watch);
    d->leaving = NULL;
    d->watch = NULL;
    metric_unregister(&fluid_objects);
}

void known_data_free(struct known_data *d) {
    if (d == NULL)
        return;
    fluid_source_free(d->source);
    fluid_live_free(d->live);
    free(d);
}
