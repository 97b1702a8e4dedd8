#include "hub/placement_decisions.h"

#include "base/log.h"
#include "hub/planner.h"
#include "model/kinds.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    LOOK_MS = 250,    /* how often to check who leads */
    OBJECTS = 100000, /* Placements with writes at the same time */
    RETRY_MS = 500,   /* after a failure; doubles */
    RETRY_MAX_MS = 60000,
    NAME_BYTES = 1024,
};

/* Writes are counted by the kind of the written object. A Placement has one write at a time. */
enum lane { LANE_DECISIONS, LANE_PLACEMENTS, LANE_SCORES, LANES };
static const enum kind_row kind_of[LANES] = {[LANE_DECISIONS] = KIND_PLACEMENT_DECISION,
                                             [LANE_PLACEMENTS] = KIND_PLACEMENT,
                                             [LANE_SCORES] = KIND_ADD_ON_PLACEMENT_SCORE};
static const enum lane lane_of[] = {
    [OWNED_NOTHING] = LANE_DECISIONS, /* any lane: its write may become anything */
    [OWNED_ANNOTATIONS] = LANE_PLACEMENTS, [OWNED_STATUS] = LANE_PLACEMENTS,
    [OWNED_DECISION] = LANE_DECISIONS,     [OWNED_SCORE] = LANE_SCORES,
    [OWNED_INJECTION] = LANE_PLACEMENTS};

struct placement_decisions {
    struct placement_decisions_options options;
    struct kube_io io;
    struct planner *planner;
    struct fleet_observer observer;
    struct write_handle *writes[LANES];
    struct kube_timer timer;
    struct strbuf name;
    bool leads, refused; /* the last write was refused, and that was logged */
    _Atomic bool stopping;
};

static int64_t may_write_ms(void *ctx) {
    const struct placement_decisions *d = ctx;
    return elector_remaining_ms(d->options.elector);
}

/* ---- the planner's thread ---- */

static bool is_ready(void *ctx) {
    const struct placement_decisions *d = ctx;
    return d->options.is_synced(d->options.ctx);
}

static void on_ready(void *ctx) {
    struct placement_decisions *d = ctx;
    if (!atomic_load(&d->stopping))
        d->io.timer_start(d->options.client, &d->timer, 0);
}

/* ---- the client's thread ---- */

static void look(void *ctx) {
    struct placement_decisions *d = ctx;
    planner_lead(d->planner, may_write_ms(d) > 0);
    for (;;) {
        struct planner_offer offer;
        strbuf_clear(&d->name);
        if (!planner_next(d->planner, &d->name, &offer))
            break;
        /* the write is made from the newest objects: it need not wait after a conflict */
        struct write_handle *lane = d->writes[lane_of[offer.what]];
        writer_want_by_rank(lane, strbuf_str(&d->name), offer.urgent);
        writer_refresh(lane, strbuf_str(&d->name));
    }
    if (!atomic_load(&d->stopping))
        d->io.timer_start(d->options.client, &d->timer, LOOK_MS);
}

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    const struct placement_decisions *d = ctx;
    (void)err; /* the writer sees if the buffers overflow */
    planner_take(d->planner, name, ret);
    return 0;
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct placement_decisions *d = ctx;
    const bool refused = result->end == WRITE_REFUSED;
    const bool expected =
        result->end == WRITE_DONE || result->end == WRITE_CONFLICT || result->end == WRITE_GONE;
    if (!expected && !(refused && d->refused))
        LOG_W("the decisions of a Placement were not written", LOG_STR("placement", name),
              LOG_INT("status", result->status), LOG_STR("err", result->problem));
    d->refused = refused;
    planner_ended(d->planner, name, result);
}

/* ---- life ---- */

static int begin(struct placement_decisions *d, struct err *err) {
    const struct placement_decisions_options *o = &d->options;
    const struct planner_options planning = {.fleet = o->fleet,
                                             .policies = o->policies,
                                             .settings = o->settings,
                                             .is_ready = is_ready,
                                             .on_ready = on_ready,
                                             .ctx = d,
                                             .events = o->events,
                                             .history = o->history,
                                             .clock = o->clock,
                                             .wall_us = d->io.wall_us};
    struct write_owner owner = {.lane = {.objects = OBJECTS,
                                         .retry_ms = RETRY_MS,
                                         .retry_max_ms = RETRY_MAX_MS,
                                         .may_write_ms = may_write_ms,
                                         .ctx = d},
                                .make = make,
                                .done = done,
                                .ctx = d};
    int r = planner_new(&planning, &d->planner, err);
    for (enum lane lane = 0; r == 0 && lane < LANES; lane++) {
        owner.what = kind_name(&watched_kinds[kind_of[lane]]);
        r = writer_join(o->writer, &owner, &d->writes[lane], err);
    }
    if (r != 0)
        return r;
    d->observer = (struct fleet_observer){.changed = planner_changed,
                                          .changed_all = planner_changed_all,
                                          .scored = planner_scored,
                                          .ctx = d->planner};
    fleet_observe(o->fleet, &d->observer);
    return 0;
}

int placement_decisions_start(const struct placement_decisions_options *options,
                              struct placement_decisions **ret, struct err *err) {
    struct placement_decisions *d = calloc(1, sizeof *d);
    if (d == NULL)
        return err_set(err, -ENOMEM, "no memory to write PlacementDecisions");
    d->options = *options;
    d->io = kube_io_or_real(options->io);
    d->name.max = NAME_BYTES;
    d->timer = (struct kube_timer){.fn = look, .ctx = d};
    int r = begin(d, err);
    if (r != 0) {
        placement_decisions_free(d);
        return r;
    }
    *ret = d;
    d->io.timer_start(d->options.client, &d->timer, 0);
    return 0;
}

void placement_decisions_free(struct placement_decisions *d) {
    if (d == NULL)
        return;
    atomic_store(&d->stopping, true);
    fleet_observe(d->options.fleet, NULL);
    if (d->planner != NULL)
        planner_stop(d->planner); /* it no longer starts the timer */
    d->io.timer_cancel(d->options.client, &d->timer);
    for (enum lane lane = 0; lane < LANES; lane++)
        writer_leave(d->writes[lane]);
    planner_free(d->planner);
    strbuf_done(&d->name);
    free(d);
}
