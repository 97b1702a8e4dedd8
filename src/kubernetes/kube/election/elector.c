/*
 * All work is done on the client's thread, except elector_stop() and the functions that ask for the
 * state: step() asks the lease for the next request, and on_done() passes the answer to the lease.
 * Other threads read `until_ms`, which is published after every answer; when that time is over, so
 * is our term. The expiry timer only calls on_change() in time.
 */
#include "kube/election/elector.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "model/names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { OVERDUE_MS = 20000, NAME_SIZE = 320, IDENTITY_SIZE = 257, METRICS = 6 };

struct elector {
    struct kube_client *client;
    struct kube_io io;
    struct clock *clock;
    void (*on_change)(void *ctx, bool leading);
    void *ctx;
    struct event_recorder *events;
    int64_t duration_ms;
    char namespace[64], name[254], identity[IDENTITY_SIZE];

    /* for the client's thread only */
    struct lease *lease;
    struct kube_request request;
    struct kube_timer step_timer, expiry_timer, stop_timer;
    bool under_way, freed;
    uint64_t acquired;                        /* the number of the term for which on_change(true)
                                                 was called last */
    char holder[IDENTITY_SIZE], problem[256]; /* the values that were logged last */

    /* every thread may read these */
    _Atomic int64_t until_ms, held_until_ms, renewed_ms;
    _Atomic bool told; /* on_change(true) was called, and on_change(false) not yet */

    char label[NAME_SIZE + 8];
    struct metric leader, acquisitions, failures, slow, master, slowpath;

    struct mutex lock; /* guards the next two members */
    struct condition ended;
    int64_t stop_limit_ms;
    bool stopped;
};

static int64_t now_ms(const struct elector *e) {
    return e->clock->now_ms(e->clock);
}

/* ---- questions ---- */

int64_t elector_remaining_ms(const struct elector *e) {
    if (e == NULL)
        return INT64_MAX;
    int64_t until = atomic_load(&e->until_ms), now = now_ms(e);
    return now < until ? until - now : 0;
}

bool elector_leads(const struct elector *e) {
    return elector_remaining_ms(e) > 0;
}

bool elector_somebody_leads(const struct elector *e) {
    return e == NULL || now_ms(e) < atomic_load(&e->held_until_ms);
}

bool elector_is_alive(const struct elector *e) {
    return !atomic_load(&e->told) ||
           now_ms(e) - atomic_load(&e->renewed_ms) <= e->duration_ms + OVERDUE_MS;
}

/* ---- reporting changes ---- */

const struct event_reason election_reason = {
    "LeaderElection", EVENT_NORMAL, LEASE_KIND,
    "a replica became leader, or stopped leading; the note names it"};

static void report(struct elector *e, const char *what) {
    char note[IDENTITY_SIZE + 32];
    (void)snprintf(note, sizeof note, "%s %s", e->identity, what);
    const struct event event = {.regarding = {STR(COORDINATION_API), STR(LEASE_KIND),
                                              str_of(e->namespace), str_of(e->name),
                                              lease_uid(e->lease)},
                                .type = election_reason.type,
                                .reason = str_of(election_reason.name),
                                .action = STR("Electing"),
                                .note = str_of(note)};
    event_record(e->events, &event);
}

static void tell(struct elector *e, bool leading) {
    atomic_store(&e->told, leading);
    LOG_I(leading ? "became leader" : "stopped leading", LOG_CSTR("namespace", e->namespace),
          LOG_CSTR("lease", e->name), LOG_CSTR("identity", e->identity));
    if (e->on_change != NULL)
        e->on_change(e->ctx, leading);
    report(e, leading ? "became leader" : "stopped leading");
}

/* Reports the end of a term, then the begin of the next one; we may notice both at the same time.
 */
static void tell_changes(struct elector *e) {
    struct lease_stats stats;
    lease_stats(e->lease, &stats);
    bool leads = elector_leads(e), told = atomic_load(&e->told);
    if (told && (!leads || stats.acquired != e->acquired)) {
        tell(e, false);
        told = false;
    }
    if (!told && leads) {
        e->acquired = stats.acquired;
        tell(e, true);
    }
}

/* Publishes the result of the last answer for all threads. */
static void publish(struct elector *e) {
    struct lease_stats stats;
    lease_stats(e->lease, &stats);
    atomic_store(&e->renewed_ms, stats.renewed_ms);
    atomic_store(&e->until_ms, lease_until_ms(e->lease));
    atomic_store(&e->held_until_ms, lease_held_until_ms(e->lease));
    metric_set(&e->acquisitions, (int64_t)stats.acquired);
    metric_set(&e->failures, (int64_t)stats.failures);
    metric_set(&e->slow, (int64_t)stats.slow);
    tell_changes(e);
    int64_t left = elector_remaining_ms(e);
    if (left > 0)
        e->io.timer_start(e->client, &e->expiry_timer, left);
}

/* Logs a problem as a warning while we lead, or if the problem is new. */
static void log_progress(struct elector *e) {
    struct str holder = lease_holder(e->lease);
    holder.n = holder.n < sizeof e->holder ? holder.n : sizeof e->holder - 1;
    const char *problem = lease_problem(e->lease);
    bool repeated = strncmp(problem, e->problem, sizeof e->problem - 1) == 0;
    if (problem[0] != '\0' && (!repeated || elector_leads(e)))
        LOG_W("the lease could not be kept or taken", LOG_CSTR("err", problem));
    (void)snprintf(e->problem, sizeof e->problem, "%s", problem); /* a cut text is enough for
                                                                     comparing */
    if (holder.n > 0 && !str_eq(holder, str_of(e->holder))) {
        (void)snprintf(e->holder, sizeof e->holder, "%.*s", STR_ARG(holder));
        LOG_I("the lease is held", LOG_CSTR("namespace", e->namespace), LOG_CSTR("lease", e->name),
              LOG_STR("holder", holder));
    }
}

/* ---- the client's thread ---- */

static void finish_stop(struct elector *e) {
    e->io.timer_cancel(e->client, &e->step_timer);
    e->io.timer_cancel(e->client, &e->expiry_timer);
    mutex_lock(&e->lock);
    e->stopped = true;
    condition_signal(&e->ended);
    mutex_unlock(&e->lock);
}

static void step(void *ctx) {
    struct elector *e = ctx;
    struct lease_next next;
    lease_next(e->lease, now_ms(e), e->io.wall_us(), &next);
    if (next.step == LEASE_WAIT) {
        e->io.timer_start(e->client, &e->step_timer, next.wait_ms);
    } else if (next.step == LEASE_SEND) {
        e->request.method = next.method;
        e->request.path = next.path;
        e->request.body = next.body;
        e->request.timeout_ms = next.timeout_ms;
        e->under_way = true;
        e->io.request_start(e->client, &e->request);
    } else {
        finish_stop(e);
    }
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct elector *e = ctx;
    e->under_way = false;
    if (e->freed)
        return;
    lease_on_end(e->lease, now_ms(e), result);
    publish(e);
    if (result->error != -ECANCELED) /* we have cancelled it */
        log_progress(e);
    step(e);
}

static void on_expiry(void *ctx) {
    tell_changes(ctx);
}

static void begin_stop(void *ctx) {
    struct elector *e = ctx;
    mutex_lock(&e->lock);
    int64_t limit_ms = e->stop_limit_ms;
    mutex_unlock(&e->lock);
    lease_stop(e->lease, now_ms(e), limit_ms);
    publish(e);
    e->io.timer_cancel(e->client, &e->step_timer);
    if (e->under_way)
        e->io.request_cancel(e->client, &e->request); /* calls on_done() */
    else
        step(e);
}

/* ---- life ---- */

static double read_leader(void *ctx) {
    return elector_leads(ctx) ? 1 : 0;
}

static void register_metrics(struct elector *e) {
    (void)snprintf(e->label, sizeof e->label, "name=\"%s/%s\"", e->namespace, e->name);
    e->leader = (struct metric){.name = "evenkeel_leader",
                                .help = "Whether this process leads by this Lease.",
                                .kind = METRIC_GAUGE,
                                .read = read_leader,
                                .ctx = e};
    e->acquisitions = (struct metric){.name = "evenkeel_leader_acquisitions_total",
                                      .help = "Times this process became leader.",
                                      .kind = METRIC_COUNTER};
    e->failures = (struct metric){.name = "evenkeel_lease_failures_total",
                                  .help = "Rounds in which the Lease could not be read or written.",
                                  .kind = METRIC_COUNTER};
    e->slow = (struct metric){.name = "evenkeel_lease_slow_renewals_total",
                              .help = "Renewals for which the Lease had to be read again.",
                              .kind = METRIC_COUNTER};
    /* client-go's names, which dashboards know. */
    e->master = (struct metric){.name = "leader_election_master_status",
                                .help = "The same as evenkeel_leader.",
                                .kind = METRIC_GAUGE,
                                .same_as = &e->leader};
    e->slowpath = (struct metric){.name = "leader_election_slowpath_total",
                                  .help = "The same as evenkeel_lease_slow_renewals_total.",
                                  .kind = METRIC_COUNTER,
                                  .same_as = &e->slow};
    struct metric *const all[METRICS] = {&e->leader, &e->acquisitions, &e->failures,
                                         &e->slow,   &e->master,       &e->slowpath};
    for (int i = 0; i < METRICS; i++) {
        all[i]->labels = e->label;
        metric_register(all[i]);
    }
}

static void init(struct elector *e, const struct elector_options *options) {
    e->client = options->client;
    e->io = kube_io_or_real(options->io);
    e->clock = options->clock != NULL ? options->clock : kube_clock_boot();
    e->on_change = options->on_change;
    e->ctx = options->ctx;
    e->events = options->events;
    e->duration_ms = lease_options_complete(&options->lease).duration_ms;
    e->until_ms = e->held_until_ms = e->renewed_ms = INT64_MIN;
    /* These fit: lease_new() has accepted them. */
    (void)snprintf(e->namespace, sizeof e->namespace, "%s", options->lease.namespace);
    (void)snprintf(e->name, sizeof e->name, "%s", options->lease.name);
    (void)snprintf(e->identity, sizeof e->identity, "%s", options->lease.identity);
    e->request = (struct kube_request){.on_done = on_done, .ctx = e};
    e->step_timer = (struct kube_timer){.fn = step, .ctx = e};
    e->expiry_timer = (struct kube_timer){.fn = on_expiry, .ctx = e};
    e->stop_timer = (struct kube_timer){.fn = begin_stop, .ctx = e};
    mutex_init(&e->lock);
    condition_init(&e->ended);
    register_metrics(e);
}

int elector_new(const struct elector_options *options, struct elector **ret, struct err *err) {
    struct lease_options lease = options->lease;
    int r = lease_options_check(&lease, err);
    if (r != 0)
        return r;
    if (lease.seed == 0)
        lease.seed = hash_str(str_of(lease.identity)); /* keyed with this process's own key */
    struct elector *e = calloc(1, sizeof *e);
    if (e == NULL)
        return err_set(err, -ENOMEM, "no memory for leader election");
    r = lease_new(&lease, &e->lease, err);
    if (r != 0) {
        free(e);
        return r;
    }
    init(e, options);
    e->io.timer_start(e->client, &e->step_timer, 0); /* the work runs on the client's thread */
    *ret = e;
    return 0;
}

void elector_stop(struct elector *e, int64_t limit_ms) {
    if (e == NULL)
        return;
    mutex_lock(&e->lock);
    e->stop_limit_ms = limit_ms;
    e->io.timer_start(e->client, &e->stop_timer, 0);
    while (!e->stopped)
        condition_wait(&e->ended, &e->lock);
    mutex_unlock(&e->lock);
}

static void end_now(void *ctx) {
    struct elector *e = ctx;
    e->freed = true;
    e->io.request_cancel(e->client, &e->request);
    e->io.timer_cancel(e->client, &e->step_timer);
    e->io.timer_cancel(e->client, &e->expiry_timer);
    e->io.timer_cancel(e->client, &e->stop_timer);
}

void elector_free(struct elector *e) {
    if (e == NULL)
        return;
    e->io.run(e->client, end_now, e);
    struct metric *const all[METRICS] = {&e->leader, &e->acquisitions, &e->failures,
                                         &e->slow,   &e->master,       &e->slowpath};
    for (int i = 0; i < METRICS; i++)
        metric_unregister(all[i]);
    lease_free(e->lease);
    condition_done(&e->ended);
    mutex_done(&e->lock);
    free(e);
}
